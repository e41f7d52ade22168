package replica

import (
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/pki"
)

// bindTo returns a transport whose certificate is of a replica, on loopback.
func bindTo(t *testing.T, ca *pki.Authority, name string) *bound {
	t.Helper()
	who, err := ca.Issue(pki.Controller, name)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{ID: name, Peers: []Peer{{ID: name, Addr: ln.Addr().String()}},
		ServerTLS: who.Server(pki.Controller),
		ClientTLS: who.Client("", pki.Controller)}
	c.Timeouts.fill()
	c.Limits.fill()
	log := slog.New(slog.DiscardHandler)
	wire := newStream(&c, ln, (&Node{}).membersNow, log)
	b := newBound(wire, raft.NetworkTransportConfig{MaxPool: 3, Timeout: hanging, Logger: bridge(log),
		MaxRPCsInFlight: 1}, log)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestMessagesAreOfTheirSender: a replica speaks as itself alone, in messages of every kind; what it
// says as another never reaches raft.
func TestMessagesAreOfTheirSender(t *testing.T) {
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r0, r1 := bindTo(t, ca, "r0"), bindTo(t, ca, "r1")
	var beats, heard atomic.Int64
	answer := func(n *atomic.Int64) func(raft.RPC) {
		return func(rpc raft.RPC) {
			n.Add(1)
			switch rpc.Command.(type) {
			case *raft.AppendEntriesRequest:
				rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
			case *raft.RequestVoteRequest:
				rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
			case *raft.RequestPreVoteRequest:
				rpc.Respond(&raft.RequestPreVoteResponse{Granted: true}, nil)
			case *raft.InstallSnapshotRequest:
				rpc.Respond(&raft.InstallSnapshotResponse{Success: true}, nil)
			case *raft.TimeoutNowRequest:
				rpc.Respond(&raft.TimeoutNowResponse{}, nil)
			}
		}
	}
	r0.SetHeartbeatHandler(answer(&beats))
	go func() {
		for {
			select {
			case rpc := <-r0.Consumer():
				answer(&heard)(rpc)
			case <-r0.ctl:
				return
			}
		}
	}()
	to := r0.LocalAddr()
	for _, as := range []string{"r1", "r2", "r0", ""} {
		h := raft.RPCHeader{ProtocolVersion: 3, ID: []byte(as), Addr: []byte("x")}
		for what, say := range map[string]func() error{
			"vote": func() error {
				return r1.RequestVote("r0", to, &raft.RequestVoteRequest{RPCHeader: h, Term: 9},
					&raft.RequestVoteResponse{})
			},
			"pre-vote": func() error {
				return r1.RequestPreVote("r0", to, &raft.RequestPreVoteRequest{RPCHeader: h, Term: 9},
					&raft.RequestPreVoteResponse{})
			},
			"entries": func() error {
				return r1.AppendEntries("r0", to, &raft.AppendEntriesRequest{RPCHeader: h, Term: 9, PrevLogEntry: 1},
					&raft.AppendEntriesResponse{})
			},
			"heartbeat": func() error {
				return r1.AppendEntries("r0", to, &raft.AppendEntriesRequest{RPCHeader: h, Term: 9},
					&raft.AppendEntriesResponse{})
			},
			"snapshot": func() error {
				return r1.InstallSnapshot("r0", to, &raft.InstallSnapshotRequest{RPCHeader: h, Term: 9},
					&raft.InstallSnapshotResponse{}, strings.NewReader(""))
			},
			"time out": func() error {
				return r1.TimeoutNow("r0", to, &raft.TimeoutNowRequest{RPCHeader: h}, &raft.TimeoutNowResponse{})
			},
		} {
			before := beats.Load() + heard.Load()
			err := say()
			got := beats.Load() + heard.Load() - before
			switch {
			case as == "r1" && (err != nil || got != 1):
				t.Errorf("%s as itself: %v, heard %d times", what, err, got)
			case as != "r1" && (err == nil || !strings.Contains(err.Error(), errNotSaid.Error()) || got != 0):
				t.Errorf("%s as %q: %v, heard %d times", what, as, err, got)
			}
		}
	}
	if beats.Load() != 1 || heard.Load() != 5 {
		t.Errorf("%d heartbeats, %d others", beats.Load(), heard.Load())
	}
}

// TestDialsTheReplicaItMeans: another replica at the address of the one that is dialled is not taken
// for it, though its certificate is good for that host.
func TestDialsTheReplicaItMeans(t *testing.T) {
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r0, r1 := bindTo(t, ca, "r0"), bindTo(t, ca, "r1")
	to := r0.LocalAddr()
	c, err := r1.wire.Dial(to, hanging)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	r1.wire.names[string(to)] = "r2"
	if c, err := r1.wire.Dial(to, hanging); err == nil || !strings.Contains(err.Error(), `not of "r2"`) {
		t.Errorf("%v, %v", c, err)
	}
}
