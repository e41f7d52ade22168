package fault

import (
	"fmt"
	"strconv"
	"strings"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// fibre is what was done to fibres at the optical switch: those of port a were pulled, or exchanged
// with those of port b, which is the larger.
type fibre struct {
	swap    bool
	a, b    southbound.Port
	in, out bool // those that lead into the switch, and out of it
}

// Parts of a fibre's name.
const (
	swapped = "swap"
	pulled  = "pull"
)

func (x fibre) String() string {
	s := fmt.Sprintf("%s:%d", pulled, x.a)
	if x.swap {
		s = fmt.Sprintf("%s:%d:%d", swapped, x.a, x.b)
	}
	switch {
	case !x.out:
		s += ":in"
	case !x.in:
		s += ":out"
	}
	return s
}

// fibreNames lists names to choose from: each port pulled, and exchanged with the next.
func fibreNames(f *topo.Fabric) (names []string) {
	if f.OCSes() != 1 {
		return nil
	}
	ports := f.Topology.Ports(f.OCSNode)
	for p := range ports {
		names = append(names, fmt.Sprintf("%s:%d", pulled, p))
	}
	for p := range ports - 1 {
		names = append(names, fmt.Sprintf("%s:%d:%d", swapped, p, p+1))
	}
	return names
}

// fibre reads swap:A:B or pull:A, with :in, :out or :both after it; false for what the fabric does not have.
func (n *Names) fibre(name string) (x fibre, ok bool) {
	if n.fabric.OCSes() != 1 { // there is one patch panel, before a single switch
		return x, false
	}
	words := strings.Split(name, ":")
	x.in, x.out = true, true
	switch words[len(words)-1] {
	case "in":
		x.out = false
	case "out":
		x.in = false
	case "both":
	default:
		words = append(words, "")
	}
	words = words[:len(words)-1]
	ports := make([]southbound.Port, 0, 2)
	for _, w := range words[min(1, len(words)):] {
		p, err := strconv.ParseUint(w, 10, 31)
		if err != nil || int32(p) >= n.fabric.Topology.Ports(n.fabric.OCSNode) || len(ports) == 2 {
			return x, false
		}
		ports = append(ports, southbound.Port(p))
	}
	switch {
	case len(ports) == 1 && words[0] == pulled:
		x.a = ports[0]
		return x, true
	case len(ports) == 2 && words[0] == swapped && ports[0] != ports[1]:
		x.swap, x.a, x.b = true, min(ports[0], ports[1]), max(ports[0], ports[1])
		return x, true
	}
	return x, false
}

// replug does something to fibres or undoes it, and says where all of them sit then: as if what has
// been done and not undone had been done in its order to fibres where they belong.
func (d *Damage) replug(x fibre, heal bool) Change {
	if heal {
		for i, o := range d.fibres {
			if o == x {
				d.fibres = append(d.fibres[:i:i], d.fibres[i+1:]...)
				break
			}
		}
	} else {
		d.fibres = append(d.fibres, x)
	}
	ports := d.names.fabric.Topology.Ports(d.names.fabric.OCSNode)
	c := Change{Kind: Fibre, Up: heal, In: straight(ports), Out: straight(ports)}
	for _, o := range d.fibres {
		if o.in {
			o.apply(c.In)
		}
		if o.out {
			o.apply(c.Out)
		}
	}
	return c
}

func (x fibre) apply(at []southbound.Port) {
	if x.swap {
		at[x.a], at[x.b] = at[x.b], at[x.a]
		return
	}
	at[x.a] = southbound.NoPort
}

func straight(ports int32) []southbound.Port {
	at := make([]southbound.Port, ports)
	for p := range at {
		at[p] = southbound.Port(p)
	}
	return at
}
