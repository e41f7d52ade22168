package place

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// What odd jobs mean is in docs/decisions/0039-define-unusual-jobs.md; each has its test here.

// see applies the failure or return of the hosts of some racks to the state.
func (c *cluster) see(up bool, racks ...int) {
	f := c.s.Fabric()
	for _, r := range racks {
		for h := f.FirstHost[r]; h < f.FirstHost[r+1]; h++ {
			c.apply(state.Entry{Kind: state.HostSeen, Host: southbound.HostID(h), OK: up})
			for id := range c.ends {
				if c.s.Data().Tasks[id].Host == controller.NoHost {
					delete(c.ends, id)
				}
			}
		}
	}
}

// heavyJob shuffles 4400 bytes, where 1000 are an elephant: Co-scheduler keeps its maps to two racks.
func heavyJob(maps, reduces int) *controller.Job { return mapReduce("a", 0, maps, reduces, 4400) }

// TestDataOnFailedRacks: of four racks three have failed when the job comes, among them, for one of the
// four that is left, all that hold its data. What lies nowhere else is read from afar, after Delay.
func TestDataOnFailedRacks(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			lost := false
			for alive := range 4 {
				c := &cluster{t: t, s: state.New(allocatorFabric(t, 4, 4)), make: make}
				for r := range 4 {
					if r != alive {
						c.see(false, r)
					}
				}
				c.run([]*controller.Job{heavyJob(12, 8)})
				far := 0
				for _, task := range c.s.Data().Tasks[:12] {
					if int(c.s.Fabric().HostRack[task.Host]) != alive {
						t.Fatalf("a map ran on rack %d, which has failed", c.s.Fabric().HostRack[task.Host])
					}
					if task.NonLocal {
						far++
					}
				}
				lost = lost || far == 12
			}
			_, packs := make().(*Packer)
			own := packs || name == "fair" || name == "corral" || name == "finder" || name == "planner" ||
				name == "without data"
			if !lost && !own { // there each block has racks of its own
				t.Error("no rack is left without any of the job's data")
			}
		})
	}
}

// TestRackFailsAndComesBack: racks fail while jobs run and gather; those that then are too few for a
// job's reduces hold it up until racks are back, and no longer.
func TestRackFailsAndComesBack(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			for _, at := range []time.Duration{time.Second, 9 * time.Second, 10 * time.Second,
				10500 * time.Millisecond,
				11 * time.Second, 13 * time.Second} {
				c := &cluster{t: t, s: state.New(allocatorFabric(t, 4, 2)), make: make,
					heed: []time.Duration{at, time.Minute}}
				c.each = func() {
					switch c.now {
					case at:
						c.see(false, 0, 1, 2)
					case time.Minute:
						if c.s.Lost(0) {
							c.see(true, 0, 1, 2)
						}
					}
				}
				c.run([]*controller.Job{heavyJob(8, 10), mapReduce("b", 0, 4, 6, 4400)})
				for i, task := range c.s.Data().Tasks {
					if task.Ended == state.Unset {
						t.Fatalf("failed at %v: task %d has not ended", at, i)
					}
				}
			}
		})
	}
}

// TestMoreTasksThanSlots: maps come in waves. A stage that receives needs all of its slots at once, and
// where the fabric has fewer the job is refused with what to do.
func TestMoreTasksThanSlots(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			c := &cluster{t: t, s: state.New(allocatorFabric(t, 4, 2)), make: make}
			c.run([]*controller.Job{heavyJob(160, 16)})
			if end := c.s.Data().Jobs[0].Ended; end < 100*time.Second { // ten waves of 10 s
				t.Errorf("160 maps of 10 s in 16 slots, and reduces, end at %v", end)
			}
		})
	}
	err := heavyJob(160, 17).Check(8, 16)
	if err == nil || !strings.Contains(err.Error(),
		`stage 1 ("reduce") receives, and its 17 tasks must all have a slot for that; the fabric has 16: make fewer`) {
		t.Errorf("17 reduces in 16 slots: %v", err)
	}
}

