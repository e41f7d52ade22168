package demand

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestViews: on random views the oracle holds just what started coflows have left between racks, and a
// backlog never more, growing with the buffer to the oracle.
func TestViews(t *testing.T) {
	for seed := range uint64(1000) {
		v := policytest.View(seed)
		before := policytest.Hash(v)
		want := pathmap.Bytes(0)
		for i := range v.Coflows {
			for row, src := range v.Coflows[i].Src {
				if v.Coflows[i].Started && v.HostRack(src) != v.HostRack(v.Coflows[i].Dst[row]) {
					want += v.Coflows[i].LeftBytes(row)
				}
			}
		}
		all := oracle(v)
		if all.Sum() != want {
			t.Fatalf("view %d: the oracle holds %d, want %d", seed, all.Sum(), want)
		}
		last := New(v.Fabric.Racks)
		for _, buffer := range []pathmap.Bytes{0, 1e4, 1e6, 1e9} {
			m := Backlog(v, buffer)
			for i := range m {
				for j := range m[i] {
					if m[i][j] < last[i][j] || m[i][j] > all[i][j] || i == j && m[i][j] > 0 {
						t.Fatalf("view %d: %d→%d: %d with %d, %d with less, oracle %d", seed, i, j, m[i][j],
							buffer, last[i][j],
							all[i][j])
					}
				}
			}
			last = m
		}
		if last.Sum() != want || policytest.Hash(v) != before {
			t.Fatalf("view %d: the largest buffer shows %d of %d, or the view was written to", seed,
				last.Sum(), want)
		}
	}
}

func sample(at time.Duration, counters ...Counter) Sample {
	slices.SortFunc(counters, byPair)
	return Sample{at, counters}
}

var four = CounterOptions{Racks: 4, HostsPerRack: 1, NIC: pathmap.Gbps, Least: 15 * pathmap.Mbps,
	Ahead: 8 * time.Second}

func TestCounters(t *testing.T) {
	const gb = pathmap.Bytes(1e9) // of 8 s at 1 Gb/s
	for _, tc := range []struct {
		name      string
		last, now []Counter
		want      map[[2]int]pathmap.Bytes
	}{
		{"nothing sends", nil, nil, nil},
		{"one pair that the network holds back wants its link", nil, []Counter{{0, 1, 1e8}},
			map[[2]int]pathmap.Bytes{{0, 1}: gb}},
		{"a mouse", nil, []Counter{{0, 1, 1e6}}, nil}, // 8 Mb/s
		{"it sent before and not since", []Counter{{0, 1, 1e8}}, []Counter{{0, 1, 1e8}}, nil},
		{"a counter that was restarted", []Counter{{0, 1, 5e8}}, []Counter{{0, 1, 1e8}},
			map[[2]int]pathmap.Bytes{{0, 1}: gb}},
		{"two from one host", nil, []Counter{{0, 1, 1e7}, {0, 2, 1e7}},
			map[[2]int]pathmap.Bytes{{0, 1}: gb / 2, {0, 2}: gb / 2}},
		// Hedera's kind of case: 3 receives from 0, 1 and 2; 2 sends to 1 as well, and takes what the incast
		// leaves it.
		{"an incast leaves a sender room", nil, []Counter{{0, 3, 1e7}, {1, 3, 1e7}, {2, 1, 1e7}, {2, 3, 1e7}},
			map[[2]int]pathmap.Bytes{{0, 3}: gb / 3, {1, 3}: gb / 3, {2, 3}: gb / 3, {2, 1}: gb * 2 / 3}},
		{"no pair is given less than it sends", nil, []Counter{{0, 1, 1e8}, {0, 2, 1e7}},
			map[[2]int]pathmap.Bytes{{0, 1}: gb * 8 / 10, {0, 2}: gb / 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := Counters(sample(time.Second, tc.last...), sample(2*time.Second, tc.now...), four)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j, got := range m[i] {
					if want := tc.want[[2]int{i, j}]; math.Abs(float64(got-want)) > 10 {
						t.Errorf("%d→%d: %d, want %d", i, j, got, want)
					}
				}
			}
		})
	}
}

func TestCountersErrors(t *testing.T) {
	for _, tc := range []struct {
		name      string
		last, now Sample
		opt       CounterOptions
		err       string
	}{
		{"not later", sample(5), sample(5), four, "the second must be later"},
		{"no such host", sample(1), sample(2, Counter{0, 4, 1}), four,
			"counter 0→4: the fabric's hosts are 0 to 3"},
		{"below zero", sample(1), sample(2, Counter{0, 1, -1}), four, "counter 0→1 is -1, below zero"},
		{"twice", sample(1), sample(2, Counter{0, 1, 1}, Counter{0, 1, 2}), four, "comes after 0→1"},
		{"no racks", sample(1), sample(2), CounterOptions{}, "0 racks of 0 hosts"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Counters(tc.last, tc.now, tc.opt); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// hedera is the estimate as its paper has it, literally: senders divide what they have among pairs that
// have not converged, receivers that are asked for too much limit those who ask for more than an equal
// share, until nothing moves.
func hedera(all []sender, nic float64, hosts int) []float64 {
	rate, limited := make([]float64, len(all)), make([]bool, len(all))
	for range 10 * len(all) * (hosts + 1) {
		before := fmt.Sprint(rate, limited)
		for h := range hosts {
			divide(all, rate, limited, southbound.HostID(h), nic)
		}
		for h := range hosts {
			limit(all, rate, limited, southbound.HostID(h), nic)
		}
		if fmt.Sprint(rate, limited) == before {
			break
		}
	}
	return rate
}

func divide(all []sender, rate []float64, limited []bool, h southbound.HostID, left float64) {
	n := 0.0
	for i, p := range all {
		if p.src == h && limited[i] {
			left -= rate[i]
		} else if p.src == h {
			n++
		}
	}
	for i, p := range all {
		if p.src == h && !limited[i] {
			rate[i] = left / n
		}
	}
}

func limit(all []sender, rate []float64, limited []bool, h southbound.HostID, left float64) {
	var mine []int
	sum := 0.0
	for i, p := range all {
		if p.dst == h {
			mine, sum = append(mine, i), sum+rate[i]
		}
	}
	if sum <= left*(1+1e-12) {
		return
	}
	slices.SortFunc(mine, func(a, b int) int {
		return strings.Compare(fmt.Sprintf("%030.9f", rate[a]), fmt.Sprintf("%030.9f", rate[b]))
	})
	for k, i := range mine {
		if share := left / float64(len(mine)-k); rate[i] > share {
			rate[i], limited[i] = share, true
		}
		left -= rate[i]
	}
}

// TestFairIsHederas compares with the published iteration.
func TestFairIsHederas(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		hosts := 2 + rng.IntN(5)
		var all []sender
		for i := range hosts {
			for j := range hosts {
				if i != j && rng.IntN(3) == 0 {
					all = append(all, sender{southbound.HostID(i), southbound.HostID(j), 0})
				}
			}
		}
		opt := CounterOptions{Racks: hosts, HostsPerRack: 1, NIC: pathmap.Gbps}
		got, want := fair(all, opt), hedera(all, 1e9, hosts)
		for i := range all {
			if math.Abs(float64(got[i])-want[i]) > 10 {
				t.Errorf("seed %d: %v: %v, by iteration %.0f", seed, all, got, want)
				break
			}
		}
	}
}

// oracle is what is left of every coflow that has started, as the trace knows it: what every estimate
// is held against.
func oracle(v *controller.View) Matrix {
	return perHostFlow(v, func(left pathmap.Bytes) pathmap.Bytes { return left })
}
