package place

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy/guideline"
	"lightloom/southbound"
)

// TestCertifiedOrder: jobs with loads go in the order of acceptance, or the one that ends first; those
// that cannot be placed are passed over until they have waited for Patience.
func TestCertifiedOrder(t *testing.T) {
	ends := map[float64]float64{1: 3, 2: 2, 3: 0} // by load of the job's only task; 0: it cannot be placed
	placer := func(w *certified.Tasks, _ certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
		value := ends[w.Load[0]]
		if value == 0 {
			return nil, errors.New("no room")
		}
		p := &certified.Placed{Server: []int32{0}, Resource: []float64{.1}}
		p.Value = value
		return p, nil
	}
	loaded := func(id controller.JobID, seconds int, arrival time.Duration) *controller.Job {
		j := job(id, 1, arrival)
		j.Stages[0].Tasks[0].Load = time.Duration(seconds) * time.Second
		return j
	}
	for _, tt := range []struct {
		name     string
		shortest bool
		now      time.Duration
		jobs     []*controller.Job
		want     []controller.JobID
	}{
		{"acceptance", false, 0, []*controller.Job{loaded(0, 1, 0), loaded(1, 2, 0)}, []controller.JobID{0, 1}},
		{"shortest", true, 0, []*controller.Job{loaded(0, 1, 0), loaded(1, 2, 0)}, []controller.JobID{1, 0}},
		{"passed over", false, Patience - 1, []*controller.Job{loaded(0, 3, 0), loaded(1, 2, 0)},
			[]controller.JobID{1}},
		{"not for ever", false, Patience, []*controller.Job{loaded(0, 3, 0), loaded(1, 2, 0)}, nil},
		{"others have waited", false, Patience, []*controller.Job{loaded(0, 1, 0), loaded(1, 2, 0)},
			[]controller.JobID{0, 1}},
		{"the shortest before it", true, Patience, []*controller.Job{loaded(0, 2, 1), loaded(1, 3, 0)},
			[]controller.JobID{0}},
	} {
		v := view(t, 1, []int32{4, 4, 4, 4}, tt.jobs...)
		v.Now = tt.now
		var p controller.Plan
		(&Certified{Placer: placer, Shortest: tt.shortest}).Fill(v, nil, &p)
		var got []controller.JobID
		for _, x := range p.Place {
			got = append(got, x.Job)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: places %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestBlockCopies: the copies of a block lie on racks that differ, as far as there are as many.
func TestBlockCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for racks := 1; racks <= 8; racks++ {
		for range 50 {
			different := map[southbound.RackID]bool{}
			copies := distinct(r, racks)
			for _, rack := range copies {
				different[rack] = true
			}
			if len(copies) != guideline.Replicas || len(different) != min(racks, guideline.Replicas) {
				t.Fatalf("%d racks: copies on %v", racks, copies)
			}
		}
	}
}
