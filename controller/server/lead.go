package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"lightloom/controller/feed"
	"lightloom/controller/replica"
	"lightloom/controller/state"
)

// found has the log begin with the cluster's epoch and level, and sets the clock for a leadership.
func (p *replicaProcess) found(ctx context.Context, term uint64) error {
	var epoch time.Time
	var last time.Duration
	known := false
	p.node.View(func(uint64) {
		epoch, known = p.state.Epoch()
		last = p.state.Live().At
	})
	if !known {
		epoch = p.config.Epoch
		level := cmp.Or(p.home.node.Level, state.Newest)
		if err := p.append(ctx, term, state.Entry{Kind: state.ClusterFounded,
			Cluster: &state.Cluster{Epoch: epoch.UnixNano(), Level: level}}); err != nil {
			return fmt.Errorf("found cluster: %w", err)
		}
	}
	p.clock.begin(epoch, last)
	return p.agreeRetention(ctx, term)
}

// agreeRetention has all replicas keep requests for as long as this leader was told to: else their
// states would part where their files differ, or where one of them applies old entries again under new
// settings.
func (p *replicaProcess) agreeRetention(ctx context.Context, term uint64) error {
	own := state.Retention{Requests: p.config.requestsStay()}
	e := state.Entry{Kind: state.RetentionSet, Cluster: &state.Cluster{Retention: &own}}
	var was state.Retention
	known, can := false, false
	p.node.View(func(uint64) {
		was, known = p.state.Retention()
		can = p.state.Admits(&e)
	})
	if !can || known && was == own {
		return nil
	}
	if known {
		p.log.Warn("the retention of requests changes: replicas or runs were told different ones",
			"was", was.Requests,
			"is", own.Requests)
	}
	if err := p.append(ctx, term, e); err != nil {
		return fmt.Errorf("set retention: %w", err)
	}
	return nil
}

// epoch is instant 0 of the log.
func (p *replicaProcess) epoch() (at time.Time) {
	at = p.config.Epoch
	p.node.View(func(uint64) {
		if said, known := p.state.Epoch(); known {
			at = said
		}
	})
	return at
}

// append adds entries that no step has decided: those of the replicas about themselves.
func (p *replicaProcess) append(ctx context.Context, term uint64, entries ...state.Entry) error {
	b, err := state.Encode(entries)
	if err != nil {
		return err
	}
	_, err = p.node.AppendIn(ctx, term, b)
	return err
}

// machine is the replicated state as the log drives it.
type machine struct {
	state.Machine
	feed *feed.Feed
}

// Restore implements replica.Machine.
func (m machine) Restore(snapshot []byte) error {
	err := m.Machine.Restore(snapshot)
	if err == nil {
		m.feed.Restored()
	}
	return err
}

// Read implements replica.Machine.
func (m machine) Read(entry []byte) (apply func() error) {
	batch, err := state.Decode(entry)
	return func() error { return m.take(batch, err) }
}

// take applies what was decoded. What needs a newer version ends this replica.
func (m machine) take(batch []state.Entry, err error) error {
	err = m.Take(batch, err)
	if errors.Is(err, state.ErrNewer) {
		err = fmt.Errorf("%w: %w", replica.ErrUnable, err)
	}
	return err
}
