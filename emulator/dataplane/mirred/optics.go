package mirred

import (
	"fmt"
	"slices"
	"time"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// circuit is the filters of one OCS. Its caller holds the plane's lock.
type circuit struct {
	p     *Plane
	bar   dataplane.Crossbar
	lit   []bool // by input: the kernel holds its circuit
	due   []due  // circuits still dark, by (At, In)
	wake  chan struct{}
	quit  chan struct{}
	ended chan struct{}
	err   error
}

// due is a circuit that is made at an instant, and not before.
type due struct {
	at  time.Time
	in  southbound.Port
	out southbound.Port
}

const circuitNode, sinkNode = 1, 2

func newCircuit(p *Plane) (*circuit, error) {
	n := len(p.Switch.Ports)
	c := &circuit{p: p, bar: dataplane.NewCrossbar(n), lit: make([]bool, n),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{})}
	for _, link := range p.Switch.Ports {
		if link == 0 {
			continue
		}
		if err := dataplane.Hook(p.nl, link, nil); err != nil {
			return nil, err
		}
		if err := at(p, link).put(node{handle: knode(rootTable, 0, sinkNode),
			action: p.sink.action()}); err != nil {
			return nil, err
		}
	}
	go c.run()
	return c, nil
}

func at(p *Plane, link int) *block {
	return &block{nl: p.nl, link: link, parent: netlink.HANDLE_MIN_INGRESS, protocol: anyEth}
}

// Move returns once the moved ports are dark; a thread of the plane's own makes the circuits. If the
// kernel refuses one then, Plane.Err returns the error.
func (c *circuit) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	next, gone, made, err := c.bar.Move(off, on)
	if err != nil {
		return err
	}
	c.bar = next
	c.due = slices.DeleteFunc(c.due, func(d due) bool { return slices.Contains(gone, d.in) })
	for _, in := range gone {
		if !c.lit[in] {
			continue
		}
		if err := at(c.p, c.p.Switch.Ports[in]).del(knode(rootTable, 0, circuitNode)); err != nil {
			return fmt.Errorf("darken input %d: %w", in, err)
		}
		c.lit[in] = false
	}
	// The clock is read when the last port is dark, so that no dark time is ever short.
	when := time.Now().Add(dark)
	for _, x := range made {
		if dark <= 0 {
			if err := c.light(x.In, x.Out); err != nil {
				return err
			}
			continue
		}
		c.due = append(c.due, due{when, x.In, x.Out})
	}
	slices.SortFunc(c.due, func(a, b due) int {
		if d := a.at.Compare(b.at); d != 0 {
			return d
		}
		return int(a.in - b.in)
	})
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

func (c *circuit) light(in, to southbound.Port) error {
	n := node{handle: knode(rootTable, 0, circuitNode), action: out(c.p.Switch.Ports[to])}
	if err := at(c.p, c.p.Switch.Ports[in]).put(n); err != nil {
		return fmt.Errorf("light circuit %d→%d: %w", in, to, err)
	}
	c.lit[in] = true
	return nil
}
