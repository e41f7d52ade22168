package torus

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
)

// Racks is racks under parallel optical switches, and what slices have of them. A rack has a port, in and out, at each
// plane that it is cabled to: a switch, or a wavelength of one. A circuit joins two racks at one plane.
type Racks struct {
	cables []uint32 // by rack: planes at which it has a port
	dark   []uint32 // those of them at which nothing can be lit now
	leave  []uint32 // those of these that are drained
	taken  [2][]uint32
	leads  [][]int32         // by plane and rack: where a circuit in service leads, none for nowhere
	users  []int             // by rack: slices that are there
	owned  []bool            // by rack: it belongs to one slice alone
	joined map[[2]int32]bool // pairs of racks that a slice's circuit leads between: packets take one circuit
	kept   []bool            // by rack: slices wait for it that were asked for before
	away   []bool
}

// The sides of a port.
const (
	outwards = iota
	inwards
)

// none is where an output leads that has no circuit.
const none = -1

// MostPlanes is how many planes there can be. All choices of so many are tried where none fits: 65,536.
const MostPlanes = 16

// MaxRing is how many racks a slice can have.
const MaxRing = 1 << 10

// NewRacks returns racks that slices have nothing of. Cables are the planes of each, a bit each. It panics where there
// are more than MostPlanes.
func NewRacks(planes int, cables []uint32) *Racks {
	if planes > MostPlanes {
		panic(fmt.Sprintf("torus: %d planes: take %d at most", planes, MostPlanes))
	}
	n := len(cables)
	k := &Racks{cables: cables, dark: make([]uint32, n), leave: make([]uint32, n),
		leads: make([][]int32, planes), users: make([]int, n),
		owned: make([]bool, n), kept: make([]bool, n), away: make([]bool, n)}
	k.taken = [2][]uint32{make([]uint32, n), make([]uint32, n)}
	for p := range k.leads {
		k.leads[p] = slices.Repeat([]int32{none}, n)
	}
	k.joined = map[[2]int32]bool{}
	return k
}

// SetAway says that a rack has failed.
func (k *Racks) SetAway(rack int32) { k.away[rack] = true }

// SetDark says that nothing can be lit at a rack's port of a plane now.
func (k *Racks) SetDark(rack int32, plane int) { k.dark[rack] |= 1 << plane }

// SetDrained says that a rack's port of a plane is to be left: what stands there is led elsewhere where it can be.
func (k *Racks) SetDrained(rack int32, plane int) {
	k.SetDark(rack, plane)
	k.leave[rack] |= 1 << plane
}

// SameState reports whether the same is away, dark and lit as elsewhere.
func (k *Racks) SameState(o *Racks) bool {
	return o != nil && slices.Equal(k.dark, o.dark) && slices.Equal(k.leave, o.leave) && slices.Equal(k.away, o.away) &&
		slices.EqualFunc(k.leads, o.leads, slices.Equal[[]int32])
}

// SetLit says that a circuit is in service.
func (k *Racks) SetLit(c RackCircuit) { k.leads[c.Plane][c.From] = c.To }

// RackCircuit leads from one rack to another at a plane.
type RackCircuit struct{ From, To, Plane int32 }

// Holds reports whether a slice of racks has its racks and ports.
func (s *Slice) Holds() bool { return s.Ring != nil && s.State != Pending && s.State != Failed }

// OfRacks reports whether it is one of racks, and of no pod.
func (s *Slice) OfRacks() bool { return s.Ring != nil || s.Shape.Racks > 0 }

// Own reports whether its racks are for it alone, and others may take their place: no hosts of theirs were named.
func (s *Slice) Own() bool { return s.Shape.Racks > 0 && s.Cubes == nil }

// RackCircuits are the circuits of a slice of racks that holds its ports, lane by lane: in lane l a rack has one to the
// rack l+1 further on around the ring.
func (s *Slice) RackCircuits() (out []RackCircuit) {
	if !s.Holds() || len(s.Ring) < 2 {
		return nil
	}
	for lane := range s.lanes() {
		for i := range s.Ring {
			out = append(out, s.circuit(lane, i))
		}
	}
	return out
}

// lanes is how many circuits each of its racks has.
func (s *Slice) lanes() int {
	if s.Shape.Racks == 0 {
		return 1
	}
	return len(s.Planes)
}

func (s *Slice) circuit(lane, i int) RackCircuit {
	c := RackCircuit{From: s.Ring[i], To: s.Ring[(i+lane+1)%len(s.Ring)]}
	if s.Planes != nil {
		c.Plane = s.Planes[lane][i]
	}
	return c
}

// CheckWaits returns what is wrong with the shape of a slice and with the racks that it names, or nil. Whether these
// have ports for it is not asked, since cables come and go.
func (k *Racks) CheckWaits(s *Slice) error {
	if why := s.Shape.checkRacks(); why != "" {
		return fmt.Errorf("shape %s: %s", s.Shape, why)
	}
	if s.Cubes == nil {
		return nil
	}
	if len(s.Cubes) != s.Shape.Racks {
		return fmt.Errorf("it names %d racks, and %s has %d; nearest: %s", len(s.Cubes), s.Shape, s.Shape.Racks,
			RackShape(max(1, len(s.Cubes)), max(0, min(s.Shape.Circuits, len(s.Cubes)-1))))
	}
	named := map[int]bool{}
	for _, r := range s.Cubes {
		if err := k.known(r); err != nil {
			return err
		}
		if named[r] {
			return fmt.Errorf("rack %d is named twice", r)
		}
		named[r] = true
	}
	return nil
}

