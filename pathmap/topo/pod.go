package topo

import (
	"fmt"
	"strings"

	"lightloom/pathmap"
)

// DefaultSide is the side of a pod's cubes where it is left out.
const DefaultSide = 2

// MaxCubes is how many cubes a pod can have.
const MaxCubes = 256

// Pod reports whether s is a pod: each rack is a cube of Side³ hosts, and has a port on two faces for
// each place of each dimension. The two ports of one place lead to one OCS.
func (s Spec) Pod() bool { return s.Kind == PodKind }

// faceOCSes is how many OCSes a pod has: one for each place on the faces of each dimension.
func (s Spec) faceOCSes() int {
	side := s.Side
	if side == 0 {
		side = DefaultSide
	}
	return 3 * side * side
}

func (s Spec) torName() string {
	if s.Pod() {
		return "cube"
	}
	return "tor"
}

// podKeys lists the keys of a pod.
func podKeys(dark, slots, vcpus key) []key {
	return []key{
		{"cubes", count("cubes", func(s *Spec) *int { return &s.Racks })},
		{"side", count("side", func(s *Spec) *int { return &s.Side })},
		{"spines", count("spines", func(s *Spec) *int { return &s.Spines })},
		{"nic", rate("nic", func(s *Spec) *pathmap.BitsPerSecond { return &s.NIC })},
		{"eps", rate("eps", func(s *Spec) *pathmap.BitsPerSecond { return &s.EPS })},
		{"ocs", rate("ocs", func(s *Spec) *pathmap.BitsPerSecond { return &s.OCS })},
		{"ports", count("ports", func(s *Spec) *int { return &s.FacePorts })}, dark, slots, vcpus}
}

// checkPod checks what only a pod has; zero fields are defaults.
func (s Spec) checkPod() error {
	d := s.WithDefaults()
	switch {
	case d.Side != 2 && d.Side != 4:
		return wrong("side", "a cube of %d hosts a side: write side=2 or side=4", d.Side)
	case d.Racks < 1 || d.Racks > MaxCubes:
		return wrong("cubes", "%d is out of range: write 1 to %d", d.Racks, MaxCubes)
	case d.Hosts != d.Side*d.Side*d.Side:
		return wrong("side", "a cube of side %d has %d hosts, not %d: leave hosts out", d.Side, d.Side*d.Side*d.Side,
			d.Hosts)
	case d.Ports != d.Racks:
		return wrong("cubes", "an OCS with a port for %d of %d cubes: each has two ports on every OCS: leave ports out",
			d.Ports, d.Racks)
	case d.FacePorts < 2*d.Racks:
		return wrong("ports", "OCSes of %d ports, and %d cubes have %d faces on each: write ports=%d or more, or cubes=%d",
			d.FacePorts, d.Racks, 2*d.Racks, 2*d.Racks, max(1, d.FacePorts/2))
	case d.OCSes != 0 || d.Waves != 0:
		return wrong("kind", "a pod has as many OCSes as its side says: leave ocses and wavelengths out")
	}
	return nil
}

// facePort is the number that an OCS of a pod gives a port of its two planes: 2c for the lower face of
// cube c, 2c+1 for its upper one.
func facePort(port, cubes int32) int32 { return port%cubes*2 + port/cubes }

// planePort is its inverse.
func planePort(port, cubes int32) int32 { return port%2*cubes + port/2 }

// facesMeet reports whether two OCS ports of a pod are of one OCS, and one of them of an upper face, the
// other of a lower one.
func (f *Fabric) facesMeet(a, b int32) bool {
	cubes := int32(f.Racks)
	return a/cubes/2 == b/cubes/2 && a/cubes != b/cubes
}

// Face says in words which face an OCS port of a pod leads to.
func (f *Fabric) Face(port int32) string {
	plane := port / int32(f.Racks)
	name := "lower"
	if plane%2 == 1 {
		name = "upper"
	}
	ocs, side := int(plane/2), f.Spec.Side
	place := ocs % (side * side)
	return fmt.Sprintf("the %s %s face of cube%d at %d,%d", name, dimensions()[ocs/(side*side)], f.OCSRack(port),
		place/side, place%side)
}

func dimensions() []string { return []string{"x", "y", "z"} }

// Picture draws which OCS has which place on the faces of a pod's cubes, or which racks are on which rail's; empty for
// other fabrics.
func (s Spec) Picture() string {
	s = s.WithDefaults()
	if s.Rails > 0 {
		return s.railPicture()
	}
	if !s.Pod() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d cubes of %d×%d×%d hosts; %d OCSes of %d ports. Cube c has port 2c on each for its lower face,\n"+
		"2c+1 for its upper one. The faces, with the OCS of each place:\n\n", s.Racks, s.Side, s.Side, s.Side, s.faceOCSes(),
		s.FacePorts)
	width := 6*s.Side + 4
	axes := [3]string{"y down, z across", "x down, z across", "x down, y across"}
	for d, name := range dimensions() {
		fmt.Fprintf(&b, "  %-*s", width, name+" faces")
		if d == 2 {
			b.WriteByte('\n')
		}
	}
	for row := range s.Side {
		for d := range 3 {
			var line strings.Builder
			for column := range s.Side {
				fmt.Fprintf(&line, "%-6s", fmt.Sprintf("ocs%d", d*s.Side*s.Side+row*s.Side+column))
			}
			fmt.Fprintf(&b, "  %-*s", width, line.String())
		}
		b.WriteByte('\n')
	}
	for d := range 3 {
		fmt.Fprintf(&b, "  %-*s", width, axes[d])
	}
	b.WriteByte('\n')
	return trimmed(b.String())
}

// trimmed is a text without spaces at the ends of its lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
