package controller

import (
	"fmt"
	"slices"
	"unicode"
)

// Access is what the holder of a client certificate may do.
type Access string

// What is granted. A tenant submits jobs and reserves bandwidth, and ends its own alone; a viewer reads
// everything; an operator does both, for everybody; an admin also grants.
const (
	Viewer   Access = "viewer"
	Tenant   Access = "tenant"
	Operator Access = "operator"
	Admin    Access = "admin"
)

// Accesses returns all that can be granted.
func Accesses() []Access { return []Access{Viewer, Tenant, Operator, Admin} }

// Grant gives the holder of a client certificate access, by the name in it.
type Grant struct {
	Name   string `json:"name"`
	Access Access `json:"access,omitempty"` // "": none any more
}

// Bounds of grants.
const (
	MaxGrants    = 1 << 12
	MaxGrantName = 128 // bytes
)

// Check returns why a grant is invalid, or nil.
func (g Grant) Check() error {
	switch {
	case g.Name == "" || len(g.Name) > MaxGrantName ||
		slices.ContainsFunc([]rune(g.Name), func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("grant %q: name a certificate by 1 to %d printable bytes", g.Name, MaxGrantName)
	case g.Access != "" && !slices.Contains(Accesses(), g.Access):
		return fmt.Errorf("grant %q: access %q is unknown: take one of %v", g.Name, g.Access, Accesses())
	}
	return nil
}
