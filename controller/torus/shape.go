package torus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostSide bounds what a shape's side can be, so that products of sides fit their type.
const mostSide = 1 << 12

// Shape is a box of nodes that a slice asks for. A side that is a multiple of a cube's is a ring, any other a line.
//
// Twisted needs sides k×k×2k or k×2k×2k, k a multiple of a cube's side: where a ring of length k closes, it also moves
// by k along each side of 2k.
//
// Of a fabric that is no pod it is Racks racks with Circuits circuits each, and has no sides.
type Shape struct {
	Sides   [3]int
	Twisted bool

	Racks, Circuits int
}

const twisted = "_twisted"

// Box returns the shape with these sides, not twisted.
func Box(x, y, z int) Shape { return Shape{Sides: [3]int{x, y, z}} }

// RackShape returns the shape of so many racks with so many circuits each.
func RackShape(racks, circuits int) Shape { return Shape{Racks: racks, Circuits: circuits} }

// String returns the shape as ParseShape reads it.
func (s Shape) String() string {
	if s.Racks > 0 {
		return fmt.Sprintf("racks=%d,circuits=%d", s.Racks, s.Circuits)
	}
	text := fmt.Sprintf("%dx%dx%d", s.Sides[0], s.Sides[1], s.Sides[2])
	if s.Twisted {
		text += twisted
	}
	return text
}

// MarshalText implements encoding.TextMarshaler.
func (s Shape) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Shape) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShape(string(text))
	return err
}

// Nodes returns the number of nodes of a box.
func (s Shape) Nodes() int { return s.Sides[0] * s.Sides[1] * s.Sides[2] }

// ShapeError is a shape that cannot be had, now or ever.
type ShapeError struct {
	Shape   string // as asked for
	Why     string
	Nearest string // the nearest shapes that can be had
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("slice of shape %q: %s; nearest: %s", e.Shape, e.Why, e.Nearest)
}

// Hint returns what to ask for instead.
func (e *ShapeError) Hint() string { return "ask for " + e.Nearest }

// ParseShape reads a shape such as 4x4x8, 4x4x8_twisted or racks=4,circuits=2. Its errors are of type *ShapeError.
// Which twists there are depends on a pod's cubes: Check says.
func ParseShape(text string) (Shape, error) {
	if strings.Contains(text, "=") {
		return parseRacks(text)
	}
	body, twist := strings.CutSuffix(text, twisted)
	words := strings.Split(strings.ReplaceAll(body, "×", "x"), "x")
	refuse := func(why string) (Shape, error) {
		return Shape{}, &ShapeError{Shape: text, Why: why, Nearest: "4x4x4"}
	}
	if len(words) != 3 {
		return refuse(fmt.Sprintf("it has %d sides, and a torus has three", len(words)))
	}
	s := Shape{Twisted: twist}
	for d, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > mostSide || strconv.Itoa(n) != w {
			return refuse(fmt.Sprintf("side %q is no whole number from 1 to %d", w, mostSide))
		}
		s.Sides[d] = n
	}
	return s, nil
}

// parseRacks reads a shape of racks.
func parseRacks(text string) (s Shape, err error) {
	for _, word := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(word, "=")
		to, least := &s.Racks, 1
		if key == "circuits" {
			to, least = &s.Circuits, 0
		}
		n, err := strconv.Atoi(value)
		known := key == "circuits" || key == "racks"
		if err != nil || !known || n < least || n > mostSide || strconv.Itoa(n) != value {
			return Shape{}, &ShapeError{Shape: text, Why: fmt.Sprintf("%q is not racks=NUMBER or circuits=NUMBER", word),
				Nearest: "racks=4,circuits=2"}
		}
		*to = n
	}
	if s.String() != text {
		return Shape{}, &ShapeError{Shape: text, Why: "it says each of racks and circuits once, racks first",
			Nearest: RackShape(max(s.Racks, s.Circuits+1, 2), max(s.Circuits, 1)).String()}
	}
	return s, nil
}

// checkRacks says what is wrong with a shape of racks, whichever fabric there is; empty for nothing.
func (s Shape) checkRacks() string {
	switch {
	case s.Racks > MaxRing:
		return fmt.Sprintf("it has more than %d racks", MaxRing)
	case s.Circuits == 0 && s.Racks > 1:
		return "its racks have no circuits"
	case s.Circuits >= s.Racks:
		return fmt.Sprintf("a rack has one circuit to each other at most, and it has %d others", s.Racks-1)
	}
	return ""
}

// Check returns an error of type *ShapeError unless the shape is a torus of cubes of that side or, if Twisted, a
// twisted one.
func (s Shape) Check(cube int) error {
	if s.Racks > 0 {
		return &ShapeError{Shape: s.String(), Why: "this fabric is a pod, and has cubes instead of racks",
			Nearest: Box(cube, cube, 2*cube).String()}
	}
	for _, side := range s.Sides {
		if side < 1 || side > mostSide {
			return &ShapeError{Shape: s.String(), Why: fmt.Sprintf("side %d is not from 1 to %d", side, mostSide),
				Nearest: "4x4x4"}
		}
	}
	if !s.Twisted || s.twist(cube) > 0 {
		return nil
	}
	near, _ := s.nearestTwisted(cube, func(Shape) bool { return true })
	plain := Shape{Sides: s.Sides}
	return &ShapeError{Shape: s.String(),
		Why:     fmt.Sprintf("a twisted torus has sides k×k×2k or k×2k×2k, k a multiple of %d", cube),
		Nearest: near.String() + ", or " + plain.String() + " without a twist"}
}

// twist returns by how much the short rings of a twisted torus move along the long ones; 0 if the sides allow no
// twist.
func (s Shape) twist(cube int) int {
	k, long := slices.Min(s.Sides[:]), slices.Max(s.Sides[:])
	if k%cube != 0 || long != 2*k {
		return 0
	}
	for _, side := range s.Sides {
		if side != k && side != long {
			return 0
		}
	}
	return k
}

// nearestTwisted returns the twisted torus that fits whose number of nodes is nearest to the shape's; of two the
// smaller. ok is false where none fits.
func (s Shape) nearestTwisted(cube int, fits func(Shape) bool) (best Shape, ok bool) {
	off := func(t Shape) int { return max(t.Nodes()-s.Nodes(), s.Nodes()-t.Nodes()) }
	for k := cube; k <= mostSide/2; k += cube {
		for _, sides := range [][3]int{{k, k, 2 * k}, {k, 2 * k, 2 * k}} {
			if t := (Shape{Sides: sides, Twisted: true}); fits(t) && (!ok || off(t) < off(best)) {
				best, ok = t, true
			}
		}
	}
	return best, ok
}

// permutations returns the orders of three sides, each order once, in the order of their places: 012, 021, 102, …
func permutations(sides [3]int) [][3]int {
	var out [][3]int
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		q := [3]int{sides[p[0]], sides[p[1]], sides[p[2]]}
		if !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// compareSides orders boxes by their sides.
func compareSides(a, b [3]int) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

func sorted(sides [3]int) [3]int {
	slices.Sort(sides[:])
	return sides
}
