package flowsim

import (
	"time"

	"lightloom/southbound"
)

// darkTimes is the inputs whose circuits have moved and are dark: one event for all that moved together.
type darkTimes struct {
	inputs [][]southbound.Port // by the event's index; the memory is used again
	idle   []int32
}

// lightLater has the circuits of those who moved looked at again once they have light.
func (s *Sim) lightLater(moved []southbound.CrossConnect, at time.Duration) {
	d := &s.dark
	if len(d.idle) == 0 {
		d.idle = append(d.idle, int32(len(d.inputs)))
		d.inputs = append(d.inputs, nil)
	}
	i := d.idle[len(d.idle)-1]
	d.idle = d.idle[:len(d.idle)-1]
	for _, c := range moved {
		d.inputs[i] = append(d.inputs[i], c.In)
	}
	s.clock.At(at, event{lightComes, i})
}

func (s *Sim) lightNow(i int32) {
	d := &s.dark
	for _, in := range d.inputs[i] {
		s.change(s.circuitOf(in))
	}
	d.inputs[i] = d.inputs[i][:0]
	d.idle = append(d.idle, i)
}
