package place

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func job(id controller.JobID, tasks int, arrival time.Duration) *controller.Job {
	j := &controller.Job{ID: id, Arrival: arrival}
	if tasks > 0 {
		j.Stages = []controller.Stage{{Tasks: make([]controller.Task, tasks)}}
	}
	return j
}

// waves is an incremental job.
func waves(id controller.JobID, tasks int) *controller.Job {
	j := job(id, tasks, 0)
	j.Incremental = true
	return j
}

func TestAdmit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		free    []int32
		now     time.Duration
		waiting []*controller.Job
		want    []controller.JobID
	}{
		{"all fit", []int32{2, 2}, 0, []*controller.Job{job(0, 2, 0), job(1, 2, 0)}, []controller.JobID{0, 1}},
		{"the second does not", []int32{2, 1}, 0, []*controller.Job{job(0, 2, 0), job(1, 2, 0)},
			[]controller.JobID{0}},
		{"a smaller one overtakes", []int32{2, 1}, 0,
			[]*controller.Job{job(0, 4, 0), job(1, 2, 0), job(2, 1, 0)},
			[]controller.JobID{1, 2}},
		{"not for ever", []int32{2, 1}, Patience,
			[]*controller.Job{job(0, 4, 0), job(1, 2, 0), job(2, 1, 0)}, nil},
		{"but for one that no slots suffice for", []int32{2, 1}, Patience,
			[]*controller.Job{waves(0, 5), job(1, 2, 0), job(2, 1, 0)}, []controller.JobID{1, 2}},
		{"an incremental one that all slots suffice for", []int32{2, 1}, Patience,
			[]*controller.Job{waves(0, 4), job(1, 2, 0), job(2, 1, 0)}, nil},
		{"bare coflows need no slot", []int32{0, 0}, time.Hour, []*controller.Job{job(0, 4, 0), job(1, 0, 0)},
			[]controller.JobID{1}},
		{"order of acceptance", []int32{2}, 0, []*controller.Job{job(7, 2, 0), job(3, 2, 0)},
			[]controller.JobID{3}},
		{"a host in debt", []int32{-3, 2}, 0, []*controller.Job{job(0, 2, 0)}, []controller.JobID{0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []controller.JobID
			v := controller.View{Fabric: &topo.Fabric{HostNode: make([]pathmap.NodeID, 2), Spec: topo.Spec{Slots: 2}},
				Free: tc.free, Now: tc.now, Waiting: tc.waiting}
			for _, j := range Admit(&v) {
				got = append(got, j.ID)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("admits %v, want %v", got, tc.want)
			}
		})
	}
}

func view(t *testing.T, seed uint64, free []int32, jobs ...*controller.Job) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: len(free) / 2, Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	return &controller.View{Seed: seed, Fabric: f, Free: free, Waiting: jobs}
}

// TestRandomIsUniform: over many seeds a slot of each host is drawn in proportion to its slots.
func TestRandomIsUniform(t *testing.T) {
	free := []int32{1, 0, 3, 2}
	count := make([]int, len(free))
	const n = 6000
	for seed := range uint64(n) {
		var p controller.Plan
		Random{}.Fill(view(t, seed, free, job(0, 1, 0)), nil, &p)
		count[p.Place[0].Hosts[0]]++
	}
	for h, f := range free {
		want := n / 6 * int(f)
		if d := count[h] - want; d < -150 || d > 150 { // four standard deviations
			t.Errorf("host %d with %d slots drawn %d times, want about %d", h, f, count[h], want)
		}
	}
}

func TestFairSpreads(t *testing.T) {
	for seed := range uint64(50) {
		var p controller.Plan
		new(Fair).Fill(view(t, seed, []int32{2, 2, 2, 2}, job(0, 4, 0), job(1, 2, 0)), nil, &p)
		hosts := slices.Clone(p.Place[0].Hosts)
		slices.Sort(hosts)
		if fmt.Sprint(hosts) != "[0 1 2 3]" {
			t.Errorf("seed %d: four tasks on %v, want one on each", seed, hosts)
		}
		if a, b := p.Place[1].Hosts[0], p.Place[1].Hosts[1]; a/2 == b/2 {
			t.Errorf("seed %d: two tasks on %d and %d of one rack", seed, a, b)
		}
	}
}

