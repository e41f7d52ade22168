package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/pathmap"
)

func background(t *testing.T, seed uint64, share float64) []controller.Job {
	t.Helper()
	opt := BackgroundOptions{Seed: seed, Share: share, Until: 2000 * time.Second}
	for h := range 8 {
		opt.Rate, opt.Rack = append(opt.Rate, 100*pathmap.Mbps*pathmap.BitsPerSecond(1+h%2)), append(opt.Rack, int32(h/2))
	}
	jobs, err := Background(opt)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// TestBackgroundFills: what every host sends over the time is its share of its rate, within chance, and
// leaves its rack.
func TestBackgroundFills(t *testing.T) {
	const share = .4
	jobs := background(t, 1, share)
	var sent, taken [8]pathmap.Bytes
	for _, j := range jobs {
		f := j.Edges[0].Flows[0]
		if err := j.Check(8, 0); err != nil || f.Src/2 == f.Dst/2 || j.User != BackgroundUser {
			t.Fatalf("%+v: %v", j, err)
		}
		sent[f.Src] += f.Bytes
		taken[f.Dst] += f.Bytes
	}
	for h, n := range sent {
		// 800 flows of exponential size: a Poisson number of them, so a relative deviation of √(2/800), 5 %;
		// four of them.
		want := share * float64((100 * pathmap.Mbps * pathmap.BitsPerSecond(1+h%2)).In(2000*time.Second))
		if math.Abs(float64(n)-want) > .2*want {
			t.Errorf("host %d sends %d bytes, about %.0f are due", h, n, want)
		}
		if taken[h] == 0 {
			t.Errorf("host %d receives nothing", h)
		}
	}
	if !slices.IsSortedFunc(jobs, func(a, b controller.Job) int { return int(a.Arrival - b.Arrival) }) {
		t.Error("not in order of arrival")
	}
	if d := cmp.Diff(jobs, background(t, 1, share)); d != "" {
		t.Error("the same seed draws other flows")
	}
	if len(background(t, 2, share)) == len(jobs) && cmp.Equal(background(t, 2, share)[0], jobs[0]) {
		t.Error("another seed draws the same flows")
	}
}

func TestBackgroundBounds(t *testing.T) {
	ok := BackgroundOptions{Share: .5, Until: time.Second, Rate: []pathmap.BitsPerSecond{1, 1},
		Rack: []int32{0, 1}}
	for _, share := range []float64{0, -1, 1, math.NaN()} {
		bad := ok
		bad.Share = share
		if _, err := Background(bad); err == nil {
			t.Errorf("a share of %v is taken", share)
		}
	}
	long := ok
	long.Until = 1 << 62
	if _, err := Background(long); err == nil {
		t.Error("a run without end is filled")
	}
	one := ok
	one.Rack = []int32{0, 0}
	if jobs, err := Background(one); err != nil || len(jobs) != 0 {
		t.Errorf("one rack: %v, %v", jobs, err)
	}
	never := ok
	never.Until = 0
	if jobs, err := Background(never); err != nil || len(jobs) != 0 {
		t.Errorf("no time: %v, %v", jobs, err)
	}
}

// TestMix: among equals the others come before the background.
func TestMix(t *testing.T) {
	job := func(name string, at time.Duration) controller.Job {
		return controller.Job{Name: name,
			Arrival: at}
	}
	got := ""
	for _, j := range Mix([]controller.Job{job("a", 1), job("b", 2)},
		[]controller.Job{job("x", 0), job("y", 1), job("z", 2)}) {
		got += j.Name
	}
	if got != "xaybz" {
		t.Errorf("order %s", got)
	}
}
