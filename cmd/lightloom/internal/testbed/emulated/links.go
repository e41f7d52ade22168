package emulated

import "lightloom/pathmap"

// LinkStatus is what passed a link lately.
type LinkStatus struct {
	Link     pathmap.LinkID        `json:"link"`
	From     string                `json:"from"`
	To       string                `json:"to"`
	Capacity pathmap.BitsPerSecond `json:"capacity_bits_per_second"`
	Rate     pathmap.BitsPerSecond `json:"rate_bits_per_second"`
	Drops    uint64                `json:"drops_per_second"`
	Span     float64               `json:"span_seconds"` // what rate and drops are the means of; 0: not known yet
}

// idleShare is the part of a link's capacity below which it is left out of a table: announcements of neighbours alone.
const idleShare = 1000

// Busy says whether a link is worth a line of a table.
func (l LinkStatus) Busy() bool {
	return l.Span > 0 && l.Rate >= l.Capacity/idleShare || l.Drops > 0
}
