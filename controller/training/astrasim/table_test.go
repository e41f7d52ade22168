package astrasim

import (
	"testing"
	"time"

	"lightloom/controller/training"
)

func end(t *testing.T, w *training.Workload, o Options) int64 {
	t.Helper()
	out, err := Run(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return int64(out.End() / time.Nanosecond)
}

// TestReferenceTable: what the tool itself printed on its own examples and on variations of them, in ns.
func TestReferenceTable(t *testing.T) {
	figures := Reference()
	if len(figures) != 64 {
		t.Errorf("%d figures", len(figures))
	}
	for _, f := range figures {
		t.Run(f.String(), func(t *testing.T) {
			if got := end(t, f.Workload(), f.Options); got != f.Nanoseconds {
				t.Errorf("%d ns, and the tool has %d", got, f.Nanoseconds)
			}
		})
	}
}
