package guideline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
)

// benchCluster is the cluster of section V-A with the given number of racks; every slot is taken for up
// to a minute.
func benchCluster(racks int) (*Cluster, Releases) {
	r := rand.New(rand.NewPCG(1, 1))
	c := &Cluster{Racks: racks, Slots: 200, EPS: 10 * pathmap.Gbps, OCS: 100 * pathmap.Gbps,
		Elephant: 1_125_000_000,
		Delta:    10 * time.Millisecond}
	free := make(Releases, racks)
	for i := range free {
		for range c.Slots {
			free[i] = append(free[i], time.Duration(r.IntN(int(time.Minute))))
		}
		slices.Sort(free[i])
	}
	return c, free
}

// BenchmarkGuideline is what Co-scheduler decides for one job, by the parts of section IV-H: the
// guideline of data and maps, O(R²) at most for a recurring job (one root for another), and the best
// schedule of the reduces, O(R · R_red²) at most. The document gives the two bounds, below 100 racks,
// and no times. The job is that of Figure 4; its maps stand on five racks, and R_red is how many its
// reduces may have.
func BenchmarkGuideline(b *testing.B) {
	_, job := figure4()
	for _, racks := range []int{15, 30, 60, 100, 150} {
		c, free := benchCluster(racks)
		b.Run(fmt.Sprintf("maps_recurring/racks_%d", racks), func(b *testing.B) {
			for b.Loop() {
				if c.RecurringRacks(Figure4, job) == 0 {
					b.Fatal("no racks")
				}
			}
		})
		b.Run(fmt.Sprintf("maps/racks_%d", racks), func(b *testing.B) {
			for b.Loop() {
				if c.DataRacks(job.Shuffle, InitialSIR) == 0 {
					b.Fatal("no racks")
				}
			}
		})
		sm := make([]pathmap.Bytes, 5)
		for i := range sm {
			sm[i] = job.Shuffle / pathmap.Bytes(len(sm))
		}
		b.Run(fmt.Sprintf("reduces/racks_%d", racks), func(b *testing.B) {
			all := c.Schedules(sm, job.Reduces, nil)
			for b.Loop() {
				if _, ok := c.Best(c.Schedules(sm, job.Reduces, nil), free, nil); !ok {
					b.Fatal("no schedule")
				}
			}
			b.ReportMetric(float64(len(all)), "R_red")
		})
	}
}
