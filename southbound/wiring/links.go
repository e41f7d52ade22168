package wiring

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/hint"
)

// End is a port of a device, and the ports of the optical switch at its fibres: one for each lane.
type End struct {
	Device, Port string
	Fibres       []southbound.Port
}

func (e End) String() string { return e.Device + " " + e.Port }

// Link joins two ends in both directions, or from A to B only.
type Link struct {
	A, B    End
	OneWay  bool
	MaxLoss float64 // in dB, of each circuit that the switch measures; 0: any
	MaxRise float64 // likewise, by how much it can be more than at first; 0: any
}

func (l Link) String() string {
	if l.OneWay {
		return l.A.String() + " → " + l.B.String()
	}
	return l.A.String() + " ↔ " + l.B.String()
}

// Circuits returns the cross-connects of the link, lane by lane.
func (l Link) Circuits() []southbound.CrossConnect {
	var out []southbound.CrossConnect
	for i, a := range l.A.Fibres {
		out = append(out, southbound.CrossConnect{In: a, Out: l.B.Fibres[i]})
		if !l.OneWay {
			out = append(out, southbound.CrossConnect{In: l.B.Fibres[i], Out: a})
		}
	}
	return out
}

// Wiring is the links of one testbed through one optical switch.
type Wiring struct {
	Testbed string
	Switch  string
	Links   []Link

	names map[southbound.Port]string // of the ends at the ports of the switch, also of those in no link
}

// Circuits returns what shall stand, sorted by input.
func (w *Wiring) Circuits() []southbound.CrossConnect {
	var out []southbound.CrossConnect
	for _, l := range w.Links {
		out = append(out, l.Circuits()...)
	}
	slices.SortFunc(out, byPorts)
	return out
}

// Lease returns the lease that the links need: both directions of each of their ports. Until is the caller's.
func (w *Wiring) Lease(device, holder string) circuit.Lease {
	ports := map[southbound.Port]bool{}
	for _, l := range w.Links {
		for _, p := range slices.Concat(l.A.Fibres, l.B.Fibres) {
			ports[p] = true
		}
	}
	all := slices.Sorted(maps.Keys(ports))
	return circuit.Lease{Device: device, Group: w.Testbed, Holder: holder, Inputs: all, Outputs: slices.Clone(all)}
}

// Name returns what stands at a port of the switch, such as "3 (leaf0 Ethernet0)".
func (w *Wiring) Name(p southbound.Port) string {
	text := strconv.Itoa(int(p))
	if end := w.names[p]; end != "" {
		text += " (" + end + ")"
	}
	return text
}

// CircuitName returns a circuit with the names of its ends.
func (w *Wiring) CircuitName(x southbound.CrossConnect) string {
	return w.Name(x.In) + "→" + w.Name(x.Out)
}

func byPorts(a, b southbound.CrossConnect) int {
	return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
}

// place puts file, line and column before an error.
type place func(error) error

// plug is one line of a table of ports: a device's port, and what it is plugged into.
type plug struct {
	device, port string
	fibres       string // as written: a port, or several with | between them
	at           place
}

// wish is one line of a table of links.
type wish struct {
	from, to     [2]string // device and port
	oneWay       bool
	maxLoss      float64
	maxRise      float64
	fromAt, toAt place
}

// maxLinks bounds what a file can ask for.
const maxLinks = 1 << 14

// panel is what the tables of ports say.
type panel struct {
	ends map[[2]string]End
	used map[southbound.Port]End
}

// readPanel reads tables of ports. first is the number that the switch's first port has in them.
func readPanel(plugs []plug, first int) (*panel, error) {
	p := &panel{ends: map[[2]string]End{}, used: map[southbound.Port]End{}}
	for _, x := range plugs {
		if err := p.add(x, first); err != nil {
			return nil, wrong(x.at(err), "name each port of a device once, and each port of the switch once")
		}
	}
	return p, nil
}

func (p *panel) add(x plug, first int) error {
	key := [2]string{x.device, x.port}
	if x.device == "" || x.port == "" {
		return errors.New("a device and a port are needed")
	}
	if old, twice := p.ends[key]; twice {
		return fmt.Errorf("port %q of device %q is there twice, first at port %s of the switch", x.port, x.device,
			numbers(old.Fibres, first))
	}
	e := End{Device: x.device, Port: x.port}
	for _, text := range strings.Split(x.fibres, "|") {
		f, err := fibre(text, first)
		if err != nil {
			return err
		}
		if other, taken := p.used[f]; taken {
			return fmt.Errorf("port %s of the switch is at %s, too", strings.TrimSpace(text), other)
		}
		p.used[f] = e
		e.Fibres = append(e.Fibres, f)
	}
	p.ends[key] = e
	return nil
}

