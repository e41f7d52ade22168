package astrasim

import (
	"fmt"
	"slices"

	"lightloom/controller/training"
)

// script is a collective from a file: what one rank sends, receives and reduces, each node when those that it waits
// for have ended. Ranks are places in the communicator.
type script struct {
	c        *chunk
	group    []int32
	nodes    []training.Node
	waits    []int
	children [][]int32
	left     int
	op       training.Op
}

// beginCustom begins a collective from a file: one chunk, whose sizes are those of the file.
func (c *collectiveOf) beginCustom(w *training.Workload, priority int) error {
	group := c.n.work.Groups[c.node.Group].Ranks
	if len(w.Ranks) != len(group) {
		return fmt.Errorf("%s is for %d ranks, and the communicator has %d", w.Name, len(w.Ranks), len(group))
	}
	sorted := slices.Sorted(slices.Values(group)) // the reference sorts for the place, and only for it
	at := slices.Index(sorted, c.n.id)
	run := func(ch *chunk) algorithm { return newScript(ch, w.Ranks[at].Nodes, group) }
	c.left = 1
	c.n.begin(&chunk{n: c.n, id: c.n.nextChunk(c.node), phases: []phase{{0, run}}, queue: -1, priority: priority,
		done: c.ended})
	return nil
}

func newScript(c *chunk, nodes []training.Node, group []int32) *script {
	s := &script{c: c, group: group, nodes: nodes, waits: make([]int, len(nodes)), children: make([][]int32, len(nodes)),
		left: len(nodes)}
	for i := range nodes {
		s.waits[i] = len(nodes[i].After)
		for _, a := range nodes[i].After {
			s.children[a] = append(s.children[a], int32(i))
		}
	}
	return s
}

func (s *script) start() {
	for i := range s.nodes {
		if s.waits[i] == 0 {
			s.begin(int32(i))
		}
	}
	if len(s.nodes) == 0 {
		s.c.next()
	}
}

func (s *script) begin(i int32) {
	n := &s.nodes[i]
	ended := func() { s.ended(i) }
	id, tag := s.c.n.id, int64(n.Tag)%collectiveTags
	switch n.Kind {
	case training.Send:
		s.c.n.post.send(channel{tag, id, s.group[n.Peer], int64(n.Bytes)}, ended)
	case training.Receive:
		s.c.n.post.receive(channel{tag, s.group[n.Peer], id, int64(n.Bytes)}, ended)
	default:
		s.c.n.after(max(int64(n.Duration), 1), ended)
	}
}

func (s *script) ended(i int32) {
	for _, c := range s.children[i] {
		if s.waits[c]--; s.waits[c] == 0 {
			s.begin(c)
		}
	}
	if s.left--; s.left == 0 {
		s.c.next()
	}
}

func (s *script) received()  {}
func (s *script) processed() {}
