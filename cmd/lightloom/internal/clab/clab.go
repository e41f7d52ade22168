// Package clab maps the nodes of a containerlab topology (*.clab.yml) to our emulated switches, and names the kinds
// that have no emulated twin.
//
// Package pathmap/topo reads the topology itself.
package clab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Node is one node of the file.
type Node struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // as the file says, or its defaults
	// what runs in its place: "host", "bridge", or the profile that its switch speaks; "" where nothing does
	As string `json:"runs_as"`
}

// twins maps the kinds that we run to the switches that run in their place. Names are containerlab's (docs, "Kinds"),
// with their short and older forms.
func twins() map[string]string {
	return map[string]string{
		"linux": "host", "host": "host", "ext-container": "host",
		"nokia_srlinux": "srl-native", "srl": "srl-native",
		"sonic-vs": "sonic", "sonic-vm": "sonic",
		"arista_ceos": "openconfig", "ceos": "openconfig", "openconfig_lemming": "openconfig", "lightloom": "openconfig",
		"bridge": "bridge", "ovs-bridge": "bridge",
	}
}

// file is the part of a topology that is read here.
type file struct {
	Topology struct {
		Defaults struct {
			Kind string `yaml:"kind"`
		} `yaml:"defaults"`
		Groups map[string]struct {
			Kind string `yaml:"kind"`
		} `yaml:"groups"`
		Nodes map[string]struct {
			Kind   string         `yaml:"kind"`
			Group  string         `yaml:"group"`
			Labels map[string]any `yaml:"labels"`
		} `yaml:"nodes"`
	} `yaml:"topology"`
}

// maxFile bounds a file, in bytes.
const maxFile = 16 << 20

// IsFile reports whether a path is named as containerlab names its topologies.
func IsFile(path string) bool {
	return strings.HasSuffix(path, ".clab.yml") || strings.HasSuffix(path, ".clab.yaml")
}

// Read returns the nodes of a file, sorted by name.
func Read(path string) ([]Node, error) {
	st, err := os.Stat(path)
	if err == nil && st.Size() > maxFile {
		err = fmt.Errorf("%d bytes, at most %d are taken", st.Size(), maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read containerlab topology: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read containerlab topology: %w", err)
	}
	return parse(path, data)
}

func parse(name string, data []byte) ([]Node, error) {
	var f file
	if err := yaml.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read containerlab topology %q: %w", name, err)
	}
	if len(f.Topology.Nodes) == 0 {
		return nil, fmt.Errorf("read containerlab topology %q: there are no nodes below its word topology", name)
	}
	var nodes []Node
	for name, n := range f.Topology.Nodes {
		kind := cmp.Or(n.Kind, f.Topology.Groups[n.Group].Kind, f.Topology.Defaults.Kind, "linux")
		nodes = append(nodes, Node{Name: name, Kind: kind, As: as(kind, n.Labels)})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, nil
}

// as returns what runs in a node's place. Topologies that we wrote say so in a label, whatever the kind.
func as(kind string, labels map[string]any) string {
	switch role, _ := labels["lightloom-role"].(string); role {
	case "host":
		return "host"
	case "tor", "switch":
		return "openconfig"
	case "ocs":
		return "ocp"
	}
	return twins()[kind]
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
	for k := range twins() {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
