package report

import (
	"testing"
	"time"
)

// TestThroughput: 10 MB in 2 s are 40 Mb/s; a job within its hosts goes at their links' pace; bare
// coflows have none.
func TestThroughput(t *testing.T) {
	jobs := []JobResult{
		{Start: time.Second, End: 3 * time.Second, Delivered: 10e6},
		{Start: time.Second, End: time.Second, Delivered: 10e6, Least: 800 * time.Millisecond},
		{Start: time.Second, End: 2 * time.Second},
		{Delivered: 5},
	}
	for i, want := range []float64{40e6, 100e6, 0, 0} {
		if got := jobs[i].Throughput(); got != want {
			t.Errorf("job %d: %v, want %v", i, got, want)
		}
	}
	got := throughput(jobs, 4*time.Second)
	if got == nil || got.Count != 2 || got.Mean != 70e6 || got.P50 != 40e6 || got.All != 40e6 {
		t.Errorf("%+v", got)
	}
	if throughput(jobs[2:], time.Second) != nil {
		t.Error("jobs without stages have a throughput")
	}
}
