// Package inventory reads where the parts of a fabric are that runs elsewhere: its switches, how each is reached and
// which profile it speaks, and its hosts. Secrets are named there, never written: an environment variable or a file.
// It also keeps the keys of those parts on disk.
//
// It opens no connection.
package inventory

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lightloom/pathmap/topo"
	"lightloom/southbound/hostagent"
)

// Schema is the JSON schema of an inventory, for editors.
//
//go:embed inventory.schema.json
var Schema []byte

// Inventory says where the parts of a fabric are that runs elsewhere.
type Inventory struct {
	Devices Devices           `yaml:"devices"`
	Hosts   map[string]string `yaml:"hosts"` // network namespaces (/proc/PID/ns/net), by host; none, or all
	// Agents are addresses (host:port or unix:PATH) of agents that run elsewhere, by host, in the place of Hosts: none, or
	// all. Hosts of one address are one agent's. Addresses are those of hosts that do not follow the address plan.
	Agents    map[string]string `yaml:"agents"`
	Addresses map[string]string `yaml:"addresses"`

	files []*os.File
}

// maxFile bounds the file, in bytes.
const maxFile = 1 << 20

// Read reads and checks an inventory. Errors name file, line and column.
//
// With a fabric it must name what the fabric has and nothing else, and devices may leave out what the fabric knows.
// Without one (nil) every device needs a profile, ports and, if it switches packets, racks.
func Read(path string, f *topo.Fabric) (*Inventory, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	return Parse(path, data, f)
}

// Parse is Read of what stands in a file of that name. Relative paths in it start in the file's directory.
func Parse(name string, data []byte, f *topo.Fabric) (*Inventory, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes: at most that many are taken", name, maxFile)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, placed(name, err)
	}
	p := &Inventory{}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(p); err != nil &&
		!errors.Is(err, io.EOF) {
		return nil, placed(name, err)
	}
	for i := range p.Devices {
		p.Devices[i].startIn(filepath.Dir(name))
	}
	if at, err := p.check(f); err != nil {
		return nil, fmt.Errorf("%s%s: %w", name, place(tree, at), err)
	}
	return p, nil
}

// placed puts file, line and column before a YAML error's own words.
func placed(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t := y.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%s:%d:%d: %s", name, t.Position.Line, t.Position.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %s", name, y.GetMessage())
}

// keys lead to a value of the file: a string is a key of a mapping, an int a place in a list.
type keys []any

// place is the line and column of what keys lead to, or the last of them that is there.
func place(tree *ast.File, at keys) string {
	for ; len(at) > 0; at = at[:len(at)-1] {
		b := (&yaml.PathBuilder{}).Root()
		for _, k := range at {
			if i, ok := k.(int); ok {
				b = b.Index(uint(i))
			} else {
				b = b.Child(k.(string))
			}
		}
		if n, err := b.Build().FilterFile(tree); err == nil && n != nil && n.GetToken() != nil {
			p := n.GetToken().Position
			return fmt.Sprintf(":%d:%d", p.Line, p.Column)
		}
	}
	return ""
}

// Network opens the hosts' namespaces.
func (p *Inventory) Network(f *topo.Fabric) (hostagent.Network, error) {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	p.files = append(p.files, home)
	n := &hostagent.Namespaces{Home: int(home.Fd())}
	for _, node := range f.HostNode {
		name := f.Topology.Node(node).Name
		ns, err := os.Open(p.Hosts[name])
		if err != nil {
			return nil, fmt.Errorf("open namespace of host %q: %w", name, err)
		}
		p.files = append(p.files, ns)
		n.Hosts = append(n.Hosts, int(ns.Fd()))
	}
	return n, nil
}

// Close closes the namespaces of hosts that Network has opened.
func (p *Inventory) Close() error {
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.Close())
	}
	p.files = nil
	return errors.Join(errs...)
}

var _ hostagent.Network = (*hostagent.Namespaces)(nil)
