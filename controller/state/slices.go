package state

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Slice is a slice of a pod that was asked for, and how far it is.
type Slice struct {
	torus.Slice
	Owner   string        `json:"owner,omitempty"`
	Request string        `json:"request,omitempty"`
	Asked   time.Duration `json:"asked_ns"`
	Since   time.Duration `json:"since_ns"`        // when it came to its state
	Readied time.Duration `json:"ready_ns"`        // when it was Ready for the first time; Unset before
	Hosts   []int32       `json:"hosts,omitempty"` // that it was asked for, of a ring
}

// MaxSlices bounds the slices that are there at once.
const MaxSlices = 1 << 12

// slicing is what slices take of a pod and of its optical switches. It follows from Data.Slices.
type slicing struct {
	pod     *torus.Pod        // nil: the fabric is no pod
	want    []southbound.Port // by OCS input: the output that a slice has it lead to, NoPort for none
	owner   []string          // by OCS input: the slice that has a circuit there, empty for none
	into    []string          // by OCS output: the same
	version uint64            // rises as slices change
	// tags of the circuits between two cubes, see southbound.CircuitTags; nil: the fabric is no pod
	parallel []southbound.Tag
}

// PodOf returns the pod of a fabric, all of it free; nil if it is none.
func PodOf(f *topo.Fabric) *torus.Pod {
	if !f.Spec.Pod() {
		return nil
	}
	p, err := torus.Joined(f.Spec.Side, f.Racks)
	if err != nil {
		panic("state: " + err.Error()) // the spec is checked
	}
	return p
}

// Slices returns the slices, in the order in which they were asked for. Borrowed.
func (s *State) Slices() []Slice { return s.d.Slices }

// SlicesVersion is another one once a slice has changed.
func (s *State) SlicesVersion() uint64 { return s.slicing.version }

// Slice returns a slice.
func (s *State) Slice(name string) (Slice, bool) {
	if i := s.sliceAt(name); i >= 0 {
		return s.d.Slices[i], true
	}
	return Slice{}, false
}

func (s *State) sliceAt(name string) int {
	return slices.IndexFunc(s.d.Slices, func(x Slice) bool { return x.Name == name })
}

// SliceCircuit returns the output that a slice has an OCS input lead to, NoPort for none.
func (s *State) SliceCircuit(in southbound.Port) southbound.Port {
	if int(in) >= len(s.slicing.want) {
		return southbound.NoPort
	}
	return s.slicing.want[in]
}

// SlicePorts calls do with the ports of every circuit of a placed slice, once each way.
func SlicePorts(f *topo.Fabric, s *torus.Slice, do func(in, out southbound.Port)) error {
	if ringPorts(f, s, do) || s.Place == nil {
		return nil
	}
	circuits, err := s.Place.Circuits()
	if err != nil {
		return err
	}
	for _, c := range circuits {
		ocs := f.OCSNode + southbound.DeviceID(c.Switch)
		u, l := c.Ports()
		upper, lower := southbound.Port(f.OCSPort(ocs, int32(u))), southbound.Port(f.OCSPort(ocs, int32(l)))
		do(upper, lower)
		do(lower, upper)
	}
	return nil
}

var sliceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)

// ErrNoPod marks requests for slices of a fabric that has none.
var ErrNoPod = errors.New("this fabric is no pod, and has no slices of cubes")

// ErrSliceName marks a name that no slice can have.
var ErrSliceName = errors.New("name it by 1 to 63 small letters, digits, hyphens and dots, such as train-1")

// CheckSlice returns why a slice cannot be there so, or nil. It looks at no others.
func CheckSlice(f *topo.Fabric, x *Slice) error {
	pod := PodOf(f)
	switch {
	case pod == nil || x.OfRacks():
		return checkRing(f, x)
	case !sliceName.MatchString(x.Name):
		return fmt.Errorf("slice %q: %w", x.Name, ErrSliceName)
	case !slices.Contains(torus.States(), x.State):
		return fmt.Errorf("slice %q: state %q is none of %q", x.Name, x.State, torus.States())
	case x.Place != nil != (x.State != torus.Pending && x.State != torus.Failed):
		return fmt.Errorf("slice %q is %s: it has a place, or has none, though it should", x.Name, x.State)
	case x.Place != nil && x.Place.Shape != x.Shape:
		return fmt.Errorf("slice %q of shape %s has a place for %s", x.Name, x.Shape, x.Place.Shape)
	case len(x.Cubes) > topo.MaxCubes:
		return fmt.Errorf("slice %q names %d cubes: a pod has %d at most", x.Name, len(x.Cubes), topo.MaxCubes)
	case x.Place != nil:
		return pod.CheckPlace(x.Place)
	}
	return nil
}

