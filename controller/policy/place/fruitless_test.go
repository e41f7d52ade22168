package place

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/southbound"
)

// TestFruitless: after a decision that could place nothing, none is made anew before something has changed or a job has
// waited long enough, or where nobody counts what changes.
func TestFruitless(t *testing.T) {
	type part interface {
		Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
	}
	for name, fresh := range map[string]func() part{"fair": func() part { return new(Fair) },
		"corral":       func() part { return new(Corral) },
		"co-scheduler": func() part { return new(CoScheduler) },
		"pushbox":      func() part { return NewPacker(pushbox.PushBox, nil) }} {
		for _, tc := range []struct {
			name    string
			counted [2]uint64 // before slots come free, and then
			at      time.Duration
			want    int
		}{
			{"nothing has changed", [2]uint64{3, 3}, 2 * time.Second, 0},
			{"slots came free", [2]uint64{3, 4}, 2 * time.Second, 1},
			{"the job has waited", [2]uint64{3, 3}, Delay, 1},
			{"nobody counts", [2]uint64{}, 2 * time.Second, 1},
		} {
			f, by := allocatorFabric(t, 4, 2), fresh()
			v := &controller.View{Fabric: f, Now: time.Second, Delta: 20 * time.Millisecond, ElephantThreshold: 2000,
				Free: make([]int32, f.Hosts()), Waiting: []*controller.Job{mapReduce("a", 0, 1, 1, 1000)}}
			decide := func(at time.Duration, changes uint64) *controller.Plan {
				p := &controller.Plan{Wake: southbound.Never}
				v.Now, v.TaskChanges = at, changes
				by.Fill(v, nil, p)
				return p
			}
			first := decide(time.Second, tc.counted[0])
			if again := decide(time.Second, tc.counted[0]); len(first.Place) > 0 || first.Wake != Delay ||
				len(again.Place) > 0 || again.Wake != Delay {
				t.Errorf("%s: without slots %+v, then %+v", name, first, again)
			}
			for h := range v.Free {
				v.Free[h] = 2
			}
			if p := decide(tc.at, tc.counted[1]); len(p.Place) != tc.want {
				t.Errorf("%s, %s: places %+v, want %d", name, tc.name, p.Place, tc.want)
			}
		}
	}
}
