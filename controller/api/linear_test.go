package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"lightloom/controller"
	"lightloom/southbound/pki"
)

// op is an operation of the API: a job is submitted (and gets id), one is cancelled (id), or both are counted.
type op struct {
	kind        string
	id          int // -1: it is not known
	jobs, ended int
}

// jobs is the sequential specification: ids are given in order, and a job ends when it is cancelled.
func jobs() porcupine.Model {
	type state struct {
		jobs  int
		ended [1 << 12]bool
		count int
	}
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, in, out any) (bool, any) {
			st, i, o := s.(state), in.(op), out.(op)
			switch i.kind {
			case "submit":
				ok := o.id < 0 || o.id == st.jobs
				st.jobs++
				return ok, st
			case "cancel":
				if i.id >= st.jobs {
					return false, st
				}
				if !st.ended[i.id] {
					st.ended[i.id] = true
					st.count++
				}
				return true, st
			}
			return o.jobs == st.jobs && o.ended == st.count, st
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
	}
}

// trail gathers operations with a logical clock.
type trail struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
	kinds map[ReadKind]int
}

// note runs an operation. One whose outcome is not known can take effect at any time after its call.
func (h *trail) note(client int, in op, do func() (op, error)) (op, error) {
	o := porcupine.Operation{ClientId: client, Input: in, Call: h.clock.Add(1)}
	out, err := do()
	o.Output, o.Return = out, h.clock.Add(1)
	if err != nil {
		o.Output, o.Return = op{id: -1}, 1<<60
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil || in.kind != "read" {
		h.ops = append(h.ops, o)
	}
	return out, err
}

// run submits, cancels and reads at random replicas, and reads what it has written from whichever replica answers.
func (h *trail) run(ctx context.Context, t *testing.T, client int, c *Client, r *rand.Rand) {
	last := -1
	for n := 0; ctx.Err() == nil; n++ {
		name := client + 4*n // a call that has not returned is of a client who never calls again
		one, cancel := context.WithTimeout(ctx, 3*time.Second)
		c.mu.Lock()
		c.last = r.IntN(len(c.callers))
		c.mu.Unlock()
		switch k := r.IntN(8); {
		case k < 2:
			out, err := h.note(name, op{kind: "submit"}, func() (op, error) {
				ids, err := c.Submit(one, fmt.Sprintf("client %d job %d", client, n), []*controller.Job{coflow("a")})
				if err != nil {
					return op{}, err
				}
				return op{id: int(ids[0])}, nil
			})
			if err == nil {
				last = out.id
			}
		case k == 2 && last >= 0:
			id := last
			_, _ = h.note(name, op{kind: "cancel", id: id}, func() (op, error) {
				_, err := c.Cancel(one, controller.JobID(id))
				return op{}, err
			})
		case k == 3:
			s, err := c.StatusAt(one, c.Written())
			h.count(t, s, err)
			if err == nil && s.Jobs <= last {
				t.Errorf("client %d reads %d jobs from %s after it was given id %d", client, s.Jobs, s.Replica, last)
			}
		default:
			_, _ = h.note(name, op{kind: "read"}, func() (op, error) {
				s, err := c.StatusAt(one, Read{Linearizable: true})
				h.count(t, s, err)
				return op{jobs: s.Jobs, ended: s.JobsEnded}, err
			})
		}
		cancel()
		sleep(ctx, time.Duration(r.IntN(6))*time.Millisecond)
	}
}

func (h *trail) count(t *testing.T, s Status, err error) {
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kinds[s.Read.Kind]++
	if s.Read.Index != s.Index {
		t.Errorf("a read at %d says it is at %d", s.Index, s.Read.Index)
	}
}

// TestOperationsAreLinearizable: clients submit, cancel and read through all replicas while leaders are killed; what
// they see is what one machine would show that did one after the other.
func TestOperationsAreLinearizable(t *testing.T) {
	c := newControllers(t)
	who, err := c.ca.Issue(pki.Client, "user")
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for _, p := range c.raft {
		addrs = append(addrs, c.north[p.ID])
	}
	dial := func() *Client {
		client, err := Dial(addrs, who.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	ctx := within(t, hanging)
	ask := dial()
	c.leader(t, ctx, ask)
	h := trail{kinds: map[ReadKind]int{}}
	arrivals, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for k := range 4 {
		client := dial()
		wg.Go(func() { h.run(arrivals, t, k, client, rand.New(rand.NewPCG(5, uint64(k)))) })
	}
	done := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.ops)
	}
	for range 3 {
		i := c.leader(t, ctx, ask)
		c.brains[i].stop()
		for until := done() + 100; done() < until; {
			if !sleep(ctx, 5*time.Millisecond) {
				t.Fatalf("%d operations, and no more", done())
			}
		}
		c.start(t, i)
	}
	stop()
	wg.Wait()
	if got := porcupine.CheckOperationsTimeout(jobs(), h.ops, hanging); got != porcupine.Ok {
		t.Errorf("%d operations: %v", len(h.ops), got)
	}
	if h.kinds[Linearizable] == 0 || h.kinds[FromIndex] == 0 {
		t.Errorf("reads by kind: %v", h.kinds)
	}
	t.Logf("%d operations, reads by kind: %v", len(h.ops), h.kinds)
}
