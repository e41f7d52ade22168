package rollcall

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Standing is how far a replica takes part in its cluster after a start.
type Standing string

// The standings, from the first on.
const (
	// Waiting: fewer than a majority of the others have answered, so nobody knows whether its disk has
	// gone back in time. It takes no entries and gives no votes.
	Waiting Standing = "waiting"
	// Learning: its disk has gone back in time, or is new. It takes entries, and gives no votes before it
	// holds what it may have acknowledged.
	Learning Standing = "learning"
	// Following: it gives votes, and does not stand for election before it holds what others do.
	Following Standing = "following"
	// Voting: it takes part.
	Voting Standing = "voting"
)

// Trouble is what a node has seen of a peer.
type Trouble struct {
	Peer string
	Back bool   // its disk has gone back in time, and it has not learnt since
	Text string // for people
}

// Troubles returns what this node has seen of its peers that should not be, by peer.
func (r *Rollcall) Troubles() (all []Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.mem.Peers)) {
		switch s := r.mem.Peers[id]; {
		case s.Apart != "":
			all = append(all, Trouble{Peer: id, Text: id + " has stopped: " + s.Apart})
		case s.Learns != (Start{}) || r.doubted[id]:
			all = append(all, Trouble{id, true, "the disk of " + id + " has gone back in time: it learns"})
		}
	}
	return all
}

// Standing returns how far the node takes part, and what it waits for or why it learns.
func (r *Rollcall) Standing() (s Standing, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catchUp()
	switch r.part {
	case learns:
		if r.cfg.Joined != nil {
			return Learning, "its log is new"
		}
		why := "its disk has gone back in time"
		for _, id := range slices.Sorted(maps.Keys(r.accusers)) {
			why += fmt.Sprintf("; %s: %s", id, r.accusers[id])
		}
		return Learning, why
	case careful:
		return Following, fmt.Sprintf("its log does not reach entry %d of term %d yet",
			r.needs.Index, r.needs.Term)
	case votes:
		return Voting, ""
	}
	if !r.launched {
		return Waiting, "it starts"
	}
	var missing []string
	for _, p := range r.everybody() {
		if !r.hasAnswered(p.ID) {
			missing = append(missing, p.ID)
		}
	}
	slices.Sort(missing)
	return Waiting, fmt.Sprintf("no answer from %s since it started: start them, or type: lightloom cluster trust",
		strings.Join(missing, ", "))
}

// Started names this start of the replica on its disk: no other start has the same name.
func (r *Rollcall) Started() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mem.Now().String()
}

func (x Start) String() string { return fmt.Sprintf("%d-%016x", x.Count, x.Nonce) }
