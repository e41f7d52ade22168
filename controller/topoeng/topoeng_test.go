package topoeng

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/pathmap/tries"
)

func randomDemand(rng *rand.Rand, pods int, share float64) Demand {
	d := make(Demand, pods)
	for i := range d {
		d[i] = make([]float64, pods)
		for j := range d[i] {
			if i != j && rng.Float64() < share {
				d[i][j] = 0.1 + rng.ExpFloat64()
			}
		}
	}
	return d
}

// randomTopology fills switches with random matchings, a share of their ports left dark.
func randomTopology(rng *rand.Rand, pods, switches int) Topology {
	t := NewTopology(pods, switches)
	for k := range t.Out {
		for i, j := range rng.Perm(pods) {
			if i != j && rng.IntN(5) > 0 {
				t.Out[k][i] = int32(j)
			}
		}
	}
	return t
}

// randomCounts changes some circuits of a topology, and returns how many each pair has then.
func randomCounts(rng *rand.Rand, of Topology, change int) Counts {
	t := of.Clone()
	for range change {
		k, n := rng.IntN(len(t.Out)), t.Pods
		i, j := rng.IntN(n), rng.IntN(n)
		out := t.Out[k]
		out[i], out[j] = out[j], out[i]
		for _, x := range []int{i, j} {
			if int(out[x]) == x {
				out[x] = none
			}
		}
	}
	return t.Counts()
}

// TestDivideReference: no counts of a tiny instance are faster.
func TestDivideReference(t *testing.T) {
	const pods, switches = 3, 4
	for seed := range uint64(tries.Of(30, 500)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := randomDemand(rng, pods, 0.8)
		counts, c, err := Divide(d, switches, nil)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		pairs := [][2]int{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}
		for code := range int(math.Pow(switches+1, 6)) {
			try, rest := NewCounts(pods), code
			for _, p := range pairs {
				try[p[0]][p[1]] = rest % (switches + 1)
				rest /= switches + 1
			}
			if fitsPorts(try, switches) {
				best = min(best, slowest3(d, try))
			}
		}
		if !fitsPorts(counts, switches) || math.Abs(slowest3(d, counts)-best) > 1e-9*best || c.Value > best*(1+1e-9) ||
			c.Bound > best*(1+1e-9) {
			t.Fatalf("seed %d: %v takes %g, and the best %g; %+v", seed, counts, slowest3(d, counts), best, c)
		}
	}
}

func fitsPorts(c Counts, switches int) bool {
	for i := range c {
		row, col := 0, 0
		for j := range c {
			row += c[i][j]
			col += c[j][i]
		}
		if row > switches || col > switches {
			return false
		}
	}
	return true
}

func slowest3(d Demand, c Counts) float64 {
	most := 0.0
	for i := range d {
		for j, x := range d[i] {
			if x > 0 {
				most = max(most, x/float64(c[i][j]))
			}
		}
	}
	return most
}

func TestDivideRefuses(t *testing.T) {
	d := randomDemand(rand.New(rand.NewPCG(1, 1)), 5, 1)
	if _, _, err := Divide(d, 3, nil); err == nil || !strings.Contains(err.Error(), "add switches") {
		t.Error(err)
	}
	d[2][2] = 1
	if _, _, err := Divide(d, 8, nil); err == nil || !strings.Contains(err.Error(), "pod 2 to pod 2") {
		t.Error(err)
	}
	d[2] = d[2][:3]
	if _, _, err := Divide(d, 8, nil); err == nil {
		t.Error("a demand that is not square is taken")
	}
}

