package torus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
)

// bench steps slices as switches would: it lights what is asked for when told to.
type bench struct {
	*testing.T
	*Slices
	asked []Circuit // and not lit yet
	on    map[Circuit]bool
}

func newBench(t *testing.T, cubes int) *bench {
	return &bench{T: t, Slices: NewSlices(newPod(t, 1, 1, cubes), Rules()[3]), on: map[Circuit]bool{}}
}

// step takes an event, and returns how many circuits it set and deleted.
func (b *bench) step(e Event) (set, deleted int) {
	b.Helper()
	actions, err := b.Step(e)
	if err != nil {
		b.Fatal(err)
	}
	for _, a := range actions {
		if a.Delete {
			deleted++
			delete(b.on, a.Circuit)
			continue
		}
		set++
		b.on[a.Circuit] = true
		b.asked = append(b.asked, a.Circuit)
	}
	b.check()
	return set, deleted
}

// check: no port of a switch has two circuits.
func (b *bench) check() {
	b.Helper()
	used := map[[2]int]bool{}
	for c := range b.on {
		upper, lower := c.Ports()
		for _, port := range []int{upper, lower} {
			if used[[2]int{c.Switch, port}] {
				b.Fatalf("switch %d: port %d has two circuits", c.Switch, port)
			}
			used[[2]int{c.Switch, port}] = true
		}
	}
}

// dies lets a cube fail: only circuits that end at it are deleted.
func (b *bench) dies(cube int) {
	b.Helper()
	before := maps.Clone(b.on)
	b.step(Event{Away: &cube})
	for c := range before {
		if !b.on[c] && c.Upper != cube && c.Lower != cube {
			b.Fatalf("cube %d fails, and %+v is deleted", cube, c)
		}
	}
}

func (b *bench) light() {
	b.Helper()
	for len(b.asked) > 0 {
		c := b.asked[0]
		b.asked = b.asked[1:]
		if b.on[c] {
			b.step(Event{Lit: &c})
		}
	}
}

func (b *bench) is(name string, state State, reason Reason) {
	b.Helper()
	if s, ok := b.Find(name); !ok || s.State != state || s.Reason != reason {
		b.Errorf("%s is %s, %s (%s): want %s, %s", name, s.State, s.Reason, s.Message, state, reason)
	}
}

func ask(name string, s Shape, cubes ...int) Event {
	return Event{Ask: &Ask{Name: name, Shape: s, Cubes: cubes}}
}

// TestLife: a slice is asked for, lit, loses a cube, gets a spare one by its own circuits alone, and ends; the next
// one waits, and says what for.
func TestLife(t *testing.T) {
	b := newBench(t, 4)
	b.step(ask("a", Box(4, 4, 8)))
	b.is("a", Activating, SettingCircuits)
	b.light()
	b.is("a", Ready, CircuitsLit)
	b.step(ask("b", Box(4, 4, 4)))
	b.light()
	b.step(ask("c", Box(4, 4, 12)))
	b.is("c", Pending, NoRoom)
	if c, _ := b.Find("c"); !strings.Contains(c.Message, "once these have ended: a") {
		t.Errorf("it explains: %q", c.Message)
	}
	b.step(ask("d", Box(1, 1, 1)))
	b.is("d", Pending, BehindOthers)

	cube := 0
	a, _ := b.Find("a")
	before := circuitsOf(t, a.Place)
	set, deleted := b.step(Event{Away: &cube})
	b.is("a", Incomplete, SwappingCube)
	b.light()
	b.is("a", Ready, CircuitsLit)
	a, _ = b.Find("a")
	after := circuitsOf(t, a.Place)
	// Cube 0 had 32 circuits to itself in x and y, and 32 along the ring of z.
	if set != 64 || deleted != 64 || len(before) != 96 || len(after) != 96 || a.Swaps != 1 {
		t.Errorf("%d set and %d deleted of %d", set, deleted, len(before))
	}
	b.is("b", Ready, CircuitsLit)

	cube = 1
	b.step(Event{Away: &cube})
	b.is("a", Incomplete, CubeAway)
	b.step(Event{Back: &cube})
	b.is("a", Ready, CircuitsLit)

	if set, deleted := b.step(Event{Release: "a"}); set != 0 || deleted != 96 {
		t.Errorf("the end of a sets %d and deletes %d", set, deleted)
	}
	cube = 0
	b.step(Event{Back: &cube})
	b.is("c", Activating, SettingCircuits)
	b.is("d", Pending, NoRoom)
}

