package api

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api/apitest"
	"lightloom/controller/replica/rollcall"
	"lightloom/southbound/pki"
)

// anywhere calls a replica at random each time.
type anywhere struct {
	t    *testing.T
	c    *Client
	r    *rand.Rand
	read *[3]atomic.Int64 // reads: linearizable, from an index, other
}

func (a anywhere) next() *Client {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.c.last = a.r.IntN(len(a.c.callers))
	return a.c
}

func (a anywhere) Submit(ctx context.Context, request string) (int, error) {
	ids, err := a.next().Submit(ctx, request, []*controller.Job{coflow("a")})
	if err != nil {
		return -1, err
	}
	return int(ids[0]), nil
}

func (a anywhere) Cancel(ctx context.Context, id int) error {
	_, err := a.next().Cancel(ctx, controller.JobID(id))
	return err
}

func (a anywhere) Count(ctx context.Context) (apitest.Counts, error) {
	s, err := a.status(ctx, Read{Linearizable: true})
	return apitest.Counts{Jobs: s.Jobs, Ended: s.JobsEnded}, err
}

func (a anywhere) Own(ctx context.Context) (int, error) {
	s, err := a.status(ctx, a.c.Written())
	return s.Jobs, err
}

func (a anywhere) status(ctx context.Context, r Read) (Status, error) {
	s, err := a.next().StatusAt(ctx, r)
	if err == nil {
		a.read[max(0, slices.Index([]ReadKind{Linearizable, FromIndex, Local}, s.Read.Kind))].Add(1)
		if s.Read.Index != s.Index {
			a.t.Errorf("a read at %d says it is at %d", s.Index, s.Read.Index)
		}
	}
	return s, err
}

// TestOperationsAreLinearizable: clients submit, cancel and read through all replicas while leaders are
// killed; what they see is what one machine would show that did one after the other.
func TestOperationsAreLinearizable(t *testing.T) {
	t.Parallel()
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
	h := apitest.NewTrail(apitest.Counts{})
	var reads [3]atomic.Int64
	arrivals, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for k := range 4 {
		r := rand.New(rand.NewPCG(5, uint64(k)))
		client := anywhere{t, dial(), r, &reads}
		wg.Go(func() { h.Run(arrivals, client, "run", r, 3*time.Second) })
	}
	for range 3 {
		i := c.leader(t, ctx, ask)
		c.brains[i].stop()
		for until := h.Len() + 100; h.Len() < until; {
			if !sleep(ctx, 5*time.Millisecond) {
				t.Fatalf("%d operations, and no more", h.Len())
			}
		}
		c.start(t, i)
		for s := rollcall.Waiting; s == rollcall.Waiting; { // another may stop once this one votes
			if s, _ = c.brains[i].node.Standing(); !sleep(ctx, 5*time.Millisecond) {
				t.Fatal("a replica that has started takes no part")
			}
		}
	}
	stop()
	wg.Wait()
	if err := h.Check(hanging); err != nil {
		t.Error(err)
	}
	if reads[0].Load() == 0 || reads[1].Load() == 0 {
		t.Errorf("%d linearizable reads, %d of an index", reads[0].Load(), reads[1].Load())
	}
	t.Logf("%d operations, %d linearizable reads, %d of an index", h.Len(), reads[0].Load(), reads[1].Load())
}
