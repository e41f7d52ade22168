package main

import (
	"fmt"
	"strings"

	"lightloom/controller/policy"
)

// policyHelp lists policies and parts as package policy has them, for -h.
func policyHelp() string {
	var b strings.Builder
	b.WriteString("Policies (any + list of parts is one):\n")
	for _, p := range policy.All() {
		fmt.Fprintf(&b, "  %-22s %s\n", p.Name, p.Doc)
	}
	b.WriteString("Parts:\n")
	for _, p := range policy.Parts() {
		var asked []string
		for _, q := range p.Questions {
			asked = append(asked, q.String())
		}
		fmt.Fprintf(&b, "  %-12s %-17s %s\n", strings.Join(asked, "+"), p.Name, p.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}
