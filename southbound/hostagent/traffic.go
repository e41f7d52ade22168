package hostagent

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// odometer counts the bytes that hosts have sent each other by TCP, from any program: their kernels
// count them for each connection, and report them by INET_DIAG. It misses connections that begin and
// end between two readings, and all other protocols. Readers hold the lock.
type odometer struct {
	mu    sync.Mutex
	doors map[southbound.HostID]lister // those opened so far
	buf   [32 << 10]byte               // of their answers
	host  map[netip.Addr]southbound.HostID
	conns map[connection]reading
	total map[[2]southbound.HostID]pathmap.Bytes
	beat  uint64
}

// lister lists the connections of a host: connLister.
type lister interface {
	each(buf []byte, do func(tcpConn)) error
	close() error
}

// connection is a socket of a host; the kernel's cookie tells it from an earlier one with the same ports.
type connection struct {
	host   southbound.HostID
	cookie uint64
}

type reading struct {
	acked uint64
	beat  uint64 // when it was last met
}

func newOdometer(n *network) *odometer {
	o := &odometer{doors: map[southbound.HostID]lister{}, conns: map[connection]reading{},
		total: map[[2]southbound.HostID]pathmap.Bytes{}}
	o.know(n)
	return o
}

// know has the odometer tell hosts by their addresses.
func (o *odometer) know(n *network) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host = make(map[netip.Addr]southbound.HostID, n.hosts())
	for h, at := range n.addr {
		o.host[at.Addr().Unmap()] = southbound.HostID(h)
	}
}

// Traffic returns what the hosts here have sent to each other host by TCP so far, received payload,
// sorted by source and destination: of jobs, and of whatever else runs there.
func (a *Agent) Traffic() ([]wire.Moved, error) {
	o := a.odometer
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.ctx.Err() != nil {
		return nil, fmt.Errorf("count traffic: %w", errClosed)
	}
	o.beat++
	n := a.net()
	for h := range southbound.HostID(n.hosts()) {
		if !n.local(h) {
			continue
		}
		if err := o.read(a, h); err != nil {
			return nil, fmt.Errorf("count traffic of host %d: %w", h, err)
		}
	}
	for c, r := range o.conns { // each for itself
		if r.beat != o.beat {
			delete(o.conns, c)
		}
	}
	return o.sorted(), nil
}

// read adds up what a host's connections have sent since the last reading.
func (o *odometer) read(a *Agent, h southbound.HostID) error {
	if o.doors[h] == nil {
		if err := a.cfg.Net.InHost(h, func() (err error) {
			d, err := listConns()
			if err == nil {
				o.doors[h] = d
			}
			return err
		}); err != nil {
			return err
		}
	}
	return o.list(h, o.buf[:])
}

// list adds up what is listed through a host's door. A listing that was given up would go on in the kernel, which takes
// no other from the door meanwhile: the next reading opens another.
func (o *odometer) list(h southbound.HostID, buf []byte) error {
	err := o.doors[h].each(buf, func(c tcpConn) { o.add(h, c) })
	if err == nil || errors.Is(err, unix.ENOENT) { // the kernel has no tcp_diag: nothing is counted
		return nil
	}
	_ = o.doors[h].close()
	delete(o.doors, h)
	return err
}

// add counts one connection of a host, if the other end is a host too.
func (o *odometer) add(h southbound.HostID, s tcpConn) {
	to, ok := o.host[s.dst.Addr()]
	if from, mine := o.host[s.src.Addr()]; !ok || !mine || from != h || to == h {
		return
	}
	c := connection{h, s.cookie}
	if was := o.conns[c].acked; s.acked > was {
		o.total[[2]southbound.HostID{h, to}] += pathmap.Bytes(s.acked - was)
	}
	o.conns[c] = reading{max(s.acked, o.conns[c].acked), o.beat}
}

func (o *odometer) sorted() []wire.Moved {
	all := make([]wire.Moved, 0, len(o.total))
	for pair, b := range o.total {
		all = append(all, wire.Moved{Src: pair[0], Dst: pair[1], Bytes: b})
	}
	slices.SortFunc(all, func(a, b wire.Moved) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src),
			cmp.Compare(a.Dst, b.Dst))
	})
	return all
}

func (o *odometer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.doors {
		_ = d.close()
	}
}
