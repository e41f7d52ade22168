package gribi

import (
	"fmt"
	"net/netip"
	"strings"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// Names are what a switch calls what rules are made of.
type Names struct {
	Ports, Racks int32

	Default string // the network instance of rules for any tag
	Tagged  string // those of tags, such as TAG%d; empty: the switch takes rules for any tag only

	// Local has groups and next hops stand in the network instance of their routes, and not all in Default.
	Local bool
	// NoBackups says that the switch knows no backup groups: rules with a backup are refused, or with
	// ControllerBackup programmed without it: the controller falls back by another change.
	NoBackups, ControllerBackup bool

	NextHop   func(southbound.Port) netip.Addr     // what is at a port's far end
	Prefix    func(southbound.RackID) netip.Prefix // of a rack's hosts
	Interface func(southbound.Port) string         // named beside the next hop; nil: it is not
}

// OpenConfig returns the names of a switch as OpenConfig's models call things.
func OpenConfig(ports, racks int32) Names {
	return Names{Ports: ports, Racks: racks, Default: gnmi.Instance, Tagged: "TAG%d", NextHop: gnmi.NextHop,
		Prefix: southbound.RackPrefix}
}

// SONiC returns the names of a SONiC switch, whose gRIBI server wants groups beside their routes and
// interfaces beside next hops, and passes over backup groups.
func SONiC(ports, racks int32, name func(southbound.Port) string) Names {
	return Names{Ports: ports, Racks: racks, Default: gnmi.Instance, Tagged: "Vrftag%d", Local: true,
		NoBackups: true,
		NextHop:   gnmi.NextHop, Prefix: southbound.RackPrefix, Interface: name}
}

// Check returns what is wrong with a format of network instances.
func Check(tagged string) error {
	if tagged != "" && (strings.Count(tagged, "%") != 1 || !strings.Contains(tagged, "%d")) {
		return fmt.Errorf("%q: write one %%d where the tag stands, such as TAG%%d", tagged)
	}
	return nil
}

// instance returns the network instance of a match's route; false if the switch has none.
func (n *Names) instance(m southbound.Match) (string, bool) {
	switch {
	case m.Tag == southbound.AnyTag:
		return n.Default, true
	case n.Tagged == "" || !m.Tag.OnWire():
		return "", false
	}
	return fmt.Sprintf(n.Tagged, m.Tag), true
}

// Instances returns the network instances in which rules can stand, with their tags.
func (n *Names) Instances() map[string]southbound.Tag {
	out := map[string]southbound.Tag{n.Default: southbound.AnyTag}
	for t := range southbound.Tag(southbound.Tags) {
		if name, ok := n.instance(southbound.Match{Tag: t}); ok {
			out[name] = t
		}
	}
	return out
}

// racks returns the racks of prefixes, and ports the ports of next hops.
func (n *Names) racks() map[string]southbound.RackID {
	out := make(map[string]southbound.RackID, n.Racks)
	for r := range southbound.RackID(n.Racks) {
		out[n.Prefix(r).String()] = r
	}
	return out
}

func (n *Names) ports() map[string]southbound.Port {
	out := make(map[string]southbound.Port, n.Ports)
	for p := range southbound.Port(n.Ports) {
		out[n.NextHop(p).String()] = p
	}
	return out
}

// groupsIn returns where the groups of a network instance's routes stand.
func (n *Names) groupsIn(instance string) string {
	if n.Local {
		return instance
	}
	return n.Default
}

// Ids of our entries begin with owner, so that whoever reads them knows whose they are: then comes what
// they are of.
const (
	owner    = uint64(0x4c4c) << 48
	ofGroup  = uint64(1) << 40
	portBits = 20
)

// ours reports whether an id is of our entries.
func ours(id uint64) bool { return id>>48 == owner>>48 }

// hopID and groupID are the ids of a port's next hop, and of a group with its backup.
func hopID(p southbound.Port) uint64 { return owner | uint64(p) }

func groupID(primary, backup southbound.Port) uint64 {
	return owner | ofGroup | uint64(backup+1)<<portBits | uint64(primary)
}
