package rollcall

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/hashicorp/raft"
)

// note is a Keeper in memory.
type note struct{ m Memory }

func (n *note) Recall() Memory { return n.m }
func (n *note) Hold(m Memory)  { n.m = m }

func (n *note) Keep(m Memory) error {
	n.m = m
	return nil
}

// started is a roll call of a replica a that has seen start 3 of b, which has acknowledged entry 40 of
// term 5.
func started(t *testing.T, part part) (*Rollcall, *note) {
	t.Helper()
	disk := &note{Memory{Peers: map[string]Sighting{"b": {Start: Start{3, 33}, Newest: 5,
		Held: Position{5, 40}}}}}
	r, err := New(nil, Config{Self: Peer{ID: "a", Addr: "a:1"}, Nonce: 77, Memory: disk, Die: func(error) {},
		Logger: slog.New(slog.DiscardHandler), Reached: func() (uint64, Position, error) {
			return 5, Position{5, 50}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	r.part = part
	return r, disk
}

// TestStartsAreCounted: a start is on disk before anybody hears of it.
func TestStartsAreCounted(t *testing.T) {
	r, disk := started(t, waits)
	if disk.m.Now() != (Start{1, 77}) || r.Started() != "1-000000000000004d" {
		t.Errorf("on disk is %+v, it is %s", disk.m.Own, r.Started())
	}
}

// TestWhoseMessagesCount: what a stranger sends, or the same replica from before its last start,
// reaches nobody.
func TestWhoseMessagesCount(t *testing.T) {
	vote := func(from string, mark []byte) raft.RPC {
		head := raft.RPCHeader{ID: []byte(from), Addr: append([]byte("b:1"), mark...)}
		return raft.RPC{Command: &raft.RequestVoteRequest{RPCHeader: head, Term: 9, LastLogTerm: 5,
			LastLogIndex: 60},
			RespChan: make(chan raft.RPCResponse, 1)}
	}
	of := func(x Start) []byte { return marked(nil, markStamp, x.encode()) }
	for _, tt := range []struct {
		name string
		from string
		mark []byte
		want bool
	}{
		{"the start that was seen", "b", of(Start{3, 33}), true},
		{"the one before", "b", of(Start{2, 22}), false},
		{"a copy of the disk", "b", of(Start{3, 34}), false},
		{"one that has not said hello", "c", of(Start{1, 1}), false},
		{"a version that draws no nonces", "b", nil, true},
		{"a mark that is none", "b", marked(nil, markStamp, []byte("short")), false},
	} {
		r, _ := started(t, votes)
		rpc := vote(tt.from, tt.mark)
		if passes := !r.Refused(rpc); passes != tt.want {
			t.Errorf("%s: passes %v", tt.name, passes)
		}
		if addr := string(rpc.Command.(*raft.RequestVoteRequest).Addr); addr != "b:1" {
			t.Errorf("%s: raft sees address %q", tt.name, addr)
		}
		head := raft.RPCHeader{Addr: append([]byte("b:1"), tt.mark...)}
		if _, err := r.counts(tt.from, &head, nil, true); (err == nil) != tt.want || string(head.Addr) != "b:1" {
			t.Errorf("%s: its answer: %v, address %q", tt.name, err, head.Addr)
		}
	}
}

// TestAskLater: a candidate hears in which term it can ask, from a replica that may have voted in a later
// one than its own. It is not granted anything by that.
func TestAskLater(t *testing.T) {
	for _, tt := range []struct {
		part  part
		term  uint64
		later uint64 // that is answered; 0: an error
	}{{careful, 7, 9}, {votes, 8, 9}, {learns, 7, 0}, {waits, 7, 0}} {
		r, _ := started(t, tt.part)
		r.term = 8
		head := raft.RPCHeader{ID: []byte("b"), Addr: marked([]byte("b:1"), markStamp, Start{3, 33}.encode())}
		asker := make(chan raft.RPCResponse, 1)
		rpc := raft.RPC{Command: &raft.RequestPreVoteRequest{RPCHeader: head, Term: tt.term, LastLogTerm: 5,
			LastLogIndex: 60}, RespChan: asker}
		if !r.Refused(rpc) {
			t.Fatalf("part %d, term %d: it reaches raft", tt.part, tt.term)
		}
		got := <-asker
		said := got.Response.(*raft.RequestPreVoteResponse)
		if said.Term != tt.later || said.Granted || (got.Error == nil) != (tt.later > 0) {
			t.Errorf("part %d, term %d: %+v, %v", tt.part, tt.term, said, got.Error)
		}
		if _, kind, body := cutMark(said.Addr); tt.later > 0 &&
			(kind != markStamp || string(body) != string(r.mem.Now().encode())) {
			t.Errorf("part %d, term %d: it is marked %q", tt.part, tt.term, said.Addr)
		}
	}
}

// TestGoingBackWhileItRuns: a leader sees from a follower's answers that it shows less than before the
// question, and takes nothing more of it before it has said hello again, with which it is found out.
func TestGoingBackWhileItRuns(t *testing.T) {
	for _, tt := range []struct {
		name              string
		term, leads, last uint64
		held              Position
		back              bool
	}{
		{"more", 5, 5, 41, Position{5, 41}, false},
		{"the same", 5, 5, 40, Position{}, false},
		{"an older term", 4, 5, 40, Position{}, true},
		{"a shorter log", 5, 5, 39, Position{}, true},
		{"a shorter log, since another leader took it back", 6, 5, 39, Position{}, false},
		{"a log of which it says nothing", 5, 5, 0, Position{}, false},
	} {
		r, disk := started(t, votes)
		r.led["b"] = 5
		err := r.saw("b", Start{3, 33}, r.seen("b"), tt.term, tt.leads, tt.last, tt.held)
		if back := errors.Is(err, errStranger); back != tt.back || r.doubted["b"] != back {
			t.Errorf("%s: %v", tt.name, err)
		}
		head := raft.RPCHeader{Addr: marked(nil, markStamp, Start{3, 33}.encode())}
		if _, err := r.counts("b", &head, nil, false); (err != nil) != tt.back {
			t.Errorf("%s: then it counts: %v", tt.name, err)
		}
		if !tt.back {
			continue
		}
		var a answer
		h := &hello{Own: []Start{{2, 22}, {3, 33}}, Term: 4, Held: Position{4, 30}}
		if err := r.note(Peer{ID: "b"}, h, &a); err != nil || a.Back == "" || disk.m.Peers["b"].Learns != (Start{3, 33}) {
			t.Errorf("%s: with its hello: %v, %+v", tt.name, err, a)
		}
		if s := disk.m.Peers["b"]; s.admits(Start{3, 33}, true) || !s.admits(Start{3, 33}, false) {
			t.Errorf("%s: of one that learns votes count, or entries do not: %+v", tt.name, s)
		}
		h.Own = append(h.Own, Start{4, 44})
		if err := r.note(Peer{ID: "b"}, h, &a); err != nil || a.Back == "" {
			t.Errorf("%s: started again: %v, %+v", tt.name, err, a)
		}
	}
}

// TestFalseAccuser: b, whose disk is old and who does not know yet, says that a has gone back, for a
// has, and has learnt since. a ends by that and starts again. Once b says that it learns, a takes part;
// else both would wait for each other. What c says, or b while its disk is whole, stays said.
func TestFalseAccuser(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before Memory
		b, c   answer
		back   bool
		want   part
	}{
		{"b is old", Memory{Back: true, By: "b"}, answer{Learns: true}, answer{}, false, votes},
		{"b is whole", Memory{Back: true, By: "b"}, answer{Back: "it is old"}, answer{}, true, learns},
		{"c says so too", Memory{Back: true, By: "b"}, answer{Learns: true},
			answer{Back: "it is old"}, true, waits},
		{"c has said so", Memory{Back: true, By: "c"}, answer{Learns: true}, answer{}, true, waits},
		{"nobody has", Memory{}, answer{Learns: true}, answer{}, false, votes},
	} {
		disk := &note{tt.before}
		r, err := New(nil, Config{Self: Peer{ID: "a", Addr: "a:1"}, Nonce: 77, Memory: disk, Die: func(error) {},
			Logger:  slog.New(slog.DiscardHandler),
			Reached: func() (uint64, Position, error) { return 5, Position{5, 50}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		r.members = func() (all []Member) {
			for _, id := range []string{"a", "b", "c"} {
				all = append(all, Member{Peer: Peer{ID: id}, Voter: true})
			}
			return all
		}
		r.launched = true
		r.mu.Lock()
		r.greeted["b"] = true
		tt.b.Voters, tt.c.Voters = r.voters(), r.voters()
		r.heard("c", &tt.c)
		r.heard("b", &tt.b)
		r.mu.Unlock()
		if acquitted := tt.before.Back && !tt.back; r.greeted["b"] == acquitted {
			t.Errorf("%s: b has heard what it is now: %v", tt.name, !acquitted)
		}
		if r.mem.Back != tt.back || disk.m.Back != tt.back || r.part != tt.want {
			t.Errorf("%s: back %v, on disk %v, it is %v", tt.name, r.mem.Back, disk.m.Back, r.part)
		}
		r.Close()
	}
}

// TestLateWord: b, whose disk is old, has answered with an entry that nobody else holds, before it knew.
// Once it says that it learns, that entry keeps nobody waiting, whether in a hello or in another answer.
func TestLateWord(t *testing.T) {
	for _, how := range []string{"hello", "answer"} {
		r, _ := started(t, waits)
		voters := []Peer{{ID: "a"}, {ID: "b"}, {ID: "c"}}
		r.members = func() (all []Member) {
			for _, p := range voters {
				all = append(all, Member{Peer: p, Voter: true})
			}
			return all
		}
		r.launched = true
		r.mu.Lock()
		r.heard("b", &answer{Held: Position{6, 99}, Voters: voters})
		r.heard("c", &answer{Held: Position{5, 50}, Voters: voters})
		if r.part != careful {
			t.Errorf("%s: part %d before it says so", how, r.part)
		}
		if how == "answer" {
			r.heard("b", &answer{Held: Position{6, 99}, Learns: true, Voters: voters})
			r.mu.Unlock()
		} else {
			r.mu.Unlock()
			if err := r.note(Peer{ID: "b"}, &hello{Own: starts(1, 2), Learns: true}, &answer{}); err != nil {
				t.Fatal(err)
			}
		}
		if s, why := r.Standing(); s != Voting {
			t.Errorf("%s: it is %s: %s", how, s, why)
		}
	}
}

// TestReached: one that learns has to come as far as its leader's log reached when that answered it. Where
// the leader has not answered in its term, it is asked, and what it has shown counts meanwhile.
func TestReached(t *testing.T) {
	for _, tt := range []struct {
		name    string
		said    answer
		asked   bool
		reached uint64
	}{
		{"the leader has answered", answer{Term: 7, Held: Position{6, 60}}, false, 60},
		{"in an earlier term", answer{Term: 6, Held: Position{6, 60}}, true, 90},
		{"by an earlier version", answer{Term: 7}, false, 90},
	} {
		r, _ := started(t, learns)
		r.answers["b"], r.greeted["b"] = tt.said, true
		for _, index := range []uint64{30, 90, 50} {
			if err := r.follows("b", 7, index); err != nil {
				t.Fatal(err)
			}
		}
		if r.greeted["b"] == tt.asked {
			t.Errorf("%s: asked %v", tt.name, tt.asked)
		}
		if r.hasReached(tt.reached-1) || !r.hasReached(tt.reached) {
			t.Errorf("%s: %d is not what it has to reach", tt.name, tt.reached)
		}
		if err := r.follows("c", 8, 0); err != nil || r.hasReached(1000) {
			t.Errorf("%s: the next leader has shown nothing: %v", tt.name, err)
		}
	}
}

// TestNewLife: one that has gone back and learnt counts from above what any answer said was seen of it,
// on disk before it votes. One that was whole goes on, also where its operator vouches for it.
func TestNewLife(t *testing.T) {
	for _, tt := range []struct {
		name string
		back bool
		want Start
	}{
		{"it has learnt", true, Start{3000, 77}},
		{"it was whole", false, Start{1, 77}},
	} {
		r, disk := started(t, waits)
		r.mem.Back = tt.back
		r.answers["b"], r.answers["c"] = answer{Seen: 2003}, answer{Seen: 4}
		r.Trust()
		if disk.m.Now() != tt.want || r.part != votes || disk.m.Back {
			t.Errorf("%s: %+v, part %d", tt.name, disk.m, r.part)
		}
		var a answer
		if err := r.note(Peer{ID: "b"}, &hello{Own: starts(1, 2)}, &a); err != nil || a.Seen != 3 {
			t.Errorf("%s: of b start 3 was seen, and it says %d: %v", tt.name, a.Seen, err)
		}
	}
}

// TestCatchUp: a careful replica stands for election once its own log reaches what the others hold, and
// not before. One that learns or waits does not stand however much it holds.
func TestCatchUp(t *testing.T) {
	for _, tt := range []struct {
		name  string
		part  part
		needs Position
		want  part
	}{
		{"it holds less", careful, Position{5, 51}, careful},
		{"it holds less of a later term", careful, Position{6, 1}, careful},
		{"it holds as much", careful, Position{5, 50}, votes},
		{"it holds more", careful, Position{4, 90}, votes},
		{"it waits", waits, Position{5, 50}, waits},
		{"it learns", learns, Position{5, 50}, learns},
	} {
		r, _ := started(t, tt.part)
		r.needs = tt.needs
		if _, err := r.stands(9); r.part != tt.want || (err == nil) != (tt.want == votes) {
			t.Errorf("%s: it is %v: %v", tt.name, r.part, err)
		}
	}
	r, _ := started(t, careful)
	r.cfg.Reached = func() (uint64, Position, error) {
		return 5, Position{5, 50},
			errors.New("the disk cannot be read")
	}
	if _, err := r.stands(9); err == nil {
		t.Error("it stands with a log that it cannot read")
	}
}

// greeting is a transport that takes hellos.
type greeting struct {
	raft.Transport
	asked chan Peer
}

func (g greeting) RequestPreVote(id raft.ServerID, to raft.ServerAddress, _ *raft.RequestPreVoteRequest,
	_ *raft.RequestPreVoteResponse) error {
	g.asked <- Peer{ID: string(id), Addr: string(to)}
	return errors.New("no answer")
}

// TestCallersAreGreeted: who says hello and does not know this start is greeted where it calls from, though
// this node's log does not have it yet; once, for one that is still there calls again.
func TestCallersAreGreeted(t *testing.T) {
	r, _ := started(t, votes)
	heard := greeting{asked: make(chan Peer, 4)}
	r.Transport = heard
	r.members = func() []Member { return []Member{{Peer: Peer{ID: "a"}, Voter: true}} }
	r.launched = true
	d := Peer{ID: "d", Addr: "d:1"}
	for _, tt := range []struct {
		knows Start
		want  bool
	}{{Start{}, true}, {r.mem.Now(), false}, {Start{1, 78}, true}} {
		if err := r.note(d, &hello{Own: starts(1), Knows: tt.knows}, &answer{}); err != nil {
			t.Fatal(err)
		}
		if some := r.greetNext(); some != tt.want {
			t.Errorf("one that knows start %v is to be greeted: %v", tt.knows, some)
		}
		r.ended.Wait()
		select {
		case p := <-heard.asked:
			if p != d || !tt.want {
				t.Errorf("one that knows start %v: %v is greeted", tt.knows, p)
			}
		default:
			if tt.want {
				t.Errorf("one that knows start %v is not greeted", tt.knows)
			}
		}
	}
}

// TestFewCallersAreKept: no number of callers makes a replica remember more than MaxSeen of them.
func TestFewCallersAreKept(t *testing.T) {
	r, disk := started(t, votes)
	r.members = func() []Member { return []Member{{Peer: Peer{ID: "a"}, Voter: true}} }
	r.launched = true
	for i := range 5 * MaxSeen {
		if err := r.note(Peer{ID: fmt.Sprint("x", i)}, &hello{Own: starts(1)}, &answer{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.callers) > MaxSeen || len(disk.m.Peers) > MaxSeen {
		t.Errorf("%d callers and %d peers are remembered", len(r.callers), len(disk.m.Peers))
	}
}
