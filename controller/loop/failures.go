package loop

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// failures keeps inputs of the OCS from the policy whose circuits fail one after the other: a device
// that refuses what they need refuses it again at once, and a policy asks again as often as it may. A
// first failure is no reason to wait; after the second, each pause is twice as long as the last.
type failures struct {
	byIn []failure
	any  bool // some pause is not over
}

// failure is how often circuits of an input have failed in a row, and until when it pauses.
type failure struct {
	tries  int
	until  time.Duration
	pauses bool
}

// longestPause is how many times the first pause grows to.
const longestPause = 64

// settled notes the outcome of a move.
func (f *failures) settled(now, retry time.Duration, in southbound.Port, ok bool) {
	x := &f.byIn[in]
	if ok {
		*x = failure{}
		return
	}
	if x.tries++; x.tries > 1 && retry > 0 {
		x.until, x.pauses = now+min(retry<<min(x.tries-2, 16), longestPause*retry), true
		f.any = true
	}
}

// over ends the pauses that are over, and reports whether there are any.
func (f *failures) over(now time.Duration) (some bool) {
	if !f.any {
		return false
	}
	f.any = false
	for in := range f.byIn {
		x := &f.byIn[in]
		if x.pauses && x.until <= now {
			x.pauses, some = false, true
		}
		f.any = f.any || x.pauses
	}
	return some
}

// next is when the next pause is over.
func (f *failures) next() time.Duration {
	at := southbound.Never
	for in := range f.byIn {
		if x := &f.byIn[in]; f.any && x.pauses {
			at = min(at, x.until)
		}
	}
	return at
}

// hide shows the cables of inputs that pause as dark.
func (f *failures) hide(v *controller.View) {
	t := v.Fabric.Topology
	for in := range f.byIn {
		if !f.any || !f.byIn[in].pauses || v.Fabric.OCSUplink[in] < 0 {
			continue
		}
		l := t.OutPort(v.Fabric.ToRNode[v.Fabric.OCSRack(int32(in))], v.Fabric.OCSUplink[in])
		if l == pathmap.None {
			continue
		}
		if v.Down == nil {
			v.Down = make([]bool, len(t.Links()))
		}
		v.Down[l], v.Down[pathmap.Reverse(l)] = true, true
	}
}
