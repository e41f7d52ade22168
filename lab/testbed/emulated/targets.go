package emulated

import (
	"fmt"
	"net"
	"path/filepath"
	"runtime"

	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// endpoint is a listener with its identity.
type endpoint struct {
	ln net.Listener
	id pki.Identity
}

// newEndpoint opens a loopback listener on any port and issues its certificate.
func (s *Testbed) newEndpoint(role pki.Role, name string) (*endpoint, error) {
	id, err := s.Authority.Issue(role, pki.NameOf(name))
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", name, err)
	}
	return &endpoint{ln: ln, id: id}, nil
}

// openTargets puts a gNMI target in front of every switch.
func (s *Testbed) openTargets() error {
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, node := range s.Topo.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		e, err := s.newEndpoint(pki.Switch, node.Name)
		if err != nil {
			return err
		}
		id := southbound.DeviceID(i)
		if err := s.Packets.Switches[id].Open(e.ln, e.id,
			target.Config{Start: s.Epoch, Neighbors: s.discovery.heard(id),
				Profile: served(s.Config.Profiles.of(node.Role)),
				Limits:  target.Limits{Turns: turns},
				Strict:  true, ElectionFile: filepath.Join(s.fences, pki.NameOf(node.Name)),
				Counts: func() ([]target.PortCount, error) { return s.Counters.ports(id) }}); err != nil {
			return err
		}
	}
	return nil
}
