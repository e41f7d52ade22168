package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// step is one operation on a register: the replicated machine's last entry. A write of 0 is a read.
type step struct{ write, read int }

// register is the sequential specification that the replicas together must match.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			if w := in.(step).write; w != 0 {
				return true, w
			}
			return out.(step).read == state.(int), state
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
	}
}

// history gathers operations with a logical clock, which orders what virtual time leaves at one instant.
type history struct {
	clock atomic.Int64
	value atomic.Int64 // the next to write

	mu  sync.Mutex
	ops []porcupine.Operation
}

func (h *history) add(op porcupine.Operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

func (h *history) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ops)
}

// write appends a new value. A value that certainly had no effect is left out; one of unknown outcome
// can take effect at any time after its call.
func (h *history) write(ctx context.Context, client int, n *Node) {
	v := int(h.value.Add(1))
	op := porcupine.Operation{ClientId: client, Input: step{write: v}, Output: step{}, Call: h.clock.Add(1)}
	_, err := n.Append(ctx, []byte(strconv.Itoa(v)))
	op.Return = h.clock.Add(1)
	switch {
	case errors.Is(err, ErrNotLeader):
		return
	case err != nil:
		op.Return = 1 << 60
	}
	h.add(op)
}

// read is the last entry as any node sees it that has applied as far as the leader says.
func (h *history) read(ctx context.Context, client int, leader, n *Node) {
	op := porcupine.Operation{ClientId: client, Input: step{}, Call: h.clock.Add(1)}
	index, err := leader.ReadIndex(ctx)
	if err != nil || n.WaitApplied(ctx, index) != nil {
		return
	}
	v := 0
	n.View(func(uint64) {
		if e := n.cfg.Machine.(*ledger).entries; len(e) > 0 {
			v, _ = strconv.Atoi(e[len(e)-1]) // only numbers are written
		}
	})
	op.Output, op.Return = step{read: v}, h.clock.Add(1)
	h.add(op)
}

// TestLinearizable: over a lossy network with leaders cut off, writes, and reads of any replica at the
// leader's index, look as if one machine did them one after the other.
func TestLinearizable(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			var h history
			synctest.Test(t, func(t *testing.T) { h.gather(t, seed) })
			if result := porcupine.CheckOperationsTimeout(register(), h.ops, hanging); result != porcupine.Ok {
				t.Errorf("%d operations: %v", len(h.ops), result)
			}
		})
	}
}

func (h *history) gather(t *testing.T, seed uint64) {
	c := newCluster(t, seed, Limits{Part: 4 * int(seed%2)})
	defer c.close()
	ctx := within(t, 5*time.Minute)
	c.leader(ctx)
	c.net.SetFaults(chaos.Faults{Drop: .05, DropReply: .05, Double: .05, Delay: 15 * time.Millisecond})
	nodes := slices.Clone(c.nodes)
	run, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for client := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(client)))
		wg.Go(func() {
			// A client whose write is uncertain never calls again under its name: that call has not returned.
			for op := 0; run.Err() == nil; op++ {
				one, cancel := context.WithTimeout(run, time.Second)
				if id := client + 4*op; r.IntN(2) == 0 {
					h.write(one, id, nodes[r.IntN(3)])
				} else {
					h.read(one, id, nodes[r.IntN(3)], nodes[r.IntN(3)])
				}
				cancel()
				select {
				case <-run.Done():
				case <-time.After(time.Duration(r.IntN(30)) * time.Millisecond):
				}
			}
		})
	}
	for range 3 {
		i := c.leader(ctx)
		c.net.Isolate(raft.ServerAddress(c.peers[i].Addr))
		c.elsewhere(ctx, i)
		select {
		case <-time.After(300 * time.Millisecond): // of virtual time, with the old leader cut off
		case <-ctx.Done():
		}
		c.net.Heal()
	}
	for h.count() < 80 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("only %d operations in time", h.count())
		}
	}
	stop()
	wg.Wait()
	c.net.SetFaults(chaos.Faults{})
	c.agree(ctx)
}