func circuitsOf(t *testing.T, p *Placement) []Circuit {
	t.Helper()
	c, err := p.Circuits()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDark: a circuit that goes dark is asked for again.
func TestDark(t *testing.T) {
	b := newBench(t, 1)
	b.step(ask("a", Box(4, 4, 4)))
	b.light()
	c := Circuit{Switch: 7}
	if set, _ := b.step(Event{Dark: &c}); set != 1 {
		t.Errorf("%d are asked for again", set)
	}
	b.is("a", Incomplete, CircuitDark)
	b.light()
	b.is("a", Ready, CircuitsLit)
	if set, _ := b.step(Event{Dark: &Circuit{Switch: 50}}); set != 0 {
		t.Error("a circuit of nobody's is asked for")
	}
}

// TestAskedWrongly: each has an error of its own, with the nearest that works.
func TestAskedWrongly(t *testing.T) {
	b := newBench(t, 4)
	for i, tt := range []struct {
		ask    Event
		reason Reason
		says   string
	}{
		{ask("", Box(4, 4, 20)), ShapeImpossible, "it takes 5 cubes, and the pod has 4; nearest: 4x4x16"},
		{ask("", Shape{Sides: [3]int{4, 4, 12}, Twisted: true}), ShapeImpossible, "nearest: 4x4x8_twisted"},
		{ask("", Box(4, 4, 8), 1, 1), CubesImpossible, "cube 1 is named twice; nearest: 1 0"},
		{ask("", Box(4, 4, 8), 1, 2, 3), CubesImpossible, "names 3 cubes, and 4x4x8 has 2; nearest: 1 2"},
		{ask("", Box(4, 4, 8), 1, 4), CubesImpossible, "find cube 4: the pod has the cubes 0 to 3"},
		{ask("", Box(4, 4, 6), 1, 2), CubesImpossible, "ask for a side of 8"},
	} {
		tt.ask.Ask.Name = fmt.Sprint("s", i)
		b.step(tt.ask)
		b.is(tt.ask.Ask.Name, Failed, tt.reason)
		if s, _ := b.Find(tt.ask.Ask.Name); !strings.Contains(s.Message, tt.says) {
			t.Errorf("%d: %q", i, s.Message)
		}
	}
	for _, e := range []Event{ask("s1", Box(4, 4, 4)), ask("", Box(4, 4, 4)), {Release: "x"}, {Away: new(int)}} {
		if e.Away != nil {
			*e.Away = 4
		}
		if _, err := b.Step(e); err == nil {
			t.Errorf("%+v is taken", e)
		}
	}
	b.step(ask("named", Box(4, 4, 8), 3, 1))
	if s, _ := b.Find("named"); s.State != Activating || s.Place.Pieces[0].Cube != 3 || s.Place.Pieces[1].Cube != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSlicesAtRandom: whatever happens, no port has two circuits, only circuits of slices that an event is about
// change, and once all is lit a slice is Ready, Pending, Failed or lacks a cube.
func TestSlicesAtRandom(t *testing.T) {
	swaps := 0
	for seed := range uint64(tries.Of(8, 200)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		b := newBench(t, 8)
		for n := range 120 {
			cube := rng.IntN(8)
			switch rng.IntN(6) {
			case 0, 1:
				b.step(ask(fmt.Sprint(n), Box(4, 1+rng.IntN(4), 4*(1+rng.IntN(3)))))
			case 2:
				if all := b.All(); len(all) > 0 {
					b.step(Event{Release: all[rng.IntN(len(all))].Name})
				}
			case 3:
				if rng.IntN(2) == 0 {
					b.dies(cube)
				}
			case 4:
				b.step(Event{Back: &cube})
			case 5:
				for c := range b.on {
					if rng.IntN(20) == 0 {
						b.step(Event{Dark: &c})
					}
				}
			}
			b.light()
			for _, s := range b.All() {
				swaps += s.Swaps
				ok := s.State == Ready && s.away == 0 || s.State == Pending && s.Place == nil || s.State == Failed ||
					s.State == Incomplete && s.Reason == CubeAway && s.away > 0
				if !ok {
					t.Fatalf("seed %d, step %d: %s of %s is %s, %s, %d away", seed, n, s.Name, s.Shape, s.State, s.Reason, s.away)
				}
			}
		}
	}
	if swaps == 0 {
		t.Error("no cube was swapped: the test lacks what it is for")
	}
}
