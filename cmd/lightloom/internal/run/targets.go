package run

import (
	"context"
	"fmt"
	"net"

	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// server is a listener with who it is.
type server struct {
	name string
	ln   net.Listener
	id   pki.Identity
	run  func(context.Context) error
}

// newServer opens a loopback listener on any port and issues a certificate for who listens there.
func (s *stage) newServer(role pki.Role, name string) (*server, error) {
	id, err := s.ca.Issue(role, name)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", name, err)
	}
	return &server{name: name, ln: ln, id: id}, nil
}

// openTargets puts a gNMI target in front of every switch.
func (s *stage) openTargets() error {
	for i, node := range s.fabric.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		t, err := s.newServer(pki.Switch, node.Name)
		if err != nil {
			return err
		}
		s.targets = append(s.targets, t)
		if err := s.frontOf(southbound.DeviceID(i), t); err != nil {
			return err
		}
		s.front[southbound.DeviceID(i)] = newFront(s, southbound.DeviceID(i), t)
	}
	return nil
}

// frontOf puts a target in front of one switch.
func (s *stage) frontOf(id southbound.DeviceID, srv *server) error {
	t, err := target.New(target.Config{Door: s.plant.doors[id], Start: s.epoch, TLS: srv.id.Server(pki.Controller), Neighbors: s.discovery.heard(id),
		Counts: func() ([]target.PortCount, error) { return s.tally.ports(id) }})
	if err != nil {
		return err
	}
	s.discovery.tells(id, t)
	srv.run = func(ctx context.Context) error {
		defer t.Close()
		return t.Serve(ctx, srv.ln)
	}
	return nil
}
