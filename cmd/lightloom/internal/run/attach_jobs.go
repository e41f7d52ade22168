package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound/pki"
)

// jobs makes what is to be replayed. The fabric is as it is: its rates are not scaled.
func (a *attached) jobs() (*setup, error) {
	s := &setup{opt: Options{Trace: a.opt.Trace, Coflows: a.opt.Jobs, Seed: a.opt.Seed, Settings: a.opt.Settings, Scale: cmp.Or(a.opt.Scale, 1), Speedup: cmp.Or(a.opt.Speedup, 1)},
		spec: a.fabric.Spec, fabric: a.fabric}
	return s, s.load()
}

// replay submits the jobs when they arrive, waits for the end of all, and says what came of them. ctx's end is no error.
func (a *attached) replay(ctx context.Context) (err error) {
	if a.agent == nil && len(a.charge.Agents) == 0 {
		return errNoAgent
	}
	s, err := a.jobs()
	if err != nil {
		return err
	}
	jobs := s.jobs
	id, err := a.identity(pki.Client, "client")
	if err != nil {
		return err
	}
	client, err := api.Dial(a.reps.addrs(), id.Client("", pki.Controller))
	if err != nil {
		return err
	}
	defer client.Close()
	var m *gauge
	if a.opt.ReportDir != "" {
		if m, err = a.measure(ctx); err != nil {
			return fmt.Errorf("measure the run: %w", err)
		}
		defer func() { err = errors.Join(err, m.close()) }()
	}
	begin := a.clock()
	g, gctx := errgroup.WithContext(ctx)
	for i := range jobs {
		g.Go(func() error { return a.submit(gctx, client, begin, i, jobs[i]) })
	}
	err = g.Wait()
	if err == nil {
		err = a.await(ctx, client, len(jobs))
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replay %d jobs: %w", len(jobs), err)
	}
	snap, err := client.State(ctx)
	if err != nil {
		return fmt.Errorf("read the final state: %w", err)
	}
	var d state.Data
	if err := json.Unmarshal(snap.JSON, &d); err != nil {
		return fmt.Errorf("read the final state: %w", err)
	}
	sum := a.sum(&d, begin)
	if m != nil {
		o, err := m.outcome(ctx, client, &d, begin)
		if err != nil {
			return fmt.Errorf("measure the run: %w", err)
		}
		if err := m.write(s, o); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.opt.Stdout, sum)
	return nil
}

func (a *attached) submit(ctx context.Context, client *api.Client, begin time.Duration, i int, j controller.Job) error {
	j.Arrival += begin
	timer := time.NewTimer(j.Arrival - a.clock())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	_, err := client.Submit(ctx, fmt.Sprintf("job-%d", i), []*controller.Job{&j})
	return err
}

// await returns once n jobs have ended.
func (a *attached) await(ctx context.Context, client *api.Client, n int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := client.Status(ctx)
		if err != nil || int(st.JobsEnded) >= n {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// sum says in one line what came of a replay.
func (a *attached) sum(d *state.Data, begin time.Duration) string {
	var bytes pathmap.Bytes
	var cct, end time.Duration
	usable := 0
	for i := range d.Coflows {
		c := d.Coflows[i]
		bytes += c.Bytes
		cct += c.Ended - c.Ready
		end = max(end, c.Ended)
	}
	for i := range d.Moves {
		if d.Moves[i].Usable != state.Unset {
			usable++
		}
	}
	n := max(len(d.Coflows), 1)
	return fmt.Sprintf("replayed: %d jobs, %d coflows, %d bytes of which %d received, in %.3f s; mean coflow %.3f s; %d circuits",
		len(d.Jobs), len(d.Coflows), bytes, a.received(d), (end - begin).Seconds(), cct.Seconds()/float64(n), usable)
}

// received is how many bytes hosts have received: by the agent's own count, or where there are several, those of coflows
// whose receivers have all said that they ended.
func (a *attached) received(d *state.Data) (sum pathmap.Bytes) {
	if a.agent != nil {
		return a.agent.Stats().BytesReceived
	}
	for _, c := range d.Coflows {
		if c.Ended > 0 {
			sum += c.Bytes
		}
	}
	return sum
}
