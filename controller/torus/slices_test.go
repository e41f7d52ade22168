package torus

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
)

// bench settles slices as a controller would. It lights what is wanted when told to.
type bench struct {
	*testing.T
	pod  *Pod
	rule Rule
	all  []Slice
	on   map[Circuit]bool // by circuit that is asked for: whether it is lit
}

func newBench(t *testing.T, cubes int) *bench { return benchOf(t, 4, cubes) }

func benchOf(t *testing.T, side, cubes int) *bench {
	p, err := Joined(side, cubes)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{T: t, pod: p, rule: Rules()[3], on: map[Circuit]bool{}}
}

func (b *bench) ask(name string, s Shape, cubes ...int) {
	b.Helper()
	b.all = append(b.all, b.pod.Asked(name, s, cubes))
	b.settle()
}

func (b *bench) release(name string) (set, deleted int) {
	b.Helper()
	b.all = slices.DeleteFunc(b.all, func(s Slice) bool { return s.Name == name })
	return b.settle()
}

func (b *bench) away(cube int, away bool) (set, deleted int) {
	b.Helper()
	b.pod.SetAway(cube, away)
	return b.settle()
}

// settle settles until nothing changes, and returns how many circuits are asked for and given up.
func (b *bench) settle() (set, deleted int) {
	b.Helper()
	for range 10 {
		lacks := make([]Lack, len(b.all))
		for i := range b.all {
			for _, c := range b.circuits(&b.all[i]) {
				if !b.on[c] {
					lacks[i].Dark++
				}
			}
		}
		changed := Settle(b.pod, b.rule, b.all, lacks)
		for _, s := range changed {
			b.all[b.index(s.Name)] = b.read(s)
		}
		m, n := b.wire()
		set, deleted = set+m, deleted+n
		if len(changed) == 0 {
			return set, deleted
		}
	}
	b.Fatal("the slices never settle")
	return 0, 0
}

// read writes a slice down and reads it back: it is the same.
func (b *bench) read(s Slice) (back Slice) {
	b.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if again, _ := json.Marshal(back); err != nil || string(again) != string(text) {
		b.Fatalf("%s is read back as %s: %v", text, again, err)
	}
	if s.Place != nil {
		others := slices.DeleteFunc(slices.Clone(b.all), func(o Slice) bool { return o.Name == s.Name })
		if err := b.pod.Occupied(others).CheckPlace(back.Place); err != nil {
			b.Fatal(err)
		}
	}
	return back
}

// wire asks for circuits that slices want, and gives up the others. No port of a switch has two.
func (b *bench) wire() (set, deleted int) {
	b.Helper()
	want, used := map[Circuit]bool{}, map[[2]int]bool{}
	for i := range b.all {
		for _, c := range b.circuits(&b.all[i]) {
			want[c] = true
			upper, lower := c.Ports()
			for _, port := range []int{upper, lower} {
				if used[[2]int{c.Switch, port}] {
					b.Fatalf("switch %d: port %d has two circuits", c.Switch, port)
				}
				used[[2]int{c.Switch, port}] = true
			}
			if _, asked := b.on[c]; !asked {
				b.on[c] = false
				set++
			}
		}
	}
	for c := range maps.Clone(b.on) {
		if !want[c] {
			delete(b.on, c)
			deleted++
		}
	}
	return set, deleted
}

func (b *bench) circuits(s *Slice) []Circuit {
	b.Helper()
	if s.Place == nil {
		return nil
	}
	return circuitsOf(b.T, s.Place)
}

// dies lets a cube fail: only circuits that end at it are given up.
func (b *bench) dies(cube int) (set, deleted int) {
	b.Helper()
	before := maps.Clone(b.on)
	set, deleted = b.away(cube, true)
	for c := range before {
		if _, stays := b.on[c]; !stays && c.Upper != cube && c.Lower != cube {
			b.Fatalf("cube %d fails, and %+v is given up", cube, c)
		}
	}
	return set, deleted
}

func (b *bench) light() {
	b.Helper()
	for c := range b.on {
		b.on[c] = true
	}
	b.settle()
}

func (b *bench) index(name string) int {
	return slices.IndexFunc(b.all, func(s Slice) bool { return s.Name == name })
}

func (b *bench) find(name string) *Slice { return &b.all[b.index(name)] }

func (b *bench) is(name string, state State, reason Reason) {
	b.Helper()
	if s := b.find(name); s.State != state || s.Reason != reason {
		b.Errorf("%s is %s, %s (%s): want %s, %s", name, s.State, s.Reason, s.Why, state, reason)
	}
}

