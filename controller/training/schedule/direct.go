package schedule

import (
	"errors"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// direct sends each piece to the rank that wants it: of an all-to-all bytes/n, or its share, to each other rank; of a
// reduce-scatter likewise; of an all-gather everything to all; an all-reduce is a reduce-scatter and an all-gather.
func direct(s *Schedule, r Request) error {
	n := r.Ranks
	if r.Shares != nil {
		if err := CheckShares(r.Shares, n); err != nil {
			return err
		}
	}
	first := make([][]int32, n)
	rounds := 1
	if r.Op == training.AllReduce {
		rounds = 2
	}
	s.Messages, s.ends = make([]Message, 0, rounds*n*(n-1)), make([]int32, 0, rounds*n*(n-1))
	for i := range n {
		for k := 1; k < n; k++ {
			to := (i + k) % n
			m := Message{From: int32(i), To: int32(to), Piece: int32(to), Pieces: 1}
			m.Reduce = r.Op == training.ReduceScatter || r.Op == training.AllReduce
			switch {
			case r.Op == training.AllGather:
				m.Piece, m.Bytes = int32(i), r.Bytes
			case r.Shares != nil && r.Return:
				m.Bytes = pathmap.Bytes(float64(r.Bytes) * r.Shares[i])
			case r.Shares != nil:
				m.Bytes = pathmap.Bytes(float64(r.Bytes) * r.Shares[to])
			default:
				m.Bytes = part(r.Bytes, n, m.Piece, 1)
			}
			id := s.add(m)
			if rounds == 2 {
				first[to] = append(first[to], id)
			}
		}
	}
	if rounds == 2 {
		s.spread(r, first)
	}
	return nil
}

// spread has each rank send its sum, once it has it, to all others.
func (s *Schedule) spread(r Request, after [][]int32) {
	for i := range r.Ranks {
		for k := 1; k < r.Ranks; k++ {
			m := Message{From: int32(i), To: int32((i + k) % r.Ranks), Piece: int32(i), Pieces: 1}
			m.Bytes = part(r.Bytes, r.Ranks, m.Piece, 1)
			s.add(m, after[i]...)
		}
	}
}

// hierarchical is an all-to-all in two steps: within a server, each rank gets what its fellows send to ranks of its own
// place on other servers, and then exchanges with those. So each rank sends few large messages between servers. The
// second step of a rank waits for all of its first.
func hierarchical(s *Schedule, r Request) error {
	n, k := r.Ranks, r.Server
	switch {
	case k < 1 || n%k != 0:
		return errors.New("hierarchical needs servers of equal size: write how many ranks a server has")
	case r.Shares != nil:
		return errors.New("hierarchical has no shares: write direct")
	}
	got := make([][]int32, n)
	for i := range n {
		for d := 1; d < k; d++ {
			to := i/k*k + (i+d)%k
			m := Message{From: int32(i), To: int32(to), Piece: int32(to % k), Pieces: int32(n / k)}
			for server := range n / k {
				m.Bytes += part(r.Bytes, n, int32(server*k+to%k), 1)
			}
			got[to] = append(got[to], s.add(m))
		}
	}
	for i := range n {
		for d := 1; d < n/k; d++ {
			to := (i + d*k) % n
			m := Message{From: int32(i), To: int32(to), Piece: int32(to), Pieces: 1}
			m.Bytes = part(r.Bytes, n, m.Piece, 1) * pathmap.Bytes(k)
			s.add(m, got[i]...)
		}
	}
	return nil
}
