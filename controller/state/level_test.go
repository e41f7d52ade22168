package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// founded is how a cluster of level 1 begins.
func founded() []state.Entry {
	return []state.Entry{{Kind: state.ClusterFounded,
		Cluster: &state.Cluster{Epoch: 1_700_000_000_000_000_000, Level: 1}},
		{Kind: state.MembersSeen, Cluster: &state.Cluster{Members: []state.Member{
			{ID: "c1", API: "192.0.2.12:7420", Level: 2}, {ID: "c0", API: "192.0.2.11:7420", Level: 1}}}}}
}

// lifeOfAJob is the batches of a small log.
func lifeOfAJob() [][]state.Entry {
	at := time.Second
	next := func() time.Duration { at += time.Millisecond; return at }
	out := [][]state.Entry{founded(),
		{{Kind: state.JobAccepted, At: next(), Job: shuffle(), Request: "a/0"}},
		{{Kind: state.Placed, At: next(), Placement: &controller.Placement{Job: 0,
			Hosts: []southbound.HostID{0, 2, 4}}}},
		{{Kind: state.StageStarted, At: next()}},
		{{Kind: state.TaskEnded, At: next(), Task: 0}, {Kind: state.TaskEnded, At: at, Task: 1}},
		{{Kind: state.Routed, At: next(), Routing: &controller.Routing{Tags: []southbound.Tag{1, 2}}}},
		{{Kind: state.CoflowStarted, At: next()}},
		{{Kind: state.CircuitReserved, At: next(),
			CircuitReservation: &controller.CircuitReservation{In: 0, Out: 2,
				NotBefore: at, NotAfter: at + time.Second}}},
		{{Kind: state.CircuitReservationBegun, At: next()}, {Kind: state.CircuitIntended, At: at, Out: 2}},
		{{Kind: state.CircuitSettled, At: next(), Out: 2, OK: true,
			Stages: &state.Stages{Cleared: at, Drained: at,
				Accepted: at, Connected: at}}},
		{{Kind: state.HostFlowEnded, At: next(), Row: 0}},
		{{Kind: state.HostSeen, At: next(), Host: 7}, {Kind: state.PortSeen, At: at, Device: 1, Port: 1}},
		{{Kind: state.JobAccepted, At: next(), Job: shuffle(), Request: "b/0"}},
		{{Kind: state.JobCancelled, At: next(), JobID: 1}},
		{{Kind: state.Planned, At: next(), Planning: state.Planning{Wake: at + time.Second}}}}
	return out
}

// future is batches as a newer version, or none of ours, could write them.
func future(r *rand.Rand) []byte {
	kind := []int{0, int(state.MembersForgotten), int(state.MembersForgotten) + 1, 200, 255, 256,
		-1}[r.IntN(7)]
	return []byte([]string{
		fmt.Sprintf(`[{"k":%d,"t":5,"cluster":{"members":[{"id":"c0"}]}}]`, kind),
		fmt.Sprintf(`[{"k":15,"d":1,"p":1},{"k":%d},{"k":15,"d":1,"p":2}]`, kind),
		`[{"k":15,"d":1,"p":1,"ok":true,"colour":"red"},{"k":15,"d":2,"p":0}]`,
		`[{"k":1,"job":{"Name":"x","Colour":"red"}}]`, `[{"k":15,"p":"one"}]`, `[{"k":2}]`,
		`{"v":2,"entries":[]}`, `nonsense`, `[{"k":15}`, `null`, "\x02binary",
	}[r.IntN(11)])
}

// TestVersionsAgree: one replica that knows the newest kind of entry and one that does not hold the
// same state after every batch, whatever comes, as long as the cluster's level has not risen.
func TestVersionsAgree(t *testing.T) {
	for seed := range uint64(tries.Of(60, 1000)) {
		r := rand.New(rand.NewPCG(seed, 11))
		older, newer := state.Machine{State: state.NewAs(fabric(t),
			1)}, state.Machine{State: state.NewAs(fabric(t), 2)}
		for k := range 60 {
			var batch []byte
			switch {
			case k == 0:
				batch, _ = state.Encode(founded())
			case r.IntN(3) == 0:
				batch = future(r)
			default:
				batch, _ = state.Encode([]state.Entry{randomEntry(r, older.State), randomEntry(r, older.State)})
			}
			x, y := older.Apply(batch), newer.Apply(batch)
			if older.Digest() != newer.Digest() || (x == nil) != (y == nil) {
				t.Fatalf("seed %d: after %s one refuses with %v, the other with %v", seed, batch, x, y)
			}
		}
	}
}

// TestLevelRises: what a level adds is refused before, taken after, and ends a replica that does not
// know it.
func TestLevelRises(t *testing.T) {
	older, newer := state.NewAs(fabric(t), 1), state.NewAs(fabric(t), 2)
	forget := state.Entry{Kind: state.MembersForgotten,
		Cluster: &state.Cluster{Members: []state.Member{{ID: "c0"}}}}
	rise := state.Entry{Kind: state.LevelRaised, Cluster: &state.Cluster{Level: 2}}
	if err := newer.Apply(&rise); err == nil {
		t.Error("a cluster that is not founded has risen")
	}
	for _, s := range []*state.State{older, newer} {
		apply(t, s, founded()...)
		if err := s.Apply(&forget); !errors.Is(err, state.ErrLevel) {
			t.Errorf("at level 1: %v", err)
		}
		if _, ok := s.Member("c0"); !ok {
			t.Error("c0 is forgotten")
		}
	}
	if err := older.Apply(&rise); !errors.Is(err, state.ErrNewer) || older.Level() != 1 {
		t.Errorf("the older version goes on: %v", err)
	}
	apply(t, newer, rise, forget)
	if _, ok := newer.Member("c0"); ok || newer.Level() != 2 {
		t.Errorf("level %d, members %v", newer.Level(), newer.Members())
	}
	for _, again := range []state.Entry{rise, forget, founded()[0], {Kind: state.LevelRaised,
		Cluster: &state.Cluster{Level: 1}}} {
		if err := newer.Apply(&again); !errors.Is(err, state.ErrStale) {
			t.Errorf("%v again: %v", again.Kind, err)
		}
	}
	snap, err := newer.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Restore(snap); !errors.Is(err, state.ErrNewer) {
		t.Errorf("the older version restores level 2: %v", err)
	}
	if err := state.NewAs(fabric(t), 2).Restore(snap); err != nil {
		t.Error(err)
	}
	if at, ok := newer.Epoch(); !ok || at.Unix() != 1_700_000_000 {
		t.Errorf("epoch %v", at)
	}
}