// TestAssign: every pair has its circuits, and bound and value are what they say.
func TestAssign(t *testing.T) {
	for seed := range uint64(tries.Of(100, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		standing := randomTopology(rng, 3+rng.IntN(8), 1+rng.IntN(8))
		want := randomCounts(rng, standing, rng.IntN(20))
		got, c, err := Assign(want, standing, 3, seed)
		if err == nil {
			err = got.Check()
		}
		if err != nil {
			t.Fatal(seed, err)
		}
		if !same(got.Counts(), want) || c.Value != float64(standing.Disturbed(got)) || c.Bound > c.Value {
			t.Fatalf("seed %d: %+v, %v for %v", seed, c, got.Counts(), want)
		}
		again, _, _ := Assign(want, standing, 3, seed)
		if got.Disturbed(again) != 0 {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
}

func same(a, b Counts) bool {
	for i := range a {
		for j := range a[i] {
			if a[i][j] != b[i][j] {
				return false
			}
		}
	}
	return true
}

// TestAssignKeeps: what is wanted stands, and nothing is disturbed.
func TestAssignKeeps(t *testing.T) {
	standing := randomTopology(rand.New(rand.NewPCG(1, 3)), 12, 9)
	got, c, err := Assign(standing.Counts(), standing, 0, 1)
	if err != nil || standing.Disturbed(got) != 0 || !c.Exact || c.Gap() != 0 {
		t.Error(err, c)
	}
}

func TestAssignRefuses(t *testing.T) {
	standing := NewTopology(3, 2)
	for _, want := range []Counts{{{0, 2, 1}, {0, 0, 0}, {0, 0, 0}}, {{0, 2, 0}, {0, 0, 0}, {0, 1, 0}},
		{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 0}, {0, 0}}} {
		if _, _, err := Assign(want, standing, 0, 1); err == nil {
			t.Errorf("%v is taken", want)
		}
	}
	standing.Out[0][0], standing.Out[0][2] = 1, 1
	if _, _, err := Assign(NewCounts(3), standing, 0, 1); err == nil || !strings.Contains(err.Error(),
		"switch 0, pod 1: pods 0 and 2 both lead to it") {
		t.Error(err)
	}
}

// fewestDisturbed tries all topologies of given counts.
func fewestDisturbed(want Counts, standing Topology) int {
	n, switches := standing.Pods, len(standing.Out)
	left, best := NewCounts(n), math.MaxInt
	for i := range want {
		copy(left[i], want[i])
	}
	in := make([]bool, n)
	var place func(k, i, disturbed int)
	place = func(k, i, disturbed int) {
		if disturbed >= best {
			return
		}
		if i == n {
			if k++; k == switches {
				for a := range left {
					for _, x := range left[a] {
						if x > 0 {
							return
						}
					}
				}
				best = disturbed
				return
			}
			was := in
			in = make([]bool, n)
			place(k, 0, disturbed)
			in = was
			return
		}
		stands := standing.Out[k][i]
		for j := range n {
			if left[i][j] > 0 && !in[j] {
				left[i][j]--
				in[j] = true
				d := disturbed
				if stands >= 0 && int(stands) != j {
					d++
				}
				place(k, i+1, d)
				left[i][j]++
				in[j] = false
			}
		}
		if stands >= 0 {
			disturbed++
		}
		place(k, i+1, disturbed)
	}
	place(0, 0, 0)
	return best
}

// TestAssignReference compares with all topologies of tiny instances: at most 5 % above the fewest, all instances
// together.
func TestAssignReference(t *testing.T) {
	ours, best := 0, 0
	for seed := range uint64(tries.Of(60, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		standing := randomTopology(rng, 3+rng.IntN(2), 2+rng.IntN(2))
		want := randomCounts(rng, standing, 1+rng.IntN(6))
		_, c, err := Assign(want, standing, 100, seed)
		if err != nil {
			t.Fatal(err)
		}
		fewest := fewestDisturbed(want, standing)
		if int(c.Bound) > fewest || int(c.Value) < fewest {
			t.Fatalf("seed %d: %+v, and the fewest are %d", seed, c, fewest)
		}
		ours, best = ours+int(c.Value), best+fewest
	}
	t.Logf("disturbed: %d, and %d at least", ours, best)
	if float64(ours) > 1.05*float64(best) {
		t.Errorf("%d circuits are disturbed, and %d would do", ours, best)
	}
}

// TestBalance: every group has its share of every pair and every pod, and the bound is none that an answer beats.
func TestBalance(t *testing.T) {
	for seed := range uint64(tries.Of(60, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		groups, size := 1+rng.IntN(5), 1+rng.IntN(4)
		standing := randomTopology(rng, 3+rng.IntN(6), groups*size)
		want := randomCounts(rng, standing, rng.IntN(20))
		got, c, err := Balance(want, groups, standing, 2, seed)
		if err == nil {
			err = got.Check()
		}
		if err != nil {
			t.Fatal(seed, err)
		}
		if !same(got.Counts(), want) || c.Bound > c.Value {
			t.Fatalf("seed %d: %+v", seed, c)
		}
		for g := range groups {
			part := Topology{Pods: got.Pods, Out: got.Out[g*size : (g+1)*size]}.Counts()
			for i := range want {
				for j, x := range want[i] {
					if n := part[i][j]; n < x/groups || n > (x+groups-1)/groups {
						t.Fatalf("seed %d: group %d has %d of %d circuits %d→%d", seed, g, n, x, i, j)
					}
				}
			}
		}
	}
	if _, _, err := Balance(NewCounts(3), 2, NewTopology(3, 3), 0, 1); err == nil {
		t.Error("three switches make two groups")
	}
}

func randomMatrix(rng *rand.Rand, pods int, share float64) schedule.Matrix {
	m := schedule.New(pods)
	for i := range m {
		for j := range m[i] {
			if i != j && rng.Float64() < share {
				m[i][j] = time.Duration(1 + rng.IntN(int(10*time.Millisecond)))
			}
		}
	}
	return m
}

// TestClear: all demand is carried, and no schedule beats the bound.
func TestClear(t *testing.T) {
	for seed := range uint64(tries.Of(60, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		m := randomMatrix(rng, 2+rng.IntN(10), 0.1+0.9*rng.Float64())
		delta, switches := time.Duration(rng.IntN(int(time.Millisecond))), 1+rng.IntN(6)
		s, c, err := Clear(m, switches, delta)
		if err == nil {
			err = s.Check(m)
		}
		if err != nil {
			t.Fatal(seed, err)
		}
		if len(s) != switches || c.Value != float64(s.Makespan(delta)) || c.Value < c.Bound {
			t.Fatalf("seed %d: %+v", seed, c)
		}
	}
	if _, _, err := Clear(schedule.New(2), 0, 0); err == nil {
		t.Error("no switch clears a demand")
	}
}

// TestClearClosedForm: two equal matchings on two switches take one of them and a delay; one long pair on four
// switches is cut into four.
func TestClearClosedForm(t *testing.T) {
	m := schedule.New(3)
	for i := range m {
		m[i][(i+1)%3], m[i][(i+2)%3] = 10*time.Millisecond, 10*time.Millisecond
	}
	if s, c, err := Clear(m, 2, time.Millisecond); err != nil || s.Makespan(time.Millisecond) != 11*time.Millisecond ||
		!c.Exact {
		t.Error(s, c, err)
	}
	m = schedule.New(2)
	m[0][1] = 40 * time.Millisecond
	if s, c, err := Clear(m, 4, time.Millisecond); err != nil || c.Bound != float64(11*time.Millisecond) ||
		c.Value > 1.01*c.Bound {
		t.Error(s, c, err)
	}
}

// TestDecide: the arithmetic is in the comments.
func TestDecide(t *testing.T) {
	standing, wanted := NewTopology(3, 2), NewTopology(3, 2)
	standing.Out[0], standing.Out[1] = []int32{1, 2, 0}, []int32{2, 0, 1}
	wanted.Out[0], wanted.Out[1] = []int32{1, 2, 0}, []int32{1, none, none}
	d := Demand{{0, 10, 0}, {0, 0, 0}, {0, 0, 0}}
	// One circuit carries 10 in 10 s. Two do after a dark time of 2 s, in which the one that stays carries 2: 2 + 8/2.
	dec := Decide(d, standing, wanted, 2*time.Second, 0)
	if dec.Stay != 10 || dec.Move != 6 || !dec.Reconfigure || dec.Bound != 5 || dec.BreakEven != 10*time.Second {
		t.Errorf("%+v", dec)
	}
	if dec := Decide(d, wanted, standing, 0, 0); dec.Stay != 5 || dec.Move != 10 || dec.Reconfigure || dec.BreakEven >= 0 {
		t.Errorf("back: %+v", dec)
	}
	d[1][0] = 10 // which packets carry at 1/10 s at half the rate of a circuit, once it has none
	if dec := Decide(d, standing, wanted, 0, 0.5); dec.Move != 20 || dec.Reconfigure {
		t.Errorf("packets: %+v", dec)
	}
	if dec := Decide(d, standing, wanted, 0, 0); !math.IsInf(dec.Move, 1) {
		t.Errorf("no packets: %+v", dec)
	}
}

// BenchmarkChoose: the largest instances that have the optimum, and those of which a matching is taken again and again.
func BenchmarkChoose(b *testing.B) {
	for _, size := range [][2]int{{203, 1}, {161, 2}, {128, 4}, {101, 8}, {80, 16}, {64, 16}, {256, 1}, {256, 16}} {
		n, degree := size[0], slices.Repeat([]int{size[1]}, size[0])
		for _, values := range []string{"few", "many", "skewed"} {
			rng := rand.New(rand.NewPCG(1, 10))
			d := randomDemand(rng, n, 0.8)
			for i := range d {
				for j := range d[i] {
					switch {
					case values == "few": // alike, as of jobs of one kind
						d[i][j] = math.Ceil(d[i][j])
					case values == "skewed" && d[i][j] > 0: // all want the same pods most
						d[i][j] = math.Exp(-float64(j)/8) * (1 + 1e-3*rng.Float64())
					}
				}
			}
			b.Run(fmt.Sprintf("%d_pods_%d_switches_%s_values", n, size[1], values), func(b *testing.B) {
				var c Certificate
				before := processorTime(b)
				for b.Loop() {
					var err error
					if _, c, err = Choose(d, degree); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(100*c.Gap(), "%gap")
				b.ReportMetric((processorTime(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

func BenchmarkTopology(b *testing.B) {
	const pods, switches = 64, 64
	rng := rand.New(rand.NewPCG(1, 7))
	first, second := randomDemand(rng, pods, 0.8), randomDemand(rng, pods, 0.8)
	for i := range second { // a tenth changes
		for j := range second[i] {
			if rng.IntN(10) > 0 {
				second[i][j] = first[i][j]
			}
		}
	}
	counts, _, err := Divide(first, switches, nil)
	if err != nil {
		b.Fatal(err)
	}
	standing, _, err := Assign(counts, NewTopology(pods, switches), 0, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("64_pods_64_switches", func(b *testing.B) {
		var c Certificate
		for b.Loop() {
			want, _, err := Divide(second, switches, standing.Counts())
			if err != nil {
				b.Fatal(err)
			}
			if _, c, err = Assign(want, standing, 2, 1); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(c.Value, "disturbed")
		b.ReportMetric(100*c.Gap(), "%gap")
	})
	b.Run("clear_64_pods_16_switches", func(b *testing.B) {
		m := randomMatrix(rng, pods, 0.8)
		var c Certificate
		for b.Loop() {
			if _, c, err = Clear(m, 16, 100*time.Microsecond); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(100*c.Gap(), "%gap")
	})
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestChoose: what is left without a circuit is the least there is, by trying all choices, and never below the bound.
func TestChoose(t *testing.T) {
	for seed := range uint64(tries.Of(200, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 2 + rng.IntN(3)
		d, degree := make(Demand, n), make([]int, n)
		for i := range d {
			d[i], degree[i] = make([]float64, n), rng.IntN(3)
			for j := range d[i] {
				if i != j && rng.IntN(3) > 0 {
					d[i][j] = float64(1 + rng.IntN(20))
				}
			}
		}
		counts, c, err := Choose(d, degree)
		if err != nil {
			t.Fatal(err)
		}
		left, least := leftOf(t, d, counts, degree), leastLeft(d, degree)
		if left != c.Value || math.Abs(left-least) > 1e-9 || !c.Exact {
			t.Fatalf("seed %d: %v of %v leave %g, %+v; the least is %g", seed, counts, d, left, c, least)
		}
	}
}

// TestChooseTies: exchanges round a ring gain nothing, whichever unit the demand is a multiple of. Sums of fractions
// have them gain a little each time, so that no path is ever the best.
func TestChooseTies(t *testing.T) {
	for _, x := range [][2]float64{{0.001, 50}, {0.0015, 900}, {0.0015, 100}, {0.002, 900}, {0.007, 900}, {0.011, 900}} {
		u, b := x[0], x[1]
		d := Demand{{0, 0, 0, u, 0, 0}, {0, 0, 0, b, u, 2 * u}, {0, 0, 0, 0, 2 * u, 3 * u}, {0, 0, 0, 0, 0, 0},
			{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}
		degree := []int{1, 2, 1, 1, 1, 1}
		counts, c, err := Choose(d, degree)
		if err != nil {
			t.Fatal(err)
		}
		left, least := leftOf(t, d, counts, degree), leastLeft(d, degree)
		if left != c.Value || math.Abs(left-least) > 1e-9 || !c.Exact {
			t.Errorf("%g and %g: %v leaves %g, %+v; the least is %g", u, b, counts, left, c, least)
		}
	}
}

// TestChooseLarge: on instances too large for the optimum the bound holds, and ports are not used twice.
func TestChooseLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	n := 160
	d, degree := make(Demand, n), make([]int, n)
	for i := range d {
		d[i], degree[i] = make([]float64, n), 8
		for j := range d[i] {
			if i != j {
				d[i][j] = rng.ExpFloat64()
			}
		}
	}
	counts, c, err := Choose(d, degree)
	if err != nil {
		t.Fatal(err)
	}
	if left := leftOf(t, d, counts, degree); math.Abs(left-c.Value) > 1e-6*left || c.Bound > c.Value || c.Gap() > 0.02 {
		t.Errorf("%g is left, %+v", left, c)
	}
}

func leftOf(t *testing.T, d Demand, counts Counts, degree []int) (left float64) {
	t.Helper()
	in := make([]int, len(d))
	for i := range d {
		out := 0
		for j, x := range counts[i] {
			if x == 0 {
				left += d[i][j]
			}
			out += x
			in[j] += x
			if x > 1 || out > degree[i] || in[j] > degree[j] {
				t.Fatalf("%v breaks the degrees %v", counts, degree)
			}
		}
	}
	return left
}

// leastLeft tries all choices.
func leastLeft(d Demand, degree []int) float64 {
	n := len(d)
	out, in := slices.Clone(degree), slices.Clone(degree)
	var best func(cell int) float64
	best = func(cell int) float64 {
		if cell == n*n {
			return 0
		}
		i, j := cell/n, cell%n
		least := d[i][j] + best(cell+1)
		if d[i][j] > 0 && out[i] > 0 && in[j] > 0 {
			out[i]--
			in[j]--
			least = min(least, best(cell+1))
			out[i]++
			in[j]++
		}
		return least
	}
	return best(0)
}

// TestSpread: circuits that do not stand go to switches that have few, and nothing else changes.
func TestSpread(t *testing.T) {
	standing := NewTopology(4, 3)
	standing.Out[0][0], standing.Out[0][1] = 1, 0
	top := standing.Clone()
	top.Out[0][2], top.Out[0][3] = 3, 2
	before := top.Counts()
	top.Spread(standing, nil)
	if err := top.Check(); err != nil || !reflect.DeepEqual(before, top.Counts()) || standing.Disturbed(top) != 0 {
		t.Errorf("%v, %v", top, err)
	}
	if top.Out[0][2] >= 0 && top.Out[0][3] >= 0 {
		t.Errorf("all are on one switch: %v", top.Out)
	}
}
