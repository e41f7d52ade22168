package workload

import (
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
)

// TestShuffles: drawn jobs can be placed, come in order, and come again with the same seed.
func TestShuffles(t *testing.T) {
	for name, draw := range map[string]func(int, time.Duration, uint64) []controller.Job{
		"shuffles": Shuffles, "two shuffles": TwoShuffles,
	} {
		t.Run(name, func(t *testing.T) {
			jobs := draw(30, time.Second, 7)
			if len(jobs) != 30 || !reflect.DeepEqual(jobs, draw(30, time.Second, 7)) {
				t.Fatalf("%d jobs, or others when asked again", len(jobs))
			}
			for i := range jobs {
				if err := jobs[i].Check(64, 256); err != nil {
					t.Error(err)
				}
				if i > 0 && jobs[i].Arrival < jobs[i-1].Arrival {
					t.Errorf("job %d comes before the one before it", i)
				}
			}
		})
	}
}
