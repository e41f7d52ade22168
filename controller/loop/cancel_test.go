package loop

import (
	"errors"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestLeftOf: what a coflow has left is by the hosts' reports if these are of all its rows, and else
// all of it.
func TestLeftOf(t *testing.T) {
	report := func(ok bool, base ...float64) func(southbound.CoflowID) (southbound.Remaining, bool) {
		return func(id southbound.CoflowID) (southbound.Remaining, bool) {
			return southbound.Remaining{F: .5, Base: base}, ok && id == 0
		}
	}
	sizes := []float64{100, 200, 400, 800}
	for name, tc := range map[string]struct {
		left func(southbound.CoflowID) (southbound.Remaining, bool)
		want []float64
	}{"no reports": {nil, sizes}, "reported": {report(true, 2, 4, 6, 8), []float64{1, 2, 3, 4}},
		"not known": {report(false, 2, 4, 6, 8), sizes}, "a row less": {report(true, 2, 4, 6), sizes}} {
		l, s, _ := carrying(t, hybrid)
		l.pass.left = tc.left
		left := l.leftOf(0, s.Coflow(0))
		var got []float64
		for i := range left.Base {
			got = append(got, left.Row(int32(i)))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// held are the rows that a pass has send nothing.
func held(p *pass) (rows []southbound.HostFlowKey) {
	for _, s := range p.act.Steer {
		if s.Tag == southbound.TagHold {
			rows = append(rows, s.HostFlowKey)
		}
	}
	return rows
}

// TestCancelOnce: a job is cancelled once in a pass, with what its active coflows have sent; their rows
// are held.
func TestCancelOnce(t *testing.T) {
	l, s, _ := carrying(t, hybrid)
	if err := s.ApplyAll([]state.Entry{{Kind: state.HostFlowEnded, Coflow: 1, Row: 0}}); err != nil {
		t.Fatal(err)
	}
	l.pass.left = func(southbound.CoflowID) (southbound.Remaining, bool) {
		return southbound.Remaining{F: 1, Base: []float64{1200}}, true
	}
	l.cancelled(s, 30, Cancel{Job: 1})
	l.cancelled(s, 30, Cancel{Job: 1})
	if e := l.pass.entries; len(e) != 1 || e[0].Kind != state.JobCancelled || e[0].At != 30 ||
		e[0].JobID != 1 ||
		e[0].OK || !slices.Equal(e[0].Sent, []state.Sent{{Coflow: 2, Bytes: 2000}}) {
		t.Fatalf("entries %+v", e)
	}
	if got := held(&l.pass); !slices.Equal(got, []southbound.HostFlowKey{{Coflow: 2, Row: 0}}) {
		t.Errorf("held are %v", got)
	}
	changed := controller.Event{At: 30, Kind: controller.FabricChanged, Job: 1, Coflow: -1}
	if p := &l.pending; !p.freed || !slices.Equal(p.touched, []southbound.CoflowID{2}) || len(p.events) != 1 ||
		p.events[0] != changed {
		t.Errorf("pending %+v", p)
	}
	if i := &l.reservations.idle; !i.any || !i.all {
		t.Errorf("circuits are not looked at again: %+v", i)
	}
	if err := s.ApplyAll(l.pass.entries); err != nil {
		t.Fatal(err)
	}
	l.pass.reset(&Inputs{})
	if l.cancel(s, 31, 1, true); len(l.pass.entries) != 0 {
		t.Errorf("cancelled again: %+v", l.pass.entries)
	}
	if l.cancel(s, 31, 0, true); len(l.pass.entries) != 1 || !l.pass.entries[0].OK ||
		!slices.Equal(l.pass.entries[0].Sent, []state.Sent{{}}) {
		t.Errorf("a lifetime is over, and nothing was sent: %+v", l.pass.entries)
	}
	l.cancelled(s, 31, Cancel{Job: 2})
	var refused error
	l.cancelled(s, 31, Cancel{Job: 2, Refused: func(err error) { refused = err }})
	if !errors.Is(refused, ErrNoJob) || refused.Error() != "cancel job 2: no such job" ||
		len(l.pass.entries) != 1 {
		t.Errorf("refused %v, %d entries", refused, len(l.pass.entries))
	}
}

// TestHoldCancelled: a new leader has the rows of cancelled jobs declared and held, and no others.
func TestHoldCancelled(t *testing.T) {
	l, s, _ := carrying(t, hybrid)
	l.holdCancelled(s)
	if len(l.pass.act.Start)+len(l.pass.act.Steer) != 0 {
		t.Errorf("nothing was cancelled: %+v", l.pass.act)
	}
	waiting := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
		{Tasks: make([]controller.Task, 1)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 100}}}
	if err := s.ApplyAll([]state.Entry{{Kind: state.JobAccepted, Job: waiting}}); err != nil {
		t.Fatal(err)
	}
	l.cancel(s, 30, 1, false)
	l.cancel(s, 30, 2, false)
	if err := s.ApplyAll(l.pass.entries); err != nil {
		t.Fatal(err)
	}
	l.pass.reset(&Inputs{})
	l.holdCancelled(s)
	var got []southbound.CoflowID
	for _, x := range l.pass.act.Start {
		got = append(got, x.Coflow)
		c := s.Coflow(x.Coflow)
		if !slices.Equal(x.Tag, []southbound.Tag{southbound.TagHold}) || !slices.Equal(x.Src, c.Columns.Src) ||
			!slices.Equal(x.Dst, c.Columns.Dst) || !slices.Equal(x.Size, c.Columns.Size) || x.Cap != nil {
			t.Errorf("started %+v", x)
		}
	}
	if !slices.Equal(got, []southbound.CoflowID{1, 2}) {
		t.Errorf("started are %v", got)
	}
	if got := held(&l.pass); !slices.Equal(got, []southbound.HostFlowKey{{Coflow: 1}, {Coflow: 2}}) {
		t.Errorf("held are %v", got)
	}
}

// TestCaps: the rows of a stream with a rate send its rate at most, with headers where there are any;
// others all they can.
func TestCaps(t *testing.T) {
	const payload = 1448 * 8 * 1000 // a thousand frames a second
	for _, tc := range []struct {
		fabric string
		rate   pathmap.BitsPerSecond
		want   pathmap.BitsPerSecond
	}{{hybrid, payload, 1514 * 8 * 1000}, {"crossbar:ports=6,slots=4", payload, payload}, {hybrid, 0, 0}} {
		l, s, _ := carrying(t, tc.fabric)
		edge := controller.Edge{Kind: controller.ScatterGather, From: 0, To: 1, Rate: tc.rate, Stream: true}
		if tc.rate == 0 {
			edge.Bytes = 100
		}
		job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
			{Tasks: make([]controller.Task, 1)}}, Edges: []controller.Edge{edge}}
		if err := s.ApplyAll([]state.Entry{{Kind: state.JobAccepted, Job: job}, {Kind: state.Placed,
			Placement: &controller.Placement{Job: 2, Hosts: []southbound.HostID{0, 2}}}}); err != nil {
			t.Fatal(err)
		}
		var want []pathmap.BitsPerSecond
		if tc.want > 0 {
			want = append(want, tc.want)
		}
		if got := l.caps(s, s.Coflow(3)); !slices.Equal(got, want) {
			t.Errorf("%s at %v: %v, want %v", tc.fabric, tc.rate, got, want)
		}
	}
}
