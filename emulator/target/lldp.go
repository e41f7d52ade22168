package target

import (
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

// neighbors puts the LLDP neighbours (openconfig-lldp) into the tree.
func neighbors(t *tree, all []lldp.Heard) {
	t.remove(path("lldp", "interfaces"), isState)
	for _, h := range all {
		iface := gnmi.InterfaceName(southbound.Port(h.Port))
		port := path("lldp", "interfaces").Entry("interface", "name", iface)
		t.put(port.With("state", "name"), iface)
		at := port.With("neighbors").Entry("neighbor", "id", strconv.Itoa(h.ID)).With("state")
		for _, l := range []schema.Leaf{
			{Path: at.With("id"), Value: strconv.Itoa(h.ID)},
			{Path: at.With("chassis-id"), Value: h.Said.Chassis}, {Path: at.With("chassis-id-type"),
				Value: h.Said.ChassisKind},
			{Path: at.With("port-id"), Value: h.Said.Port}, {Path: at.With("port-id-type"),
				Value: h.Said.PortKind},
			{Path: at.With("ttl"), Value: uint64(h.Said.TTL.Seconds())},
			{Path: at.With("age"), Value: uint64(h.Age.Seconds())},
			{Path: at.With("last-update"), Value: int64(h.Silent.Seconds())},
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
}
