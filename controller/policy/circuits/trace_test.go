package circuits

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// facebook returns the coflows of the published trace as pairs of 1 Gb/s ports, local flows left out,
// or skips the test.
func facebook(t *testing.T, width int) (all [][]pair) {
	t.Helper()
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "coflow", "FB2010-1Hr-150-0.txt"))
	if errors.Is(err, os.ErrNotExist) && !slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"),
		","), "data") {
		t.Skipf("the Facebook trace is not at hand, set LIGHTLOOM_DATA: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := workload.ReadTrace(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	jobs, _, err := tr.Jobs(workload.FoldOptions{Racks: tr.Racks, HostsPerRack: 1, MaxWidth: width})
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		c := controller.Expand(&jobs[i], &jobs[i].Edges[0], nil)
		pairs := make([]pair, len(c.Src))
		for k := range pairs {
			d := c.Size[k].Over(pathmap.Gbps)
			pairs[k] = pair{in: southbound.Port(c.Src[k]), out: southbound.Port(c.Dst[k]),
				size: c.Size[k], left: c.Size[k],
				whole: d, need: d}
		}
		all = append(all, pairs)
	}
	return all
}

// alone returns when a coflow ends that has a dark switch to itself.
func alone(pairs []pair, byPort bool) time.Duration {
	s := scheduler{table: newTable(150), delta: 10 * time.Millisecond, horizon: southbound.Never,
		manner: manner{byPort: byPort}}
	end := time.Duration(0)
	for _, r := range s.lay(0, pairs) {
		end = max(end, r.NotAfter)
	}
	return end
}

// TestWholeTraceWithinTwiceBound: every coflow of the trace, one at a time, in either order of its pairs; in a normal
// run those of 2,000 pairs at most.
func TestWholeTraceWithinTwiceBound(t *testing.T) {
	worst := 0.0
	for i, pairs := range facebook(t, tries.Of(2000, 0)) { // the giants take seconds
		b := bound(pairs, 10*time.Millisecond, 150)
		for _, byPort := range []bool{true, false} {
			end := alone(pairs, byPort)
			if end < b || end > 2*b {
				t.Errorf("coflow %d, by port %v: ends at %v, T(C) is %v", i, byPort, end, b)
			}
			if b > 0 {
				worst = math.Max(worst, float64(end)/float64(b))
			}
		}
	}
	t.Logf("worst CCT over T(C): %.3f", worst)
}

// TestOneAtATime holds the figures of Sunflow's own simulator for the cut small400, one coflow at a
// time: average CCT, local coflows included, and mean of CCT over the bound, within 1 %.
func TestOneAtATime(t *testing.T) {
	for _, tc := range []struct {
		name   string
		byPort bool
	}{{"by port, as there", true}, {"turning", false}} {
		sum, over, n := 0.0, 0.0, 0
		all := facebook(t, 400)
		for _, pairs := range all {
			end := alone(pairs, tc.byPort)
			if sum += end.Seconds(); end > 0 {
				over += float64(end) / float64(bound(pairs, 10*time.Millisecond, 150))
				n++
			}
		}
		cct, over := sum/float64(len(all)), over/float64(n)
		t.Logf("%s: CCT %.5f s, over the bound %.4f", tc.name, cct, over)
		switch {
		case tc.byPort && (math.Abs(cct/1.02191-1) > 0.01 || math.Abs(over/1.0084-1) > 0.01):
			t.Errorf("CCT %.5f s, over the bound %.4f; the reference has 1.02191 and 1.0084", cct, over)
		case !tc.byPort && (cct > 1.02191*1.01 || over > 1.0084*1.01):
			t.Errorf("turning: CCT %.5f s, over the bound %.4f: worse than by port", cct, over)
		}
	}
}
