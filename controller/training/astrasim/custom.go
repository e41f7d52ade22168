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
	progress *training.Progress
}

// beginCustom begins a collective from a file: one chunk, whose sizes are those of the file.
func (c *collectiveOf) beginCustom(w *training.Workload, priority int) error {
	group := c.n.work.Groups[c.node.Group].Ranks
	if len(w.Ranks) != len(group) {
		return fmt.Errorf("%s is for %d ranks, and the communicator has %d", w.Name, len(w.Ranks), len(group))
	}
	sorted := slices.Sorted(slices.Values(group)) // the reference sorts for the place, and only for it
	at := slices.Index(sorted, c.n.id)
	nodes := w.Ranks[at].Nodes
	run := func(ch *chunk) algorithm { return &script{ch, group, nodes, training.NewProgress(nodes)} }
	c.left = 1
	first := &chunk{n: c.n, id: c.n.nextChunk(c.node), phases: []phase{{0, run}}, queue: -1, priority: priority,
		done: c.ended}
	first.next()
	return nil
}

func (s *script) start() {
	if len(s.nodes) == 0 {
		s.c.next()
	}
	s.issue()
}

func (s *script) issue() {
	for _, i := range s.progress.Free() {
		if s.progress.Take(i) {
			s.begin(i)
		}
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
	s.progress.End(i)
	s.issue()
	if s.progress.Left() == 0 {
		s.c.next()
	}
}

func (s *script) received()  {}
func (s *script) processed() {}
