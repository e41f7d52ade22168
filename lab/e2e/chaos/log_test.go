package chaos

import (
	"crypto/sha256"
	"slices"
	"time"

	"lightloom/controller/state"
)

// memory is a log in memory that keeps raft's promises: what a majority holds stays, in one order; one
// leader a term, whose log has all of it; and an entry that was decided in another term has no effect.
type memory struct {
	replicas int
	entries  [][]byte
	digests  []([32]byte) // of the state after every so many entries, as the first to come there had it
	term     uint64
	chosen   *reign // whose entries the log takes; nil while nobody leads
	voting   int    // number of the last election that was called
}

// lease is how long a leader that no majority answers stays one.
const lease = 400 * time.Millisecond

// seat is a replica: what its disk holds, and its process.
type seat struct {
	w          *world
	place      int
	state      *state.State
	applied    int // entries
	snap       []byte
	at         int // entries that the snapshot covers
	reign      *reign
	alive      bool
	paused     bool
	held       []func() // what a stopped process has still to do
	deaf, mute bool     // messages of other replicas do not reach it; its own do not reach them
	skew       time.Duration
	fsync      time.Duration // how slow its disk is
	sick       bool          // its fsync fails
	life       int
}

// do has the process do something: at once, when it runs again, or never.
func (s *seat) do(f func()) {
	switch {
	case !s.alive:
	case s.paused:
		life := s.life
		s.held = append(s.held, func() {
			if s.life == life {
				f()
			}
		})
	default:
		f()
	}
}

// connected reports whether a majority and the replica hear each other.
func (w *world) connected(s *seat) bool { return !s.deaf && w.heard(s) }

// heard reports whether a majority hears the replica.
func (w *world) heard(s *seat) bool {
	if !s.alive || s.paused || s.mute {
		return false
	}
	n := 1
	for _, o := range w.seats {
		if o != s && o.alive && !o.paused && !o.deaf && !o.mute && !o.sick {
			n++
		}
	}
	return 2*n > len(w.seats)
}

// append brings a batch of a leader into the log, and calls then once it is applied there.
func (w *world) append(r *reign, batch []byte, then func()) {
	r.flight = batch
	w.after(w.upTo(2*time.Millisecond)+w.upTo(time.Millisecond+r.seat.fsync),
		func() { w.decide(r, batch, then) })
}

// decide commits a batch if a majority takes it, tries again while the leader leads, and gives it up
// otherwise.
func (w *world) decide(r *reign, batch []byte, then func()) {
	switch s := r.seat; {
	case w.log.chosen != r || r.flight == nil:
		if s.reign == r && !r.over { // its process can not know yet: it hears of it when it asks
			s.do(func() { r.end("another leads") })
		}
	case s.sick:
		w.depose("its fsync fails")
	case !w.connected(s):
		w.after(20*time.Millisecond, func() { w.decide(r, batch, then) })
	default:
		r.flight = nil
		w.commit(batch)
		s.do(func() {
			s.catchUp(len(w.log.entries))
			if !r.over {
				then()
			}
		})
	}
}

// commit makes a batch the next entry; replicas apply it sooner or later.
func (w *world) commit(batch []byte) {
	w.log.entries = append(w.log.entries, slices.Clone(batch))
	w.note("entry %d: %x", len(w.log.entries), sha256.Sum256(batch))
	for _, s := range w.seats {
		w.after(w.upTo(30*time.Millisecond), func() { s.follow() })
	}
}

// follow applies what a replica that hears the others has not applied yet.
func (s *seat) follow() {
	if s.alive && !s.paused && !s.deaf && !s.sick {
		s.catchUp(len(s.w.log.entries))
	}
}

// catchUp applies entries, takes snapshots and compares its state with the others'.
func (s *seat) catchUp(to int) {
	w := s.w
	for s.applied < to {
		if err := (state.Machine{State: s.state}).Apply(w.log.entries[s.applied]); err != nil {
			w.fail("replica %d: apply entry %d: %v", s.place, s.applied+1, err)
		}
		s.applied++
		if w.slicer != nil {
			w.slicer.owned(s.state)
		}
		if s.applied%snapshots != 0 {
			continue
		}
		snap, err := s.state.Snapshot()
		if err != nil {
			w.fail("replica %d: %v", s.place, err)
		}
		digest, n := sha256.Sum256(snap), s.applied/snapshots
		if len(w.log.digests) < n {
			w.log.digests = append(w.log.digests, digest)
		} else if w.log.digests[n-1] != digest {
			w.fail("replica %d holds another state than others after entry %d", s.place, s.applied)
		}
		s.snap, s.at = snap, s.applied
	}
}

