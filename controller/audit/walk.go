package audit

import (
	"fmt"
	"math/bits"
	"slices"

	"lightloom/southbound"
)

// Walk goes through circuits until it is known who is behind every fibre. Call Next for the circuits of
// a round, make them (all others off), wait until all ends have had time to hear, and call Hear. At n
// ports with most fibres alive it takes about log2(n) + 4 rounds.
//
//  1. Nothing is lit. An end that hears another now does so past the optical switch.
//  2. Inputs are paired with outputs, each with its neighbour, because many a switch ignores what it hears of itself.
//     Each pair is lit in the rounds that its number's binary digits name: who heard whom in which rounds shows where.
//  3. Fibres that were silent are tried against ends that are known by then, two different ones before they count as
//     dead.
//  4. All pairs are lit once more, differently, and every end must hear the one that the map predicts.
type Walk struct {
	n      int
	found  Map
	dead   Map // sides that are settled as silent hold silent
	direct []Heard
	doubts []Contradiction

	stage  stage
	shift  int // of the pairing that codes are tried on
	digit  int
	round  []southbound.CrossConnect
	lit    [][]bool         // of the codes: by input, in which digits it was lit
	heard  map[Heard][]bool // likewise, by who heard whom
	tried  map[side][]string
	verify map[Heard]southbound.CrossConnect
	rounds int
}

type stage uint8

const (
	darkness stage = iota
	scout          // one round with a whole pairing lit: is there anything to hear?
	codes
	partners
	prediction
	finished
)

// side is one fibre of a port.
type side struct {
	port int
	out  bool
}

// silent marks a fibre as dead in Walk.dead.
var silent = End{Chassis: "-"}

// NewWalk begins a walk over an optical switch of n ports.
func NewWalk(n int) *Walk {
	if n < 1 {
		panic(fmt.Sprintf("audit: walk over %d ports", n))
	}
	w := &Walk{n: n, found: NewMap(n), dead: NewMap(n), tried: map[side][]string{}}
	if n > 1 {
		w.shift = 1
	}
	return w
}

// Next returns the circuits of the next round, in the order of inputs; ok is false when the walk is over.
func (w *Walk) Next() (round []southbound.CrossConnect, ok bool) {
	switch w.stage {
	case darkness:
		w.round = nil
	case scout:
		w.round = w.pairing(func(int) bool { return true })
	case codes:
		w.round = w.pairing(func(in int) bool { return (in+1)>>w.digit&1 == 1 })
	case partners:
		w.round = w.partners()
	case prediction:
		w.round = w.predict()
	case finished:
		return nil, false
	}
	w.rounds++
	return slices.Clone(w.round), true
}

// pairing lights input i to output i+shift for every i with on(i).
func (w *Walk) pairing(on func(in int) bool) (round []southbound.CrossConnect) {
	for in := range w.n {
		if on(in) {
			round = append(round, southbound.CrossConnect{In: southbound.Port(in),
				Out: southbound.Port(w.partner(in))})
		}
	}
	return round
}

func (w *Walk) partner(in int) int { return (in + w.shift) % w.n }

// digits is how many binary digits the numbers 1 to n have.
func (w *Walk) digits() int { return bits.Len(uint(w.n)) }

// Hear takes what was heard during the round: failed are the circuits of the round that were not made,
// and heard is who hears whom now, in any order.
func (w *Walk) Hear(failed []southbound.CrossConnect, heard []Heard) {
	lit := slices.DeleteFunc(slices.Clone(w.round), func(c southbound.CrossConnect) bool {
		return slices.Contains(failed, c)
	})
	for _, c := range failed {
		w.contradict(Contradiction{c.In, c.Out, "the circuit could not be made"})
	}
	if w.stage != darkness {
		heard = slices.DeleteFunc(slices.Clone(heard),
			func(h Heard) bool { return slices.Contains(w.direct, h) })
	}
	switch w.stage {
	case darkness:
		w.direct = slices.Clone(heard)
		w.begin(w.shift)
	case scout:
		if len(heard) == 0 {
			w.begin(w.shift + 1)
			return
		}
		w.stage, w.digit = codes, 0
		w.lit, w.heard = make([][]bool, w.n), map[Heard][]bool{}
	case codes:
		w.listen(lit, heard)
	case partners:
		w.match(lit, heard)
	case prediction:
		w.compare(lit, heard)
		w.stage = finished
	case finished:
		panic("audit: the walk is over")
	}
}

func (w *Walk) contradict(d Contradiction) {
	if !slices.Contains(w.doubts, d) {
		w.doubts = append(w.doubts, d)
	}
}

// begin tries a pairing, or gives up once all have been tried: then no end hears another, whatever is
// lit. The pairing of every port with itself comes last.
func (w *Walk) begin(shift int) {
	if w.shift = shift; shift > w.n || w.n == 1 && shift > 0 {
		for p := range w.n {
			w.dead.In[p], w.dead.Out[p] = silent, silent
		}
		w.stage = finished
		return
	}
	w.stage = scout
}

// listen notes one digit of everybody's number.
func (w *Walk) listen(lit []southbound.CrossConnect, heard []Heard) {
	d := w.digits()
	for _, c := range lit {
		if w.lit[c.In] == nil {
			w.lit[c.In] = make([]bool, d)
		}
		w.lit[c.In][w.digit] = true
	}
	for _, h := range heard {
		if w.heard[h] == nil {
			w.heard[h] = make([]bool, d)
		}
		w.heard[h][w.digit] = true
	}
	if w.digit++; w.digit == d {
		w.decode()
		w.stage = partners
		w.skip()
	}
}

// decode finds for every pair of ends the one pair of ports that was lit in exactly the rounds in which
// they heard.
func (w *Walk) decode() {
	pairs := make([]Heard, 0, len(w.heard))
	for h := range w.heard {
		pairs = append(pairs, h)
	}
	slices.SortFunc(pairs, func(a, b Heard) int {
		if c := a.At.compare(b.At); c != 0 {
			return c
		}
		return a.From.compare(b.From)
	})
	for _, h := range pairs {
		in := -1
		for i, l := range w.lit {
			if l != nil && slices.Equal(l, w.heard[h]) {
				if in >= 0 {
					in = -1
					break
				}
				in = i
			}
		}
		if in < 0 {
			w.contradict(Contradiction{southbound.NoPort, southbound.NoPort,
				fmt.Sprintf("%v hears %v in rounds that fit no circuit", h.At, h.From)})
			continue
		}
		w.learn(in, false, h.From)
		w.learn(w.partner(in), true, h.At)
	}
}

// learn notes which end is behind a fibre. Two answers for one fibre are a contradiction, and the first stays.
func (w *Walk) learn(port int, out bool, e End) {
	at := &w.found.In[port]
	if out {
		at = &w.found.Out[port]
	}
	if !at.IsZero() && *at != e {
		w.contradict(Contradiction{southbound.Port(port), southbound.NoPort,
			fmt.Sprintf("%v and %v both seem to be behind %s", *at, e, sideName(port, out))})
		return
	}
	*at = e
}

func sideName(port int, out bool) string {
	if out {
		return fmt.Sprintf("output %d", port)
	}
	return fmt.Sprintf("input %d", port)
}

// Rounds returns how many rounds have been asked for.
func (w *Walk) Rounds() int { return w.rounds }

// Found returns the result of the walk: the map, which ends hear each other past the optical switch, and
// contradictions.
func (w *Walk) Found() (m Map, direct []Heard, doubts []Contradiction) {
	return w.found, w.direct, w.doubts
}
