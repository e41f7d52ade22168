package state_test

import (
	"errors"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
)

// TestRetentionIsAgreed: two replicas that were told to keep requests for different times keep them
// alike once a leader has said for how long, also after a restart from a snapshot.
func TestRetentionIsAgreed(t *testing.T) {
	short, long := state.NewAs(fabric(t), state.Newest), state.NewAs(fabric(t), state.Newest)
	short.KeepEnded(state.Keep{Requests: time.Second})
	long.KeepEnded(state.Keep{Requests: time.Hour})
	set := func(d time.Duration) state.Entry {
		return state.Entry{Kind: state.RetentionSet,
			Cluster: &state.Cluster{Retention: &state.Retention{Requests: d}}}
	}
	first, later := set(time.Minute), set(-1)
	if err := short.Apply(&first); err == nil {
		t.Error("a cluster that is not founded keeps requests")
	}
	found := founded()[0]
	found.Cluster.Level = state.Newest
	job := func(at time.Duration, request string) state.Entry {
		return state.Entry{Kind: state.JobAccepted, At: at, Request: request, Job: &controller.Job{Name: request,
			Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1}}}}}}
	}
	batches := [][]state.Entry{{found, first}, {job(0, "a")}, {job(10*time.Second, "b")}}
	for at := 20 * time.Second; at <= time.Minute; at += 10 * time.Second {
		batches = append(batches, []state.Entry{job(at, "")}) // of a longer step no more than that counts
	}
	batches = append(batches, []state.Entry{job(65*time.Second, "c")}, []state.Entry{job(72*time.Second, "d")})
	for n, batch := range batches {
		for _, s := range []*state.State{short, long} {
			if err := s.ApplyAll(batch); err != nil {
				t.Fatalf("batch %d: %v", n, err)
			}
		}
		if short.Digest() != long.Digest() {
			t.Errorf("digests differ after batch %d", n)
		}
		snap, err := short.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if err := short.Restore(snap); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(long.Data().Requests); got != 2 {
		t.Errorf("%d requests are known, want the two of the last minute", got)
	}
	if err := long.Apply(&first); !errors.Is(err, state.ErrStale) {
		t.Errorf("said again: %v", err)
	}
	if err := long.Apply(&later); err == nil {
		t.Error("a retention below zero is taken")
	}
	if r, agreed := long.Retention(); !agreed || r.Requests != time.Minute {
		t.Errorf("%+v, %v", r, agreed)
	}
}
