package server

import (
	"context"
	"errors"
	"fmt"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// Cancel implements api.Canceller.
func (p *replicaProcess) Cancel(ctx context.Context, id controller.JobID) (e api.Ended, err error) {
	if l, left, err := p.history.Job(id); err != nil || left {
		if left {
			e = api.Ended{At: l.Job.Ended, Cancelled: l.Job.Cancelled}
		}
		return e, err
	}
	err = p.current.Leader().Cancel(ctx, id)
	switch {
	case errors.Is(err, loop.ErrNoJob):
		return e, &api.Error{Code: api.Invalid, Err: err}
	case errors.Is(err, leader.ErrVacant):
		return e, fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, leader.ErrBusy):
		return e, fmt.Errorf("%w: %w", api.ErrBusy, err)
	case errors.Is(err, leader.ErrStopped), err != nil && ctx.Err() != nil:
		return e, fmt.Errorf("%w: %w", api.ErrUncertain, errors.Join(err, ctx.Err()))
	case err != nil:
		return e, err
	}
	p.node.View(func(uint64) {
		if j := p.state.Job(id); j != nil {
			e = api.Ended{At: j.Ended, Cancelled: j.Cancelled}
		}
	})
	return e, nil
}

// check returns what is wrong with a job on this fabric, or nil.
func (p *replicaProcess) check(j *controller.Job) error {
	if p.config.Agent == "" && len(p.config.Agents) == 0 {
		return ErrNoAgent
	}
	return j.CheckOn(p.fabric())
}

// Submit implements api.Submitter.
func (p *replicaProcess) Submit(ctx context.Context, offers []controller.Offer) ([]controller.JobID, error) {
	switch err := p.current.Leader().Submit(ctx, offers); {
	case errors.Is(err, leader.ErrVacant):
		return nil, fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, leader.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", api.ErrTooLarge, err)
	case errors.Is(err, leader.ErrBusy):
		return nil, fmt.Errorf("%w: %w", api.ErrBusy, err)
	case errors.Is(err, state.ErrParents):
		return nil, &api.Error{Code: api.Invalid, Err: err}
	case errors.Is(err, leader.ErrStopped), ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", api.ErrUncertain, errors.Join(err, ctx.Err()))
	case err != nil:
		return nil, err
	}
	var ids []controller.JobID
	p.node.View(func(uint64) { ids = leader.JobIDs(p.state, offers) })
	return ids, nil
}

// Counts implements api.Stater. It waits for nobody: the figures can be those of an entry later than Index.
func (p *replicaProcess) Counts() api.Counts {
	at, c := p.node.Applied(), p.state.Counts()
	return api.Counts{Index: at, Jobs: c.Jobs, JobsEnded: c.JobsEnded, Coflows: c.Coflows,
		CoflowEnded: c.CoflowsEnded}
}

// Digest implements api.Stater.
func (p *replicaProcess) Digest() (uint64, [32]byte) { return p.node.Digest() }

// State implements api.Stater.
func (p *replicaProcess) State(_ context.Context, live bool) (api.Snapshot, error) {
	return p.snapshot(!live)
}
