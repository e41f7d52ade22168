package simulated_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"lightloom/controller/policy"
	"lightloom/controller/workload/swim"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// BenchmarkRemoteReads replays 400 jobs of a SWIM trace on 20 racks of 20 slots, few enough that maps read from other
// racks, with their blocks beside the network and over it. It reports how many do.
func BenchmarkRemoteReads(b *testing.B) {
	name := filepath.Join(os.Getenv("LIGHTLOOM_DATA"), "swim", "FB-2009_samples_24_times_1hr_0.tsv.gz")
	f, err := os.Open(name)
	if err != nil {
		b.Skip("needs data: ", err)
	}
	defer f.Close()
	all, err := swim.Read(f, name)
	if err != nil {
		b.Fatal(err)
	}
	for _, by := range []string{"fair+sunflow", "coscheduler+sunflow", "pushbox", "dawn"} {
		for how, beside := range map[string]bool{"beside": true, "network": false} {
			b.Run(by+"/"+how, func(b *testing.B) {
				for b.Loop() {
					m := swim.V1(400)
					jobs := m.Jobs(m.Sample(all, 400, true, rand.New(rand.NewPCG(1, 2))), rand.New(rand.NewPCG(1, 3)))
					s, err := scenario.Prepare(scenario.Options{Given: jobs, Policies: []string{by}, Seed: 1, Speedup: 1,
						Fabric: "hybrid:racks=20,hosts=1,slots=20,spines=1,nic=10Gbps,eps=1Gbps,ocs=10Gbps,dark=10ms",
						Parts:  policy.Overrides{ReadsBeside: beside}, Replicas: 1, On: scenario.OnFlowsim}, 1)
					if err != nil {
						b.Fatal(err)
					}
					o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
					if err != nil {
						b.Fatal(err)
					}
					far := 0
					for i := range o.State.Tasks {
						if o.State.Tasks[i].NonLocal {
							far++
						}
					}
					b.ReportMetric(float64(far), "remote")
					b.ReportMetric(float64(len(o.State.Tasks)), "tasks")
				}
			})
		}
	}
}
