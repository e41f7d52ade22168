package wiring

import (
	"fmt"
	"slices"

	"lightloom/southbound"
)

// Finding is what is wrong with a link.
type Finding struct {
	Link    string          `json:"link"`
	In      southbound.Port `json:"in"` // the circuit
	Out     southbound.Port `json:"out"`
	Problem string          `json:"problem"`
}

// Verify returns what keeps links from being wired: a circuit that is missing, dark or in the state only, one of others
// at the same port, and, where sides is not nil, an end that is not tuned to the other. No finding means that all
// links are wired.
func (w *Wiring) Verify(v View, sides []southbound.Side) []Finding {
	c := w.newChecker(v, sides)
	var out []Finding
	for _, l := range w.Links {
		circuits := l.Circuits()
		good := 0
		var bad []Finding
		for _, x := range circuits {
			problems := append(c.problems(x), c.weak(x, l.MaxLoss)...)
			if len(problems) == 0 {
				good++
			}
			for _, p := range problems {
				bad = append(bad, Finding{Link: l.String(), In: x.In, Out: x.Out, Problem: p})
			}
		}
		if good > 0 && good < len(circuits) {
			for i := range bad {
				bad[i].Problem += fmt.Sprintf("; %d of the link's %d circuits are up", good, len(circuits))
			}
		}
		out = append(out, bad...)
	}
	return out
}

// checker looks circuits up.
type checker struct {
	w           *Wiring
	conf        map[southbound.CrossConnect]bool
	status      map[southbound.CrossConnect]southbound.Status
	byIn, byOut map[southbound.Port][]southbound.CrossConnect // all circuits, by their ports
	sided       bool
	ins, outs   map[southbound.Port]southbound.Side
}

func (w *Wiring) newChecker(v View, sides []southbound.Side) *checker {
	c := &checker{w: w, conf: v.configured(), status: v.status(), sided: sides != nil,
		byIn: map[southbound.Port][]southbound.CrossConnect{}, byOut: map[southbound.Port][]southbound.CrossConnect{},
		ins: map[southbound.Port]southbound.Side{}, outs: map[southbound.Port]southbound.Side{}}
	add := func(x southbound.CrossConnect) {
		if !slices.Contains(c.byIn[x.In], x) {
			c.byIn[x.In], c.byOut[x.Out] = append(c.byIn[x.In], x), append(c.byOut[x.Out], x)
		}
	}
	for x := range c.conf {
		add(x)
	}
	for x := range c.status {
		add(x)
	}
	for _, s := range sides {
		if s.Input {
			c.ins[s.Port] = s
		} else {
			c.outs[s.Port] = s
		}
	}
	return c
}

// problems returns what is wrong with a wanted circuit.
func (c *checker) problems(x southbound.CrossConnect) (out []string) {
	for _, other := range slices.Concat(c.byIn[x.In], c.byOut[x.Out]) {
		if other != x {
			out = append(out, c.w.CircuitName(other)+c.kind(other)+" holds a port of it, too")
		}
	}
	slices.Sort(out)
	s, shown := c.status[x]
	switch {
	case !c.conf[x] && !shown:
		return append(out, "there is no such circuit")
	case !c.conf[x]:
		out = append(out, "it is in the state of the switch only, and gone with its next restart")
	case !shown:
		return append(out, "the switch is configured with it, and shows nothing of it")
	}
	if s != southbound.Connected {
		return append(out, "it is "+s.String())
	}
	if c.sided {
		out = append(out, c.untuned(x)...)
	}
	return out
}

// weak tells of a circuit that loses more light than it may.
func (c *checker) weak(x southbound.CrossConnect, most float64) []string {
	if s := c.outs[x.Out]; most > 0 && s.Measured && s.Peer == x.In && s.Loss > most {
		return []string{fmt.Sprintf("it loses %.2f dB, more than %.2f", s.Loss, most)}
	}
	return nil
}

func (c *checker) kind(x southbound.CrossConnect) string {
	if c.conf[x] {
		return ""
	}
	return ", in the state of the switch only,"
}

// untuned returns which of a circuit's ends is not tuned to the other.
func (c *checker) untuned(x southbound.CrossConnect) (out []string) {
	for _, end := range []struct {
		what      string
		sides     map[southbound.Port]southbound.Side
		own, peer southbound.Port
	}{{"input", c.ins, x.In, x.Out}, {"output", c.outs, x.Out, x.In}} {
		s, shown := end.sides[end.own]
		switch {
		case !shown:
			out = append(out, fmt.Sprintf("the switch shows nothing of %s %s", end.what, c.w.Name(end.own)))
		case s.Peer == southbound.NoPort:
			out = append(out, fmt.Sprintf("%s %s is joined to nothing", end.what, c.w.Name(end.own)))
		case s.Peer != end.peer:
			out = append(out, fmt.Sprintf("%s %s is joined to port %d", end.what, c.w.Name(end.own), s.Peer))
		case !s.Tuned:
			out = append(out, fmt.Sprintf("%s %s is not tuned", end.what, c.w.Name(end.own)))
		}
	}
	return out
}