// kill ends a replica's process. Its disk stays.
func (w *world) kill(s *seat, why string) {
	if !s.alive {
		return
	}
	w.note("kill replica %d: %s", s.place, why)
	if s.reign != nil {
		s.reign.over = true // its timers must not run in the process that comes after it
	}
	s.alive, s.paused, s.held, s.reign = false, false, nil, nil
	s.life++
	if c := w.log.chosen; c != nil && c.seat == s {
		w.depose("it was killed")
	}
}

// start starts it again, from its snapshot and with a clock that may have stepped.
func (w *world) start(s *seat) {
	if s.alive {
		return
	}
	s.alive, s.state, s.applied, s.skew = true, w.empty(), s.at, w.faults.step(w)
	if s.snap != nil {
		if err := s.state.Restore(s.snap); err != nil {
			w.fail("replica %d: %v", s.place, err)
		}
	}
	w.note("start replica %d at entry %d, its clock off by %v", s.place, s.applied, s.skew)
	s.follow()
	w.elect()
}

// pause stops a process for a while. What others have to tell it waits, what it has sent arrives.
func (w *world) pause(s *seat, d time.Duration, why string) {
	if !s.alive || s.paused {
		return
	}
	w.note("stop replica %d for %v: %s", s.place, d, why)
	s.paused = true
	life := s.life
	w.after(d, func() {
		if !s.paused || s.life != life {
			return
		}
		w.note("replica %d goes on", s.place)
		s.paused = false
		held := s.held
		s.held = nil
		for i, f := range held {
			if s.paused || !s.alive { // stopped again on the way
				s.held = append(s.held, held[i:]...)
				break
			}
			f()
		}
		w.suspect()
		s.follow()
		w.elect()
	})
	w.suspect()
}

// suspect has the leader lose its place if no majority answers it for the length of its lease.
func (w *world) suspect() {
	c := w.log.chosen
	if c == nil || w.connected(c.seat) {
		return
	}
	w.after(lease, func() {
		if w.log.chosen == c && !w.connected(c.seat) {
			w.depose("no majority answers")
		}
	})
}

// depose takes the place from the leader. Its process knows at once if it runs, and otherwise when it
// runs again.
func (w *world) depose(why string) {
	c := w.log.chosen
	if c == nil {
		return
	}
	w.note("replica %d leads no more: %s", c.seat.place, why)
	w.log.chosen = nil
	if c.flight != nil && (c.seat.alive || w.chance(.5)) && w.chance(.5) { // others had it already: it stays
		w.note("its last entry stays")
		w.commit(c.flight)
	}
	c.flight = nil
	if c.seat.reign == c {
		c.seat.do(func() {
			// A process that was stopped acts on what it knew first.
			w.after(w.upTo(2*time.Millisecond), func() { c.seat.do(func() { c.end(why) }) })
		})
	}
	w.elect()
}

// elect has a majority choose a leader, after a while, if nobody leads.
func (w *world) elect() {
	if w.log.chosen != nil {
		return
	}
	w.log.voting++
	vote := w.log.voting
	w.after(200*time.Millisecond+w.upTo(400*time.Millisecond), func() {
		if vote != w.log.voting || w.log.chosen != nil {
			return
		}
		var can []*seat
		for _, s := range w.seats {
			if w.connected(s) && !s.sick {
				can = append(can, s)
			}
		}
		if len(can) == 0 {
			w.elect()
			return
		}
		w.crown(can[w.r.IntN(len(can))])
	})
}

// crown makes a replica the leader of the next term. It applies all that is in the log before it leads.
func (w *world) crown(s *seat) {
	w.log.term++
	w.note("replica %d leads in term %d", s.place, w.log.term)
	if s.reign != nil {
		s.reign.end("its replica leads anew")
	}
	s.catchUp(len(w.log.entries))
	s.reign = newReign(s, w.log.term)
	w.log.chosen = s.reign
	s.reign.begin()
}
