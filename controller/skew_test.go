package controller

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// shuffle is a job of m maps and as many reduces as there are parts.
func shuffle(m int, bytes pathmap.Bytes, parts ...int64) *Job {
	return &Job{Stages: []Stage{{Tasks: make([]Task, m)}, {Tasks: make([]Task, len(parts))}},
		Edges: []Edge{{Kind: ScatterGather, To: 1, Bytes: bytes, Reducers: parts}}}
}

// TestSkewedBytes: each task receives its part to the byte, from all senders alike, whole jobs and incremental
// ones; and equal parts are what a shuffle without parts has.
func TestSkewedBytes(t *testing.T) {
	j := shuffle(2, 1001, 1, 0, 4)
	hosts := []southbound.HostID{0, 1, 2, 3, 4}
	// 1001 × 1 ÷ 5 is 200, and the last has what is left: 801. The first of two senders has the odd bytes.
	want := Columns{Src: []southbound.HostID{0, 1, 0, 1}, Dst: []southbound.HostID{2, 2, 4, 4},
		Size: []pathmap.Bytes{100, 100, 401, 400}, Flows: []int32{1, 1, 1, 1}}
	if got := Expand(j, &j.Edges[0], hosts); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		parts := make([]int64, 1+r.IntN(20))
		for k := range parts {
			parts[k] = int64(r.IntN(5))
		}
		parts[r.IntN(len(parts))]++
		j := shuffle(1+r.IntN(20), pathmap.Bytes(1+r.Int64N(1<<40)), parts...)
		hosts := make([]southbound.HostID, j.Tasks())
		for i := range hosts {
			hosts[i] = southbound.HostID(r.IntN(6))
		}
		e, first := &j.Edges[0], len(j.Stages[0].Tasks)
		by := make([]pathmap.Bytes, 6)
		for k, bytes := range e.received() {
			by[hosts[first+k]] += bytes
			if parts[k] == 0 && bytes != 0 {
				t.Errorf("seed %d: reducer %d has no part, and %d bytes", seed, k, bytes)
			}
		}
		for _, incremental := range []bool{false, true} {
			j.Incremental = incremental
			c := Expand(j, e, hosts)
			got, sum := make([]pathmap.Bytes, 6), c.Local
			for i, size := range c.Size {
				got[c.Dst[i]] += size
				sum += size
			}
			for h := range got {
				// what a host sends itself is missing, and no more
				if got[h] > by[h] || sum != e.Bytes {
					t.Fatalf("seed %d, incremental %v: host %d receives %d of %d, all %d of %d", seed, incremental, h, got[h],
						by[h], sum, e.Bytes)
				}
			}
		}
	}
	even, parts := shuffle(4, 4000, 1, 1), shuffle(4, 4000, 7, 7)
	even.Edges[0].Reducers = nil
	for _, incremental := range []bool{false, true} {
		even.Incremental, parts.Incremental = incremental, incremental
		hosts := []southbound.HostID{0, 0, 1, 2, 3, 0}
		if a, b := Expand(even, &even.Edges[0], hosts), Expand(parts, &parts.Edges[0], hosts); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v, and with equal parts %+v", a, b)
		}
	}
}

// TestWrongReducers: parts that no shuffle can have are refused with the reason.
func TestWrongReducers(t *testing.T) {
	for want, change := range map[string]func(j *Job){
		"":                                      func(*Job) {},
		"has parts for 2 reducers":              func(j *Job) { j.Edges[0].Reducers = []int64{1, 2} },
		"has parts for 0 reducers":              func(j *Job) { j.Edges[0].Reducers = []int64{} },
		"reducer 1 has a part of -1":            func(j *Job) { j.Edges[0].Reducers[1] = -1 },
		"none of its reducers":                  func(j *Job) { j.Edges[0].Reducers = []int64{0, 0, 0} },
		"together":                              func(j *Job) { j.Edges[0].Reducers = []int64{1 << 49, 1 << 49, 1 << 49} },
		"only a shuffle has":                    func(j *Job) { j.Edges[0].Kind = Global },
		"its flows are fixed: only a shuffle":   func(j *Job) { j.Edges[0].Kind = Fixed },
		"joins stage 0 to 9; the job's stages ": func(j *Job) { j.Edges[0].To = 9 },
	} {
		j := shuffle(2, 1000, 1, 2, 3)
		change(j)
		if err := j.Check(8, 8); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
