package joint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// varied calls test with views in which a job waits that can be planned, has slots, and in some of them dead links
// above racks, hosts of unequal slots, or blocks to read.
func varied(t *testing.T, test func(name string, v *controller.View, j *controller.Job, rng *rand.Rand)) {
	t.Helper()
	tested := 0
	for seed := range tries.Of[uint64](600, 6000) {
		for kind, of := range []func(seed uint64) *controller.View{policytest.View, policytest.Parallel} {
			v, rng := of(seed), rand.New(rand.NewPCG(seed, uint64(kind)))
			vary(v, rng)
			if len(v.Waiting) == 0 || v.Waiting[0].Tasks() == 0 || !plannable(v, v.Waiting[0]) || !fits(v) {
				continue
			}
			test(fmt.Sprintf("view %d of kind %d", seed, kind), v, v.Waiting[0], rng)
			tested++
		}
	}
	if tested < 100 {
		t.Errorf("only %d views", tested)
	}
}

func vary(v *controller.View, rng *rand.Rand) {
	if rng.IntN(2) == 0 {
		v.Down = make([]bool, len(v.Fabric.Topology.Links()))
		for _, n := range v.Fabric.ToRNode {
			for _, l := range v.Fabric.Topology.Out(n) {
				if !slices.Contains(v.Fabric.HostNode, v.Fabric.Topology.Link(l).To) && rng.IntN(3) == 0 {
					v.Down[l], v.Down[pathmap.Reverse(l)] = true, true
				}
			}
		}
	}
	if rng.IntN(3) > 0 {
		for h := range v.Free {
			v.Free[h] += int32(rng.IntN(5))
		}
	}
	if len(v.Waiting) > 0 && rng.IntN(3) == 0 {
		for _, s := range v.Waiting[0].Stages {
			for t := range s.Tasks {
				s.Tasks[t].Input = pathmap.Bytes(1e6 * (1 + rng.IntN(300)))
				s.Tasks[t].Replicas = []southbound.RackID{southbound.RackID(rng.IntN(v.Fabric.Racks))}
			}
		}
	}
}

// unplaced is a host for each task of a job: none.
func unplaced(j *controller.Job) []southbound.HostID {
	return slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())
}

// TestBoundedSearch: a search that leaves candidates once they are known to be worse finds the same places as one that
// lays each to its end, and counts as much work.
func TestBoundedSearch(t *testing.T) {
	t.Parallel()
	varied(t, func(name string, v *controller.View, j *controller.Job, _ *rand.Rand) {
		b := place.Blocks(v, j)
		var hosts [2][]southbound.HostID
		var work [2]int
		for i := range hosts {
			f := newForecast(v, false, -1)
			f.patient = i == 0
			hosts[i] = search(f, j, unplaced(j), v.Free, b)
			work[i] = f.work
		}
		if !slices.Equal(hosts[0], hosts[1]) || work[0] != work[1] {
			t.Fatalf("%s: hosts %v after work %d, want %v after %d", name, hosts[1], work[1], hosts[0], work[0])
		}
	})
}

// TestNeighboursValues: the value of a neighbour, found by the two racks that change, is that of it in full.
func TestNeighboursValues(t *testing.T) {
	t.Parallel()
	varied(t, func(name string, v *controller.View, j *controller.Job, rng *rand.Rand) {
		fixed := unplaced(j)
		if rng.IntN(2) == 0 {
			fixed[0] = 0 // it holds no slot of those that are free
		}
		x := newShapes(newForecast(v, false, -1), j, fixed, v.Free)
		x.reads = newReading(j, place.Blocks(v, j), v.Fabric.Racks)
		every := make([]int, v.Fabric.Racks)
		for r := range every {
			every[r] = r
		}
		all := x.candidates()
		for range 4 {
			near := x.neighbours(all[rng.IntN(len(all))])
			for i, got := range near.values {
				if want := x.value(near.count(i), every); got != want {
					t.Fatalf("%s: neighbour %d of %v is worth %v, want %v", name, i, near.of, got, want)
				}
			}
		}
	})
}

// TestRecall: the circuits that a coflow is given from memory are those that it is laid with.
func TestRecall(t *testing.T) {
	t.Parallel()
	recalled := 0
	varied(t, func(name string, v *controller.View, j *controller.Job, rng *rand.Rand) {
		f, hosts := newForecast(v, false, -1), make([]southbound.HostID, j.Tasks())
		for range 6 {
			for i := range hosts {
				switch r := v.HostRack(hosts[i]); rng.IntN(8) {
				case 0:
					hosts[i] = southbound.HostID(rng.IntN(len(v.Free)))
				default: // another one of its rack, most often
					first, end := v.Fabric.FirstHost[r], v.Fabric.FirstHost[r+1]
					hosts[i] = southbound.HostID(first + rng.Int32N(end-first))
				}
			}
			tried := f.placed(j, hosts)
			for _, c := range tried.coflows {
				if c == nil || len(c.pairs) == 0 {
					continue
				}
				if rng.IntN(4) == 0 { // with other coflows before it
					f.rewind(rng.IntN(f.laid + 1))
				}
				c.release = f.before.release + float64(rng.IntN(2))
				if !f.before.recall(f.laid, c) {
					continue
				}
				got, mark, used := slices.Clone(c.pairs), f.scratch.Mark(), len(f.used)
				f.lay(c, c.release)
				if !slices.Equal(got, c.pairs) {
					t.Fatalf("%s: recalled %+v, want %+v", name, got, c.pairs)
				}
				f.undo(mark, used)
				recalled++
			}
			f.try(tried, func(float64) bool { return false })
		}
	})
	if recalled < 100 {
		t.Errorf("only %d coflows were recalled", recalled)
	}
}

// TestRoutingIsLimited: on a fabric with an OCS routing gets less work, unless options say otherwise; elsewhere it gets
// what they say.
func TestRoutingIsLimited(t *testing.T) {
	fabrics := map[bool]*topo.Fabric{}
	specs := map[bool]topo.Spec{true: {Kind: topo.Hybrid, OCS: pathmap.Gbps}, false: {Kind: topo.LeafSpine}}
	for optical, spec := range specs {
		spec.Racks, spec.Hosts, spec.Spines, spec.NIC, spec.EPS = 2, 1, 1, pathmap.Gbps, pathmap.Gbps
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		fabrics[optical] = f
	}
	for _, test := range []struct {
		optical   bool
		opt, want anneal.Options
	}{
		{true, anneal.Options{}, anneal.Options{Restarts: 1, Work: 1_000_000, LayFirst: true}},
		{true, anneal.Options{Restarts: 3, Work: 7}, anneal.Options{Restarts: 3, Work: 7, LayFirst: true}},
		{false, anneal.Options{}, anneal.Options{}},
	} {
		place, _, router := NewJoint(test.opt)
		for _, optical := range []bool{!test.optical, test.optical} { // what was before leaves nothing
			place.Fill(&controller.View{Fabric: fabrics[optical]}, nil, &controller.Plan{})
		}
		if router.Options != test.want {
			t.Errorf("optical %v, options %+v: routed by %+v, want %+v", test.optical, test.opt, router.Options, test.want)
		}
	}
}