// setSlice adds a slice, or replaces the one of its name.
func (s *State) setSlice(e *Entry) error {
	x := *e.Slice
	if err := CheckSlice(s.fabric, &x); err != nil {
		return err
	}
	i := s.sliceAt(x.Name)
	if i < 0 && len(s.d.Slices) >= MaxSlices {
		return fmt.Errorf("slice %q: there are %d: delete some", x.Name, len(s.d.Slices))
	}
	var old torus.Slice
	if i >= 0 {
		old = s.d.Slices[i].Slice
	}
	if err := s.takeSlice(&x.Slice, &old); err != nil {
		return err
	}
	d := slices.Clone(s.d.Slices) // readers have borrowed the old ones
	if i >= 0 {
		d[i] = x
	} else {
		d = append(d, x)
	}
	s.d.Slices = d
	s.slicing.version++
	return nil
}

// takePlace gives a slice its place, in exchange for its old one. On an error nothing has changed.
func (s *State) takePlace(x *torus.Slice, old *torus.Placement) error {
	pod := s.slicing.pod
	if old != nil {
		pod.Give(old.Parts)
	}
	if x.Place != nil {
		if err := pod.CheckPlace(x.Place); err != nil {
			if old != nil {
				pod.Take(old.Parts)
			}
			return err
		}
		pod.Take(x.Place.Parts)
	}
	if old != nil {
		s.wire(&torus.Slice{Place: old}, false)
	}
	s.wire(x, true)
	return nil
}

// wire notes which circuits a slice wants, or no longer wants. Slices that share no node share no port.
func (s *State) wire(x *torus.Slice, wants bool) {
	err := SlicePorts(s.fabric, x, func(in, out southbound.Port) {
		name := x.Name
		if !wants {
			name = ""
		}
		s.slicing.into[out] = name
		if !wants {
			out = southbound.NoPort
		}
		s.slicing.want[in], s.slicing.owner[in] = out, name
	})
	if err != nil {
		panic("state: " + err.Error()) // CheckPlace has joined it
	}
}

func (s *State) deleteSlice(e *Entry) error {
	i := s.sliceAt(e.Request)
	if i < 0 {
		return ErrStale
	}
	old := s.d.Slices[i]
	if err := s.takeSlice(&torus.Slice{}, &old.Slice); err != nil {
		return err
	}
	s.d.Slices = slices.Delete(slices.Clone(s.d.Slices), i, i+1)
	if len(s.d.Slices) == 0 {
		s.d.Slices = nil
	}
	s.slicing.version++
	return nil
}

// deriveSlicing rebuilds what follows from the slices.
func (s *State) deriveSlicing() {
	s.slicing = slicing{version: s.slicing.version + 1}
	if s.slicing.pod = PodOf(s.fabric); s.slicing.pod == nil && !s.fabric.HasOCS() {
		return
	}
	if s.slicing.pod != nil {
		s.slicing.parallel = southbound.CircuitTags(s.fabric)
	}
	s.slicing.want = slices.Repeat([]southbound.Port{southbound.NoPort}, s.fabric.OCSPorts())
	s.slicing.owner, s.slicing.into = make([]string, s.fabric.OCSPorts()), make([]string, s.fabric.OCSPorts())
	for i := range s.d.Slices {
		if err := s.takeSlice(&s.d.Slices[i].Slice, &torus.Slice{}); err != nil {
			panic("state: " + err.Error()) // a snapshot with such slices is refused
		}
	}
}

