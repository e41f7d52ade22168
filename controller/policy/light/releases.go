package light

import (
	"math/bits"
	"time"

	"lightloom/southbound"
)

// releases says of each port when it may next become free. There is one instant a port at most, so that a list by port
// and the least of each group of ports are sooner kept than a heap.
type releases struct {
	at     []time.Duration // by port; southbound.Never: none
	least  []time.Duration // by group: of its ports
	shift  int             // of a port, to its group
	change uint64          // groups whose least may be another
}

// fit makes room for so many ports.
func (r *releases) fit(ports int) {
	for r.shift = 4; ports>>r.shift >= 64; r.shift++ {
	}
	r.at, r.least = make([]time.Duration, ports), make([]time.Duration, (ports-1)>>r.shift+1)
	r.clear()
}

func (r *releases) clear() {
	for port := range r.at {
		r.at[port] = southbound.Never
	}
	for g := range r.least {
		r.least[g] = southbound.Never
	}
}

// set has a port be released at an instant, and then alone. first does not know of it before settle.
func (r *releases) set(port int, at time.Duration) {
	if r.at[port] != at {
		r.at[port] = at
		r.change |= 1 << (port >> r.shift)
	}
}

func (r *releases) settle() {
	for ; r.change != 0; r.change &= r.change - 1 {
		g := bits.TrailingZeros64(r.change)
		least := southbound.Never
		for _, at := range r.group(g) {
			least = min(least, at)
		}
		r.least[g] = least
	}
}

func (r *releases) group(g int) []time.Duration {
	return r.at[g<<r.shift : min((g+1)<<r.shift, len(r.at))]
}

// first returns the first instant at which a port is released, southbound.Never if none is.
func (r *releases) first() time.Duration {
	first := southbound.Never
	for _, least := range r.least {
		first = min(first, least)
	}
	return first
}

// due adds the ports that are released at the first instant to sets of inputs and outputs.
func (r *releases) due(first time.Duration, to *[2][]uint64) {
	for g, least := range r.least {
		if least != first {
			continue
		}
		for k, at := range r.group(g) {
			if at == first {
				port := g<<r.shift + k
				to[port&1][port>>1/64] |= 1 << (port >> 1 % 64)
			}
		}
	}
}
