package simulated_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// TestSincroniaFigures compares the compatible mode with the results of Sincronia's offline simulator,
// in its unit of 8 ms and to the digits that it prints. In both runs every coflow ended in the same
// unit.
func TestSincroniaFigures(t *testing.T) {
	t.Parallel()
	rules := scenario.Rules{Compat: scenario.CompatSincronia, CarryLocal: true}
	narrow := rules
	narrow.MaxWidth = 400
	for _, tc := range []struct {
		name    string
		coflows int
		rules   scenario.Rules
		mean    string
	}{{"first100", 100, rules, "448.54"}, {"small400", 0, narrow, "176.07"}} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := replayFacebook(t, "bssi", tc.coflows, tc.rules)
			if got := fmt.Sprintf("%.2f", p.CCT.Mean/.008); got != tc.mean {
				t.Errorf("the mean is %s units, Sincronia's simulator's %s", got, tc.mean)
			}
		})
	}
}

// unitFlow is a flow between two ports; left is in megabytes, or units of time.
type unitFlow struct{ src, dst, left int }

// sincroniaReference goes from one end of a flow to the next: flows in the coflows' order get whole
// ports. It returns when each coflow ends, in units.
func sincroniaReference(ports int, coflows [][]unitFlow) []int {
	order := sincroniaOrder(ports, coflows)
	ends, now := make([]int, len(coflows)), 0
	for {
		var sending []*unitFlow
		owner := map[*unitFlow]int{}
		out, in := make([]bool, ports), make([]bool, ports)
		for _, c := range order {
			for i := range coflows[c] {
				if f := &coflows[c][i]; f.left > 0 && !out[f.src] && !in[f.dst] {
					out[f.src], in[f.dst] = true, true
					sending, owner[f] = append(sending, f), c
				}
			}
		}
		if sending == nil {
			return ends
		}
		step := slices.MinFunc(sending, func(a, b *unitFlow) int { return a.left - b.left }).left
		now += step
		for _, f := range sending {
			if f.left -= step; f.left == 0 {
				ends[owner[f]] = now
			}
		}
	}
}

// sincroniaOrder adds up every price anew, as the simulator does.
func sincroniaOrder(ports int, coflows [][]unitFlow) []int {
	n := len(coflows)
	load := make([][]int, n)
	for c := range coflows {
		load[c] = make([]int, 2*ports)
		for _, f := range coflows[c] {
			load[c][f.src] += f.left
			load[c][ports+f.dst] += f.left
		}
	}
	order, placed := make([]int, n), make([]bool, n)
	var on []int
	var prices []float32
	for at := n - 1; at >= 0; at-- {
		port, most := 0, -1
		for p := range 2 * ports {
			sum := 0
			for c := range coflows {
				if !placed[c] {
					sum += load[c][p]
				}
			}
			if sum > most {
				port, most = p, sum
			}
		}
		last, price := -1, float32(1e15)
		for c := range coflows {
			if placed[c] {
				continue
			}
			paid := float32(0)
			for i, p := range on {
				paid += float32(load[c][p]) * prices[i]
			}
			if cost := (1 - paid) / float32(load[c][port]); cost < price {
				last, price = c, cost
			}
		}
		order[at], placed[last] = last, true
		on, prices = append(on, port), append(prices, price)
	}
	return order
}

// TestSincroniaReference compares the compatible mode with the reference implementation: every coflow
// of random traces ends in the same unit.
func TestSincroniaReference(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of[uint64](150, 1000) {
		r := rand.New(rand.NewPCG(seed, 17))
		ports, n := 2+r.IntN(5), 1+r.IntN(8)
		var b strings.Builder
		fmt.Fprintf(&b, "%d %d\n", ports, n)
		coflows := make([][]unitFlow, n)
		for c := range coflows {
			from, to := r.Perm(ports)[:1+r.IntN(ports)], r.Perm(ports)[:1+r.IntN(ports)]
			slices.Sort(from)
			slices.Sort(to)
			fmt.Fprintf(&b, "%d %d %d", c+1, 7*c, len(from))
			for _, src := range from {
				fmt.Fprintf(&b, " %d", src)
			}
			fmt.Fprintf(&b, " %d", len(to))
			for _, dst := range to {
				each := 1 + r.IntN(9)
				fmt.Fprintf(&b, " %d:%d", dst, each*len(from))
				for _, src := range from {
					coflows[c] = append(coflows[c], unitFlow{src, dst, each})
				}
			}
			b.WriteString("\n")
		}
		want := sincroniaReference(ports, coflows)
		_, _, took := labtest.ReplayText(t, b.String(), scenario.Options{
			Fabric:   fmt.Sprintf("crossbar:ports=%d,rate=1Gbps", ports),
			Policies: []string{"bssi"}, Rules: scenario.Rules{Compat: scenario.CompatSincronia, CarryLocal: true}})
		for c := range want {
			if took[c] != time.Duration(want[c])*8*time.Millisecond {
				t.Fatalf("seed %d: coflow %d takes %v, the reference's %d units of 8 ms\n%s", seed, c+1,
					took[c], want[c],
					b.String())
			}
		}
	}
}
