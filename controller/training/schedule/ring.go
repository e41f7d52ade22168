package schedule

import (
	"lightloom/controller/training"
	"lightloom/pathmap"
)

// ring sends to the next rank only. A reduce-scatter takes n−1 steps of bytes/n, after which rank i holds the sum of
// piece i+1; an all-gather n−1 steps of the bytes that a rank contributes; an all-reduce is one after the other
// (Patarasuk and Yuan, JPDC 2009).
func ring(s *Schedule, r Request) error {
	s.around(r, r.Bytes, 1, 0)
	return nil
}

// bidirectional sends one half of the bytes each way round; the pieces of the second half count from n.
func bidirectional(s *Schedule, r Request) error {
	s.around(r, r.Bytes-r.Bytes/2, 1, 0)
	s.around(r, r.Bytes/2, r.Ranks-1, r.Ranks)
	return nil
}

// around adds a ring over so many bytes, in which the next rank is step on and the pieces count from first.
func (s *Schedule) around(r Request, bytes pathmap.Bytes, step, first int) {
	n := r.Ranks
	last := make([]int32, n) // by rank: the message that it received last
	for i := range last {
		last[i] = -1
	}
	rounds := n - 1
	if r.Op == training.AllReduce {
		rounds *= 2
	}
	for k := range rounds {
		now := make([]int32, n)
		for i := range n {
			to := (i + step) % n
			m := Message{From: int32(i), To: int32(to), Pieces: 1, Piece: int32(((i-k*step)%n + n) % n)}
			m.Reduce = r.Op == training.ReduceScatter || r.Op == training.AllReduce && k < n-1
			if m.Bytes = bytes; r.Op != training.AllGather {
				m.Bytes = part(bytes, n, m.Piece, 1)
			}
			m.Piece += int32(first)
			now[to] = s.add(m, last[i])
		}
		last = now
	}
}
