package audit

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"lightloom/southbound"
)

// Walk goes through circuits until it is known who is behind every fibre. Call Next for the circuits of
// a round, make them (all others off), wait until all ends have had time to hear, and call Hear. At n
// ports with most fibres alive it takes about log2(n) + 6 rounds.
//
//  1. Nothing is lit. An end that hears another now does so past the optical switch.
//  2. Inputs are paired with outputs, each with its neighbour, because many a switch ignores what it hears of itself.
//     Each pair is lit in half of the rounds, in a choice of its own: who heard whom in which rounds shows where. As
//     all pairs are lit equally often, an end that has missed a round is never taken for another.
//  3. Fibres that were silent, or missed rounds, are tried against ends that are known by then, three different ones
//     before they count as dead.
//  4. All pairs are lit once more, differently, and every end must hear the one that the map predicts. One that does
//     not has a second round to do so.
//
// Several switches are walked over at once: their ports follow each other, and a circuit stays within one of them. A
// switch of which too little is known after 2 is paired anew, and goes through 2 again with its like alone. One
// without any light takes as many rounds as it has ports.
type Walk struct {
	n      int
	blocks []*block
	own    []*block // by port: its switch
	names  Names
	found  Map
	dead   Map // sides that are settled as silent hold silent
	direct []Heard
	doubts []Contradiction

	stage  stage
	digit  int
	words  []uint64 // by input: the rounds of the codes in which it is lit, a bit each
	round  []southbound.CrossConnect
	failed []bool           // by input: its circuit was not made in some round of the codes
	heard  map[Heard]uint64 // in which rounds of the codes
	missed []Heard          // heard in too few of them
	tried  map[side][]string
	verify map[Heard]southbound.CrossConnect
	before []Heard // in the first round of the prediction
	again  bool    // there was one
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

// block is the ports of one switch.
type block struct {
	number, first, ports int

	shift  int  // of the pairing that codes are tried on
	trying bool // too few ends of it are known, and pairings are left
}

// turned is the port of the block that is so many further than another, in a circle.
func (b *block) turned(p, by int) int { return b.first + (p-b.first+by)%b.ports }

// side is one fibre of a port.
type side struct {
	port int
	out  bool
}

// silent marks a fibre as dead in Walk.dead.
var silent = End{Chassis: "-"}

// NewWalk begins a walk over optical switches of so many ports each.
func NewWalk(ports ...int) *Walk {
	w := &Walk{tried: map[side][]string{}}
	for i, n := range ports {
		if n < 1 {
			panic(fmt.Sprintf("audit: walk over a switch of %d ports", n))
		}
		b := &block{number: i, first: w.n, ports: n, shift: 1, trying: true}
		w.blocks = append(w.blocks, b)
		w.own = append(w.own, slices.Repeat([]*block{b}, n)...)
		w.n += n
	}
	if w.n == 0 {
		panic("audit: walk over no switch")
	}
	w.found, w.dead = NewMap(w.n), NewMap(w.n)
	w.words = equalWeight(w.n)
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
		w.round = w.pairing(func(in int) bool { return w.words[in]>>w.digit&1 == 1 })
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

// pairing lights input i to output i+shift, by its switch, for every i with on(i) of a switch that is being tried.
func (w *Walk) pairing(on func(in int) bool) (round []southbound.CrossConnect) {
	for in := range w.n {
		if w.own[in].trying && on(in) {
			round = append(round, southbound.CrossConnect{In: southbound.Port(in),
				Out: southbound.Port(w.partner(in))})
		}
	}
	return round
}

func (w *Walk) partner(in int) int { return w.own[in].turned(in, w.own[in].shift) }

// equalWeight returns n different words of as few bits as will do, half of which are set in each.
func equalWeight(n int) []uint64 {
	size, count := 1, 1
	for count < n { // ways to choose half of size bits
		size++
		count = 1
		for k := range size / 2 {
			count = count * (size - k) / (k + 1)
		}
	}
	words := make([]uint64, n)
	x := uint64(1)<<max(size/2, 1) - 1
	for i := range words {
		words[i] = x
		low := x & -x // the next larger number with as many bits set
		carried := x + low
		x = carried | (x^carried)/low>>2
	}
	return words
}

// digits is how many rounds the codes take.
func (w *Walk) digits() int { return bits.Len64(w.words[w.n-1]) }

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
		w.stage = scout
	case scout:
		if len(heard) == 0 {
			w.turn()
			return
		}
		w.stage, w.digit = codes, 0
		w.failed, w.heard = make([]bool, w.n), map[Heard]uint64{}
	case codes:
		w.listen(failed, heard)
	case partners:
		w.match(lit, heard)
	case prediction:
		w.compare(lit, heard)
	case finished:
		panic("audit: the walk is over")
	}
}

