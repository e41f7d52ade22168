// Package apitest checks what clients of the API have seen: whether one machine that does one thing
// after the other could have shown it (linearizability, Herlihy and Wing 1990). It knows no client, so
// that tests of the API in memory and tests of processes share it.
package apitest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// Caller is one client's calls. A failed call may have taken effect, or may take effect later.
type Caller interface {
	// Submit submits one job under a request's name and returns its id.
	Submit(ctx context.Context, request string) (id int, err error)
	// Cancel ends a job.
	Cancel(ctx context.Context, id int) error
	// Count counts all jobs, and those that have ended, in a linearizable read.
	Count(ctx context.Context) (Counts, error)
	// Own counts all jobs in a read that has at least what this client has written.
	Own(ctx context.Context) (jobs int, err error)
}

// Counts are jobs of a cluster, and how many of them have ended.
type Counts struct{ Jobs, Ended int }

// operation is a call of the kinds "submit" (which gives id, -1 if that is not known), "cancel" (of id)
// and "count".
type operation struct {
	kind   string
	id     int
	counts Counts
}

// specification is the sequential machine: ids are given in order from those that were there, and a job
// ends when it is cancelled.
func specification(from Counts) porcupine.Model {
	type state struct {
		Counts
		cancelled string // a byte for each job since the beginning
	}
	return porcupine.Model{
		Init: func() any { return state{Counts: from} },
		Step: func(s, in, out any) (bool, any) {
			st, i, o := s.(state), in.(operation), out.(operation)
			switch i.kind {
			case "submit":
				ok := o.id < 0 || o.id == st.Jobs
				st.Jobs++
				st.cancelled += "-"
				return ok, st
			case "cancel":
				at := i.id - from.Jobs
				if at < 0 || at >= len(st.cancelled) {
					return false, st
				}
				if st.cancelled[at] == '-' {
					st.cancelled = st.cancelled[:at] + "x" + st.cancelled[at+1:]
					st.Ended++
				}
				return true, st
			}
			return o.counts == st.Counts, st
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
	}
}

// Trail gathers the operations of several clients with a logical clock.
type Trail struct {
	from  Counts
	clock atomic.Int64
	names atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
	wrong []error
}

// NewTrail begins with what a cluster holds while nobody calls it.
func NewTrail(from Counts) *Trail { return &Trail{from: from} }

// Len is how many operations have been gathered.
func (h *Trail) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ops)
}

// note runs an operation. One whose outcome is not known can take effect at any time after its call.
func (h *Trail) note(client int, in operation, do func() (operation, error)) (operation, error) {
	o := porcupine.Operation{ClientId: client, Input: in, Call: h.clock.Add(1)}
	out, err := do()
	o.Output, o.Return = out, h.clock.Add(1)
	if err != nil {
		o.Output, o.Return = operation{id: -1}, 1<<60
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil || in.kind != "count" {
		h.ops = append(h.ops, o)
	}
	return out, err
}

// Run calls at random until ctx ends, each call with a time limit and after a pause of up to 6 ms.
// Requests are named after the run, which no other of the cluster has the name of. It returns after the
// last call's end.
func (h *Trail) Run(ctx context.Context, c Caller, run string, r *rand.Rand, limit time.Duration) {
	mine := h.names.Add(1)
	last := -1
	for n := 0; ctx.Err() == nil; n++ {
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		h.call(one, c, r.IntN(8), fmt.Sprintf("%s client %d job %d", run, mine, n), &last)
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(r.IntN(6)) * time.Millisecond):
		}
	}
}

// call does one operation. Each is of a client of its own: one that has not returned is of one who
// never calls again.
func (h *Trail) call(ctx context.Context, c Caller, draw int, request string, last *int) {
	client := int(h.names.Add(1))
	switch {
	case draw < 2:
		out, err := h.note(client, operation{kind: "submit"}, func() (operation, error) {
			id, err := c.Submit(ctx, request)
			return operation{id: id}, err
		})
		if err == nil {
			*last = out.id
		}
	case draw == 2 && *last >= 0:
		id := *last
		_, _ = h.note(client, operation{kind: "cancel", id: id}, func() (operation, error) {
			return operation{}, c.Cancel(ctx, id)
		})
	case draw == 3:
		if jobs, err := c.Own(ctx); err == nil && jobs <= *last {
			h.fail(fmt.Errorf("%s: %d jobs are read after id %d was given", request, jobs, *last))
		}
	default:
		_, _ = h.note(client, operation{kind: "count"}, func() (operation, error) {
			counts, err := c.Count(ctx)
			return operation{counts: counts}, err
		})
	}
}

func (h *Trail) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = append(h.wrong, err)
}

// Check says what cannot have been seen, after all clients have returned. It gives up after a time.
func (h *Trail) Check(limit time.Duration) error {
	if got := porcupine.CheckOperationsTimeout(specification(h.from), h.ops, limit); got != porcupine.Ok {
		h.wrong = append(h.wrong, fmt.Errorf("%d operations from %+v: linearizable: %v",
			len(h.ops), h.from, got))
	}
	return errors.Join(h.wrong...)
}
