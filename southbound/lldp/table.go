package lldp

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Neighbor is the station at the other end of a port's cable, as last heard.
type Neighbor struct {
	ID   int // distinguishes neighbours of one port; not reused
	Said Announcement
	At   time.Duration // when it was heard last
	Came time.Duration // and first
}

// maxNeighbors bounds the neighbours of one port: more are a station that makes up names.
const maxNeighbors = 16

// Table is the neighbours at the ports of one switch. It has no clock and no lock: callers pass instants.
type Table struct {
	ports [][]Neighbor
	next  int
}

// NewTable makes the table of a switch of n ports.
func NewTable(n int) *Table { return &Table{ports: make([][]Neighbor, n), next: 1} }

// Hear takes an announcement received at a port, and reports whether the port's neighbours have changed.
func (t *Table) Hear(now time.Duration, port int, a Announcement) (changed bool) {
	if port < 0 || port >= len(t.ports) {
		return false
	}
	changed = t.Expire(now)
	all := t.ports[port]
	i := slices.IndexFunc(all, func(n Neighbor) bool {
		return n.Said.Chassis == a.Chassis &&
			n.Said.Port == a.Port
	})
	switch {
	case a.TTL == 0 && i >= 0:
		t.ports[port] = slices.Delete(all, i, i+1)
		return true
	case a.TTL == 0:
		return changed
	case i >= 0:
		changed = changed || all[i].Said != a
		all[i].Said, all[i].At = a, now
		return changed
	case len(all) == maxNeighbors:
		return changed
	}
	t.ports[port] = append(all, Neighbor{ID: t.next, Said: a, At: now, Came: now})
	t.next++
	return true
}

// Expire removes neighbours whose time to live has passed.
func (t *Table) Expire(now time.Duration) (changed bool) {
	for p, all := range t.ports {
		kept := slices.DeleteFunc(all, func(n Neighbor) bool { return now >= n.At+n.Said.TTL })
		changed = changed || len(kept) < len(all)
		t.ports[p] = kept
	}
	return changed
}

// At returns the neighbours at a port, by ID.
func (t *Table) At(port int) []Neighbor {
	all := slices.Clone(t.ports[port])
	slices.SortFunc(all, func(a, b Neighbor) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Heard is a neighbour as a switch reports it.
type Heard struct {
	Port   int
	ID     int
	Said   Announcement
	Age    time.Duration // since it was heard first
	Silent time.Duration // since it was heard last; negative: unknown
}

// Within reports whether a neighbour has spoken within that time. Switches report whole seconds, rounded down. One that
// reports none must have forgotten what is older, or it is an error.
func (h Heard) Within(d time.Duration) (bool, error) {
	switch {
	case h.Silent >= 0:
		return h.Silent+time.Second <= d, nil
	case h.Said.TTL < d:
		return true, nil // what is old has gone by itself
	}
	return false, fmt.Errorf("it does not tell when it last heard %s, and forgets it only after %v", h.Said.Chassis,
		h.Said.TTL)
}

// All returns all current neighbours, by port and ID.
func (t *Table) All(now time.Duration) []Heard {
	t.Expire(now)
	var all []Heard
	for p := range t.ports {
		for _, n := range t.At(p) {
			all = append(all, Heard{Port: p, ID: n.ID, Said: n.Said, Age: now - n.Came, Silent: now - n.At})
		}
	}
	return all
}