// TestLife: a slice is asked for, lit, loses a cube, gets a spare one by its own circuits alone, and ends; the next
// one waits, and says what for.
func TestLife(t *testing.T) {
	b := newBench(t, 4)
	b.ask("a", Box(4, 4, 8))
	b.is("a", Activating, SettingCircuits)
	b.light()
	b.is("a", Ready, CircuitsLit)
	b.ask("b", Box(4, 4, 4))
	b.light()
	b.ask("c", Box(4, 4, 12))
	b.is("c", Pending, NoRoom)
	if why := Explain(b.pod, b.rule, b.all, b.find("c")); !strings.Contains(why, "once these have ended: a") {
		t.Errorf("it explains: %q", why)
	}
	b.ask("d", Box(1, 1, 1))
	b.is("d", Pending, BehindOthers)

	before := b.circuits(b.find("a"))
	set, deleted := b.dies(0)
	b.is("a", Incomplete, SwappingCube)
	b.light()
	b.is("a", Ready, CircuitsLit)
	after := b.circuits(b.find("a"))
	// Cube 0 had 32 circuits to itself in x and y, and 32 along the ring of z.
	if swaps := b.find("a").Swaps; set != 64 || deleted != 64 || len(before) != 96 || len(after) != 96 || swaps != 1 {
		t.Errorf("%d set and %d deleted of %d", set, deleted, len(before))
	}
	b.is("b", Ready, CircuitsLit)

	b.dies(1)
	b.is("a", Incomplete, CubeAway)
	b.away(1, false)
	b.is("a", Ready, CircuitsLit)

	if set, deleted := b.release("a"); set != 0 || deleted != 96 {
		t.Errorf("the end of a sets %d and deletes %d", set, deleted)
	}
	b.away(0, false)
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

// TestSmallCubes: two cubes of 2×2×2 nodes make a torus of 2×2×4 by 24 circuits over 12 switches.
func TestSmallCubes(t *testing.T) {
	b := benchOf(t, 2, 8)
	b.ask("a", Box(2, 2, 4))
	used := map[int]bool{}
	for c := range b.on {
		used[c.Switch] = true
	}
	if len(b.on) != 24 || len(used) != 12 {
		t.Errorf("%d circuits over %d switches", len(b.on), len(used))
	}
	b.light()
	b.is("a", Ready, CircuitsLit)
}

// TestDark: a circuit that goes dark leaves its slice Incomplete until it is lit again, or its switch is back.
func TestDark(t *testing.T) {
	b := newBench(t, 1)
	b.ask("a", Box(4, 4, 4))
	b.light()
	b.on[Circuit{Switch: 7}] = false
	b.settle()
	b.is("a", Incomplete, CircuitDark)
	if got := Settle(b.pod, b.rule, b.all, []Lack{{Dark: 1, Switch: true}}); len(got) != 1 ||
		got[0].State != Incomplete || got[0].Reason != SwitchAway {
		t.Errorf("%+v", got)
	}
	b.light()
	b.is("a", Ready, CircuitsLit)
}

// TestAskedWrongly: each has an error of its own, with the nearest that works.
func TestAskedWrongly(t *testing.T) {
	b := newBench(t, 4)
	for i, tt := range []struct {
		shape  Shape
		cubes  []int
		reason Reason
		says   string
	}{
		{Box(4, 4, 20), nil, ShapeImpossible, "it takes 5 cubes, and the pod has 4; nearest: 4x4x16"},
		{Shape{Sides: [3]int{4, 4, 12}, Twisted: true}, nil, ShapeImpossible, "nearest: 4x4x8_twisted"},
		{Box(4, 4, 8), []int{1, 1}, CubesImpossible, "cube 1 is named twice, and so each of its nodes; nearest: 1 0"},
		{Box(4, 4, 8), []int{1, 2, 3}, CubesImpossible, "names 3 cubes, and 4x4x8 has 2; nearest: 1 2"},
		{Box(4, 4, 8), []int{1, 4}, CubesImpossible, "find cube 4: the pod has the cubes 0 to 3; nearest: 1 0"},
		{Box(4, 4, 8), []int{-1, 2}, CubesImpossible, "find cube -1: the pod has the cubes 0 to 3; nearest: 2 0"},
		{Shape{Sides: [3]int{4, 4, 64}, Twisted: true}, nil, ShapeImpossible,
			"nearest: 4x8x8_twisted, or 4x4x16 without a twist"},
		{Box(4, 4, 6), []int{1, 2}, CubesImpossible, "ask for a side of 8"},
	} {
		name := fmt.Sprint("s", i)
		b.ask(name, tt.shape, tt.cubes...)
		b.is(name, Failed, tt.reason)
		if why := b.find(name).Why; !strings.Contains(why, tt.says) {
			t.Errorf("%d: %q", i, why)
		}
	}
	b.ask("named", Box(4, 4, 8), 3, 1)
	if s := b.find("named"); s.State != Activating || s.Place.Pieces[0].Cube != 3 || s.Place.Pieces[1].Cube != 1 {
		t.Errorf("%+v", s)
	}
	b.ask("behind", Box(4, 4, 8), 3, 2)
	if why := Explain(b.pod, b.rule, b.all, b.find("behind")); !strings.Contains(why, "ended: named") {
		t.Errorf("it explains: %q", why)
	}
}

// TestCheckPlace: a placement that lies is refused, whatever it says.
func TestCheckPlace(t *testing.T) {
	p, err := Joined(2, 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(*Placement){
		"of another side":     func(q *Placement) { q.Side = 4 },
		"piece twice":         func(q *Placement) { q.Pieces[1] = q.Pieces[0] },
		"no such cube":        func(q *Placement) { q.Pieces[1].Cube = 4 },
		"beyond its cube":     func(q *Placement) { q.Pieces[1].At[0] = 1 },
		"another grid":        func(q *Placement) { q.Grid = [3]int{1, 1, 3} },
		"grid below zero":     func(q *Placement) { q.Grid = [3]int{-1, -1, 2} },
		"of another shape":    func(q *Placement) { q.Shape = Box(2, 2, 6) },
		"shape that is none":  func(q *Placement) { q.Shape.Twisted, q.Shape.Sides = true, [3]int{2, 2, 2} },
		"of another's nodes":  func(q *Placement) { q.Pieces[1].Cube = 3 },
		"fixed":               func(q *Placement) { q.Fixed = true },
		"nothing":             func(q *Placement) { q.Pieces = nil },
		"faces that miss":     func(q *Placement) { q.Pieces[0].Size[2], q.Pieces[1].Size[2] = 1, 2 },
		"nodes it has not":    func(q *Placement) { q.Pieces[1].Size[2] = 1 },
		"sides that are none": func(q *Placement) { q.Shape = Box(0, 2, 4) },
	} {
		p.taken[3] = p.whole
		at := BestFit(p, Box(2, 2, 4))
		if err := p.CheckPlace(at); err != nil {
			t.Fatal(err)
		}
		if lie(at); len(at.Pieces) > 0 && at.Pieces[1].Cube < 4 && at.Pieces[1].within(2) {
			at.Parts = nil
			at.inBox()
		}
		if err := p.CheckPlace(at); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestSlicesAtRandom: whatever happens, no port has two circuits, only circuits of slices that an event is about
// change, and once all is lit a slice is Ready, Pending, Failed or lacks a cube.
func TestSlicesAtRandom(t *testing.T) {
	swaps := 0
	for seed := range uint64(tries.Of(8, 200)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		side := 2 + 2*int(seed%2)
		b := benchOf(t, side, 8)
		for n := range 60 {
			cube := rng.IntN(8)
			switch rng.IntN(6) {
			case 0, 1:
				b.ask(fmt.Sprint(n), Box(side, 1+rng.IntN(side), side*(1+rng.IntN(3))))
			case 2:
				if len(b.all) > 0 {
					b.release(b.all[rng.IntN(len(b.all))].Name)
				}
			case 3:
				if rng.IntN(2) == 0 {
					b.dies(cube)
				}
			case 4:
				b.away(cube, false)
			case 5:
				for c := range b.on {
					b.on[c] = rng.IntN(20) > 0
				}
				b.settle()
			}
			b.light()
			for _, s := range b.all {
				swaps += s.Swaps
				lacks := s.Place != nil && slices.ContainsFunc(s.Place.Cubes(), b.pod.Away)
				ok := s.State == Ready && !lacks || s.State == Pending && s.Place == nil || s.State == Failed ||
					s.Reason == CubeAway && lacks
				if !ok {
					t.Fatalf("seed %d, step %d: %s of %s is %s, %s", seed, n, s.Name, s.Shape, s.State, s.Reason)
				}
			}
		}
	}
	if swaps == 0 {
		t.Error("no cube was swapped: the test lacks what it is for")
	}
}

// FuzzPlacement: a placement of any text is refused or can be checked.
func FuzzPlacement(f *testing.F) {
	p, err := Joined(2, 4)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(BestFit(p, Box(2, 2, 4)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"shape":"2x2x2","side":2,"pieces":[{"size":[9,9,9]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var at Placement
		if json.Unmarshal(text, &at) != nil || p.CheckPlace(&at) != nil {
			return
		}
		if _, err := at.Circuits(); err != nil {
			t.Error(err)
		}
	})
}
