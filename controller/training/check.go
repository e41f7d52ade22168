package training

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lightloom/pathmap"
)

// MostBytes bounds what one node sends or holds: no accelerator has as much memory.
const MostBytes pathmap.Bytes = 4 << 40

// Check refuses a workload that cannot end: one whose nodes wait for each other, a collective that a member of its
// communicator never joins, a message that nobody receives or sends, sizes that cannot be. An error names file, rank
// and node.
func (w *Workload) Check() error {
	for r := range w.Ranks {
		for i := range w.Ranks[r].Nodes {
			if err := w.checkNode(r, i); err != nil {
				return fmt.Errorf("%s: %w", w.Where(r, i), err)
			}
		}
		if err := w.checkOrder(r); err != nil {
			return err
		}
	}
	if err := w.checkJoined(); err != nil {
		return err
	}
	return w.checkMatched()
}

func (w *Workload) checkNode(r, i int) error {
	n := &w.Ranks[r].Nodes[i]
	switch n.Kind {
	case Collective:
		if int(n.Group) >= len(w.Groups) {
			return fmt.Errorf("there is no communicator %d", n.Group)
		}
		g := &w.Groups[n.Group]
		if !slices.Contains(g.Ranks, int32(r)) {
			return fmt.Errorf("its rank is no member of communicator %q", g.Name)
		}
		if n.Op == Barrier {
			return nil
		}
	case Send, Receive:
		if n.Peer < 0 || int(n.Peer) >= len(w.Ranks) {
			return fmt.Errorf("its peer is rank %d, and there are ranks 0 to %d", n.Peer, len(w.Ranks)-1)
		}
		if int(n.Peer) == r {
			return fmt.Errorf("its peer is its own rank %d", r)
		}
	default:
		if n.Duration < 0 {
			return fmt.Errorf("it takes %v, which is below zero", n.Duration)
		}
		return nil
	}
	return CheckBytes(n.Bytes)
}

// CheckBytes refuses sizes of messages and collectives that cannot be.
func CheckBytes(b pathmap.Bytes) error {
	switch {
	case b <= 0:
		return fmt.Errorf("comm_size is %d: write the bytes that it sends, at least 1, or leave the node out", int64(b))
	case b > MostBytes:
		return fmt.Errorf("comm_size is %d bytes, and at most %d are taken: no accelerator holds as much, look for a "+
			"wrong unit", int64(b), int64(MostBytes))
	}
	return nil
}

// checkOrder refuses nodes that wait for each other.
func (w *Workload) checkOrder(r int) error {
	nodes := w.Ranks[r].Nodes
	waits, children := make([]int, len(nodes)), make([][]int32, len(nodes))
	var free []int32
	for i := range nodes {
		for _, a := range nodes[i].After {
			children[a] = append(children[a], int32(i))
		}
		if waits[i] = len(nodes[i].After); waits[i] == 0 {
			free = append(free, int32(i))
		}
	}
	done := 0
	for ; len(free) > 0; done++ {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, c := range children[i] {
			if waits[c]--; waits[c] == 0 {
				free = append(free, c)
			}
		}
	}
	if done == len(nodes) {
		return nil
	}
	i := cycle(nodes, waits)
	return fmt.Errorf("%s: it waits for itself, through %d nodes: remove one of its dependencies", w.Where(r, i[0]),
		len(i))
}

// cycle returns the places of nodes that wait for each other, the smallest first.
func cycle(nodes []Node, waits []int) []int {
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var path []int
	for {
		if from, ok := seen[at]; ok {
			path = path[from:]
			least := slices.Index(path, slices.Min(path))
			return append(slices.Clone(path[least:]), path[:least]...)
		}
		seen[at] = len(path)
		path = append(path, at)
		i := slices.IndexFunc(nodes[at].After, func(a int32) bool { return waits[a] > 0 })
		at = int(nodes[at].After[i])
	}
}

