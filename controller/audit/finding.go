package audit

import (
	"fmt"
	"slices"
)

// Kind is what is wrong with a fibre.
type Kind string

// The kinds.
const (
	Swapped    Kind = "swapped"    // it and another are in each other's place
	Misplaced  Kind = "misplaced"  // another end than expected is behind it, and there is no simple exchange
	Dead       Kind = "dead"       // an end should be behind it, and none is
	Unexpected Kind = "unexpected" // no end should be behind it, and one is
	Stranger   Kind = "stranger"   // the end behind it is at no port of the fabric's switches
	Bypass     Kind = "bypass"     // two ends hear each other without the optical switch
	Doubtful   Kind = "doubtful"   // what was observed cannot be
)

// Fibre names the fibres of a port.
type Fibre string

// The fibres: one leads to the optical switch, one away from it.
const (
	In   Fibre = "in"
	Out  Fibre = "out"
	Both Fibre = "both"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Kind     Kind   `json:"kind"`
	Switch   string `json:"switch,omitempty"` // the optical switch, by whose name its ports are told
	Port     int    `json:"port"`             // of the optical switch; -1: none
	Fibre    Fibre  `json:"fibre,omitempty"`
	With     int    `json:"with"`                  // the other port of an exchange; -1: none
	OnSwitch string `json:"with_switch,omitempty"` // the optical switch of With, where it is another one
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	Belongs  string `json:"belongs,omitempty"` // the port at which what was found is expected
	Why      string `json:"why,omitempty"`
}

func (f Finding) String() string {
	which := map[Fibre]string{In: "the fibre into", Out: "the fibre out of", Both: "both fibres of"}[f.Fibre]
	leads := "leads"
	if f.Fibre == Both {
		leads = "lead"
	}
	switch f.Kind {
	case Swapped:
		with := f.with()
		return fmt.Sprintf("swapped: %s %s and %s are in each other's place (%s is found at %s)", which,
			f.port(f.Port), with, f.Expected, with)
	case Misplaced:
		return fmt.Sprintf("misplaced: %s %s %s to %s%s, expected is %s", which, f.port(f.Port), leads, f.Found,
			f.belongs(), f.Expected)
	case Dead:
		return fmt.Sprintf("dead: nothing comes through %s %s, expected is %s", which,
			f.port(f.Port), f.Expected)
	case Unexpected:
		return fmt.Sprintf("unexpected: %s %s %s to %s%s, expected is nothing", which, f.port(f.Port), leads, f.Found,
			f.belongs())
	case Stranger:
		return fmt.Sprintf("stranger: %s %s %s to %s, which no switch of this fabric has", which,
			f.port(f.Port), leads,
			f.Found)
	case Bypass:
		return fmt.Sprintf("bypass: %s hears %s without any circuit", f.Expected, f.Found)
	}
	return "doubtful: " + f.Why
}

// port is what a port of the optical switch is called.
func (f Finding) port(p int) string {
	if f.Switch == "" {
		return fmt.Sprintf("port %d", p)
	}
	return fmt.Sprintf("%s:%d", f.Switch, p)
}

// belongs says where what was found is expected.
func (f Finding) belongs() string {
	if f.Belongs == "" {
		return ""
	}
	return ", which belongs to " + f.Belongs
}

// with names the other port of an exchange.
func (f Finding) with() string {
	if f.OnSwitch != "" {
		f.Switch = f.OnSwitch
	}
	return f.port(f.With)
}

// differences names what differs from the expected map: by port, then the fibre.
func (w *Walk) differences(expected Map) []Finding {
	expected.check()
	if expected.Ports() != w.n {
		panic(fmt.Sprintf("audit: compare maps of %d and %d ports", expected.Ports(), w.n))
	}
	var all []Finding
	for p := range expected.In {
		in, hasIn := w.differ(expected, expected.In, w.found.In, p, In)
		out, hasOut := w.differ(expected, expected.Out, w.found.Out, p, Out)
		if merged, ok := merge(in, out); hasIn && hasOut && ok {
			all = append(all, merged)
			continue
		}
		if hasIn {
			all = append(all, in)
		}
		if hasOut {
			all = append(all, out)
		}
	}
	// An exchange is named once, at its smaller port.
	return slices.DeleteFunc(all, func(f Finding) bool {
		return f.Kind == Swapped &&
			f.With < f.Port && mirrored(all, f)
	})
}

// mirrored reports whether the other port of an exchange names it as well, for the same fibres.
func mirrored(all []Finding, f Finding) bool {
	return slices.ContainsFunc(all, func(o Finding) bool {
		return o.Kind == Swapped && o.Port == f.With && o.With == f.Port && o.Fibre == f.Fibre
	})
}

// merge joins what is wrong with both fibres of a port in the same way.
func merge(in, out Finding) (Finding, bool) {
	same := in
	same.Fibre = out.Fibre
	if same != out {
		return Finding{}, false
	}
	same.Fibre = Both
	return same, true
}

// differ returns what is wrong with one fibre.
func (w *Walk) differ(expected Map, want, got []End, p int, fibre Fibre) (Finding, bool) {
	if want[p] == got[p] {
		return Finding{}, false
	}
	f := Finding{Port: p, Fibre: fibre, With: -1}
	if !want[p].IsZero() {
		f.Expected = w.names.end(want[p])
	}
	if !got[p].IsZero() {
		f.Found = w.names.end(got[p])
		if at := slices.Index(want, got[p]); at >= 0 {
			if f.Belongs = w.portName(at); w.names.Switches == nil {
				f.Belongs = "port " + f.Belongs
			}
		}
	}
	at := slices.Index(got, want[p])
	switch {
	case got[p].IsZero():
		f.Kind = Dead
	case !expected.knows(got[p]):
		f.Kind = Stranger
	case want[p].IsZero():
		f.Kind = Unexpected
	case at >= 0 && want[at] == got[p]:
		f.Kind, f.With = Swapped, at
	default:
		f.Kind = Misplaced
	}
	return f, true
}

// knows reports whether the map holds an end.
func (m Map) knows(e End) bool { return slices.Contains(m.In, e) || slices.Contains(m.Out, e) }

// Judge names what differs between the expected map and what a walk has found, and what else it has met: doubts, and
// ends that should hear each other through optical switches alone and do so without them.
func Judge(expected Map, w *Walk) []Finding {
	all := w.differences(expected)
	for i := range all {
		w.locate(&all[i])
	}
	for _, h := range sorted(w.direct) {
		if expected.knows(h.At) {
			all = append(all, Finding{Kind: Bypass, Port: -1, With: -1, Expected: w.names.end(h.At),
				Found: w.names.end(h.From)})
		}
	}
	for _, d := range w.doubts {
		why := d.Why
		if d.In >= 0 && d.Out >= 0 {
			why = fmt.Sprintf("circuit %s→%s: %s", w.portName(int(d.In)), w.portName(int(d.Out)), why)
		}
		all = append(all, Finding{Kind: Doubtful, Port: -1, With: -1, Why: why})
	}
	return all
}