// TestNoInput: a job that reads nothing has its maps on any slots, and its shuffle decides whether it
// is heavy.
func TestNoInput(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			for _, p := range []*controller.Prediction{nil,
				{Shuffle: 4400, Maps: 6, Reduces: 4, MapTime: 10 * time.Second,
					RedTime: 5 * time.Second}} {
				j := heavyJob(6, 4)
				j.Predicted = p
				for i := range j.Stages[0].Tasks {
					j.Stages[0].Tasks[i].Input = 0
				}
				c := &cluster{t: t, s: state.New(allocatorFabric(t, 4, 4)), make: make}
				c.run([]*controller.Job{j})
				for i, task := range c.s.Data().Tasks {
					if task.NonLocal {
						t.Errorf("task %d reads from afar, and reads nothing", i)
					}
				}
				if at := c.s.Data().Tasks[0].Started; at != 0 {
					t.Errorf("its maps wait until %v for data", at)
				}
			}
		})
	}
}

// TestShufflesOfAByteAndOf30TB: the smallest is none that a circuit is worth, and the largest overflows
// nothing.
func TestShufflesOfAByteAndOf30TB(t *testing.T) {
	for name, make := range parts() {
		for _, shuffle := range []pathmap.Bytes{1, 30e12} {
			for _, predicted := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					j := mapReduce("a", 0, 40, 12, shuffle)
					if predicted {
						j.Predicted = &controller.Prediction{Input: 4000, Shuffle: shuffle, Maps: 40, Reduces: 12,
							MapTime: 10 * time.Second, RedTime: 5 * time.Second}
					}
					c := &cluster{t: t, s: state.New(allocatorFabric(t, 12, 4)), make: make}
					c.run([]*controller.Job{j})
					if end := c.s.Data().Jobs[0].Ended; end > 40*time.Second {
						t.Errorf("%d bytes: ends at %v", shuffle, end)
					}
				})
			}
		}
	}
	c := &guideline.Cluster{Racks: 60, Slots: 200, EPS: 10 * pathmap.Gbps, OCS: 100 * pathmap.Gbps,
		Elephant: 1_125_000_000, Delta: 20 * time.Millisecond}
	if got := c.DataRacks(30e12, 1); got != 20 {
		t.Errorf("30 TB stand on %d racks, want the most that three disjoint sets have", got)
	}
	if got := c.RecurringRacks(guideline.Figure4, &guideline.Job{Shuffle: 1, Maps: 1, Reduces: 1}); got != 1 {
		t.Errorf("a byte stands on %d racks", got)
	}
}

// TestUserWithoutShare: shares are equal, and no user has to be assigned one. Jobs that name no user
// belong to one user; where there are more users than slots, users take turns, and the last by name is
// not starved.
func TestUserWithoutShare(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			c := &cluster{t: t, s: state.New(allocatorFabric(t, 2, 1)), make: make} // four slots
			var jobs []*controller.Job
			for _, user := range []string{"", "a", "b", "c", "d", "e", "z"} {
				jobs = append(jobs, mapReduce(user, 0, 12, 0, 0))
			}
			c.run(jobs)
			// 84 maps in four slots are 21 waves, two of which serve all seven users.
			for i, j := range c.s.Data().Jobs {
				first := c.s.Data().Tasks[j.FirstTask].Started
				for _, task := range c.s.Data().Tasks[j.FirstTask : int(j.FirstTask)+12] {
					first = min(first, task.Started)
				}
				if first > 40*time.Second {
					t.Errorf("user %q has to wait until %v for a first slot", jobs[i].User, first)
				}
			}
		})
	}
}

