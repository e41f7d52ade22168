package chaos

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answering makes an end that grants every vote and notes the terms it was asked for, until it is closed.
func answering(n *Network, addr raft.ServerAddress) (*Transport, *[]uint64) {
	t, terms := n.Transport(addr), new([]uint64)
	go func() {
		for {
			select {
			case rpc := <-t.Consumer():
				ask := rpc.Command.(*raft.RequestVoteRequest)
				*terms = append(*terms, ask.Term)
				ask.Term = 0 // the sender's must not change
				rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
			case <-t.closed:
				return
			}
		}
	}()
	return t, terms
}

func ask(from *Transport, to raft.ServerAddress, term uint64) error {
	args, resp := &raft.RequestVoteRequest{Term: term}, &raft.RequestVoteResponse{}
	err := from.RequestVote("", to, args, resp)
	if err == nil && (!resp.Granted || args.Term != term) {
		return errors.New("the answer or the request was changed")
	}
	return err
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		name    string
		faults  Faults
		prepare func(n *Network, b *Transport)
		want    error
		arrives int
		takes   time.Duration // of the sender
	}{
		{"none", Faults{}, nil, nil, 1, 0},
		{"drop", Faults{Drop: 1}, nil, ErrTimeout, 0, time.Second},
		{"reply dropped", Faults{DropReply: 1}, nil, ErrTimeout, 1, time.Second},
		{"double", Faults{Double: 1}, nil, nil, 2, 0},
		{"cut there", Faults{}, func(n *Network, _ *Transport) { n.Cut("a", "b") }, ErrTimeout, 0, time.Second},
		{"cut back", Faults{}, func(n *Network, _ *Transport) { n.Cut("b", "a") }, ErrTimeout, 1, time.Second},
		{"isolated", Faults{}, func(n *Network, _ *Transport) { n.Isolate("b") }, ErrTimeout, 0, time.Second},
		{"healed", Faults{}, func(n *Network, _ *Transport) { n.Isolate("b"); n.Heal() }, nil, 1, 0},
		{"dead", Faults{}, func(_ *Network, b *Transport) { b.Close() }, ErrRefused, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := NewNetwork(1, time.Second)
				a := n.Transport("a")
				b, terms := answering(n, "b")
				n.SetFaults(tc.faults)
				if tc.prepare != nil {
					tc.prepare(n, b)
				}
				begun := time.Now()
				err := ask(a, "b", 7)
				took := time.Since(begun)
				synctest.Wait()
				if !errors.Is(err, tc.want) || took != tc.takes || len(*terms) != tc.arrives {
					t.Errorf("%v after %v, arrived %d times; want %v after %v, %d times", err, took,
						len(*terms), tc.want, tc.takes,
						tc.arrives)
				}
				b.Close()
				a.Close()
			})
		})
	}
}

// The same seed gives the same fates, link by link, whatever happens on other links; another seed gives
// others.
func TestFatesComeFromTheSeed(t *testing.T) {
	draw := func(seed uint64, others int) string {
		n := NewNetwork(seed, time.Second)
		n.SetFaults(Faults{Drop: .3, DropReply: .3, Double: .3, Delay: time.Second})
		var b strings.Builder
		for range 100 {
			for range others {
				n.draw(link{"b", "a"})
			}
			f, _ := n.draw(link{"a", "b"})
			fmt.Fprintln(&b, f)
		}
		return b.String()
	}
	if draw(1, 0) != draw(1, 3) {
		t.Error("the same seed gave other fates")
	}
	if draw(1, 0) == draw(2, 0) {
		t.Error("another seed gave the same fates")
	}
}

func TestMessagesOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNetwork(3, 10*time.Second)
		a := n.Transport("a")
		b, terms := answering(n, "b")
		n.SetFaults(Faults{Delay: time.Second})
		done := make(chan error)
		for term := range uint64(20) {
			go func() { done <- ask(a, "b", term+1) }()
			synctest.Wait()
		}
		for range 20 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if len(*terms) != 20 || slices.IsSorted(*terms) {
			t.Errorf("arrived in the order %v", *terms)
		}
		b.Close()
		a.Close()
	})
}
