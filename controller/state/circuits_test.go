package state_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// TestTags checks where each host flow goes at every stage of a reservation and its circuit.
func TestTags(t *testing.T) {
	const packets, hold, circuit = southbound.Tag(2), southbound.TagHold, southbound.TagCircuit
	begin := state.Entry{Kind: state.CircuitReservationBegun, Port: 0}
	intend := state.Entry{Kind: state.CircuitIntended, Port: 0, Out: 1}
	settle := state.Entry{Kind: state.CircuitSettled, Port: 0, Out: 1, OK: true}
	for _, tt := range []struct {
		name     string
		of       southbound.CoflowID
		fallback controller.Fallback
		entries  []state.Entry
		want     southbound.Tag // of the host flow from rack 0 to 1
	}{
		{"reserved, fallback packets", 0, controller.Packets, nil, packets},
		{"reserved, fallback hold", 0, controller.Hold, nil, hold},
		{"being made, fallback packets", 0, controller.Packets, []state.Entry{begin, intend}, packets},
		{"being made, fallback hold", 0, controller.Hold, []state.Entry{begin, intend}, hold},
		{"in-service", 0, controller.Hold, []state.Entry{begin, intend, settle}, circuit},
		{"in service for anyone", controller.AnyCoflow, controller.Packets,
			[]state.Entry{begin, intend, settle}, circuit},
		{"in service, not begun", 0, controller.Packets, []state.Entry{intend, settle}, packets},
		{"in service, for another coflow", 1, controller.Hold, []state.Entry{begin, intend, settle}, packets},
		{"leads elsewhere", 0, controller.Packets,
			[]state.Entry{begin, {Kind: state.CircuitIntended, Port: 0, Out: 2},
				{Kind: state.CircuitSettled, Port: 0, Out: 2, OK: true}}, packets},
		{"over", 0, controller.Hold, []state.Entry{begin, intend, settle,
			{Kind: state.CircuitReservationEnded, Port: 0}},
			packets},
		{"failed", 0, controller.Hold, []state.Entry{begin, intend,
			{Kind: state.CircuitSettled, Port: 0, Out: 1}}, hold},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := state.New(fabric(t)) // two hosts a rack
			flows := []controller.Flow{{Src: 0, Dst: 2, Bytes: 5}, {Src: 0, Dst: 4, Bytes: 5}}
			for range 2 {
				apply(t, s, state.Entry{Kind: state.JobAccepted,
					Job: &controller.Job{Name: "bare",
						Edges: []controller.Edge{{Kind: controller.Fixed, Flows: flows}}}})
			}
			apply(t, s, state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: 0}},
				state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: 1}},
				state.Entry{Kind: state.Routed, Routing: &controller.Routing{Coflow: 0,
					Tags: []southbound.Tag{packets, packets}}},
				state.Entry{Kind: state.CircuitReserved,
					CircuitReservation: &controller.CircuitReservation{In: 0, Out: 1,
						NotAfter: 50, Coflow: tt.of,
						Fallback: tt.fallback}})
			apply(t, s, tt.entries...)
			if got, want := s.AppendTags(nil, 0), []southbound.Tag{tt.want, packets}; !slices.Equal(got, want) {
				t.Errorf("tags %v, want %v: the second host flow goes to rack 2 and is nobody's", got, want)
			}
			for row, want := range s.AppendTags(nil, 0) {
				if got := s.TagOf(0, s.Coflow(0), int32(row)); got != want {
					t.Errorf("row %d alone has tag %v, want %v", row, got, want)
				}
			}
		})
	}
}

// TestReconfigurationDelay compares the expected reconfiguration delay with sorting all moves.
func TestReconfigurationDelay(t *testing.T) {
	const model = 77 * time.Millisecond
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := state.New(fabric(t))
		var took []time.Duration // of those that came into service
		for i := range r.IntN(100) {
			at, out := time.Duration(i)*time.Second, time.Duration(1+r.IntN(1000))*time.Microsecond
			ok := r.IntN(3) > 0
			apply(t, s, state.Entry{Kind: state.CircuitIntended, At: at, Port: 0, Out: southbound.Port(1 + i%3)},
				state.Entry{Kind: state.CircuitSettled, At: at + out, Port: 0,
					Out: southbound.Port(1 + i%3), OK: ok})
			if ok {
				took = append(took, out)
			}
		}
		want := model
		if last := took[max(0, len(took)-32):]; len(last) >= 8 {
			last = slices.Sorted(slices.Values(last))
			want = last[len(last)-1]
			for k, d := range last { // the smallest that at least nine in ten do not exceed
				if (k+1)*10 >= len(last)*9 {
					want = d
					break
				}
			}
		}
		if got := s.ReconfigurationDelay(model); got != want {
			t.Fatalf("seed %d: %v after %d moves, want %v", seed, got, len(took), want)
		}
	}
}

// TestCheckRouting checks routings also of coflows that the same plan places.
func TestCheckRouting(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle()})
	placing := []controller.Placement{{Job: 0, Hosts: []southbound.HostID{0, 2, 4}}}
	for _, tt := range []struct {
		name    string
		r       controller.Routing
		placing []controller.Placement
		want    string
	}{
		{"placed by the same plan", controller.Routing{Tags: make([]southbound.Tag, 2)}, placing, ""},
		{"not placed", controller.Routing{Tags: make([]southbound.Tag, 2)}, nil, "2 tags for 0 host flows"},
		{"too few", controller.Routing{Tags: make([]southbound.Tag, 1)}, placing, "1 tags for 2 host flows"},
		{"circuit", controller.Routing{Tags: []southbound.Tag{0, southbound.TagCircuit}}, placing,
			"not a packet path"},
		{"no such coflow", controller.Routing{Coflow: 3}, placing, "no such coflow"},
		{"below zero", controller.Routing{Coflow: -1}, placing, "no such coflow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.CheckRouting(&tt.r, tt.placing); (err == nil) != (tt.want == "") || err != nil &&
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestNames holds that every kind and cause has a name of its own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for k := state.JobAccepted; k <= state.PortSeen; k++ {
		seen[k.String()] = true
	}
	for c := state.RanOut; c <= state.Broken; c++ {
		seen[c.String()] = true
	}
	if len(seen) != 15+4 || seen[""] || state.Kind(0).String() != "kind(0)" ||
		state.Kind(99).String() != "kind(99)" ||
		state.Cause(9).String() != "cause(9)" {
		t.Errorf("names: %v", seen)
	}
}

// TestRoutedInView: a policy sees of a coflow whether it has been routed, and by which tags.
func TestRoutedInView(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted,
		Job: &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed,
			Flows: []controller.Flow{{Src: 0, Dst: 2, Bytes: 5}}}}}},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{}})
	var v controller.View
	if s.FillView(&v, nil); len(v.Coflows) != 1 || v.Coflows[0].Routed {
		t.Fatalf("before: %+v", v.Coflows)
	}
	tags := []southbound.Tag{southbound.PathTag(1)}
	apply(t, s, state.Entry{Kind: state.Routed, Routing: &controller.Routing{Tags: tags}})
	if s.FillView(&v, nil); !v.Coflows[0].Routed || !slices.Equal(v.Coflows[0].Tag, tags) {
		t.Errorf("after: %+v", v.Coflows)
	}
}
