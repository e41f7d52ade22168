package emulated

import "lightloom/pathmap"

// LinkStatus is the recent traffic of a link.
type LinkStatus struct {
	Link     pathmap.LinkID        `json:"link"`
	From     string                `json:"from"`
	To       string                `json:"to"`
	Capacity pathmap.BitsPerSecond `json:"capacity_bits_per_second"`
	Rate     pathmap.BitsPerSecond `json:"rate_bits_per_second"`
	Drops    uint64                `json:"drops_per_second"`
	Span     float64               `json:"span_seconds"` // what rate and drops are the means of; 0: not known yet
	Age      float64               `json:"age_seconds"`  // for how long nothing newer has been counted
}

// idleShare is the part (1/idleShare) of a link's capacity below which a table omits it: it carries
// only LLDP.
const idleShare = 1000

// staleAfter is the age from which a value says nothing of now: counters are read every second.
const staleAfter = 5

// Stale reports whether the value is too old to be taken for what is so now.
func (l LinkStatus) Stale() bool { return l.Span > 0 && l.Age > staleAfter }

// Busy reports whether a table shows the link.
func (l LinkStatus) Busy() bool {
	return l.Span > 0 && l.Rate >= l.Capacity/idleShare || l.Drops > 0
}
