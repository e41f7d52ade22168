package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/southbound/pki"
)

// SocketFile is the Unix socket in the state directory of a service's replica, at which the replica's
// user and root are admins.
const SocketFile = "api.sock"

// callers configures who may call this replica.
func (p *replicaProcess) callers() api.Callers {
	c := api.Callers{Admins: p.config.Identity.Admins, Granter: p, Owners: p, Audit: p.audit.note,
		Answered: p.export.answered(),
		Identify: func(st tls.ConnectionState) (pki.Role, string, error) {
			return p.keys.Peer(st, pki.Client, pki.Controller)
		}}
	if path := p.config.Identity.Socket; path != "" {
		ln, err := listenLocal(path)
		if err != nil {
			p.notice.Warn("no socket for admins of this machine", "error", err)
			return c
		}
		c.Local = ln
	}
	return c
}

// listenLocal listens at a path that nobody else does: the state directory is this replica's.
func listenLocal(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// Access implements api.Granter.
func (p *replicaProcess) Access(name string) (a controller.Access) {
	p.node.View(func(uint64) { a = p.state.Access(name) })
	return a
}

// Grants implements api.Granter.
func (p *replicaProcess) Grants() (all []controller.Grant) {
	p.node.View(func(uint64) { all = p.state.Grants() }) // a change makes a new list
	return all
}

// Grant implements api.Granter.
func (p *replicaProcess) Grant(ctx context.Context, g controller.Grant) error {
	if err := bandwidthError(ctx, p.current.Leader().Grant(ctx, g)); err != nil {
		return fmt.Errorf("set access: %w", err)
	}
	return nil
}

// JobOwner implements api.Owners.
func (p *replicaProcess) JobOwner(id controller.JobID) (name string, known bool) {
	p.node.View(func(uint64) {
		if j := p.state.Job(id); j != nil {
			name, known = j.User, true
		}
	})
	return name, known
}

// BandwidthOwner implements api.Owners.
func (p *replicaProcess) BandwidthOwner(id int64) (name string, known bool) {
	p.node.View(func(uint64) {
		for _, r := range p.state.BandwidthReservations() {
			if int64(r.ID) == id {
				name, known = r.Owner, true
			}
		}
	})
	return name, known
}
