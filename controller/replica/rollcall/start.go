package rollcall

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Start is one start of a replica on its disk. A disk that goes back in time counts to the same number again, but
// draws another nonce.
type Start struct {
	Count uint64 `json:"n,omitempty"`
	Nonce uint64 `json:"r,omitempty"`
}

// Position is the last entry of a log, in the order in which raft compares logs.
type Position struct {
	Term  uint64 `json:"t,omitempty"`
	Index uint64 `json:"i,omitempty"`
}

func (p Position) before(o Position) bool {
	return p.Term < o.Term || p.Term == o.Term && p.Index < o.Index
}

// Sighting is what a replica has seen of a peer. It is on disk before the peer is told that it has been seen.
type Sighting struct {
	Start           // whose votes and entries count
	Learns Start    `json:"learns,omitzero"` // has gone back: its entries count, its votes do not
	Newest uint64   `json:"newest,omitempty"`
	Held   Position `json:"held,omitzero"` // what it has acknowledged to this replica last
	Apart  string   `json:"apart,omitempty"`
}

// Memory is what a replica remembers of starts: its own, the newest last, and those of its peers.
type Memory struct {
	Own   []Start             `json:"own,omitempty"`
	Peers map[string]Sighting `json:"peers,omitempty"`
	Back  bool                `json:"back,omitempty"` // it is older than what peers saw of it, and learns
	By    string              `json:"by,omitempty"`   // who said so first
}

// Bounds of a memory, which has to fit into a slot of the ballot.
const (
	MaxStarts = 24
	MaxSeen   = 12
	maxApart  = 80
	MaxPeer   = 64 // bytes of a name
)

// A disk that is new, or has learnt after it had gone back, counts its starts from the next multiple of
// lifeStarts on that is above all that others have seen of the replica. So who remembers a start with a
// later number than the replica's own has seen a later disk of it, however old what he remembers is.
const lifeStarts = 1000

// started adds a start with that nonce.
func (m *Memory) started(nonce uint64) {
	next := Start{Count: 1, Nonce: nonce}
	if n := len(m.Own); n > 0 {
		next.Count = m.Own[n-1].Count + 1
	}
	own := append(slices.Clone(m.Own), next)
	m.Own = own[max(0, len(own)-MaxStarts):]
}

// renew has the start that runs be the first of a new life, of which nobody has seen anything. seen is the highest
// number of a start that others have.
func (m *Memory) renew(seen uint64) {
	now := m.Now()
	now.Count = (max(seen, now.Count)/lifeStarts + 1) * lifeStarts
	m.Own = []Start{now}
}

// Now is the start that runs.
func (m *Memory) Now() Start {
	if len(m.Own) == 0 {
		return Start{}
	}
	return m.Own[len(m.Own)-1]
}

// hello is how a replica introduces a start to a peer.
type hello struct {
	Own     []Start  `json:"own"` // the newest last
	Term    uint64   `json:"term"`
	Held    Position `json:"held"`
	Learns  bool     `json:"learns,omitempty"`  // its disk has gone back, or is new
	Learned bool     `json:"learned,omitempty"` // it had or was, and holds now what it must
	Knows   Start    `json:"knows,omitzero"`    // the peer's start, as far as it has said hello
	Apart   string   `json:"apart,omitempty"`   // it ends, because its state is another than the leader's
}

// answer is what a peer says to a hello.
type answer struct {
	Back   string   `json:"back,omitempty"`   // why the replica is older than what the peer saw of it
	Seen   uint64   `json:"seen,omitempty"`   // the highest number of a start of the replica that the peer has seen
	Learns bool     `json:"learns,omitempty"` // the peer: its own disk has gone back, or is new
	Term   uint64   `json:"term"`
	Held   Position `json:"held"`
	Voters []Peer   `json:"voters,omitempty"` // as the peer's log has them
}

