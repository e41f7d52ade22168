package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// pieces returns how many pieces the data of a request has.
func pieces(r Request) int {
	switch {
	case r.Op == training.Broadcast:
		return treeChunks
	case r.Method == Tree:
		return 2 * treeChunks
	case r.Method == BidirectionalRing:
		return 2 * r.Ranks
	}
	return r.Ranks
}

// holds is what a rank has of each piece: a bit for each rank whose part is in it.
type holds [][]uint64

// replay carries out a schedule in an order drawn by rng, in which each message comes after those that it waits for.
func replay(t *testing.T, r Request, s *Schedule, rng *rand.Rand) holds {
	t.Helper()
	n := pieces(r)
	have := make(holds, r.Ranks)
	for i := range have {
		have[i] = make([]uint64, n)
		for p := range n {
			if r.Op == training.AllReduce || r.Op == training.ReduceScatter || p%r.Ranks == i && r.Op == training.AllGather ||
				i == 0 && r.Op == training.Broadcast {
				have[i][p] = 1 << i
			}
		}
	}
	sent, done := make([]bool, len(s.Messages)), 0
	for done < len(sent) {
		for _, id := range rng.Perm(len(sent)) {
			if sent[id] || waits(s, id, sent) || rng.IntN(2) == 0 {
				continue
			}
			sent[id] = true
			done++
			deliver(t, r, s.Messages[id], have, n)
		}
	}
	return have
}

func waits(s *Schedule, id int, sent []bool) bool {
	for _, a := range s.After(id) {
		if !sent[a] {
			return true
		}
	}
	return false
}

func deliver(t *testing.T, r Request, m Message, have holds, n int) {
	t.Helper()
	for k := range m.Pieces {
		p := (int(m.Piece) + int(k)) % n
		from, to := have[m.From][p], &have[m.To][p]
		if m.Reduce && from&*to != 0 {
			t.Fatalf("%v by %v: rank %d adds piece %d of %b to %b: a part would count twice", r.Op, r.Method, m.To, p, from, *to)
		}
		if m.Reduce {
			*to |= from
		} else {
			*to = from
		}
	}
}

// TestReplay: each schedule leaves every rank with what its collective promises, in whichever order its messages come.
func TestReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, op := range []training.Op{training.AllReduce, training.AllGather, training.ReduceScatter, training.Broadcast} {
		for _, m := range Methods() {
			for _, n := range []int{2, 3, 4, 6, 7, 8, 16} {
				r := Request{Op: op, Method: m, Ranks: n, Bytes: 1_000_003}
				s, err := New(r)
				if err != nil {
					if !strings.Contains(err.Error(), "there is no") && (m != HalvingDoubling || n&(n-1) == 0) {
						t.Errorf("%v by %v of %d: %v", op, m, n, err)
					}
					continue
				}
				if m == Auto {
					r.Method = map[training.Op]Method{training.Broadcast: Tree}[op]
				}
				for range 3 {
					checkHolds(t, r, replay(t, r, s, rng))
				}
			}
		}
	}
}

func checkHolds(t *testing.T, r Request, have holds) {
	t.Helper()
	all := uint64(1)<<r.Ranks - 1
	whole := map[int]int{} // by piece: ranks that have it
	for i := range have {
		for p, got := range have[i] {
			want := all
			switch r.Op {
			case training.AllGather:
				want = 1 << (p % r.Ranks)
			case training.Broadcast:
				want = 1
			case training.ReduceScatter:
				if got == all {
					whole[p]++
				}
				continue
			}
			if got != want {
				t.Fatalf("%v by %v of %d: rank %d has %b of piece %d, want %b", r.Op, r.Method, r.Ranks, i, got, p, want)
			}
		}
	}
	for p := range pieces(r) {
		if r.Op == training.ReduceScatter && whole[p] < 1 {
			t.Fatalf("%v by %v of %d: nobody has the sum of piece %d", r.Op, r.Method, r.Ranks, p)
		}
	}
}

