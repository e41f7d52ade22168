package chaos

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/tries"
)

// TestSeedsWithParents is TestSeeds for jobs that read what others wrote, up to three in a row, placed
// whole and piece by piece: leaders die while children wait, read and run, and hosts fail with what
// they are to read. In the end all have ended, each byte was received once, and the replicas agree.
// Dawn and PushBox get four seeds each: hosts fail in the fourth.
func TestSeedsWithParents(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"dawn+ecmp+sunflow", "pushbox", "fair+ecmp", "crosslayer"} {
		for seed := range tries.Of[uint64](4, 100) {
			if i > 1 && seed%4 > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/seed_%d", name, seed), func(t *testing.T) {
				w, err := newWorld(chaosFabric, seed, name, 1, storm(seed))
				if err != nil {
					t.Fatal(err)
				}
				if n := chain(w.jobs); n < 10 {
					t.Fatalf("only %d jobs read from others", n)
				}
				for k := range w.jobs {
					w.jobs[k].Incremental = i < 2 && k%4 > 0 && len(w.jobs[k].Stages) > 0
				}
				w.run(time.Minute)
				w.check(t)
				t.Log(w.described())
			})
		}
	}
}

// chain has most jobs with tasks read from one before, and returns how many do.
func chain(jobs []controller.Job) (reading int) {
	var parents []string
	for i := range jobs {
		j := &jobs[i]
		if len(j.Stages) == 0 {
			continue
		}
		j.Name, j.User = fmt.Sprint("job ", i), ""
		if len(parents)%4 > 0 {
			j.Edges = append(j.Edges, controller.Edge{Bytes: 1 << 18,
				Reads: &controller.Read{Kind: controller.OneToOne,
					Job: parents[len(parents)-1]}})
			reading++
		}
		parents = append(parents, j.Name)
	}
	return reading
}
