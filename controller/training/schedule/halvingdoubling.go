package schedule

import (
	"fmt"
	"math/bits"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// halvingDoubling exchanges with ranks n/2, n/4 … 1 away, half of what is left each time, and back; so each rank sends
// as many bytes as in a ring in 2·log₂ n steps, not 2(n−1) (Thakur, Rabenseifner and Gropp, IJHPCA 2005).
func halvingDoubling(s *Schedule, r Request) error {
	n := r.Ranks
	if bits.OnesCount(uint(n)) != 1 {
		return fmt.Errorf("halving-doubling needs 2, 4, 8 … ranks, and the communicator has %d: write ring", n)
	}
	got := make([][]int32, n) // by rank: the messages that it received
	if r.Op != training.AllGather {
		for d := n / 2; d >= 1; d /= 2 {
			s.halve(r, d, got)
		}
	}
	if r.Op != training.ReduceScatter {
		for d := 1; d < n; d *= 2 {
			s.double(r, d, got)
		}
	}
	return nil
}

// halve has each rank send the pieces that its peer, so far away, goes on with: those of the peer's half.
func (s *Schedule) halve(r Request, d int, got [][]int32) {
	now := make([]int32, len(got))
	for i := range got {
		to := i ^ d
		m := Message{From: int32(i), To: int32(to), Piece: int32(to &^ (d - 1)), Pieces: int32(d), Reduce: true}
		m.Bytes = part(r.Bytes, r.Ranks, m.Piece, m.Pieces)
		now[to] = s.add(m, got[i]...)
	}
	receive(got, now)
}

// double has each rank send all pieces that it has.
func (s *Schedule) double(r Request, d int, got [][]int32) {
	now := make([]int32, len(got))
	for i := range got {
		m := Message{From: int32(i), To: int32(i ^ d), Piece: int32(i &^ (d - 1)), Pieces: int32(d)}
		if m.Bytes = part(r.Bytes, r.Ranks, m.Piece, m.Pieces); r.Op == training.AllGather {
			m.Bytes = r.Bytes * pathmap.Bytes(d)
		}
		now[i^d] = s.add(m, got[i]...)
	}
	receive(got, now)
}

// receive adds to what each rank has received.
func receive(got [][]int32, now []int32) {
	for i := range got {
		got[i] = append(got[i], now[i])
	}
}