// TestBytes: each rank sends and receives what the bounds say, to the byte.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want pathmap.Bytes // sent by each rank
	}{
		{Request{Op: training.AllReduce, Method: Ring, Ranks: 8, Bytes: 8000}, 14_000}, // 2·7·1000
		{Request{Op: training.AllReduce, Method: BidirectionalRing, Ranks: 8, Bytes: 8000}, 14_000},
		{Request{Op: training.AllReduce, Method: HalvingDoubling, Ranks: 8, Bytes: 8000}, 14_000}, // 4+2+1 and back
		{Request{Op: training.AllReduce, Method: Direct, Ranks: 8, Bytes: 8000}, 14_000},
		{Request{Op: training.AllGather, Method: HalvingDoubling, Ranks: 8, Bytes: 1000}, 7_000},
		{Request{Op: training.ReduceScatter, Method: Ring, Ranks: 8, Bytes: 8000}, 7_000},
		{Request{Op: training.AllToAll, Method: Direct, Ranks: 8, Bytes: 8000}, 7_000},
		{Request{Op: training.AllToAll, Method: Hierarchical, Ranks: 8, Server: 4, Bytes: 8000}, 10_000}, // 3·2000, 4·1000
	} {
		s, err := New(c.r)
		if err != nil {
			t.Fatal(err)
		}
		sent, received := make([]pathmap.Bytes, c.r.Ranks), make([]pathmap.Bytes, c.r.Ranks)
		for _, m := range s.Messages {
			sent[m.From] += m.Bytes
			received[m.To] += m.Bytes
		}
		for i := range sent {
			if sent[i] != c.want || received[i] != c.want {
				t.Errorf("%v by %v: rank %d sends %d and receives %d, want %d", c.r.Op, c.r.Method, i, sent[i], received[i],
					c.want)
			}
		}
	}
}

// TestHierarchical: the second step carries what a rank has and got for the ranks of its own place, all of it.
func TestHierarchical(t *testing.T) {
	s, err := New(Request{Op: training.AllToAll, Method: Hierarchical, Ranks: 6, Server: 3, Bytes: 600})
	if err != nil {
		t.Fatal(err)
	}
	between := 0
	for id, m := range s.Messages {
		if m.From/3 == m.To/3 {
			continue
		}
		between++
		if m.From%3 != m.To%3 || m.Bytes != 300 || len(s.After(id)) != 2 {
			t.Errorf("%+v after %v", m, s.After(id))
		}
	}
	if between != 6 {
		t.Errorf("%d messages between servers, want one each of 6 ranks", between)
	}
}

func TestShares(t *testing.T) {
	s, err := New(Request{Op: training.AllToAll, Ranks: 4, Bytes: 1000, Shares: []float64{.7, .1, .1, .1}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.Messages[:6] {
		got = append(got, fmt.Sprintf("%d→%d %d", m.From, m.To, m.Bytes))
	}
	if want := "[0→1 100 0→2 100 0→3 100 1→2 100 1→3 100 1→0 700]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	for _, bad := range [][]float64{{1}, {.5, .5, .5, .5}, {2, -1, 0, 0}} {
		if _, err := New(Request{Op: training.AllToAll, Ranks: 4, Bytes: 1000, Shares: bad}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// TestCount: no schedule has more messages than are counted, and none has less than a quarter of them.
func TestCount(t *testing.T) {
	for _, op := range training.Ops() {
		for _, m := range Methods() {
			for _, n := range []int{1, 2, 8, 16} {
				r := Request{Op: op, Method: m, Ranks: n, Bytes: 1 << 20, Server: 4}
				s, err := New(r)
				if n < 4 && m == Hierarchical || err != nil {
					continue
				}
				if most := Count(r); len(s.Messages) > most || 4*len(s.Messages) < most {
					t.Errorf("%v by %v of %d ranks: %d messages, and %d are counted", op, m, n, len(s.Messages), most)
				}
			}
		}
	}
}
