package workload

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

func TestSyntheticKind(t *testing.T) {
	for seed := range uint64(200) {
		jobs, err := Synthetic(SyntheticOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Synthetic(SyntheticOptions{Seed: seed})
		if !reflect.DeepEqual(jobs, again) {
			t.Fatalf("seed %d: two draws differ", seed)
		}
		checkKind(t, seed, jobs)
	}
	a, _ := Synthetic(SyntheticOptions{Seed: 1})
	b, _ := Synthetic(SyntheticOptions{Seed: 2})
	if reflect.DeepEqual(a, b) {
		t.Error("two seeds give the same jobs")
	}
}

// checkKind holds a workload against what the documentation promises.
func checkKind(t *testing.T, seed uint64, jobs []controller.Job) {
	t.Helper()
	bare, elephants := 0, pathmap.Bytes(0)
	names := map[string]bool{}
	r := rand.New(rand.NewPCG(seed, 3))
	last := time.Duration(0)
	for i := range jobs {
		j := &jobs[i]
		if err := j.Check(16, 32); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if j.Arrival < last || j.Arrival >= defaultWindow || names[j.Name] {
			t.Fatalf("seed %d: job %d %q arrives at %v after %v", seed, i, j.Name, j.Arrival, last)
		}
		last, names[j.Name] = j.Arrival, true
		hosts := make([]southbound.HostID, j.Tasks())
		for k, rack := range r.Perm(8)[:len(hosts)] { // tasks apart
			hosts[k] = southbound.HostID(2 * rack)
		}
		if len(hosts) == 0 {
			bare++
		}
		elephants += elephantBytes(controller.Expand(j, &j.Edges[0], hosts))
	}
	sum := Sum(jobs)
	if len(jobs) != 40 || bare != 20 || jobs[0].Arrival != 0 {
		t.Errorf("seed %d: %d jobs, %d bare, first at %v", seed, len(jobs), bare, jobs[0].Arrival)
	}
	if share := float64(elephants) / float64(sum.Bytes); share < 0.75 {
		t.Errorf("seed %d: elephants hold %.2f of the bytes", seed, share)
	}
	if sum.Bytes < 200e6 || sum.Bytes > 300e6 {
		t.Errorf("seed %d: %d bytes", seed, sum.Bytes)
	}
}

// elephantBytes returns the bytes of pairs of racks that hold enough for a circuit.
func elephantBytes(c controller.Columns) pathmap.Bytes {
	pair := map[[2]southbound.HostID]pathmap.Bytes{}
	for i := range c.Src {
		pair[[2]southbound.HostID{c.Src[i] / 2, c.Dst[i] / 2}] += c.Size[i]
	}
	sum := pathmap.Bytes(0)
	for _, b := range pair {
		if b >= defaultElephant {
			sum += b
		}
	}
	return sum
}

func TestSyntheticRange(t *testing.T) {
	for _, opt := range []SyntheticOptions{
		{Jobs: 1}, {Jobs: 2}, {Jobs: 7, Racks: 2, HostsPerRack: 1}, {Jobs: 1000, Racks: 64, HostsPerRack: 20},
		{Jobs: 40, Racks: 3, Elephant: 1, Long: 1}, {Jobs: 40, Window: 1},
	} {
		jobs, err := Synthetic(opt)
		if err != nil {
			t.Fatal(err)
		}
		o := opt.defaults()
		for i := range jobs {
			if err := jobs[i].Check(o.Racks*o.HostsPerRack, 1000); err != nil {
				t.Errorf("%+v: %v", opt, err)
			}
		}
		if len(jobs) != opt.Jobs {
			t.Errorf("%+v: %d jobs", opt, len(jobs))
		}
	}
	for _, bad := range []SyntheticOptions{{Jobs: -1}, {Racks: 1}, {HostsPerRack: 300}, {Window: -1}} {
		if _, err := Synthetic(bad); err == nil || !strings.Contains(err.Error(), "draw synthetic jobs") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
