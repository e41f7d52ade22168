package rollout

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Wanted returns the tables of the last CheckWanted.
func (c *Checker) Wanted() *Fabric { return c.wanted }

// Busy reports whether a move is in progress, or has settled without a report by Next yet.
func (m *Mover) Busy() bool { return len(m.moves)+len(m.out) > 0 }

// Lit returns the output that an input was last reported to be connected to, or NoPort.
func (m *Mover) Lit(in southbound.Port) southbound.Port { return m.lit[in] }

// Check checks a fabric once.
func Check(f *Fabric) error { return new(Checker).Check(f) }

// Walk follows a packet from rack src to rack dst and returns the links it takes, or why it does not arrive.
func (f *Fabric) Walk(src, dst southbound.RackID, tag southbound.Tag) ([]pathmap.LinkID, error) {
	return f.walk(nil, new(devices), src, dst, tag)
}
