package loop

import (
	"maps"
	"slices"
	"time"

	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// cables is which ports have light, and what has changed since the policy was asked last.
type cables struct {
	uplinks [][]int32              // by device: its ports that face the OCS, of a ToR
	dark    map[state.PortRef]bool // ports that the devices' streams reported down, except those to the OCS
	avoided []state.PortRef        // ports that the base's tables keep clear of
	cut     []bool                 // by link: what they are, with the other direction; nil before the first
	changed []bool                 // by link: came or went since the last decision; nil: none
	pairs   []pathmap.Pair         // of racks with a path over one of them; nil: none, or there is no index
}

func newCables(f *topo.Fabric) cables {
	c := cables{uplinks: make([][]int32, len(f.Topology.Nodes())), dark: map[state.PortRef]bool{}}
	for p := range f.OCSPorts() {
		tor := f.ToRNode[f.OCSRack(int32(p))]
		c.uplinks[tor] = append(c.uplinks[tor], f.OCSUplink[p])
	}
	return c
}

// followsCircuits reports whether a port of a ToR faces the OCS: that it is dark follows from the
// circuits, and is no failure.
func (c *cables) followsCircuits(e *southbound.DeviceEvent) bool {
	return slices.Contains(c.uplinks[e.Device], int32(e.In))
}

// told notes what a stream reports of a port.
func (c *cables) told(p state.PortRef, up bool) {
	if up {
		delete(c.dark, p)
	} else {
		c.dark[p] = true
	}
}

// forget drops what a device's stream has reported: it has ended.
func (c *cables) forget(d southbound.DeviceID) {
	maps.DeleteFunc(c.dark, func(p state.PortRef, _ bool) bool { return p.Device == d })
}

// avoid notes which ports are down, and reports whether that changes which links can be used.
func (c *cables) avoid(t *pathmap.Topology, down []state.PortRef) bool {
	if slices.Equal(c.avoided, down) {
		return false
	}
	c.avoided = slices.Clone(down)
	cut := make([]bool, len(t.Links()))
	for _, p := range c.avoided {
		if id := t.OutPort(p.Device, int32(p.Port)); id != pathmap.None {
			cut[id], cut[pathmap.Reverse(id)] = true, true
		}
	}
	if slices.Equal(cut, c.cut) {
		return false // the other end of a cable that is known to be dark
	}
	if c.changed == nil {
		c.changed = make([]bool, len(cut))
	}
	for id := range cut {
		if was := c.cut != nil && c.cut[id]; was != cut[id] {
			c.changed[id] = true
		}
	}
	c.cut = cut
	return true
}

// findPairs looks up in the index which racks have a path over a link that has changed.
func (c *cables) findPairs(index *live.Paths) {
	if index == nil {
		return
	}
	c.pairs = []pathmap.Pair{}
	for id := 0; id < len(c.changed); id += 2 { // both directions of a cable change together
		if c.changed[id] || c.changed[id+1] {
			c.pairs = append(c.pairs, index.Users(pathmap.LinkID(id))...)
		}
	}
	slices.SortFunc(c.pairs, pathmap.ComparePairs)
	c.pairs = slices.Compact(c.pairs)
}

// avoid makes the tables keep clear of the ports that are down. A switch whose contents are known gets
// its changes at once, and is read back afterwards: reading it first would cost a round trip with
// packets lost in it. Any other switch is read first, and then changed.
//
// It uses the reports of this pass before they are committed: which ports have light is no decision. If
// a leader dies before it commits the entry, its successor makes the tables anew from what the switches
// then report.
func (l *Loop) avoid(s *state.State, now time.Duration) {
	c, act := &l.cables, &l.pass.act
	if !c.avoid(l.fabric.Topology, l.pass.downPorts(s)) {
		return
	}
	c.findPairs(l.cfg.Index)
	steered := l.wantedCircuits(s)
	before := make(map[southbound.DeviceID][]southbound.Rule)
	for _, d := range l.base.Devices() {
		if !l.fabric.IsOCS(d) && l.devices.known(d) {
			before[d] = l.base.Rules(d, steered)
		}
	}
	l.base.Avoid(func(id pathmap.LinkID) bool { return c.cut[id] })
	others := act.Sets
	act.Sets = nil
	for _, d := range l.base.Devices() {
		rules, sure := before[d]
		switch {
		case l.fabric.IsOCS(d) || l.devices.away[d]:
		case !sure:
			l.pass.read(d)
		default:
			l.send(d, l.base.Rules(d, steered), rules)
		}
	}
	act.Urgent, act.Sets = act.Sets, others
	l.devices.fastReroute.begin(now, act.Urgent)
}

// port notes that a port has light, or none.
func (l *Loop) port(s *state.State, now time.Duration, p state.PortRef, up bool) {
	l.cables.told(p, up)
	if l.pass.portUp(s, p) != up {
		l.pass.add(state.Entry{Kind: state.PortSeen, At: now, Device: p.Device, Port: p.Port, OK: up})
		if !up && l.fabric.IsOCS(p.Device) {
			l.darkPort(s, now, l.portOf(p.Device, p.Port))
		}
		l.pending.changed(now)
	}
}

// synced handles a device whose stream has begun or is back after a break: earlier knowledge of it is
// invalid, and a port that it has not just reported down is up.
func (l *Loop) synced(s *state.State, now time.Duration, d southbound.DeviceID) {
	for _, p := range s.Live().Down {
		if p.Device == d && !l.cables.dark[p] {
			l.port(s, now, p, true)
		}
	}
	l.pass.read(d)
}
