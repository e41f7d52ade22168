package session

import (
	"fmt"
	"io"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// hostNamed finds a host by the name that the fabric gives it.
func hostNamed(f *topo.Fabric, name string) (southbound.HostID, error) {
	node := func(h int) string { return f.Topology.Node(f.HostNode[h]).Name }
	if n, ok := f.Topology.Named(name); ok && f.Topology.Node(n).Role == pathmap.Host {
		for h := f.FirstHost[f.Topology.Node(n).Rack]; ; h++ {
			if f.HostNode[h] == n {
				return southbound.HostID(h), nil
			}
		}
	}
	return 0, fmt.Errorf("host %q: the fabric's %d hosts are %s to %s", name, f.Hosts(), node(0), node(f.Hosts()-1))
}

// ExecOptions are the options of the command exec.
type ExecOptions struct {
	Host    string   // a name such as h3-1
	Command []string // at least one word

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}