// checkSlices refuses a snapshot whose slices cannot stand together.
func (d *Data) checkSlices(f *topo.Fabric) error {
	pod, ports := PodOf(f), map[[3]southbound.Port]bool{} // of slices of racks: sides of ports, pairs of racks
	for i := range d.Slices {
		x := &d.Slices[i]
		if err := CheckSlice(f, x); err != nil {
			return err
		}
		twice := slices.ContainsFunc(d.Slices[:i], func(o Slice) bool { return o.Name == x.Name })
		ringPorts(f, &x.Slice, func(in, out southbound.Port) {
			racks := [3]southbound.Port{2 + southbound.Port(f.OCSRack(int32(in))), southbound.Port(f.OCSRack(int32(out)))}
			for _, p := range [3][3]southbound.Port{{0, in}, {1, out}, racks} {
				twice = twice || ports[p]
				ports[p] = true
			}
		})
		if twice {
			return fmt.Errorf("slice %q is there twice, or shares a port", x.Name)
		}
		if x.Place == nil {
			continue
		}
		if err := pod.CheckPlace(x.Place); err != nil {
			return err
		}
		pod.Take(x.Place.Parts)
	}
	return nil
}

// checkOfSlice returns an error unless a circuit is one that a slice has.
func (s *State) checkOfSlice(in, out southbound.Port) error {
	if s.slicing.pod != nil && s.slicing.want[in] != out {
		return fmt.Errorf("reserve %d→%d: no slice has a circuit from %s to %s", in, out, s.fabric.Face(int32(in)),
			s.fabric.Face(int32(out)))
	}
	return nil
}

// WhySlice says in words why a slice is in its state. away are the cubes or racks that slices cannot use, gone the
// optical switches that have failed: which are silent a leader knows alone.
func (s *State) WhySlice(x *Slice, away []int, gone ...southbound.DeviceID) string {
	switch {
	case x.Why != "":
		return x.Why
	case x.OfRacks() && x.State == torus.Pending:
		k := s.RacksNow(away, func(d southbound.DeviceID) bool { return slices.Contains(gone, d) })
		return torus.ExplainRacks(k, RackRule(), s.BareSlices(), &x.Slice)
	case x.State == torus.Pending:
		pod := PodOf(s.fabric)
		for _, c := range away {
			pod.SetAway(c, true)
		}
		return torus.Explain(pod, SliceRule(), s.BareSlices(), &x.Slice)
	case x.State == torus.Ready:
		return ""
	}
	dark, all := s.SliceDark(x)
	why := fmt.Sprintf("%d of %d circuits are dark", dark, all)
	if x.Reason == torus.CubeAway {
		why += ", and no cube has room in place of one that is away"
	}
	if x.Reason == torus.RackAway {
		why += ", and no rack has ports in place of one that is away"
	}
	return why
}

// SliceDark counts the circuits of a slice that are not in service, and all of them. A circuit is both its ways, of a
// ring one.
func (s *State) SliceDark(x *Slice) (dark, all int) {
	_ = SlicePorts(s.fabric, &x.Slice, func(in, out southbound.Port) { // a slice of the state can be joined
		if !x.OfRacks() && in < out {
			return
		}
		all++
		if !s.circuitServes(in, out) || !x.OfRacks() && !s.circuitServes(out, in) {
			dark++
		}
	})
	return dark, all
}

func (s *State) circuitServes(in, out southbound.Port) bool {
	c := s.d.Circuits[in]
	return c.Out == out && c.Phase == controller.InService
}

// SliceRule is how slices of a running pod are placed.
func SliceRule() torus.Rule {
	return torus.Rule{Name: "bestfit", Place: torus.BestFit}
}

// SliceLacks returns what each slice lacks of its circuits, both ways counted. gone says which switches have failed.
func (s *State) SliceLacks(gone func(southbound.DeviceID) bool) []torus.Lack {
	at := make(map[string]int, len(s.d.Slices))
	for i := range s.d.Slices {
		at[s.d.Slices[i].Name] = i
	}
	lacks := make([]torus.Lack, len(s.d.Slices))
	for in, out := range s.slicing.want {
		if out == southbound.NoPort || s.circuitServes(southbound.Port(in), out) {
			continue
		}
		lack := &lacks[at[s.slicing.owner[in]]]
		lack.Dark++
		ocs, _ := s.fabric.OCSAt(int32(in))
		lack.Switch = lack.Switch || gone(ocs)
	}
	return lacks
}

// BareSlices are the slices as package torus decides about them.
func (s *State) BareSlices() []torus.Slice {
	out := make([]torus.Slice, len(s.d.Slices))
	for i := range out {
		out[i] = s.d.Slices[i].Slice
	}
	return out
}