func numbers(ports []southbound.Port, first int) string {
	var words []string
	for _, p := range ports {
		words = append(words, strconv.Itoa(int(p)+first))
	}
	return strings.Join(words, "|")
}

// maxFibre is the highest port of a switch that a file can name.
const maxFibre = 1 << 15

// fibre reads a port of the switch: a number from first on, or SONiC's 17A and 17B, which are counted from 1.
func fibre(text string, first int) (southbound.Port, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, "ABab")
	if digits != text {
		first = 1
	}
	n, err := strconv.Atoi(digits)
	if err != nil || len(text)-len(digits) > 1 || n < first || n-first > maxFibre {
		return 0, fmt.Errorf("%q is no port of an optical switch: write a number from %d on, such as %d, or 17A", text,
			first, first+16)
	}
	return southbound.Port(n - first), nil
}

// wire makes a wiring of what the tables say.
func (p *panel) wire(testbed, at string, wishes []wish) (*Wiring, error) {
	w := &Wiring{Testbed: testbed, Switch: at, names: map[southbound.Port]string{}}
	for port, e := range p.used {
		w.names[port] = e.String()
	}
	if len(wishes) > maxLinks {
		return nil, wrong(wishes[maxLinks].fromAt(fmt.Errorf("more than %d links", maxLinks)), "split the file by testbed")
	}
	ins, outs := map[southbound.Port]Link{}, map[southbound.Port]Link{}
	for _, x := range wishes {
		l, err := p.link(x)
		if err != nil {
			return nil, err
		}
		for _, c := range l.Circuits() {
			if other, taken := ins[c.In]; taken {
				return nil, wrong(x.fromAt(fmt.Errorf("what %s sends is wanted twice, first by the link %s", w.Name(c.In),
					other)), "give each port one link")
			}
			if other, taken := outs[c.Out]; taken {
				return nil, wrong(x.toAt(fmt.Errorf("what %s receives is wanted twice, first by the link %s", w.Name(c.Out),
					other)), "give each port one link")
			}
			ins[c.In], outs[c.Out] = l, l
		}
		w.Links = append(w.Links, l)
	}
	return w, nil
}

func (p *panel) link(x wish) (Link, error) {
	a, err := p.end(x.from)
	if err != nil {
		return Link{}, x.fromAt(err)
	}
	b, err := p.end(x.to)
	if err != nil {
		return Link{}, x.toAt(err)
	}
	switch {
	case a.Device == b.Device && a.Port == b.Port:
		return Link{}, wrong(x.toAt(fmt.Errorf("%s is linked to itself", a)), "name another port in the link's second place")
	case len(a.Fibres) != len(b.Fibres):
		return Link{}, wrong(x.toAt(fmt.Errorf("%s has %d lanes, and %s has %d", a, len(a.Fibres), b, len(b.Fibres))),
			"link ports with as many lanes")
	}
	return Link{A: a, B: b, OneWay: x.oneWay, MaxLoss: x.maxLoss, MaxRise: x.maxRise}, nil
}

// end finds a device's port, or says which names are nearest.
func (p *panel) end(key [2]string) (End, error) {
	if e, ok := p.ends[key]; ok {
		return e, nil
	}
	ports, devices := map[string]bool{}, map[string]bool{}
	for k := range p.ends {
		devices[k[0]] = true
		if k[0] == key[0] {
			ports[k[1]] = true
		}
	}
	if !devices[key[0]] {
		return End{}, wrong(fmt.Errorf("device %q has no port at the switch", key[0]), didYouMean(key[0], devices))
	}
	return End{}, wrong(fmt.Errorf("device %q has no port %q at the switch", key[0], key[1]), didYouMean(key[1], ports))
}

// didYouMean names what is nearest to a word: at most three.
func didYouMean(word string, known map[string]bool) string {
	const most = 64
	word = word[:min(len(word), most)]
	near := slices.Sorted(maps.Keys(known))
	edits := make(map[string]int, len(near))
	for _, k := range near {
		edits[k] = topo.Edits(word, k[:min(len(k), most)])
	}
	near = slices.DeleteFunc(near, func(k string) bool { return 2*edits[k] > max(len(word), 4) })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(edits[a], edits[b]) })
	if len(near) == 0 {
		return "add it to the table of ports"
	}
	return "did you mean " + strings.Join(near[:min(len(near), 3)], ", or ") + "?"
}

// wrong marks an error as a mistake in a file.
func wrong(err error, mend string) error { return hint.Wrong(hint.Wrap(err, mend)) }