func (w *Walk) contradict(d Contradiction) {
	if !slices.Contains(w.doubts, d) {
		w.doubts = append(w.doubts, d)
	}
}

// turn has switches of which too few ends are known try their next pairing, or moves on once none has any left. The
// pairing of every port with itself comes last.
func (w *Walk) turn() {
	again := false
	for _, b := range w.blocks {
		if b.trying = b.trying && b.shift < b.ports && !w.knows(b); b.trying {
			b.shift++
			again = true
		}
	}
	if again {
		w.stage = scout
		return
	}
	w.stage = partners
	w.skip()
}

// knows reports whether enough ends at a switch are known, into it and out of it, for all other fibres to be tried
// against. Two live ports side by side hear each other one way alone at first.
func (w *Walk) knows(b *block) bool {
	several := func(all []End) bool {
		chassis := map[string]bool{}
		for _, e := range all[b.first : b.first+b.ports] {
			if !e.IsZero() {
				chassis[e.Chassis] = true
			}
		}
		return len(chassis) >= 2
	}
	return several(w.found.In) && several(w.found.Out)
}

// listen notes who was heard in one round of the codes.
func (w *Walk) listen(failed []southbound.CrossConnect, heard []Heard) {
	for _, c := range failed {
		w.failed[c.In] = true
	}
	for _, h := range heard {
		w.heard[h] |= 1 << w.digit
	}
	if w.digit++; w.digit == w.digits() {
		w.decode()
		w.turn()
	}
}

// decode finds for every pair of ends the one pair of ports that was lit in exactly the rounds in which they heard.
func (w *Walk) decode() {
	weight := bits.OnesCount64(w.words[0])
	for _, h := range sorted(slices.Collect(maps.Keys(w.heard))) {
		in, ok := slices.BinarySearch(w.words, w.heard[h])
		switch {
		case ok && w.own[in].trying && !w.failed[in]:
			w.learn(in, false, h.From)
			w.learn(w.partner(in), true, h.At)
		case bits.OnesCount64(w.heard[h]) < weight:
			w.missed = append(w.missed, h)
		case bits.OnesCount64(w.heard[h]) > weight: // oftener than any circuit is lit
			w.direct = append(w.direct, h)
		default:
			w.misfit(h)
		}
	}
}

func (w *Walk) misfit(h Heard) {
	w.contradict(Contradiction{southbound.NoPort, southbound.NoPort,
		fmt.Sprintf("%s hears %s in rounds that fit no circuit", w.names.end(h.At), w.names.end(h.From))})
}

// finish ends the walk. Who was heard in too few rounds is explained by an end at a fibre, or stays a contradiction.
func (w *Walk) finish() {
	w.stage = finished
	for _, h := range w.missed {
		if !slices.Contains(w.found.In, h.From) || !slices.Contains(w.found.Out, h.At) {
			w.misfit(h)
		}
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
			fmt.Sprintf("%v and %v both seem to be behind %s", w.names.end(*at), w.names.end(e), w.sideName(port, out))})
		return
	}
	*at = e
}

func (w *Walk) sideName(port int, out bool) string {
	if out {
		return "output " + w.portName(port)
	}
	return "input " + w.portName(port)
}

// Rounds returns how many rounds have been asked for.
func (w *Walk) Rounds() int { return w.rounds }

// Found returns the result of the walk: the map, which ends hear each other past the optical switch, and
// contradictions.
func (w *Walk) Found() (m Map, direct []Heard, doubts []Contradiction) {
	return w.found, w.direct, w.doubts
}
