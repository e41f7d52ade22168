package rollcall

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

func (r *Rollcall) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// greetAll greets all others until each knows this start, and again when one forgets it.
func (r *Rollcall) greetAll() {
	for {
		var again <-chan time.Time
		if r.greetNext() {
			again = time.After(greetAgain)
		}
		select {
		case <-r.ctx.Done():
			return
		case <-again:
		case <-r.wake:
		}
	}
}

// greetNext begins to greet all who do not know this start, and reports whether there are any.
func (r *Rollcall) greetNext() (some bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.everybody()
	for _, p := range r.callers {
		if !slices.ContainsFunc(all, func(o Peer) bool { return o.ID == p.ID }) {
			all = append(all, p)
		}
	}
	for _, p := range all {
		if r.greeted[p.ID] && !r.busy[p.ID] {
			continue
		}
		some = true
		if !r.busy[p.ID] {
			r.busy[p.ID], r.greeted[p.ID] = true, true
			r.ended.Go(func() { r.greet(p) })
		}
	}
	return some
}

// everybody is all whom this node knows of, members or not. The lock is held.
func (r *Rollcall) everybody() (all []Peer) {
	seen := map[string]bool{r.cfg.Self.ID: true}
	add := func(p Peer) {
		if !seen[p.ID] {
			seen[p.ID] = true
			all = append(all, p)
		}
	}
	for _, m := range r.members() {
		add(m.Peer)
	}
	for _, a := range r.answers {
		for _, p := range a.Voters {
			add(p)
		}
	}
	if len(all) == 0 {
		for _, p := range r.cfg.Peers {
			add(p)
		}
	}
	return all
}

// greet says hello to one peer.
func (r *Rollcall) greet(p Peer) {
	a, err := r.sayHello(p, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, p.ID)
	if err != nil {
		delete(r.greeted, p.ID) // greetAll tries again
		delete(r.callers, p.ID) // a caller that is still there calls again
		return
	}
	r.heard(p.ID, a) // if the peer has changed meanwhile, it is to be greeted once more
}

func (r *Rollcall) sayHello(p Peer, apart string) (*answer, error) {
	term, held, err := r.cfg.Reached()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	h := hello{Own: r.mem.Own, Term: term, Held: held, Learns: r.lost(), Learned: r.learned, Apart: apart}
	if s := r.mem.Peers[p.ID]; !r.doubted[p.ID] {
		h.Knows = cmp.Or(s.Learns, s.Start)
	}
	r.mu.Unlock()
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	ask := raft.RequestPreVoteRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax,
		ID: []byte(r.cfg.Self.ID), Addr: marked([]byte(r.cfg.Self.Addr), markHello, body)}}
	var said raft.RequestPreVoteResponse
	t, ok := r.Transport.(raft.WithPreVote)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	if err := t.RequestPreVote(raft.ServerID(p.ID), raft.ServerAddress(p.Addr), &ask, &said); err != nil {
		return nil, err
	}
	_, kind, b := cutMark(said.Addr)
	if kind != markAnswer { // an earlier version knows its term, and no more
		return &answer{Term: said.Term}, nil
	}
	return decodeAnswer(b)
}

// TellApart tells all others that this node ends, since its state is another than the leader's. It
// waits for the first who takes it in, but not for long.
func (r *Rollcall) TellApart(why string) {
	r.mu.Lock()
	all := r.everybody()
	r.mu.Unlock()
	told := make(chan struct{}, len(all))
	for _, p := range all {
		r.ended.Go(func() {
			if _, err := r.sayHello(p, why); err == nil {
				told <- struct{}{}
			}
		})
	}
	for range all {
		select {
		case <-told:
		case <-time.After(tellWithin):
			return
		}
	}
}

// heard takes an answer in. The lock is held.
func (r *Rollcall) heard(id string, a *answer) {
	if a.Back != "" && !a.Learns && !r.learned && r.cfg.Joined == nil { // one that learns remembers old starts itself
		r.goneBack(id, a.Back)
	}
	r.answers[id] = *a
	if a.Learns {
		r.learnsNow(id)
	} else {
		r.settle()
	}
}

// learnsNow takes in that who has answered learns, which it may not have known then. The lock is held.
func (r *Rollcall) learnsNow(id string) {
	said, ok := r.answers[id]
	if !ok {
		return
	}
	said.Learns = true
	r.answers[id] = said
	r.acquit(id)
	r.settle()
	r.weigh()
}

// meet answers a hello.
func (r *Rollcall) meet(p Peer, rpc raft.RPC, body []byte) {
	h, err := decodeHello(body)
	var a answer
	if err == nil {
		a.Term, a.Held, err = r.cfg.Reached()
	}
	if err == nil {
		err = r.note(p, h, &a)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(a)
	}
	head := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(r.cfg.Self.ID),
		Addr: marked([]byte(r.cfg.Self.Addr), markAnswer, text)}
	rpc.Respond(&raft.RequestPreVoteResponse{RPCHeader: head, Term: a.Term}, err)
}

// note remembers a start, on disk, and fills in the answer.
func (r *Rollcall) note(p Peer, h *hello, a *answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := p.ID
	if len(id) > MaxPeer {
		return fmt.Errorf("replica %.64q…: its name is longer than %d bytes", id, MaxPeer)
	}
	m := r.mem
	was := m.Peers[id]
	a.Back = m.meet(id, h)
	r.prune(&m, id)
	if s := m.Peers[id]; s != was {
		if err := r.cfg.Memory.Keep(m); err != nil {
			return fmt.Errorf("note start of %q: %w", id, err)
		}
	}
	if r.mem = m; a.Back != "" {
		r.warn("a peer's disk has gone back in time: it learns before it votes", "peer", id, "why", a.Back)
	}
	delete(r.doubted, id)
	delete(r.led, id)
	if r.part == waits && !r.hasAnswered(id) || h.Knows != r.mem.Now() {
		delete(r.greeted, id)
		r.callers[id] = p
		r.notify()
	}
	if h.Learns {
		r.learnsNow(id)
	}
	a.Voters, a.Learns = r.voters(), r.lost()
	a.Seen = max(r.mem.Peers[id].Start.Count, r.mem.Peers[id].Learns.Count)
	return nil
}

// voters are those that have a vote by the log. The lock is held.
func (r *Rollcall) voters() (all []Peer) {
	if !r.launched {
		return nil
	}
	for _, m := range r.members() {
		if m.Voter {
			all = append(all, m.Peer)
		}
	}
	return all
}

// prune forgets who has gone when too many are remembered. The lock is held.
func (r *Rollcall) prune(m *Memory, keep string) {
	if len(m.Peers) <= MaxSeen {
		return
	}
	stay := map[string]bool{keep: true}
	if r.launched {
		for _, p := range r.everybody() {
			stay[p.ID] = true
		}
	}
	for id := range m.Peers {
		if !stay[id] {
			delete(m.Peers, id) // meet has made the map
			delete(r.callers, id)
		}
	}
}
