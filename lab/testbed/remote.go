package testbed

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
)

// Remote is the part of a testbed whose controller is reached through its northbound API, in real time.
type Remote struct {
	Client *api.Client
	Clock  func() time.Duration // since the controller's epoch
	Begin  time.Duration        // of the run

	accepted atomic.Int64 // jobs of the run
	others   atomic.Int64 // jobs that other clients submitted, as the controller last reported
	ended    atomic.Int64 // jobs of both, as the controller last reported; calls of At read it, too
	Last     api.Status   // as the controller last reported

	calls   sync.WaitGroup // of At
	stop    context.CancelFunc
	Context context.Context // until stop
	errs    chan error      // the first of calls
}

// pollEvery is the interval between polls of the jobs' progress.
const pollEvery = 50 * time.Millisecond

// Start makes now the run's begin.
func (r *Remote) Start(ctx context.Context) {
	r.Context, r.stop = context.WithCancel(ctx)
	r.errs = make(chan error, 1)
	r.Begin = r.Clock()
}

// Now implements Testbed.
func (r *Remote) Now() time.Duration { return r.Clock() - r.Begin }

// At implements Testbed.
func (r *Remote) At(t time.Duration, f func(context.Context) error) {
	r.calls.Go(func() {
		timer := time.NewTimer(t - r.Now())
		defer timer.Stop()
		select {
		case <-r.Context.Done():
			return
		case <-timer.C:
		}
		if err := f(r.Context); err != nil && r.Context.Err() == nil {
			select {
			case r.errs <- err:
			default: // the first is enough
			}
		}
	})
}

// Submit implements Testbed. Any replica can take the job.
func (r *Remote) Submit(ctx context.Context, i int, j *controller.Job) error {
	j.Arrival += r.Begin
	if _, err := r.Client.Submit(ctx, fmt.Sprintf("job-%d", i), []*controller.Job{j}); err != nil {
		return err
	}
	r.accepted.Add(1)
	return nil
}

// CancelAll implements Testbed.
func (r *Remote) CancelAll(ctx context.Context) (bool, error) {
	d, err := LiveStateOf(ctx, r.Client)
	if err != nil {
		return false, err
	}
	for _, j := range d.Jobs {
		if j.Ended != state.Unset {
			continue
		}
		if _, err := r.Client.Cancel(ctx, j.ID); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Jobs implements Testbed. It counts the jobs of other clients too, for a controller does not tell
// whose have ended.
func (r *Remote) Jobs() (accepted, ended int) {
	return int(r.accepted.Load() + r.others.Load()), int(r.ended.Load())
}

// pause waits until the next poll of the controller.
func (r *Remote) pause(ctx context.Context) error {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-r.errs:
		return err
	case <-timer.C:
		return nil
	}
}

// Wait implements Testbed.
func (r *Remote) Wait(ctx context.Context) (err error) {
	if err := r.pause(ctx); err != nil {
		return err
	}
	own := r.accepted.Load() // before the call: a job taken meanwhile counts twice until the next poll, and is not missed
	if r.Last, err = r.Client.Status(ctx); err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	r.others.Store(max(int64(r.Last.Jobs)-own, 0))
	r.ended.Store(int64(r.Last.JobsEnded))
	return nil
}

// End cancels what is still planned. Later errors of it are ignored.
func (r *Remote) End() {
	r.stop()
	r.calls.Wait()
}

// StateOf reads the replicated state, with all jobs that have ended.
func StateOf(ctx context.Context, c *api.Client) (*state.Data, error) { return dataOf(c.State(ctx)) }

// LiveStateOf reads the replicated state, without jobs that ended some time ago.
func LiveStateOf(ctx context.Context, c *api.Client) (*state.Data, error) {
	return dataOf(c.LiveState(ctx))
}

func dataOf(snap api.Snapshot, err error) (*state.Data, error) {
	if err != nil {
		return nil, fmt.Errorf("ask the controller for its state: %w", err)
	}
	var d state.Data
	if err := json.Unmarshal(snap.JSON, &d); err != nil {
		return nil, fmt.Errorf("read the controller's state: %w", err)
	}
	return &d, nil
}
