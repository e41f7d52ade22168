// Package inventory reads where the parts of a fabric are that runs elsewhere: its switches, how each is reached and
// which profile it speaks, and its hosts. Secrets are named there, never written: an environment variable or a file.
// It also keeps the keys of those parts on disk.
//
// It opens connections in Dial only.
package inventory

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
	"lightloom/southbound/yamlfile"
)

// Schema is the JSON schema of an inventory, for editors.
//
//go:embed inventory.schema.json
var Schema []byte

// Inventory lists where the parts of a remote fabric are.
type Inventory struct {
	Devices Devices           `yaml:"devices"`
	Groups  map[string]Group  `yaml:"groups"`
	Hosts   map[string]string `yaml:"hosts"` // network namespaces (/proc/PID/ns/net), by host; none, or all
	// Agents are addresses (host:port or unix:PATH) of agents that run elsewhere, by host, in the place of Hosts: none, or
	// all. Hosts of one address are one agent's. Addresses are those of hosts that do not follow the address plan.
	Agents    map[string]string `yaml:"agents"`
	Addresses map[string]string `yaml:"addresses"`
	// Prefixes are those of racks that do not follow the address plan.
	Prefixes map[southbound.RackID]string `yaml:"prefixes"`

	files []*os.File
}

// Read reads and checks an inventory. Errors name file, line and column.
//
// With a fabric it must name what the fabric has and nothing else, and devices may leave out what the fabric knows.
// Without one (nil) every device needs a profile, ports and, if it switches packets, racks.
func Read(path string, f *topo.Fabric) (*Inventory, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	return Parse(path, data, f)
}

// Parse is Read for data, the content of a file of that name. Relative paths in it are relative to the file's
// directory.
func Parse(name string, data []byte, f *topo.Fabric) (*Inventory, error) {
	p := &Inventory{}
	file, err := yamlfile.Decode(name, data, p)
	if err != nil {
		return nil, err
	}
	at, err := p.complete(filepath.Dir(name))
	if err == nil {
		at, err = p.check(f)
	}
	if err != nil {
		return nil, file.At(at, err)
	}
	return p, nil
}

// complete gives devices what their groups and the file say. Relative paths start in dir.
func (p *Inventory) complete(dir string) (yamlfile.Keys, error) {
	for i := range p.Devices {
		d := &p.Devices[i]
		if g, ok := p.Groups[d.Group]; ok {
			d.join(g)
		} else if d.Group != "" {
			return p.at(i, "group"), fmt.Errorf("device %q: group: there is no %q under groups", d.Name, d.Group)
		}
		d.startIn(dir)
		d.Prefixes = p.Prefixes
	}
	return nil, nil
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
