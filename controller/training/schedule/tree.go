package schedule

import (
	"lightloom/controller/training"
	"lightloom/pathmap"
)

// treeChunks is in how many chunks a tree passes on its bytes: a rank sends a chunk while it receives the next.
const treeChunks = 32

// tree sends sums up a binary tree and the result down, in chunks, one half of the bytes along each of two trees: a
// rank that is inner in one is a leaf in the other, so that none sends much more than its bytes twice (Sanders, Speck
// and Träff, Parallel Computing 2009). A broadcast goes from rank 0 down one tree.
func tree(s *Schedule, r Request) error {
	order := make([]int, r.Ranks)
	for i := range order {
		order[i] = i
	}
	if r.Op == training.Broadcast {
		s.down(r, order, r.Bytes, 0, nil)
		return nil
	}
	shifted := make([]int, r.Ranks)
	for i := range shifted {
		shifted[i] = (i + 1) % r.Ranks
	}
	s.upAndDown(r, order, r.Bytes-r.Bytes/2, 0)
	s.upAndDown(r, shifted, r.Bytes/2, 1)
	return nil
}

// parents returns the parent of each place of a balanced tree in which place 0 is the root and has one child, and the
// places from the root down.
func parents(n int) (parent, order []int) {
	parent = make([]int, n)
	parent[0] = -1
	order = append(order, 0)
	type span struct{ from, to, parent int }
	for todo := []span{{1, n, 0}}; len(todo) > 0; todo = todo[1:] {
		x := todo[0]
		if x.from >= x.to {
			continue
		}
		mid := (x.from + x.to) / 2
		parent[mid] = x.parent
		order = append(order, mid)
		todo = append(todo, span{x.from, mid, mid}, span{mid + 1, x.to, mid})
	}
	return parent, order
}

// upAndDown adds an all-reduce of one tree, whose piece is the half that it carries.
func (s *Schedule) upAndDown(r Request, ranks []int, bytes pathmap.Bytes, piece int32) {
	parent, order := parents(r.Ranks)
	sums := make([][]int32, treeChunks) // by chunk: what the root received
	for c := range treeChunks {
		got := make([][]int32, r.Ranks)
		for i := len(order) - 1; i > 0; i-- {
			at := order[i]
			m := Message{From: int32(ranks[at]), To: int32(ranks[parent[at]]), Bytes: part(bytes, treeChunks, int32(c), 1),
				Piece: piece*treeChunks + int32(c), Pieces: 1, Reduce: true}
			got[parent[at]] = append(got[parent[at]], s.add(m, got[at]...))
		}
		sums[c] = got[0]
	}
	s.down(r, ranks, bytes, piece, sums)
}

// down adds a broadcast of one tree; a chunk begins when the root has received what it waits for.
func (s *Schedule) down(r Request, ranks []int, bytes pathmap.Bytes, piece int32, after [][]int32) {
	parent, order := parents(r.Ranks)
	for c := range treeChunks {
		got := make([]int32, r.Ranks)
		for _, at := range order[1:] {
			m := Message{From: int32(ranks[parent[at]]), To: int32(ranks[at]), Bytes: part(bytes, treeChunks, int32(c), 1),
				Piece: piece*treeChunks + int32(c), Pieces: 1}
			var waits []int32
			switch {
			case parent[at] > 0:
				waits = []int32{got[parent[at]]}
			case after != nil:
				waits = after[c]
			}
			got[at] = s.add(m, waits...)
		}
	}
}