// joined identifies the collectives of one communicator that have one operation.
type joined struct {
	group int32
	op    Op
}

// checkJoined refuses collectives that some member of the communicator does not join as often as others do, or with
// other sizes. Which of several collectives meet is decided by the order of a rank's nodes.
func (w *Workload) checkJoined() error {
	calls := map[joined]map[int32][]int32{} // by rank, of which most communicators have few: the nodes
	for r := range w.Ranks {
		for i := range w.Ranks[r].Nodes {
			n := &w.Ranks[r].Nodes[i]
			if n.Kind != Collective {
				continue
			}
			k := joined{n.Group, n.Op}
			if calls[k] == nil {
				calls[k] = map[int32][]int32{}
			}
			calls[k][int32(r)] = append(calls[k][int32(r)], int32(i))
		}
	}
	keys := slices.SortedFunc(maps.Keys(calls), func(a, b joined) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.op, b.op))
	})
	for _, k := range keys {
		if err := w.checkCalls(k, calls[k]); err != nil {
			return err
		}
	}
	return nil
}

// checkCalls compares what the members of a communicator join.
func (w *Workload) checkCalls(k joined, calls map[int32][]int32) error {
	g := &w.Groups[k.group]
	most := g.Ranks[0]
	for _, r := range g.Ranks {
		if len(calls[r]) > len(calls[most]) {
			most = r
		}
	}
	for _, r := range g.Ranks {
		for c, i := range calls[most] {
			at := w.Where(int(most), int(i))
			if c >= len(calls[r]) {
				return fmt.Errorf("%s: rank %d never joins this %v of communicator %q (number %d of rank %d): all %d members "+
					"must", at, r, k.op, g.Name, c+1, most, len(g.Ranks))
			}
			a, b := &w.Ranks[most].Nodes[i], &w.Ranks[r].Nodes[calls[r][c]]
			if a.Bytes != b.Bytes {
				return fmt.Errorf("%s: this %v has %d bytes, and rank %d joins it with %d (node %d): write one size",
					at, k.op, int64(a.Bytes), r, int64(b.Bytes), b.ID)
			}
		}
	}
	return nil
}

// pair identifies messages that only their order tells apart.
type pair struct{ from, to, tag int32 }

// checkMatched refuses messages that are sent and not received, and the other way round.
func (w *Workload) checkMatched() error {
	type end struct{ rank, node int }
	sent, received := map[pair][]end{}, map[pair][]end{}
	var keys []pair
	for r := range w.Ranks {
		for i := range w.Ranks[r].Nodes {
			n := &w.Ranks[r].Nodes[i]
			k, list := pair{int32(r), n.Peer, n.Tag}, sent
			switch n.Kind {
			case Send:
			case Receive:
				k, list = pair{n.Peer, int32(r), n.Tag}, received
			default:
				continue
			}
			if sent[k] == nil && received[k] == nil {
				keys = append(keys, k)
			}
			list[k] = append(list[k], end{r, i})
		}
	}
	for _, k := range keys {
		s, r := sent[k], received[k]
		switch {
		case len(s) > len(r):
			at := s[len(r)]
			return fmt.Errorf("%s: rank %d never receives this message with tag %d", w.Where(at.rank, at.node), k.to, k.tag)
		case len(r) > len(s):
			at := r[len(s)]
			return fmt.Errorf("%s: rank %d never sends this message with tag %d", w.Where(at.rank, at.node), k.from, k.tag)
		}
		for i := range s {
			a, b := &w.Ranks[s[i].rank].Nodes[s[i].node], &w.Ranks[r[i].rank].Nodes[r[i].node]
			if a.Bytes != b.Bytes {
				return fmt.Errorf("%s: it sends %d bytes, and rank %d expects %d (node %d)",
					w.Where(s[i].rank, s[i].node), int64(a.Bytes), k.to, int64(b.Bytes), b.ID)
			}
		}
	}
	return nil
}
