package flowsim

import (
	"errors"
	"fmt"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// optics is the plane of the optical switch: its own or, if fibres can be moved, the patch panel before it.
type optics struct{ *plane }

var _ device.Plane = optics{}

// Move implements device.Plane.
func (o optics) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	if o.sim.panel != nil {
		return o.sim.panel.Move(off, on, dark)
	}
	return o.plane.Move(off, on, dark)
}

// onLight is the optical switch's: its own circuits begin or cease to carry light. Where the fibres are
// plugged in elsewhere it is the panel that knows whose light that is.
func (s *Sim) onLight(ocs pathmap.NodeID, input southbound.Port, lit bool) {
	if s.panel != nil {
		s.panel.Light(input, lit)
		return
	}
	s.circuitLight(ocs, input, lit)
}

// Patch puts a patch panel before the optical switch, so that its fibres can be plugged in elsewhere:
// call it before anything is asked of that switch. It panics where there is none, or several.
func (s *Sim) Patch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.fabric.OCSes(); n != 1 {
		panic(fmt.Sprintf("flowsim: a patch panel before %d optical switches", n))
	}
	w := s.board(s.fabric.OCSNode)
	s.panel = cabling.New(w.plane, s.fabric.Topology.Ports(w.id), func(input southbound.Port, lit bool) {
		s.circuitLight(w.id, input, lit)
	})
}

// Plug plugs in fibres of the optical switch now, as given (see cabling.Panel.Plug): a circuit over a
// pulled fibre carries nothing, though its switch reports it connected. A circuit over exchanged fibres
// leads to the wrong rack, whose ToR forwards what is not for it.
func (s *Sim) Plug(in, out []southbound.Port) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panel == nil {
		return errors.New("plug fibres: the simulator has no patch panel: call Patch before it runs")
	}
	defer s.board(s.fabric.OCSNode).plan()
	return s.panel.Plug(in, out)
}

// darkTimes is the inputs whose circuits have moved and are dark: one event for all that moved together.
type darkTimes struct {
	inputs [][]pathmap.NodeID // by the event's index, numbered as circuitOf does; the memory is used again
	idle   []int32
}

// lightLater plans a check of the moved circuits for the instant at which they have light.
func (s *Sim) lightLater(ocs pathmap.NodeID, moved []southbound.CrossConnect, at time.Duration) {
	d := &s.dark
	if len(d.idle) == 0 {
		d.idle = append(d.idle, int32(len(d.inputs)))
		d.inputs = append(d.inputs, nil)
	}
	i := d.idle[len(d.idle)-1]
	d.idle = d.idle[:len(d.idle)-1]
	for _, c := range moved {
		d.inputs[i] = append(d.inputs[i], s.circuitOf(ocs, c.In))
	}
	s.clock.At(at, event{lightComes, i})
}

func (s *Sim) lightNow(i int32) {
	d := &s.dark
	for _, in := range d.inputs[i] {
		s.change(in)
	}
	d.inputs[i] = d.inputs[i][:0]
	d.idle = append(d.idle, i)
}
