package state

import (
	"slices"
	"time"

	"lightloom/southbound"
)

// portInstants is an instant for each port, of which the earliest is asked for often, and those that
// have come.
type portInstants struct {
	at    []time.Duration // southbound.Never for none
	least []time.Duration // of each block
}

// block is the number of ports per entry of least: a change looks at block instants, and a query at
// about as many blocks on a switch of some hundred ports.
const block = 16

// newPortInstants returns those of so many ports, none of which has one.
func newPortInstants(ports int) portInstants {
	return portInstants{slices.Repeat([]time.Duration{southbound.Never}, ports),
		slices.Repeat([]time.Duration{southbound.Never}, (ports+block-1)/block)}
}

// Set gives a port another instant.
func (e *portInstants) Set(port southbound.Port, at time.Duration) {
	was, least := e.at[port], &e.least[port/block]
	e.at[port] = at
	switch {
	case at <= *least:
		*least = at
	case was == *least:
		first := int(port) / block * block
		*least = slices.Min(e.at[first:min(first+block, len(e.at))])
	}
}

// First returns the earliest instant, southbound.Never if there is none.
func (e *portInstants) First() time.Duration {
	first := southbound.Never
	for _, at := range e.least {
		first = min(first, at)
	}
	return first
}

// Due calls f with each block some of whose instants have come, ascending: its first port, and a bit
// for each of those, the lowest for the first.
func (e *portInstants) Due(now time.Duration, f func(first southbound.Port, bits uint64)) {
	for b, least := range e.least {
		if least > now {
			continue
		}
		bits := uint64(0)
		for i, at := range e.at[b*block : min((b+1)*block, len(e.at))] {
			bits |= uint64(at-now-1) >> 63 << i // the sign bit: there is no branch to predict
		}
		f(southbound.Port(b*block), bits)
	}
}