// CheckRing returns what is wrong with the racks and planes of a slice that holds them, or nil. It looks at no others.
func (k *Racks) CheckRing(s *Slice) error {
	n, w := s.Shape.Racks, s.Shape.Circuits
	if why := s.Shape.checkRacks(); why != "" {
		return fmt.Errorf("shape %s: %s", s.Shape, why)
	}
	if len(s.Ring) != n || len(s.Planes) != w {
		return fmt.Errorf("%d racks with %d circuits each for %s", len(s.Ring), len(s.Planes), s.Shape)
	}
	q := NewRacks(len(k.leads), k.cables)
	for i, r := range s.Ring {
		if err := k.known(int(r)); err != nil {
			return err
		}
		if slices.Contains(s.Ring[:i], r) {
			return fmt.Errorf("rack %d is there twice", r)
		}
	}
	for lane := range s.Planes {
		if len(s.Planes[lane]) != n {
			return fmt.Errorf("lane %d has %d circuits for %d racks", lane, len(s.Planes[lane]), n)
		}
		for i := range n {
			c := s.circuit(lane, i)
			if c.Plane < 0 || int(c.Plane) >= len(k.leads) || !q.can(c) {
				return fmt.Errorf("no circuit can lead from rack %d to rack %d at plane %d", c.From, c.To, c.Plane)
			}
			q.take(c, true)
		}
	}
	return nil
}

func (k *Racks) known(rack int) error {
	if rack < 0 || rack >= len(k.cables) {
		return fmt.Errorf("there is no rack %d: the fabric has 0 to %d", rack, len(k.cables)-1)
	}
	return nil
}

// Clone returns a copy.
func (k *Racks) Clone() *Racks {
	q := *k
	for side := range k.taken {
		q.taken[side] = slices.Clone(k.taken[side])
	}
	q.joined = maps.Clone(k.joined)
	q.users, q.owned, q.kept = slices.Clone(k.users), slices.Clone(k.owned), slices.Clone(k.kept)
	return &q
}

// occupied returns the racks with all that slices have.
func (k *Racks) occupied(all []Slice) *Racks {
	q := k.Clone()
	for i := range all {
		q.hold(&all[i], true)
	}
	return q
}

// hold has a slice take what it has, or give it back.
func (k *Racks) hold(s *Slice, takes bool) {
	if !s.Holds() {
		return
	}
	for _, c := range s.RackCircuits() {
		k.take(c, takes)
	}
	by := 1
	if !takes {
		by = -1
	}
	for _, r := range s.Ring {
		k.users[r] += by
		if s.Own() {
			k.owned[r] = takes
		}
	}
}

func (k *Racks) take(c RackCircuit, takes bool) {
	bit, pair := uint32(1)<<c.Plane, [2]int32{c.From, c.To}
	delete(k.joined, pair)
	if takes {
		k.joined[pair] = true
		k.taken[outwards][c.From] |= bit
		k.taken[inwards][c.To] |= bit
		return
	}
	k.taken[outwards][c.From] &^= bit
	k.taken[inwards][c.To] &^= bit
}

// planes returns those at which a rack has a port whose one side is free.
func (k *Racks) planes(rack int32, side int) uint32 {
	if k.away[rack] {
		return 0
	}
	return k.cables[rack] &^ k.dark[rack] &^ k.taken[side][rack]
}

// free returns the planes at which both sides of a rack's port are free.
func (k *Racks) free(rack int32) uint32 { return k.planes(rack, outwards) & k.planes(rack, inwards) }

// between returns the planes at which one more circuit can lead from a rack to another.
func (k *Racks) between(from, to int32) uint32 {
	return k.planes(from, outwards) & k.planes(to, inwards)
}

func (k *Racks) can(c RackCircuit) bool { return k.between(c.From, c.To)>>c.Plane&1 == 1 }

// stands reports whether a circuit is in service.
func (k *Racks) stands(c RackCircuit) bool { return k.leads[c.Plane][c.From] == c.To }

// broken reports whether a circuit is dark and cannot be lit, or is to leave its ports.
func (k *Racks) broken(c RackCircuit) bool {
	away := k.leave[c.From] | k.leave[c.To]
	if !k.stands(c) {
		away |= k.dark[c.From] | k.dark[c.To]
	}
	return away>>c.Plane&1 == 1
}

// RackRule is a way to choose racks and planes.
type RackRule struct {
	Name, Doc string
	tight     bool
}

// RackRules returns them, in the order in which they are compared.
func RackRules() []RackRule {
	return []RackRule{
		{"firstfit", "the first planes and racks that are free", false},
		{"bestfit", "planes that most racks have free, and racks that have the fewest others free", true},
	}
}

