package target

import (
	"slices"
	"strconv"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/lldp"
)

// Refresh updates the polled state at once, so that subscribers get it: the source of neighbours calls
// it when they change.
func (t *Target) Refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	if !t.down {
		t.refresh()
	}
}

// neighbors puts the LLDP neighbours (openconfig-lldp) into the tree, of those it holds no more than has changed.
func neighbors(t *tree, all []lldp.Heard) {
	was, now := byNeighbor(t.heard), byNeighbor(all)
	speaking := map[int]bool{}
	for _, h := range all {
		speaking[h.Port] = true
	}
	for _, h := range t.heard {
		if said, ok := now[neighborKey{h.Port, h.ID}]; !ok || said != h.Said {
			t.remove(neighbor(h), isState)
		}
		if !speaking[h.Port] {
			t.put(lldpPort(h).With("state", "name"), nil)
		}
	}
	for _, h := range all {
		if said, ok := was[neighborKey{h.Port, h.ID}]; !ok || said != h.Said {
			announced(t, h)
		}
		at := neighbor(h).With("state")
		t.put(at.With("age"), uint64(h.Age.Seconds()))
		t.put(at.With("last-update"), int64(h.Silent.Seconds()))
	}
	t.heard = slices.Clone(all)
}

// neighborKey names a neighbour of a switch.
type neighborKey struct{ port, id int }

func byNeighbor(all []lldp.Heard) map[neighborKey]lldp.Announcement {
	out := make(map[neighborKey]lldp.Announcement, len(all))
	for _, h := range all {
		out[neighborKey{h.Port, h.ID}] = h.Said
	}
	return out
}

func lldpPort(h lldp.Heard) schema.Path {
	return path("lldp", "interfaces").Entry("interface", "name", gnmi.InterfaceName(southbound.Port(h.Port)))
}

func neighbor(h lldp.Heard) schema.Path {
	return lldpPort(h).With("neighbors").Entry("neighbor", "id", strconv.Itoa(h.ID))
}

// announced puts what a neighbour says of itself.
func announced(t *tree, h lldp.Heard) {
	t.put(lldpPort(h).With("state", "name"), gnmi.InterfaceName(southbound.Port(h.Port)))
	at := neighbor(h).With("state")
	for _, l := range []schema.Leaf{
		{Path: at.With("id"), Value: strconv.Itoa(h.ID)},
		{Path: at.With("chassis-id"), Value: h.Said.Chassis},
		{Path: at.With("chassis-id-type"), Value: h.Said.ChassisKind},
		{Path: at.With("port-id"), Value: h.Said.Port},
		{Path: at.With("port-id-type"), Value: h.Said.PortKind},
		{Path: at.With("ttl"), Value: uint64(h.Said.TTL.Seconds())},
	} {
		t.put(l.Path, l.Value)
	}
	if h.Said.System != "" {
		t.put(at.With("system-name"), h.Said.System)
	}
	if h.Said.Description != "" {
		t.put(at.With("port-description"), h.Said.Description)
	}
}
