package place

import (
	"fmt"

	"lightloom/controller"
	"lightloom/southbound"
)

// Asked places the jobs that Ask places. Tasks that lose their host go to the least loaded hosts,
// without a question.
type Asked struct {
	// Ask returns placements of waiting jobs, and leaves out those that go on waiting. Incremental jobs
	// are placed whole.
	Ask func(v *controller.View) ([]controller.Placement, error)
}

// Wants implements the part's list of events.
func (*Asked) Wants() controller.KindSet { return Wants() }

// Fill places jobs. An answer that does not fit is an error of the plan.
func (a *Asked) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	v = reschedule(v, p, leastLoaded(v))
	placed, err := a.Ask(v)
	if err == nil {
		err = checkAsked(v, placed)
	}
	if err != nil {
		p.Err = fmt.Errorf("place jobs: %w", err)
		return
	}
	p.Place = append(p.Place, placed...)
}

// checkAsked returns why placements cannot be carried out.
func checkAsked(v *controller.View, placed []controller.Placement) error {
	waits := map[controller.JobID]*controller.Job{}
	for _, j := range v.Waiting {
		waits[j.ID] = j
	}
	taken := make([]int32, len(v.Free))
	for _, pl := range placed {
		j := waits[pl.Job]
		if j == nil {
			return fmt.Errorf("job %d does not wait", pl.Job)
		}
		delete(waits, pl.Job)
		if len(pl.Hosts) != j.Tasks() || len(pl.Move) > 0 {
			return fmt.Errorf("job %d has %d tasks, and is given %d hosts", pl.Job, j.Tasks(), len(pl.Hosts))
		}
		if err := occupy(v, j, pl.Hosts, taken); err != nil {
			return fmt.Errorf("job %d: %w", pl.Job, err)
		}
	}
	return nil
}

func occupy(v *controller.View, j *controller.Job, hosts []southbound.HostID, taken []int32) error {
	sizes := j.Sizes()
	for t, h := range hosts {
		if h < 0 || int(h) >= len(taken) {
			return fmt.Errorf("task %d is placed on host %d; hosts are 0 to %d", t, h, len(taken)-1)
		}
		size := int32(1)
		if sizes != nil {
			size = sizes[t]
		}
		if left := v.Free[h] - taken[h]; size > left {
			return fmt.Errorf("task %d takes %d slots, and host %d has %d left", t, size, h, max(left, 0))
		}
		taken[h] += size
	}
	return nil
}
