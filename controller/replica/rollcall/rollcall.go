// Package rollcall stands between raft and its transport, so that a replica whose disk has gone back in
// time does no harm. A start of a replica says hello to the others, and takes part once a majority of
// them has answered: one of these has seen each entry that it has acknowledged, and each leader that it
// has elected. So it votes in later terms than theirs alone, and for those alone whose log reaches as
// far as theirs do. One that has gone back, by what they have seen of it, or whose log is new, learns
// first.
//
// Each message and each answer carries whose start it is of. It counts only if that start has said
// hello. The package holds no log and elects nobody: raft does, with what it is given.
package rollcall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// part is how far a node takes part in its cluster after a start.
type part int

const (
	waits   part = iota // for answers of the others: it takes nothing and gives nothing
	learns              // it takes entries, and has no vote before it holds what it may have acknowledged
	careful             // it votes for those who hold what it may have acknowledged, and does not stand
	votes
)

// Peer is one replica of the cluster.
type Peer struct {
	ID   string // unique and stable for the life of the log
	Addr string // host:port where its raft transport listens; can change between starts
}

// Member is a replica as the log has it.
type Member struct {
	Peer
	Voter bool // it counts for majorities and can lead; others only take the log
}

// Keeper keeps what a replica remembers of starts.
type Keeper interface {
	Recall() Memory
	Hold(Memory) // it is kept with whatever is kept next
	Keep(Memory) error
}

// Config configures a Rollcall.
type Config struct {
	Self    Peer
	Peers   []Peer // where others can be, besides those that the log has
	Nonce   uint64 // drawn for this start
	Trusted bool   // the disk cannot have gone back in time: the node takes part at once
	// of a node whose log is new: called once the node holds what it must; nil: it has been in its cluster
	// before
	Joined func() error

	Memory  Keeper
	Reached func() (term uint64, held Position, err error) // by the disk
	Die     func(error)                                    // ends the node, to be started again
	Logger  *slog.Logger
}

// Rollcall is one start of a node. Raft has it as its transport.
type Rollcall struct {
	raft.Transport
	cfg     Config
	members func() []Member // as this node's log has them
	ctx     context.Context
	stop    context.CancelFunc
	ended   sync.WaitGroup
	wake    chan struct{} // holds one at most: somebody is to be greeted

	mu       sync.Mutex
	mem      Memory
	part     part
	launched bool
	learned  bool // it learnt, and holds now what it must
	others
	bar
	watch
}

// others are what a node has heard of the others since it started.
type others struct {
	answers map[string]answer // by who has answered this start
	greeted map[string]bool   // know this start
	busy    map[string]bool   // are being greeted
	// Have said hello and do not know this start. Those that this node's log lacks must hear it all the same: a leader of
	// whom it does not know yet takes no answer of one who has not said hello, and can never send it what it lacks.
	callers  map[string]Peer
	accusers map[string]string // who has seen a later disk of this node, and what
}

// bar is what keeps a node from voting.
type bar struct {
	term   uint64   // no vote up to this term, and no entries of leaders before it
	needs  Position // what a log has to reach
	leader string   // while it learns: who has spoken in that term
	target uint64   // and how far its log reaches at least, by what it says; 0: nobody has spoken
}

// watch is how a leader sees followers that go back while they run.
type watch struct {
	doubted map[string]bool   // have gone back
	led     map[string]uint64 // term in which Held of a sighting was acknowledged
	noted   map[string]uint64 // index of Held that the disk knows, or will with the next entry
}

// Bounds of greeting.
const (
	greetAgain = 50 * time.Millisecond
	learnPoll  = 20 * time.Millisecond
	tellWithin = 500 * time.Millisecond
	noteEvery  = 64 // entries that a peer acknowledges, between those of which the disk knows
)

// Errors that a peer can answer a message with.
var (
	errWaits    = errors.New("this replica takes no part yet")
	errStranger = errors.New("this start has not said hello")
	errVoted    = errors.New("this replica may have voted in that term")
	errBehind   = errors.New("this replica may have acknowledged more than the candidate holds")
)

// ErrBack says that the disk is older than what others have seen of this replica. The process must
// start again, and learns then.
var ErrBack = errors.New("the disk of this replica has gone back in time: it must start again, and learn")

