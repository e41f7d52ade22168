// Package schedule turns collectives into messages: who sends how much to whom, and after which messages. Generators
// are pure. Ranks are places in a communicator; sizes are bytes, split as evenly as integers allow.
//
// These are the schedules that communication libraries have for any network. Those that fit a given network are
// another package's.
package schedule

import (
	"fmt"
	"math"
	"math/bits"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// Schedule is a collective of so many ranks.
type Schedule struct {
	Op       training.Op
	Ranks    int
	Messages []Message // each after those that it waits for

	waits []int32 // ids of messages that some wait for
	ends  []int32 // by message: where its own end in waits
}

// Message is sent when its sender has received all that it waits for. Its content is pieces of the collective's data:
// of an all-to-all the piece for rank j is j, of the others piece j is the jth of as many as there are ranks.
type Message struct {
	From, To      int32
	Bytes         pathmap.Bytes
	Piece, Pieces int32 // the first and how many, round the end
	Reduce        bool  // the receiver adds it to what it has
}

// After returns the messages that one waits for; do not write to it.
func (s *Schedule) After(i int) []int32 {
	from := int32(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.waits[from:s.ends[i]]
}

// add adds a message, and returns its id.
func (s *Schedule) add(m Message, after ...int32) int32 {
	for _, a := range after {
		if a >= 0 {
			s.waits = append(s.waits, a)
		}
	}
	s.Messages, s.ends = append(s.Messages, m), append(s.ends, int32(len(s.waits)))
	return int32(len(s.Messages) - 1)
}

// part returns the bytes of some of n pieces.
func part(bytes pathmap.Bytes, n int, piece, pieces int32) pathmap.Bytes {
	sum := pathmap.Bytes(0)
	for k := range pieces {
		p := (int64(piece) + int64(k)) % int64(n)
		sum += pathmap.Bytes(share(int64(bytes), p+1, int64(n)) - share(int64(bytes), p, int64(n)))
	}
	return sum
}

// share returns ⌊bytes·k/n⌋ without overflow.
func share(bytes, k, n int64) int64 {
	hi, lo := bits.Mul64(uint64(bytes), uint64(k))
	q, _ := bits.Div64(hi, lo, uint64(n))
	return int64(q)
}

// Method is how a collective is carried out.
type Method uint8

// The methods.
const (
	Auto Method = iota // direct for an all-to-all, a tree for a broadcast, a ring for others
	Ring
	BidirectionalRing
	Tree
	HalvingDoubling
	Direct
	Hierarchical
)

// Methods returns all of them.
func Methods() []Method {
	return []Method{Auto, Ring, BidirectionalRing, Tree, HalvingDoubling, Direct, Hierarchical}
}

// String returns the method's name.
func (m Method) String() string {
	return [...]string{"auto", "ring", "bidirectional-ring", "tree", "halving-doubling", "direct", "hierarchical"}[m]
}

// ParseMethod returns the method of a name.
func ParseMethod(s string) (Method, error) {
	for _, m := range Methods() {
		if m.String() == s {
			return m, nil
		}
	}
	return 0, fmt.Errorf("there is no method %q: write ring, bidirectional-ring, tree, halving-doubling, direct or "+
		"hierarchical", s)
}

// Request is what a schedule is wanted for.
type Request struct {
	Op     training.Op
	Method Method
	Ranks  int
	Bytes  pathmap.Bytes // as of training.Op
	Server int           // of hierarchical: ranks of a server, next to each other
	Shares []float64     // of an all-to-all: what part of its bytes each rank sends to rank j; nil: all alike
	Return bool          // the way back: each rank gets part j of Bytes from rank j
}

// mostRanks bounds a schedule: a direct all-to-all of as many has 16 million messages.
const mostRanks = 1 << 12

// New returns the schedule of a request. A barrier, and any collective of one rank, has no messages.
func New(r Request) (*Schedule, error) {
	s := &Schedule{Op: r.Op, Ranks: r.Ranks}
	if r.Ranks < 2 || r.Op == training.Barrier {
		return s, nil
	}
	r.Method = r.method()
	if r.Ranks > mostRanks {
		return nil, fmt.Errorf("a %v of %d ranks: at most %d are taken", r.Op, r.Ranks, mostRanks)
	}
	build := generator(r.Method, r.Op)
	if build == nil {
		return nil, fmt.Errorf("there is no %v by %v: write %s", r.Op, r.Method, known(r.Op))
	}
	return s, build(s, r)
}

// Single returns one message from rank 0 to rank 1.
func Single(bytes pathmap.Bytes) *Schedule {
	s := &Schedule{Op: training.Broadcast, Ranks: 2}
	s.add(Message{To: 1, Bytes: bytes, Pieces: 1})
	return s
}

// generator returns what fills a schedule; nil where a method has no such collective.
func generator(m Method, op training.Op) func(*Schedule, Request) error {
	rounds := op == training.AllReduce || op == training.AllGather || op == training.ReduceScatter
	switch {
	case rounds && m == Ring:
		return ring
	case rounds && m == BidirectionalRing:
		return bidirectional
	case rounds && m == HalvingDoubling:
		return halvingDoubling
	case (rounds || op == training.AllToAll) && m == Direct:
		return direct
	case (op == training.AllReduce || op == training.Broadcast) && m == Tree:
		return tree
	case op == training.AllToAll && m == Hierarchical:
		return hierarchical
	}
	return nil
}

// known lists the methods of an operation.
func known(op training.Op) string {
	text := ""
	for _, m := range Methods() {
		if generator(m, op) != nil {
			if text != "" {
				text += " or "
			}
			text += m.String()
		}
	}
	return text
}

// CheckShares refuses shares of an all-to-all that are none.
func CheckShares(shares []float64, ranks int) error {
	if len(shares) != ranks {
		return fmt.Errorf("%d shares for %d ranks", len(shares), ranks)
	}
	sum := 0.0
	for _, x := range shares {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("a share is %v", x)
		}
		sum += x
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("shares sum to %v, not to 1", sum)
	}
	return nil
}

// Count returns how many messages the schedule of a request has at most, without making it.
func Count(r Request) int {
	n, rounds := r.Ranks, 1
	if n < 2 || r.Op == training.Barrier {
		return 0
	}
	if r.Op == training.AllReduce {
		rounds = 2
	}
	switch r.method() {
	case Tree:
		return 2 * rounds * treeChunks * n
	case HalvingDoubling:
		return rounds * n * bits.Len(uint(n))
	case BidirectionalRing:
		rounds *= 2
	}
	return rounds * n * (n - 1)
}

// method is that of a request, with Auto decided.
func (r *Request) method() Method {
	switch {
	case r.Method != Auto:
		return r.Method
	case r.Op == training.AllToAll:
		return Direct
	case r.Op == training.Broadcast:
		return Tree
	}
	return Ring
}