// Place chooses racks and planes for a shape: one plane a lane, at which all racks have a port that is free. named are
// the racks that it has to be, nil for any. It returns nil where there are none now.
func (k *Racks) Place(rule RackRule, s Shape, named []int32) (ring []int32, planes [][]int32) {
	may := named
	if named == nil {
		for r := range k.cables {
			may = append(may, int32(r))
		}
	}
	may = slices.DeleteFunc(slices.Clone(may), func(r int32) bool {
		return k.away[r] || k.owned[r] || k.kept[r] || named == nil && k.users[r] > 0
	})
	search := planeSearch{k: k, racks: s.Racks}
	for p := range k.leads {
		search.order = append(search.order, p)
	}
	if rule.tight {
		slices.SortStableFunc(search.order, func(a, b int) int {
			return cmp.Compare(len(k.at(may, b)), len(k.at(may, a)))
		})
	}
	lanes, ring := search.choose(may, s.Circuits, 0)
	if ring == nil {
		return nil, nil
	}
	if rule.tight {
		slices.SortStableFunc(ring, func(a, b int32) int {
			return cmp.Compare(bits.OnesCount32(k.free(a)), bits.OnesCount32(k.free(b)))
		})
	}
	ring = slices.Clone(ring[:s.Racks])
	slices.Sort(ring)
	slices.Sort(lanes)
	for lane := range lanes {
		for i, from := range ring {
			if k.joined[[2]int32{from, ring[(i+lane+1)%len(ring)]}] {
				return nil, nil
			}
		}
	}
	planes = make([][]int32, len(lanes))
	for l, p := range lanes {
		planes[l] = slices.Repeat([]int32{int32(p)}, len(ring))
	}
	return ring, planes
}

// at returns those racks that have a port free at a plane.
func (k *Racks) at(racks []int32, plane int) (out []int32) {
	for _, r := range racks {
		if k.free(r)>>plane&1 == 1 {
			out = append(out, r)
		}
	}
	return out
}

// planeSearch looks for planes at which enough racks have ports.
type planeSearch struct {
	k     *Racks
	order []int
	racks int
}

// choose returns so many planes, of the order from a place on, and the racks that have ports free at all of them.
func (x *planeSearch) choose(may []int32, planes, from int) (lanes []int, racks []int32) {
	if len(may) < x.racks {
		return nil, nil
	}
	if planes == 0 {
		return []int{}, may
	}
	for i := from; i+planes <= len(x.order); i++ {
		if lanes, racks = x.choose(x.k.at(may, x.order[i]), planes-1, i+1); racks != nil {
			return append(lanes, x.order[i]), racks
		}
	}
	return nil, nil
}

// Check returns an error of type *ShapeError for a shape that these racks can never give.
func (k *Racks) Check(s Shape) error {
	if s.Racks == 0 {
		near, _ := k.nearest(RackShape(2, 1))
		return &ShapeError{Shape: s.String(), Why: "this fabric is no pod, and has racks instead of cubes", Nearest: near}
	}
	why := s.checkRacks()
	if why == "" {
		empty := NewRacks(len(k.leads), k.cables)
		if ring, _ := empty.Place(RackRules()[0], s, nil); ring != nil {
			return nil
		}
		why = fmt.Sprintf("no %d racks have ports on the same %d optical switches or wavelengths", s.Racks, s.Circuits)
	}
	near, ok := k.nearest(s)
	if !ok {
		why = "no two racks of this fabric have ports on the same optical switch"
	}
	return &ShapeError{Shape: s.String(), Why: why, Nearest: near}
}

// nearest says which shapes these racks can give that are near another: with as many circuits, and with as many racks.
func (k *Racks) nearest(s Shape) (string, bool) {
	empty := NewRacks(len(k.leads), k.cables)
	gives := func(n, w int) bool {
		t := RackShape(n, w)
		if t.checkRacks() != "" {
			return false
		}
		ring, _ := empty.Place(RackRules()[0], t, nil)
		return ring != nil
	}
	var near []string
	n := max(2, min(s.Racks, len(k.cables), MaxRing))
	for w := min(max(s.Circuits, 1), len(k.leads)); w > 0 && len(near) == 0; w-- { // as many racks, or all
		if gives(n, w) {
			near = append(near, RackShape(n, w).String())
		}
	}
	most := n
	if s.Racks <= s.Circuits { // too few of them for so many circuits
		most = min(s.Circuits+1, len(k.cables), MaxRing)
	}
	if s.Circuits > 0 && most > s.Circuits { // what more racks can have, fewer can
		fewer := sort.Search(most-s.Circuits, func(i int) bool { return gives(most-i, s.Circuits) })
		t := RackShape(most-fewer, s.Circuits).String()
		if fewer < most-s.Circuits && !slices.Contains(near, t) {
			near = append([]string{t}, near...)
		}
	}
	switch len(near) {
	case 0:
		return "racks=1,circuits=0", false
	case 1:
		return near[0], true
	}
	return near[0] + ", or " + near[1], true
}
