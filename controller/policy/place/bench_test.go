package place

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// BenchmarkDecide is a whole decision of the schedulers: a hundred jobs of twenty users run on racks of
// 200 slots, half of the slots are free, and the shuffle-heavy job of Figure 4 of the Co-scheduler
// document comes in the first row; in the second its maps have ended, and its reduces are placed.
func BenchmarkDecide(b *testing.B) {
	for _, racks := range []int{15, 60, 150} {
		for _, reduces := range []bool{false, true} {
			v := benchView(b, racks, reduces)
			for _, name := range []string{"fair", "corral", "coscheduler"} {
				b.Run(fmt.Sprintf("%s/racks_%d/reduces_%v", name, racks, reduces), func(b *testing.B) {
					part, placed := parts()[name](), 0
					for b.Loop() {
						p := controller.Plan{Wake: southbound.Never}
						part.Fill(v, nil, &p)
						placed = 0
						for _, x := range p.Place {
							if x.Job == 0 {
								for _, h := range x.Hosts {
									if h != controller.NoHost {
										placed++
									}
								}
							}
						}
					}
					b.ReportMetric(float64(placed), "hosts")
				})
			}
		}
	}
}

// benchView is a view of that cluster.
func benchView(b *testing.B, racks int, reduces bool) *controller.View {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: racks, Hosts: 1, Slots: 200, EPS: 10 * pathmap.Gbps,
		OCS: 100 * pathmap.Gbps, Dark: 10 * time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	s := state.New(f)
	apply := func(e state.Entry) {
		if err := s.Apply(&e); err != nil {
			b.Fatal(err)
		}
	}
	big := mapReduce("user00", 0, 50*racks, 169, 85_500_000_000)
	for i := range big.Stages[0].Tasks {
		big.Stages[0].Tasks[i].Input = 256e6
	}
	apply(state.Entry{Kind: state.JobAccepted, Job: big})
	place := func(job, first, n int) {
		j := s.Data().Jobs[job]
		hosts := make([]southbound.HostID, j.Job.Tasks())
		for i := range hosts {
			hosts[i] = controller.NoHost
			if i >= first && i < first+n {
				hosts[i] = southbound.HostID(i % racks)
			}
		}
		apply(state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: controller.JobID(job), Hosts: hosts}})
	}
	r := rand.New(rand.NewPCG(1, 7))
	for i := range 100 {
		j := mapReduce(fmt.Sprintf("user%02d", 1+i%19), 0, racks, 2, pathmap.Bytes(r.IntN(1e9)))
		apply(state.Entry{Kind: state.JobAccepted, Job: j})
		place(1+i, 0, racks)
		apply(state.Entry{Kind: state.StageStarted, JobID: controller.JobID(1 + i)})
	}
	if reduces {
		maps := 50 * racks
		place(0, 0, maps)
		apply(state.Entry{Kind: state.StageStarted})
		for i := range maps {
			apply(state.Entry{Kind: state.TaskEnded, Task: southbound.TaskID(i), At: time.Second})
		}
	}
	v := &controller.View{Now: 2 * time.Second, Seed: 7, Delta: 20 * time.Millisecond,
		ElephantThreshold: 1_125_000_000}
	s.FillView(v, nil)
	return v
}
