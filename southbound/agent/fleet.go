package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// Member is one agent of a fleet.
type Member struct {
	Config                     // how to reach it; Election and OnError are the fleet's
	Hosts  []southbound.HostID // that it serves
}

// FleetConfig lists the agents.
type FleetConfig struct {
	Members []Member
	Clock   func() time.Duration // of the run
	// Election and OnError are as in Config, for all members.
	Election func() (high, low uint64)
	OnError  func(error)
	// OnForeign is called with the address of an agent that reports an event of a host that it does not
	// own; the event is dropped. nil ignores such events.
	OnForeign func(addr string)
	// Probe is how often a member's clock is read; Patience, after how long without an answer its hosts
	// count as lost.
	Probe, Patience time.Duration // 0: 1 s and 10 s
}

const (
	defaultProbe    = time.Second
	defaultPatience = 10 * time.Second
)

// Fleet is the hosts of a fabric behind several agents, each on a machine of its own with a clock of
// its own. It is a southbound.Hosts: every word goes to the agents that it concerns, instants are
// turned from the run's clock into the agent's and back, and the host flows of a coflow end where they
// are received, by that agent's clock alone.
//
// An agent that has restarted, has not answered for a while or sends invalid answers counts as lost
// with all its hosts until it answers (again): the others drop their transfers to and from it. No agent
// can hold up calls to the others.
type Fleet struct {
	cfg     FleetConfig
	members []*member
	of      map[southbound.HostID]*member

	mu     sync.Mutex
	coflow map[southbound.CoflowID]*share
	rates  standing

	out outbox
}

// share is the members that send the rows of a coflow.
type share struct {
	by   []int32 // member, by row
	base []float64
}

var _ southbound.Hosts = (*Fleet)(nil)

// DialFleet returns the fleet without waiting for any agent. The caller must run Events, which also
// follows clocks and losses; without it only calls are sent.
func DialFleet(ctx context.Context, cfg FleetConfig) (*Fleet, error) {
	if cfg.Probe <= 0 {
		cfg.Probe = defaultProbe
	}
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	if cfg.OnError == nil {
		cfg.OnError = func(error) {}
	}
	if cfg.OnForeign == nil {
		cfg.OnForeign = func(string) {}
	}
	f := &Fleet{cfg: cfg, of: map[southbound.HostID]*member{}, coflow: map[southbound.CoflowID]*share{},
		rates: newStanding()}
	for i, m := range cfg.Members {
		m.Election, m.OnError = cfg.Election, cfg.OnError
		c, err := Dial(ctx, m.Config)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		one := &member{fleet: f, index: i, client: c, hosts: slices.Clone(m.Hosts)}
		f.members = append(f.members, one)
		for _, h := range m.Hosts {
			if f.of[h] != nil {
				return nil, errors.Join(fmt.Errorf("dial agents: host %d is served by %q and %q", h,
					f.of[h].client.cfg.Addr,
					m.Addr), f.Close())
			}
			f.of[h] = one
		}
	}
	return f, nil
}

// Close ends every client.
func (f *Fleet) Close() error {
	var errs []error
	for _, m := range f.members {
		errs = append(errs, m.client.Close())
	}
	return errors.Join(errs...)
}

// Run hands tasks to the agents of their hosts.
func (f *Fleet) Run(tasks []southbound.Task) error {
	var errs []error
	for _, m := range f.members {
		var mine []southbound.Task
		for _, t := range tasks {
			if f.of[t.Host] == m {
				mine = append(mine, t)
			}
		}
		if len(mine) > 0 && !m.isLost() {
			errs = append(errs, m.client.Run(mine))
		}
	}
	return errors.Join(errs...)
}

// Start hands each coflow to the agents that send or receive some of it.
func (f *Fleet) Start(starts []southbound.Start) error {
	per := make([][]southbound.Start, len(f.members))
	f.mu.Lock()
	for i := range starts {
		s := &starts[i]
		sh := &share{by: make([]int32, len(s.Src))}
		in := make([]bool, len(f.members))
		for row := range s.Src {
			src, dst := f.of[s.Src[row]], f.of[s.Dst[row]]
			if src == nil || dst == nil {
				f.mu.Unlock()
				return fmt.Errorf("start coflow %d: hosts %d and %d: an agent is missing: %w", s.Coflow,
					s.Src[row], s.Dst[row],
					southbound.ErrRefused)
			}
			sh.by[row] = int32(src.index)
			in[src.index], in[dst.index] = true, true
		}
		if f.coflow[s.Coflow] == nil {
			f.coflow[s.Coflow] = sh
		}
		for m := range in {
			if in[m] {
				per[m] = append(per[m], *s)
			}
		}
	}
	f.mu.Unlock()
	var errs []error
	for i, mine := range per {
		if len(mine) > 0 && !f.members[i].isLost() {
			errs = append(errs, f.members[i].client.Start(mine))
		}
	}
	return errors.Join(errs...)
}

// Steer calls every agent; agents that do not send a host flow ignore it.
func (f *Fleet) Steer(steers []southbound.Steer) error {
	return f.each(func(m *member) error { return m.client.Steer(steers) })
}

// SetRates calls every agent, with instants by the agent's own clock.
func (f *Fleet) SetRates(r *southbound.Rates) error {
	f.mu.Lock()
	f.rates.set(r)
	f.mu.Unlock()
	return f.each(func(m *member) error { return m.client.SetRates(m.translated(r)) })
}

// each calls do with every agent that is not lost. An agent that comes back gets what it must know then.
func (f *Fleet) each(do func(*member) error) error {
	var errs []error
	for _, m := range f.members {
		if !m.isLost() {
			errs = append(errs, do(m))
		}
	}
	return errors.Join(errs...)
}

// Remaining joins the senders' reports of a coflow. It is valid until the next call for the same coflow.
func (f *Fleet) Remaining(id southbound.CoflowID) (southbound.Remaining, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sh := f.coflow[id]
	if sh == nil {
		return southbound.Remaining{}, false
	}
	if sh.base == nil {
		sh.base = make([]float64, len(sh.by))
	}
	out := southbound.Remaining{F: 1, Base: sh.base}
	for i, m := range f.members {
		if !slices.Contains(sh.by, int32(i)) {
			continue
		}
		l, ok := m.client.Remaining(id)
		if !ok || len(l.Base) != len(sh.by) {
			return southbound.Remaining{}, false
		}
		if at := m.runInstant(l.At); l.At > 0 && (out.At == 0 || at < out.At) {
			out.At = max(at, 0) // as old as the oldest part
		}
		for row, by := range sh.by {
			if by == int32(i) {
				sh.base[row] = l.Row(int32(row))
			}
		}
	}
	return out, true
}

// Traffic joins the counts of all agents, sorted by (Src, Dst), each pair once; for an agent that does
// not answer it uses the last report.
func (f *Fleet) Traffic(ctx context.Context) (wire.Traffic, error) {
	all := wire.Traffic{At: f.cfg.Clock()}
	told := make([][]wire.Moved, len(f.members))
	var wg sync.WaitGroup
	for i, m := range f.members {
		wg.Go(func() { told[i] = m.traffic(ctx) })
	}
	wg.Wait()
	for _, moved := range told {
		all.Moved = append(all.Moved, moved...)
	}
	slices.SortFunc(all.Moved, func(a, b wire.Moved) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst))
	})
	return all, nil
}