// New counts this start, on disk, and answers those of others from then on.
func New(t raft.Transport, c Config) (*Rollcall, error) {
	r := &Rollcall{Transport: t, cfg: c, wake: make(chan struct{}, 1), mem: c.Memory.Recall(),
		others: others{map[string]answer{}, map[string]bool{}, map[string]bool{}, map[string]Peer{}, map[string]string{}},
		watch:  watch{map[string]bool{}, map[string]uint64{}, map[string]uint64{}}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	if r.mem.Back && r.mem.By != "" { // who can still turn out to be the one whose disk is old
		r.accusers[r.mem.By] = "it said so before the last start"
	}
	r.mem.started(c.Nonce)
	if err := c.Memory.Keep(r.mem); err != nil {
		return nil, fmt.Errorf("count start: %w", err)
	}
	return r, nil
}

func (r *Rollcall) warn(text string, about ...any) {
	r.cfg.Logger.Error(text, append([]any{"replica", r.cfg.Self.ID}, about...)...)
}

// Follow begins to greet. members are those that the log has; applied is the index of the last entry
// that raft has applied.
func (r *Rollcall) Follow(members func() []Member, applied func() uint64) {
	r.mu.Lock()
	r.members, r.launched = members, true
	if r.cfg.Trusted && r.cfg.Joined == nil {
		r.forgive()
	}
	r.settle()
	r.mu.Unlock()
	r.ended.Go(r.greetAll)
	r.ended.Go(func() { r.learn(applied) })
}

// Stop greets nobody any more.
func (r *Rollcall) Stop() { r.stop() }

// Close ends what Follow has begun. The transport is closed before, so nobody waits for an answer.
func (r *Rollcall) Close() {
	r.stop()
	r.ended.Wait()
}

// goneBack makes this a node that learns, because of what a peer has seen of it. It forgets what it has
// seen of others, which is as old as its disk. The lock is held.
func (r *Rollcall) goneBack(peer, why string) {
	r.warn("the disk is older than what others saw of this replica: it learns before it votes",
		"peer", peer, "why", why)
	r.accusers[peer] = why
	if r.mem.Back {
		return
	}
	clear(r.greeted)
	r.notify()
	r.mem.Back, r.mem.By, r.mem.Peers = true, peer, nil
	if err := r.cfg.Memory.Keep(r.mem); err != nil {
		r.cfg.Die(fmt.Errorf("note that the disk has gone back: %w", err))
	}
	if r.part > learns { // raft may lead, or have voted: it begins anew
		r.cfg.Die(fmt.Errorf("%s: %w", why, ErrBack))
	}
}

// acquit takes back what a peer has said whose own disk turns out to be old. The lock is held.
func (r *Rollcall) acquit(peer string) {
	if _, said := r.accusers[peer]; !said {
		return
	}
	delete(r.accusers, peer)
	if len(r.accusers) > 0 || r.part > learns {
		return
	}
	r.mem.Back, r.mem.By, r.part = false, "", waits
	clear(r.greeted) // they have heard that it learns
	r.notify()
	if err := r.cfg.Memory.Keep(r.mem); err != nil {
		r.cfg.Die(fmt.Errorf("note that the disk has not gone back: %w", err))
	}
	r.settle()
}

// settle has the node take part once enough others have answered. The lock is held.
func (r *Rollcall) settle() {
	if !r.launched || r.part != waits {
		return
	}
	for _, voters := range r.lists() {
		if !enough(r.cfg.Self.ID, r.lost(), r.answers, voters) {
			return
		}
	}
	r.part = careful
	if r.lost() {
		r.part = learns
	}
	r.weigh()
	r.catchUp()
}

// weigh sets what logs must reach, and which terms are over. What a peer holds that learns counts for
// nobody. The lock is held.
func (r *Rollcall) weigh() {
	r.needs = Position{}
	for _, a := range r.answers {
		r.term = max(r.term, a.Term)
		if !a.Learns && r.needs.before(a.Held) {
			r.needs = a.Held
		}
	}
}

// lost reports whether this node's disk has gone back or is new, and it has not learnt yet. The lock is
// held.
func (r *Rollcall) lost() bool { return r.mem.Back || r.cfg.Joined != nil && !r.learned }

// hasAnswered reports whether a peer with a whole disk has answered this start. The lock is held.
func (r *Rollcall) hasAnswered(id string) bool {
	a, ok := r.answers[id]
	return ok && !a.Learns
}

// lists are all lists of voters that count: those of this node's log, or its configuration if that is
// empty, and those of who has answered, which can be newer.
func (r *Rollcall) lists() (all [][]Peer) {
	var own []Peer
	for _, m := range r.members() {
		if m.Voter {
			own = append(own, m.Peer)
		}
	}
	if len(own) == 0 {
		own = r.cfg.Peers
	}
	all = append(all, own)
	for _, a := range r.answers {
		all = append(all, a.Voters)
	}
	return all
}

// catchUp lets a careful node stand once its own log reaches far enough. The lock is held.
func (r *Rollcall) catchUp() {
	if r.part != careful {
		return
	}
	if _, held, err := r.cfg.Reached(); err == nil && !held.before(r.needs) {
		r.part = votes
	}
}

// learn looks how far a node has come that does not vote yet.
func (r *Rollcall) learn(applied func() uint64) {
	tick := time.NewTicker(learnPoll)
	defer tick.Stop()
	for {
		r.mu.Lock()
		r.catchUp()
		done := r.part == votes
		reached := r.hasReached(applied())
		r.mu.Unlock()
		if reached {
			r.hasLearned()
		}
		if done {
			return
		}
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// hasLearned lets a node vote that holds what it must.
func (r *Rollcall) hasLearned() {
	if r.cfg.Joined != nil {
		if err := r.cfg.Joined(); err != nil {
			r.warn("join", "error", err)
			select { // it is tried again
			case <-r.ctx.Done():
			case <-time.After(time.Second):
			}
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgive()
}

// forgive has the node vote, and all others told that it may. The lock is held.
func (r *Rollcall) forgive() {
	if r.lost() {
		seen := uint64(0)
		for _, a := range r.answers {
			seen = max(seen, a.Seen)
		}
		r.mem.renew(seen)
	}
	r.mem.Back, r.mem.By = false, ""
	if err := r.cfg.Memory.Keep(r.mem); err != nil {
		r.cfg.Die(fmt.Errorf("note that the replica has learnt: %w", err))
		return
	}
	r.part, r.learned = votes, true
	clear(r.accusers)
	clear(r.greeted)
	r.notify()
}

// Trust has the node take part without asking further: somebody vouches for its disk.
func (r *Rollcall) Trust() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.part != votes {
		r.forgive()
	}
}