// back returns why a replica that says hello is older than what was seen of it; empty: it is not. A start that is too
// long ago for its list is judged by its log and its term alone.
func (s *Sighting) back(h *hello) string {
	var nonce uint64
	for _, o := range h.Own {
		if o.Count == s.Count {
			nonce = o.Nonce
		}
	}
	oldest, newest := h.Own[0].Count, h.Own[len(h.Own)-1].Count
	switch {
	case s.Count > newest:
		return fmt.Sprintf("it starts for time %d, and was seen at its start %d", newest, s.Count)
	case s.Count >= oldest && nonce != s.Nonce:
		return fmt.Sprintf("its start %d is another than the one that was seen", s.Count)
	case h.Term < s.Newest:
		return fmt.Sprintf("it is in term %d, and was seen in %d", h.Term, s.Newest)
	case h.Held.before(s.Held):
		return fmt.Sprintf("its log ends with entry %d of term %d, and it has acknowledged entry %d of term %d",
			h.Held.Index, h.Held.Term, s.Held.Index, s.Held.Term)
	}
	return ""
}

// meet notes a start in m, and returns why it has gone back, if it has: then it only learns.
func (m *Memory) meet(peer string, h *hello) (back string) {
	s, known := m.Peers[peer]
	if known {
		back = s.back(h)
	}
	now := h.Own[len(h.Own)-1]
	s.Apart = h.Apart[:min(len(h.Apart), maxApart)]
	if back != "" && !h.Learned {
		if s.Learns = now; s.Start == now { // it has gone back while it ran
			s.Start.Nonce = 0
		}
	} else {
		s, back = Sighting{Start: now, Newest: h.Term, Held: h.Held, Apart: s.Apart}, ""
	}
	all := make(map[string]Sighting, len(m.Peers)+1)
	for id, x := range m.Peers {
		all[id] = x
	}
	all[peer] = s
	m.Peers = all
	return back
}

// admits reports whether a peer's message counts. A version that draws no nonces has none to compare.
func (s Sighting) admits(x Start, vote bool) bool {
	return x == Start{} || x == s.Start || x == s.Learns && !vote
}

// enough reports whether so many others have answered that a replica can take part, by a list of voters: a majority of
// the others whose disks are whole as far as they know. Where as many as a minority of all have lost theirs and say so,
// this replica's is whole, or a majority of all disks is not: then any majority will do. lost says that this one has.
func enough(self string, lost bool, answers map[string]answer, voters []Peer) bool {
	others, whole, learn := 0, 0, 0
	for _, p := range voters {
		if p.ID == self {
			continue
		}
		others++
		if a, said := answers[p.ID]; said && a.Learns {
			learn++
		} else if said {
			whole++
		}
	}
	minority := others / 2 // of the others and this one
	known := !lost && minority > 0 && learn >= minority && whole+learn > others/2
	return others == 0 || whole > others/2 || known
}

// A mark follows the address in the header of a raft message, behind a zero byte, which no address has. Versions that
// know no marks take it for a part of the address, which they compare and print only.
const (
	markStamp  = 's' // an Start: whose message it is
	markHello  = 'h' // a hello, in a request for a pre-vote of term 0, which grants nothing
	markAnswer = 'a'
	maxMark    = 64 << 10
)

var errMark = errors.New("the mark in its header is none")

// marked returns an address with a mark.
func marked(addr []byte, kind byte, body []byte) []byte {
	b := make([]byte, 0, len(addr)+2+len(body))
	b = append(b, addr...)
	return append(append(b, 0, kind), body...)
}

// cutMark returns an address without its mark; kind 0 is none.
func cutMark(b []byte) (addr []byte, kind byte, body []byte) {
	i := bytes.IndexByte(b, 0)
	if i < 0 || i+1 == len(b) {
		return b, 0, nil
	}
	return b[:i:i], b[i+1], b[i+2:]
}

func (x Start) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, x.Count), x.Nonce)
}

func decodeIncarnation(b []byte) (x Start, err error) {
	if len(b) != 16 {
		return x, errMark
	}
	x = Start{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	if x.Count == 0 {
		return Start{}, errMark
	}
	return x, nil
}

func decodeHello(b []byte) (*hello, error) {
	h := new(hello)
	if len(b) > maxMark || json.Unmarshal(b, h) != nil || len(h.Own) == 0 || len(h.Own) > MaxStarts {
		return nil, errMark
	}
	for i, o := range h.Own {
		if o.Count == 0 || i > 0 && o.Count <= h.Own[i-1].Count {
			return nil, errMark
		}
	}
	return h, nil
}

func decodeAnswer(b []byte) (*answer, error) {
	a := new(answer)
	if len(b) > maxMark || json.Unmarshal(b, a) != nil {
		return nil, errMark
	}
	return a, nil
}