// TestPredictionsWrongByAHundred: a job whose figures are off by a factor of a hundred, either way, is
// placed worse, and nothing else: it ends, and so do those beside it.
func TestPredictionsWrongByAHundred(t *testing.T) {
	right := controller.Prediction{Input: 4000, Shuffle: 4400, Maps: 40, Reduces: 8, MapTime: 10 * time.Second,
		RedTime: 5 * time.Second}
	for name, make := range parts() {
		for what, wrong := range map[string]func(p *controller.Prediction, by float64){
			"input": func(p *controller.Prediction, by float64) {
				p.Input = pathmap.Bytes(float64(p.Input) * by)
			},
			"shuffle": func(p *controller.Prediction, by float64) {
				p.Shuffle = pathmap.Bytes(float64(p.Shuffle) * by)
			},
			"tasks": func(p *controller.Prediction, by float64) {
				p.Maps, p.Reduces = int(float64(p.Maps)*by), int(float64(p.Reduces)*by)
			},
			"times": func(p *controller.Prediction, by float64) {
				p.MapTime, p.RedTime = time.Duration(float64(p.MapTime)*by), time.Duration(float64(p.RedTime)*by)
			},
		} {
			for _, by := range []float64{0.01, 100} {
				t.Run(name+"/"+what, func(t *testing.T) {
					first, second := heavyJob(40, 8), heavyJob(40, 8)
					p := right
					wrong(&p, by)
					first.Predicted = &p
					second.User = "b"
					c := &cluster{t: t, s: state.New(allocatorFabric(t, 12, 4)), make: make}
					c.run([]*controller.Job{first, second})
					for _, j := range c.s.Data().Jobs {
						// Right predictions end both within 40 s; kept to one rack of eight slots, forty maps are five waves.
						if j.Ended > 2*time.Minute {
							t.Errorf("%s times %g: job %d ends at %v", what, by, j.ID, j.Ended)
						}
					}
				})
			}
		}
	}
	for _, p := range []controller.Prediction{{Input: -1}, {Shuffle: -1}, {Maps: -1}, {Reduces: -1},
		{MapTime: -1},
		{RedTime: -1}, {Shuffle: controller.MaxBytes + 1}, {Maps: controller.MaxTasks + 1}} {
		j := heavyJob(4, 2)
		j.Predicted = &p
		if err := j.Check(8, 16); err == nil || !strings.Contains(err.Error(), "is predicted") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestSlotsInTurn: among users with equally many running tasks, the one that has waited longest is
// served first.
func TestSlotsInTurn(t *testing.T) {
	y := &slotAllocator{rack: []int32{1}, users: []*user{{name: "a", last: 3}, {name: "b", last: 2},
		{name: "c", running: 1}}}
	var asked []string
	y.serve(func(u *user) bool { asked = append(asked, u.name); return false })
	if !slices.Equal(asked, []string{"b", "a", "c"}) {
		t.Errorf("scarce: %v", asked)
	}
	y.rack[0], asked = 3, nil
	y.serve(func(u *user) bool { asked = append(asked, u.name); return false })
	if !slices.Equal(asked, []string{"a", "b", "c"}) {
		t.Errorf("plenty: %v", asked)
	}
}

// TestWidest: a task goes to the rack with the most free slots, to the first of several.
func TestWidest(t *testing.T) {
	f := allocatorFabric(t, 4, 2) // four slots a rack
	job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}}
	for _, tc := range []struct {
		rack []int32
		want int
	}{{[]int32{1, 3, 2, 3}, 1}, {[]int32{2, 2, 2, 2}, 0}, {[]int32{0, 0, 1, 0}, 2}, {make([]int32, 4), -1}} {
		y := &slotAllocator{v: &controller.View{Fabric: f}, rack: slices.Clone(tc.rack)}
		for r := range tc.rack {
			y.free = append(y.free, tc.rack[r]-tc.rack[r]/2, tc.rack[r]/2) // by host, two a rack
		}
		w := &work{totals: &totals{jobShape: &jobShape{first: []int{0, 1}}}, job: job, user: &user{},
			waits: []bool{false}, open: []int{1}}
		got := -1
		if y.widest(w, 0, 0) {
			got = int(f.HostRack[w.hosts[0]])
		}
		if got != tc.want {
			t.Errorf("free slots %v: rack %d, want %d", tc.rack, got, tc.want)
		}
	}
}
