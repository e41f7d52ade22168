package wire

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// draw makes a coflow of n rows, sorted by destination and source.
func draw(rng *rand.Rand, id southbound.CoflowID, n int) southbound.Start {
	s := southbound.Start{Coflow: id}
	capped := rng.IntN(3) == 0
	for i := range n {
		if capped {
			s.Cap = append(s.Cap, pathmap.BitsPerSecond(rng.Int64N(1e12)))
		}
		src, dst := southbound.HostID(i%300), southbound.HostID(300+i/300)
		tag := southbound.Tag(rng.IntN(southbound.Tags + 1))
		if tag == southbound.Tags {
			tag = southbound.TagHold
		}
		s.Src, s.Dst = append(s.Src, src), append(s.Dst, dst)
		s.Size, s.Tag = append(s.Size, 1+pathmap.Bytes(rng.Int64N(int64(southbound.MaxSize)))), append(s.Tag, tag)
	}
	return s
}

// TestStartsRoundTrip splits coflows, sends each request once or several times, and puts them together
// again.
func TestStartsRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var starts []southbound.Start
		for id := range 1 + rng.IntN(6) {
			n := 1 + rng.IntN(5)
			if rng.IntN(3) == 0 {
				n = 1 + rng.IntN(3*ChunkRows)
			}
			starts = append(starts, draw(rng, southbound.CoflowID(id), n))
		}
		reqs, err := Starts(starts)
		if err != nil {
			t.Fatal(err)
		}
		var asm Assembler
		var got []southbound.Start
		known := map[int32]bool{} // as an agent knows them
		for _, req := range reqs {
			if size := proto.Size(req); size > MaxMessage/2 {
				t.Fatalf("seed %d: a request of %d bytes", seed, size)
			}
			for range 1 + rng.IntN(3) {
				for _, c := range req.GetChunks() {
					if known[c.GetCoflow()] {
						continue
					}
					s, err := asm.Add(c)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					if s != nil {
						known[c.GetCoflow()] = true
						got = append(got, *s)
					}
				}
			}
		}
		if !reflect.DeepEqual(got, starts) {
			t.Fatalf("seed %d: %d coflows came out of %d, or differ", seed, len(got), len(starts))
		}
		for i := range got {
			if err := CheckStart(&got[i], 1000); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

func TestAssemblerRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	big := draw(rng, 1, 3*ChunkRows)
	reqs, err := Starts([]southbound.Start{big})
	if err != nil || len(reqs) != 3 {
		t.Fatalf("%d requests, %v", len(reqs), err)
	}
	at := func(i int, change func(c *agentpb.Chunk)) *agentpb.Chunk {
		c := proto.Clone(reqs[i].GetChunks()[0]).(*agentpb.Chunk)
		change(c)
		return c
	}
	same := func(*agentpb.Chunk) {}
	for _, tc := range []struct {
		name  string
		first bool // after the first chunk
		c     *agentpb.Chunk
	}{
		{"nothing", false, &agentpb.Chunk{}},
		{"the middle first", false, at(1, same)},
		{"a gap", true, at(2, same)},
		{"overlap", true, at(1, func(c *agentpb.Chunk) { c.First -= 5 })},
		{"another coflow's middle", true, at(1, func(c *agentpb.Chunk) { c.Coflow = 2 })},
		{"another number of rows", true, at(1, func(c *agentpb.Chunk) { c.Rows++ })},
		{"rows below zero", false, at(0, func(c *agentpb.Chunk) { c.Rows = -1 })},
		{"too many rows", false, at(0, func(c *agentpb.Chunk) { c.Rows = MaxRows + 1 })},
		{"beyond the end", true, at(2, func(c *agentpb.Chunk) { c.First = c.Rows - 1 })},
		{"columns differ", false, at(0, func(c *agentpb.Chunk) { c.Tag = c.Tag[1:] })},
	} {
		var asm Assembler
		if tc.first {
			if _, err := asm.Add(at(0, same)); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := asm.Add(tc.c); s != nil || !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%s: %v, %v", tc.name, s != nil, err)
		}
	}
}

// FuzzAssembler feeds chunks made of bytes: whatever comes out is whole, and what is held stays bounded.
func FuzzAssembler(f *testing.F) {
	reqs, err := Starts([]southbound.Start{draw(rand.New(rand.NewPCG(1, 5)), 1, 4),
		draw(rand.New(rand.NewPCG(1, 6)), 2, 2)})
	if err != nil {
		f.Fatal(err)
	}
	b, err := proto.Marshal(reqs[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, b)
	f.Add([]byte{}, b)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var asm Assembler
		for _, raw := range [][]byte{a, b, a} {
			var m agentpb.StartRequest
			if proto.Unmarshal(raw, &m) != nil {
				continue
			}
			for _, c := range m.GetChunks() {
				s, err := asm.Add(c)
				switch {
				case err != nil && s != nil:
					t.Fatal("both a coflow and an error")
				case s != nil:
					if err := CheckColumns(s); err != nil || int32(len(s.Src)) != c.GetRows() {
						t.Fatalf("%d rows of %d: %v", len(s.Src), c.GetRows(), err)
					}
				}
				if n := len(asm.open.Src); n > MaxRows || n > asm.rows {
					t.Fatalf("holds %d rows", n)
				}
			}
		}
	})
}
