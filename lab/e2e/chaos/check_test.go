package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"lightloom/controller"
	"lightloom/controller/replica/chaos"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// agree waits until all replicas have applied the same entries and compares their states.
func (c *chaosCluster) agree() {
	c.t.Helper()
	c.net.SetFaults(chaos.Faults{})
	c.await("the replicas to apply the same entries", func() bool {
		first, digest := c.members[0].node.Digest()
		return c.each(func(m *member) bool {
			at, d := m.node.Digest()
			if at == first && d != digest {
				c.t.Fatalf("replicas 0 and %d hold different states after entry %d", m.place, at)
			}
			return at == first
		})
	})
}

// check checks the invariants of the run as a whole.
func (c *chaosCluster) check(jobs []controller.Job) {
	c.t.Helper()
	want := submitted(jobs)
	c.lab.mu.Lock()
	defer c.lab.mu.Unlock()
	for _, what := range c.lab.stale {
		c.t.Error(what)
	}
	if c.lab.err != nil {
		c.t.Errorf("the fabric found: %v", c.lab.err)
	}
	m := c.members[0]
	m.node.View(func(uint64) {
		d := m.state.Data()
		if c.lost {
			c.lab.tally.once(c.t, d, want)
			return
		}
		if len(d.Jobs) != len(jobs) {
			c.t.Errorf("%d jobs were taken, %d were submitted", len(d.Jobs), len(jobs))
		}
		c.lab.tally.exact(c.t, c.lab.sim, d, want)
	})
	counts := c.lab.sim.Counters()
	if err := device.CheckLit(counts.Lit); err != nil || counts.LitDropped > 0 {
		c.t.Errorf("light: %v, %d intervals forgotten", err, counts.LitDropped)
	}
	m.node.View(func(uint64) {
		for _, what := range unowned(c.fabric, m.state, counts.Lit) {
			c.t.Error(what)
		}
	})
	for _, what := range c.rejects.all() {
		c.t.Error(what)
	}
}

// unowned names light that no circuit of the log has led to, or that joins two optical switches.
func unowned(f *topo.Fabric, s *state.State, lit []device.LitInterval) (all []string) {
	owned := map[[2]southbound.Port]bool{}
	for _, m := range s.Data().Moves {
		owned[[2]southbound.Port{m.In, m.Out}] = true
	}
	for _, l := range lit {
		if !f.SamePlane(int32(l.In), int32(l.Out)) || !owned[[2]southbound.Port{l.In, l.Out}] {
			all = append(all, fmt.Sprintf("light from port %d to port %d, and no circuit is that", l.In, l.Out))
		}
	}
	return all
}

// rejects records logged errors that must never occur: an entry that the state refuses, or tables that
// misroute packets.
type rejects struct {
	mu   sync.Mutex
	said []string
}

func (r *rejects) Enabled(context.Context, slog.Level) bool { return true }
func (r *rejects) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *rejects) WithGroup(string) slog.Handler            { return r }

func (r *rejects) Handle(_ context.Context, rec slog.Record) error {
	text := rec.Message
	rec.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	if strings.Contains(text, "apply entr") || strings.Contains(text, "verify tables") ||
		strings.Contains(text, "plan at") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said = append(r.said, text)
	}
	return nil
}

func (r *rejects) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.said)
}

// unfinished describes what a state waits for.
func unfinished(s *state.State) string {
	d := s.Data()
	out := fmt.Sprintf("%d of %d jobs ended; ledger %+v", s.Finished(), len(d.Jobs), d.Ledger)
	for _, id := range s.Active() {
		co := s.Coflow(id)
		out += fmt.Sprintf("\n\tcoflow %d started %v, %d host flows left, tags %v", id, co.Started, co.Remaining,
			s.AppendTags(nil, id))
	}
	out += fmt.Sprintf("\n\tlost hosts %v, ports down %v, stages ready %v, coflows ready %v", d.Lost, d.Down,
		s.ReadyStages(), s.ReadyCoflows())
	for _, j := range d.Jobs {
		if j.Ended != state.Unset {
			continue
		}
		out += fmt.Sprintf("\n\tjob %d placed %v on %v, open %d, stages %+v, tasks", j.ID, j.Placed,
			j.Hosts, j.Open,
			j.Stages)
		for i := range j.Hosts {
			out += fmt.Sprintf(" %+v", d.Tasks[int(j.FirstTask)+i])
		}
		for _, id := range j.Redo {
			c := s.Coflow(id)
			out += fmt.Sprintf("\n\t\tagain %d of %d: waits %v, started %v, ended %v, pairs %v", id, c.Of,
				c.Waits, c.Started,
				c.Ended, c.Pairs)
		}
	}
	for in, c := range d.Circuits {
		out += fmt.Sprintf("\n\tinput %d: %+v", in, c)
	}
	return out
}
