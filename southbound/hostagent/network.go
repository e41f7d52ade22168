package hostagent

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// network is the hosts of the fabric as the agent knows them. It is replaced, never changed.
type network struct {
	addr      []netip.AddrPort // by host: where its host flows go
	line      func(src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond
	isCircuit func(src southbound.HostID, tag southbound.Tag) bool
	local     func(southbound.HostID) bool
}

func (n *network) hosts() int { return len(n.addr) }

// net returns the hosts as they are known now.
func (a *Agent) net() *network { return a.known.Load() }

// isLocal reports whether the agent serves a host.
func (a *Agent) isLocal(h southbound.HostID) bool { return a.net().local(h) }

// SetNetwork has the agent know the hosts of the fabric as a leader does, and listen at those that are
// its own since then. Hosts keep their numbers: fewer than it knows are refused.
func (a *Agent) SetNetwork(n wire.Network) error {
	a.meeting.Lock()
	defer a.meeting.Unlock()
	return a.meet(n)
}

// meet is SetNetwork for a caller that holds meeting.
func (a *Agent) meet(n wire.Network) error {
	was := a.net()
	if len(n) < was.hosts() {
		return fmt.Errorf("set network: %d hosts, and %d are known: hosts do not go: %w", len(n), was.hosts(),
			southbound.ErrRefused)
	}
	next := &network{line: a.cfg.bound(n.Line), isCircuit: n.IsCircuit, local: was.local}
	for i := range n {
		next.addr = append(next.addr, n[i].Addr)
	}
	if len(a.cfg.Names) > 0 {
		mine, err := numbers(n, a.cfg.Names)
		if err != nil {
			return err
		}
		next.local = func(h southbound.HostID) bool { return slices.Contains(mine, h) }
	}
	var fresh []southbound.HostID
	for h := range southbound.HostID(len(n)) {
		if int(h) < was.hosts() && was.local(h) {
			next.addr[h] = was.addr[h] // it listens there
		} else if next.local(h) {
			fresh = append(fresh, h)
		}
	}
	listeners, err := a.listen(next, fresh)
	if err != nil {
		return fmt.Errorf("set network: %w", err)
	}
	a.odometer.know(next)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		closeAll(listeners)
		return fmt.Errorf("set network: %w", errClosed)
	}
	a.known.Store(next)
	for _, ln := range listeners {
		a.done.Go(func() { a.accept(ln) })
	}
	for _, c := range a.table.order {
		for i := range c.rows {
			c.rows[i].lineTag = southbound.TagHold // as none: the line rate is looked up again
		}
	}
	a.settleAll()
	return nil
}

// numbers finds hosts by their names.
func numbers(n wire.Network, names []string) (ids []southbound.HostID, err error) {
	for _, name := range names {
		h := slices.IndexFunc(n, func(x wire.Host) bool { return x.Name == name })
		if h < 0 {
			return nil, fmt.Errorf("set network: it has no host %q, which this agent serves: %w", name,
				southbound.ErrRefused)
		}
		ids = append(ids, southbound.HostID(h))
	}
	return ids, nil
}

func closeAll(all []net.Listener) {
	for _, ln := range all {
		ln.Close()
	}
}
