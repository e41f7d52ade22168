package anneal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// moving is a running job on a busy network, and what moving its tasks costs.
type moving struct {
	job           *controller.Job
	hosts         []southbound.HostID
	free          []int32
	network       func() *NetworkState
	migrationCost MigrationCost
}

func newMoving(t *testing.T, seed uint64) *moving {
	t.Helper()
	f, paths := fabric(t, "leafspine:racks=3,hosts=2,spines=2,eps=60Mbps,nic=100Mbps,slots=1")
	rng := rand.New(rand.NewPCG(seed, 12))
	m := &moving{job: tiny(rng), free: make([]int32, f.Hosts())}
	for h := range m.free {
		m.free[h] = 1
	}
	for _, h := range rng.Perm(f.Hosts())[:m.job.Tasks()] {
		m.hosts = append(m.hosts, southbound.HostID(h))
		m.free[h] = 0
	}
	load := rng.Uint64()
	m.network = func() *NetworkState {
		s := NewNetworkState(NewTopologyContext(f, paths, nil, nil), Options{})
		runSome(s, rand.New(rand.NewPCG(load, 0)), 6)
		return s
	}
	n := len(m.hosts)
	m.migrationCost = MigrationCost{Fixed: make([]bool, n), Resent: make([]pathmap.Bytes, n),
		Rerun:     make([]float64, n),
		Factor:    1,
		Remaining: func(int, southbound.HostID, southbound.HostID) pathmap.Bytes { return 10 << 20 }}
	return m
}

func (m *moving) migrate(seed uint64) Moved {
	return m.network().Migrate(m.job, m.hosts, m.free, 1, m.migrationCost, rand.New(rand.NewPCG(seed, 13)))
}

// exact returns what everything is worth with the job on some hosts, each of its host flows on the best
// path.
func (m *moving) exact(hosts []southbound.HostID) int64 {
	p := newPlacing(m.network(), m.job, slices.Repeat([]int32{8}, len(m.free)))
	var fresh []hostFlowKey
	for k, at := range hosts {
		p.put(k, at, &fresh)
	}
	for _, k := range fresh {
		p.setPath(k, 0)
	}
	return bestPaths(p, 0)
}

// TestMigrate: over 60 networks tasks are moved for nothing where that helps, to slots that are free,
// and what is gained is there when every path is tried; with a price fewer move, and none where each is
// dear; those that are fixed stay.
func TestMigrate(t *testing.T) {
	t.Parallel()
	gained, cheap, paid, seeds := 0, 0, 0, tries.Of[uint64](25, 60)
	for seed := range seeds {
		m := newMoving(t, seed)
		for fixed := range 2 {
			m.migrationCost.Fixed[0] = fixed == 1
			got := m.migrate(seed)
			m.check(t, seed, got)
			if len(got.Tasks) > 0 {
				gained++
				cheap += len(got.Tasks)
				if after, before := m.exact(got.Hosts), m.exact(m.hosts); after <= before {
					t.Errorf("seed %d: worth %d before and %d after", seed, before, after)
				}
			}
		}
		m.migrationCost.Fixed[0] = false
		for k := range m.migrationCost.Resent {
			m.migrationCost.Resent[k] = 1 << 20
		}
		got := m.migrate(seed)
		m.check(t, seed, got)
		paid += len(got.Tasks)
		if got.Gain <= got.Price && len(got.Tasks) > 0 {
			t.Errorf("seed %d: gains %d for %d", seed, got.Gain, got.Price)
		}
		for _, dearer := range []func(){func() { m.migrationCost.Factor = 1e5 }, func() {
			m.migrationCost.Factor = 1
			clear(m.migrationCost.Resent)
			for k := range m.migrationCost.Rerun {
				m.migrationCost.Rerun[k] = 1e6
			}
		}} {
			dearer()
			if got := m.migrate(seed); len(got.Tasks) > 0 {
				t.Errorf("seed %d: %d tasks move though that is dear: gain %d, price %d", seed,
					len(got.Tasks), got.Gain, got.Price)
			}
		}
	}
	t.Logf("%d of %d gain, %d tasks move for nothing and %d for a price", gained, 2*seeds, cheap, paid)
	if gained < int(seeds)/3 || paid == 0 || paid >= cheap {
		t.Errorf("%d of 120 gain, %d tasks move for nothing and %d for a price", gained, cheap, paid)
	}
}

// check holds what must be true of every answer.
func (m *moving) check(t *testing.T, seed uint64, got Moved) {
	t.Helper()
	free := slices.Clone(m.free)
	for k, h := range got.Hosts {
		_, moves := slices.BinarySearch(got.Tasks, int32(k))
		if moves != (h != m.hosts[k]) || moves && m.migrationCost.Fixed[k] {
			t.Fatalf("seed %d: task %d from %d to %d, named %v, fixed %v", seed, k, m.hosts[k], h, moves,
				m.migrationCost.Fixed[k])
		}
		if moves {
			free[m.hosts[k]]++
			free[h]--
		}
	}
	if slices.Min(free) < 0 || len(got.Hosts) != len(m.hosts) {
		t.Fatalf("seed %d: slots %v after moving %v", seed, free, got.Tasks)
	}
}

// TestMigrateNeverWithoutTime: a job with nothing left to send has no time to earn a price.
func TestMigrateNeverWithoutTime(t *testing.T) {
	m := newMoving(t, 1)
	m.migrationCost.Remaining = func(int, southbound.HostID, southbound.HostID) pathmap.Bytes { return 0 }
	if got := m.migrate(1); len(got.Tasks) > 0 || got.Remaining != 0 {
		t.Errorf("moved %v in %v s", got.Tasks, got.Remaining)
	}
}

// TestPrice: 2 MB sent again and half a second of a job worth 8 Mb/s are 20 Mb; over 4 s, at twice
// their worth, 10 Mb/s.
func TestPrice(t *testing.T) {
	m := &migration{price: make([]int64, 2), unplaced: []int{1}}
	m.setPrices(&MigrationCost{Resent: []pathmap.Bytes{9, 2e6}, Rerun: []float64{9, 0.5}, Factor: 2}, 4, 8e6)
	if m.price[0] != 0 || m.price[1] != 10e6 {
		t.Errorf("prices %v", m.price)
	}
}