// TestSlotsRunOut: placing to the last slot takes each slot once.
func TestSlotsRunOut(t *testing.T) {
	for name, part := range map[string]interface {
		Fill(*controller.View, []controller.Event, *controller.Plan)
	}{"random": Random{}, "fair": new(Fair)} {
		free := []int32{1, 3, 0, 2}
		var p controller.Plan
		part.Fill(view(t, 1, free, job(0, 4, 0), job(1, 2, 0), job(2, 0, 0)), nil, &p)
		left := slices.Clone(free)
		for _, pl := range p.Place {
			for _, h := range pl.Hosts {
				left[h]--
			}
		}
		if fmt.Sprint(left) != "[0 0 0 0]" || len(p.Place) != 3 {
			t.Errorf("%s: %+v leaves %v", name, p.Place, left)
		}
	}
}

// TestFairBreaksTies: of hosts with as many free slots the next task goes to one whose rack has the
// most, as they are once the tasks before it have their slots.
func TestFairBreaksTies(t *testing.T) {
	for seed := range uint64(20) {
		// Five tasks go to host 2; then hosts 0, 1 and 2 have two slots each, and rack 0 has four, rack 1 has two.
		v := view(t, seed, []int32{2, 2, 7, 0}, job(0, 6, 0))
		p := controller.Plan{}
		new(Fair).Fill(v, nil, &p)
		if len(p.Place) != 1 {
			t.Fatalf("seed %d: %+v", seed, p.Place)
		}
		on := map[southbound.HostID]int{}
		for _, h := range p.Place[0].Hosts {
			on[h]++
		}
		if on[2] != 5 || on[0]+on[1] != 1 {
			t.Errorf("seed %d: on hosts %v, want five tasks on host 2 and one in rack 0", seed, p.Place[0].Hosts)
		}
	}
}

// TestLostTasksAlone: of a job that has lost hosts only tasks that have not ended get a slot, each a
// free one; what has ended is read from some host that is alive, and what has a host stays there.
func TestLostTasksAlone(t *testing.T) {
	const no = controller.NoHost
	for name, part := range parts() {
		for seed := range uint64(20) {
			v := view(t, seed, []int32{0, 0, 0, 1, 0, 0})
			v.Lost = []southbound.HostID{4, 5}
			v.Evicted = []controller.Evicted{{Job: job(0, 5, 0), Hosts: []southbound.HostID{0, no, no, 1, no},
				Ended: []bool{false, false, true, true, true}}}
			p := controller.Plan{Wake: southbound.Never}
			part().Fill(v, nil, &p)
			if len(p.Place) != 1 {
				t.Fatalf("%s, seed %d: %+v", name, seed, p.Place)
			}
			got := p.Place[0].Hosts
			read := func(h southbound.HostID) bool { return h >= 0 && h < 4 }
			if got[0] != 0 || got[1] != 3 || !read(got[2]) || got[3] != 1 || !read(got[4]) {
				t.Errorf("%s, seed %d: on hosts %v, want 0, 3, one alive, 1, one alive", name, seed, got)
			}
		}
	}
}

