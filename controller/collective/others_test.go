package collective_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lightloom/controller/collective"
	"lightloom/controller/collective/collectivetest"
	"lightloom/pathmap"
)

// networks64 is whole and damaged networks of 64 nodes.
func networks64(t *testing.T) []collectivetest.Named {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 6))
	irregular, err := collectivetest.Irregular(rng)
	if err != nil {
		t.Fatal(err)
	}
	return append(collectivetest.Cube(4, rng), collectivetest.Named{Name: "irregular", Net: irregular})
}

// TestAllReduce: both halves of one are replayed, on networks whose links are not alike in both directions, too.
func TestAllReduce(t *testing.T) {
	t.Parallel()
	all := networks64(t)
	oneWay := collective.Torus([]int{4, 4}, fifty, halfMic)
	oneWay.Links = oneWay.Links[:len(oneWay.Links)-3]
	oneWay.Links[0].Rate /= 3
	for _, n := range append(all, collectivetest.Named{Name: "one way", Net: oneWay}) {
		for run := range 2 {
			n.Net.Hold = run == 0
			chunks := 1 + run
			for _, half := range []func(*collective.Network, int, pathmap.Bytes) (*collective.Schedule, collective.Bounds,
				error){collective.ReduceScatter, collective.AllGather} {
				s, bounds, err := half(n.Net, chunks, gib/pathmap.Bytes(n.Net.Nodes*chunks))
				if err != nil {
					t.Fatal(err)
				}
				if err := collectivetest.Check(n.Net, s); err != nil {
					t.Errorf("%v, %v: %v", n, s.Kind, err)
				}
				most := 1.1
				if n.Name == "one way" { // its slow link is counted as if it carried parts of chunks
					most = 1.25
				}
				if best := bounds.Best(); s.Ends < best || float64(s.Ends) > most*float64(best) {
					t.Errorf("%v, %v: it ends at %v, and the bound is %v", n, s.Kind, s.Ends, best)
				}
			}
		}
	}
}

// TestReplayFindsReduced: a part that is lost, sent twice or added twice is found.
func TestReplayFindsReduced(t *testing.T) {
	n := collective.Torus([]int{3, 3}, fifty, halfMic)
	for _, tt := range []struct {
		says  string
		spoil func(s *collective.Schedule)
	}{
		{"is lost", func(s *collective.Schedule) { s.Sends = s.Sends[1:] }},
		{"twice", func(s *collective.Schedule) {
			more := s.Sends[0]
			more.At = s.Ends
			s.Sends = append(s.Sends, more)
			s.Ends += s.Bytes.Over(fifty) + halfMic
		}},
		{"after that has sent", func(s *collective.Schedule) {
			last := s.Sends[len(s.Sends)-1]
			s.Sends = append(s.Sends, collective.Send{Chunk: last.Chunk, Link: last.Link ^ 1, At: s.Ends})
			s.Ends += s.Bytes.Over(fifty) + halfMic
		}},
	} {
		s, _, err := collective.ReduceScatter(n, 1, gib/9)
		if err != nil {
			t.Fatal(err)
		}
		tt.spoil(s)
		if err := collectivetest.Check(n, s); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
}

// TestAllToAll: replayed; on a whole torus within 5 % of the bound, and nowhere beyond a fifth more.
func TestAllToAll(t *testing.T) {
	t.Parallel()
	for _, n := range networks64(t) {
		for run := range 2 {
			n.Net.Hold = run == 0
			chunks := 1 + run
			nodes := pathmap.Bytes(n.Net.Nodes)
			s, b, err := collective.AllToAll(n.Net, chunks, gib/nodes/nodes/pathmap.Bytes(chunks))
			if err != nil {
				t.Fatal(err)
			}
			if err := collectivetest.Check(n.Net, s); err != nil {
				t.Errorf("%v: %v", n, err)
			}
			most := 1.2
			if n.Name == "torus 4×4×4" {
				most = 1.05
			}
			if best := b.Best(); s.Ends < best || float64(s.Ends) > most*float64(best) {
				t.Errorf("%v: it ends at %v, and the bound is %v", n, s.Ends, best)
			}
		}
	}
	if _, _, err := collective.AllToAll(collective.Torus([]int{8, 8, 8}, fifty, 0), 5, 1); err == nil ||
		!strings.Contains(err.Error(), "1310720 chunks of all pairs") {
		t.Error(err)
	}
}
