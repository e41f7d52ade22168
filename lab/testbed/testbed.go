package testbed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"lightloom/controller"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Testbed is a fabric with its controller, on which a scenario runs: the simulator, namespaces, or a
// lab. Instants count from the run's begin: when the testbed was made on the simulator, when the
// controller was ready elsewhere.
type Testbed interface {
	Fabric() *topo.Fabric
	Now() time.Duration
	// At calls f at an instant, or at once if that has passed. The simulator calls it from within Wait, in
	// the order planned; other testbeds call it in a goroutine of its own. If f returns an error, a later
	// Wait fails.
	At(t time.Duration, f func(context.Context) error)
	// Submit hands the i-th job of the scenario to the controller.
	Submit(ctx context.Context, i int, j *controller.Job) error
	// CancelAll cancels every job that has not ended. It returns false if no leader is known; then call it
	// again.
	CancelAll(ctx context.Context) (bool, error)
	// Apply applies a fault's change to the fabric, or to a replica of the controller.
	Apply(ctx context.Context, c fault.Change) error
	// OnTables makes the testbed call f whenever a packet switch's rules have become effective, until it
	// is closed.
	OnTables(f func(at time.Duration, a device.Applied))
	// Wait returns once something can have changed. ErrStill: nothing more will change by itself.
	Wait(ctx context.Context) error
	// Jobs returns how many jobs the controller has accepted, and how many of them have ended.
	Jobs() (accepted, ended int)
	// Received returns how many bytes of payload hosts have received.
	Received() pathmap.Bytes
	// Measure cancels what is still planned and returns the results of the run.
	Measure(ctx context.Context) (*outcome.Outcome, error)
	Close() error
}

// ErrStill means that nothing more will happen on a testbed by itself.
var ErrStill = errors.New("stands still")

// Run runs a scenario on a testbed: it submits the jobs when they arrive, applies faults, and measures
// once all jobs have ended or the scenario's time is over. progress, which can be nil, gets the number
// of ended jobs. A run that stalls because of a fault also has an outcome.
func Run(ctx context.Context, tb Testbed, s *scenario.Scenario,
	progress func(ended int)) (*outcome.Outcome, error) {
	r := &run{tb: tb, s: s}
	if s.Links {
		r.links = newLinkLog(tb, s.LastArrival()/200)
	}
	if err := r.links.read(tb.Now()); err != nil { // before jobs send
		return nil, err
	}
	r.schedule()
	for told := -1; ; {
		still := tb.Wait(ctx)
		if still != nil && !(errors.Is(still, ErrStill) && r.faults != nil) {
			return nil, still
		}
		if err := r.links.due(tb.Now()); err != nil {
			return nil, err
		}
		accepted, ended := tb.Jobs()
		if progress != nil && ended != told {
			told = ended
			progress(ended)
		}
		if still != nil || r.over(accepted, ended) {
			break
		}
		if err := r.goOn(ctx, ended); err != nil {
			return nil, err
		}
	}
	if err := r.links.read(tb.Now()); err != nil {
		return nil, err
	}
	o, err := tb.Measure(ctx)
	if err == nil && r.links != nil {
		o.Links = &r.links.loads
	}
	if err == nil && r.faults != nil {
		r.faults.sample(tb.Now(), tb.Received())
		r.faults.into(o, s, r.tb.Now())
	}
	return o, err
}

// run is the state of a running scenario.
type run struct {
	tb     Testbed
	s      *scenario.Scenario
	faults *FaultLog // nil: nothing fails
	links  *linkLog  // nil: not asked for, or not known

	planned   int          // jobs whose submission is planned
	submitted atomic.Int64 // jobs
	timeIsUp  atomic.Bool  // jobs are to be cancelled
	cancelled bool         // they have been
}

// schedule plans the events that the scenario fixes beforehand.
func (r *run) schedule() {
	s := r.s
	if len(s.Faults) > 0 {
		r.faults = NewFaultLog(r.tb.Fabric(), s.Replicas)
		r.tb.OnTables(r.faults.Applied)
		for _, e := range s.Faults {
			if r.faults.Names.Check(e.Fault) == nil { // else this row's fabric has no such thing, and the outcome says so
				r.tb.At(e.At, func(ctx context.Context) error {
					_, err := r.faults.Inject(ctx, r.tb, e)
					return err
				})
			}
		}
		_ = r.sample(context.Background())
	}
	for !s.Rules.OneAtATime && r.planned < len(s.Jobs) {
		r.submitNext(s.Jobs[r.planned].Arrival)
	}
	if s.Until > 0 {
		r.tb.At(s.Until, func(context.Context) error {
			r.timeIsUp.Store(true)
			return nil
		})
	}
}

// submitNext plans the submission of the next job.
func (r *run) submitNext(at time.Duration) {
	i := r.planned
	r.planned++
	if step := r.s.Admission; step > 0 {
		at = scenario.NextMultiple(at, step)
	}
	r.tb.At(at, func(ctx context.Context) error {
		if r.timeIsUp.Load() {
			return nil
		}
		j := r.s.Jobs[i]
		if r.s.Rules.OneAtATime {
			j.Arrival = r.tb.Now()
		}
		if err := r.tb.Submit(ctx, i, &j); err != nil {
			return fmt.Errorf("submit job %d (%q): %w", i, j.Name, err)
		}
		r.submitted.Add(1)
		return nil
	})
}

// sample records the bytes received now, and plans the next sample: some 200 until the last arrival or
// fault, and more at that distance.
func (r *run) sample(context.Context) error {
	now := r.tb.Now()
	r.faults.sample(now, r.tb.Received())
	last := r.s.LastFault()
	every := max((r.s.LastArrival()+last)/200, 10*time.Millisecond)
	_, ended := r.tb.Jobs()
	if ended < len(r.s.Jobs) && !r.faults.idle(now, max(last, r.s.LastArrival())) {
		r.tb.At(now+every, r.sample)
	}
	return nil
}

// over reports whether the run is over.
func (r *run) over(accepted, ended int) bool {
	all := int(r.submitted.Load()) == len(r.s.Jobs) || r.cancelled
	return all && ended >= accepted || r.s.StopAt > 0 && r.tb.Now() >= r.s.StopAt
}

// goOn does what is due after a change.
func (r *run) goOn(ctx context.Context, ended int) (err error) {
	if r.s.Rules.OneAtATime && ended >= r.planned && r.planned < len(r.s.Jobs) {
		r.submitNext(r.tb.Now())
	}
	if r.timeIsUp.Load() && !r.cancelled {
		if r.cancelled, err = r.tb.CancelAll(ctx); err != nil {
			return fmt.Errorf("end the run at %v: %w", r.s.Until, err)
		}
	}
	return nil
}
