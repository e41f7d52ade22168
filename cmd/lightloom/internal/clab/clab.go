// Package clab maps the nodes of a containerlab topology (*.clab.yml) to our emulated switches, and names the kinds
// that have no emulated twin.
//
// Package pathmap/topo reads the topology itself.
package clab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Node is one node of the file.
type Node struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // its own, or what it inherits
	// what runs in its place: "host", "bridge", or the profile that its switch speaks; "" where nothing does
	As string `json:"runs_as"`
}

// emulatedKinds maps the kinds that we run to the switches that run in their place. Names are
// containerlab's (docs, "Kinds"), with their short and older forms.
func emulatedKinds() map[string]string {
	return map[string]string{
		"linux": "host", "host": "host", "ext-container": "host",
		"nokia_srlinux": "srl-native", "srl": "srl-native",
		"sonic-vs": "sonic", "sonic-vm": "sonic",
		"arista_ceos": "openconfig", "ceos": "openconfig", "openconfig_lemming": "openconfig", "lightloom": "openconfig",
		"bridge": "bridge", "ovs-bridge": "bridge",
	}
}

// IsFile reports whether a path is named as containerlab names its topologies.
func IsFile(path string) bool {
	return strings.HasSuffix(path, ".clab.yml") || strings.HasSuffix(path, ".clab.yaml")
}

// Read returns the nodes of a file, sorted by name.
func Read(path string) ([]Node, error) {
	all, err := topo.ReadLab(path)
	if err != nil {
		return nil, fmt.Errorf("read containerlab topology: %w", err)
	}
	return nodesOf(all), nil
}

func nodesOf(all []topo.LabNode) (nodes []Node) {
	for _, n := range all {
		nodes = append(nodes, Node{Name: n.Name, Kind: n.Kind, As: as(n)})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

// as returns what runs in a node's place. Topologies that we wrote say so in a label, their nodes being containers; a
// container with several cables is a switch.
func as(n topo.LabNode) string {
	kind := emulatedKinds()[n.Kind]
	isSwitch := kind != "" && kind != "host" && kind != "bridge"
	if !n.Labelled && (kind != "host" || n.Cables < 2) || isSwitch && n.Role != pathmap.Host && n.Role != pathmap.OCS {
		return kind
	}
	switch n.Role {
	case pathmap.Host:
		return "host"
	case pathmap.OCS:
		return "ocp"
	}
	return "openconfig"
}

// ErrForeign means that some nodes have no emulated twin.
var ErrForeign = errors.New("no emulated twin")

// Check returns an error that names the kinds without a twin, each with its nodes.
func Check(nodes []Node) error {
	var kinds []string
	of := map[string][]string{}
	for _, n := range nodes {
		if n.As != "" {
			continue
		}
		if of[n.Kind] == nil {
			kinds = append(kinds, n.Kind)
		}
		of[n.Kind] = append(of[n.Kind], n.Name)
	}
	if len(kinds) == 0 {
		return nil
	}
	slices.Sort(kinds)
	var said []string
	for _, k := range kinds {
		said = append(said, fmt.Sprintf("kind %q (%s)", k, strings.Join(of[k], ", ")))
	}
	return fmt.Errorf("%w for %s", ErrForeign, strings.Join(said, ", "))
}

// Kinds are the kinds that have a twin, sorted.
func Kinds() []string {
	var all []string
	for k := range emulatedKinds() {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