// TestLostTasksShareSlots: jobs that have lost hosts get different slots, by the sizes of their tasks,
// and what comes after them gets what they leave.
func TestLostTasksShareSlots(t *testing.T) {
	const no = controller.NoHost
	for name, part := range parts() {
		for seed := range uint64(10) {
			big := job(1, 1, 0)
			big.Stages[0].Tasks[0].Slots = 2
			v := view(t, seed, []int32{0, 1, 2, 0}, job(2, 1, 0))
			v.Now = time.Minute
			v.Evicted = []controller.Evicted{{Job: big, Hosts: []southbound.HostID{no}, Ended: make([]bool, 1)},
				{Job: job(0, 2, 0), Hosts: []southbound.HostID{0, no}, Ended: make([]bool, 2)}}
			taken, jobs := make([]int32, 4), 0
			p := controller.Plan{Wake: southbound.Never}
			part().Fill(v, nil, &p)
			for _, at := range p.Place {
				jobs++
				switch at.Job {
				case 0:
					taken[at.Hosts[1]]++
				case 1:
					taken[at.Hosts[0]] += 2
				case 2:
					taken[at.Hosts[0]]++
				}
			}
			for h := range taken {
				if taken[h] > v.Free[h] {
					t.Errorf("%s, seed %d: %v slots are taken of %v: %+v", name, seed, taken, v.Free, p.Place)
					break
				}
			}
			if jobs != 2 {
				t.Errorf("%s, seed %d: %d of three jobs have slots, and there are slots for two: %+v", name,
					seed, jobs, p.Place)
			}
		}
	}
}

// TestFairStartsWhereDrawn: where hosts and racks are alike, the first host from the start that is
// drawn for the job has its first task.
func TestFairStartsWhereDrawn(t *testing.T) {
	for seed := range uint64(30) {
		v := view(t, seed, []int32{1, 1, 1, 1, 1, 1}, job(0, 1, 0))
		p := controller.Plan{}
		new(Fair).Fill(v, nil, &p)
		if want := southbound.HostID(v.Rand("place", 0).IntN(6)); len(p.Place) != 1 ||
			p.Place[0].Hosts[0] != want {
			t.Errorf("seed %d: %+v, want host %d", seed, p.Place, want)
		}
	}
}

// TestAskedIsChecked: an answer that fits is carried out, another is an error of the plan that says why.
func TestAskedIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name  string
		hosts []southbound.HostID
		job   controller.JobID
		want  string
	}{
		{"fits", []southbound.HostID{0, 1}, 4, ""},
		{"one host twice", []southbound.HostID{1, 1}, 4, ""},
		{"a host beyond the last", []southbound.HostID{0, 4}, 4, "task 1 is placed on host 4; hosts are 0 to 3"},
		{"no host", []southbound.HostID{-1, 0}, 4, "task 0 is placed on host -1"},
		{"too few hosts", []southbound.HostID{0}, 4, "has 2 tasks, and is given 1 hosts"},
		{"more than are free", []southbound.HostID{0, 0}, 4, "host 0 has 0 left"},
		{"another job", []southbound.HostID{0, 1}, 5, "job 5 does not wait"},
	} {
		v := view(t, 1, []int32{1, 2, 2, 2}, job(4, 2, 0))
		a := Asked{Ask: func(*controller.View) ([]controller.Placement, error) {
			return []controller.Placement{{Job: tc.job, Hosts: tc.hosts}}, nil
		}}
		p := controller.Plan{Wake: southbound.Never}
		a.Fill(v, nil, &p)
		if tc.want == "" && (p.Err != nil || len(p.Place) != 1) ||
			tc.want != "" && (p.Err == nil || !strings.Contains(p.Err.Error(), tc.want) || len(p.Place) > 0) {
			t.Errorf("%s: %v, error %v, want %q", tc.name, p.Place, p.Err, tc.want)
		}
	}
}

// TestRackUplink: what the first rack's links carry that are up, its circuits left out.
func TestRackUplink(t *testing.T) {
	v := view(t, 1, []int32{1, 1, 1, 1})
	whole := rackUplink(v)
	tor := v.Fabric.Topology.Out(v.Fabric.ToRNode[0])
	v.Down = make([]bool, len(v.Fabric.Topology.Links()))
	for _, l := range tor {
		if to := v.Fabric.Topology.Link(l).To; to != v.Fabric.OCSNode &&
			v.Fabric.Topology.Node(to).Role != pathmap.Host {
			v.Down[l] = true
			break
		}
	}
	if left := rackUplink(v); left >= whole {
		t.Errorf("%v with a link down, %v without", left, whole)
	}
}
