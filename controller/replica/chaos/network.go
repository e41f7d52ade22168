// Package chaos is a network for raft inside one process that loses, delays and doubles messages and
// can be cut, all drawn from a seed. It is for tests only, of this module and of users of package
// replica.
package chaos

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Faults are the faults of messages. Chances are 0 to 1; every message is drawn for on its own.
type Faults struct {
	Drop      float64 // the request is lost
	DropReply float64 // the request arrives, its reply is lost
	Double    float64 // the request arrives a second time, later; its second reply is lost
	Delay     time.Duration
	// Delay is the longest time that a request or a reply is under way, drawn evenly from zero: messages
	// overtake each other.
}

// Errors of a message that did not get through.
var (
	ErrTimeout = errors.New("no reply in time")
	ErrRefused = errors.New("connection refused")
)

type link struct{ from, to raft.ServerAddress }

// Network joins Transports. What befalls the n-th message of a directed link depends on the seed, the
// link and n alone.
type Network struct {
	seed    uint64
	timeout time.Duration

	mu     sync.Mutex
	faults Faults
	ends   map[raft.ServerAddress]*Transport
	cut    map[link]bool
	chance map[link]*rand.Rand
	sent   uint64
	lost   uint64
}

// NewNetwork returns a faultless network. timeout is how long a sender waits for a reply.
func NewNetwork(seed uint64, timeout time.Duration) *Network {
	return &Network{
		seed: seed, timeout: timeout,
		ends: map[raft.ServerAddress]*Transport{}, cut: map[link]bool{}, chance: map[link]*rand.Rand{},
	}
}

// SetFaults changes what befalls messages from now on.
func (n *Network) SetFaults(f Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = f
}

// Cut loses every message from one end to the other, in that direction only.
func (n *Network) Cut(from, to raft.ServerAddress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[link{from, to}] = true
}

// Isolate cuts one end off in both directions from every end that stands.
func (n *Network) Isolate(end raft.ServerAddress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.ends {
		n.cut[link{end, other}], n.cut[link{other, end}] = true, true
	}
}

// Heal takes every cut away. Faults stay.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// Counts returns how many messages were sent and how many of them or of their replies were lost.
func (n *Network) Counts() (sent, lost uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent, n.lost
}

// Transport makes the end with that address, in the place of a closed one of the same address.
func (n *Network) Transport(addr raft.ServerAddress) *Transport {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.ends[addr]; old != nil && !old.isClosed() {
		panic(fmt.Sprintf("chaos: two ends at %q", addr))
	}
	t := &Transport{net: n, addr: addr, inbox: make(chan raft.RPC, 16), closed: make(chan struct{})}
	n.ends[addr] = t
	return t
}

// fate is what befalls one message.
type fate struct {
	drop, dropReply, double bool
	there, back, again      time.Duration
}

// draw decides the fate of the next message of a link and finds its other end.
func (n *Network) draw(l link) (fate, *Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.chance[l]
	if r == nil {
		r = rand.New(rand.NewPCG(n.seed, hash(string(l.from)+"→"+string(l.to))))
		n.chance[l] = r
	}
	span := func() time.Duration { return time.Duration(r.Float64() * float64(n.faults.Delay)) }
	f := fate{
		drop: r.Float64() < n.faults.Drop, dropReply: r.Float64() < n.faults.DropReply,
		double: r.Float64() < n.faults.Double, there: span(), back: span(), again: span(),
	}
	f.drop = f.drop || n.cut[l]
	n.sent++
	if f.drop || f.dropReply {
		n.lost++
	}
	return f, n.ends[l.to]
}

// severed reports whether a reply to a message of l is lost by now.
func (n *Network) severed(l link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut[link{l.to, l.from}]
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
