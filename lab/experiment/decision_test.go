package experiment

import (
	"context"
	"errors"
	"testing"

	"lightloom/controller/workload"
)

// TestDecisionTime: a decision is timed once its predecessors run, and a caller can cancel while they
// are placed.
func TestDecisionTime(t *testing.T) {
	spec := "jellyfish:switches=8,degree=4,hosts=16,rate=800Mbps,slots=4,paths=4"
	d, err := workload.ParseDrawn("storm:rate=100/min")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(1, 16, 8, nil) // of 12 tasks; five fit into 64 slots
	if err != nil {
		t.Fatal(err)
	}
	took, err := DecisionTime(t.Context(), spec, "crosslayer", jobs[:3], 1)
	if err != nil {
		t.Fatal(err)
	}
	if took <= 0 {
		t.Errorf("a decision took %v", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := DecisionTime(ctx, spec, "crosslayer", jobs[:3], 1); !errors.Is(err, why) {
		t.Errorf("interrupted: %v", err)
	}
	// Of the last nothing can be measured where it does not fit beside the others.
	if took, err := DecisionTime(t.Context(), spec, "crosslayer", jobs, 1); err == nil {
		t.Errorf("the last of eight jobs was placed in %v", took)
	}
}
