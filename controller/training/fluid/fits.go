package fluid

import (
	"fmt"

	"lightloom/controller/training"
	"lightloom/controller/training/schedule"
)

// mostMessages bounds what a run keeps in memory: plans, and a collective of each communicator at a time. An all-to-all
// of 4,096 ranks is within it.
const mostMessages = 1 << 25

// fits refuses a workload whose collectives would have more messages than memory is for, before any is planned.
func fits(w *training.Workload, o Options) error {
	plans := map[planOf]bool{}
	live := make([]int, len(w.Groups)) // by communicator: the messages of its largest collective
	sum, largest := 0, 0
	var of *training.Node
	for r := range w.Ranks {
		for i := range w.Ranks[r].Nodes {
			n := &w.Ranks[r].Nodes[i]
			if n.Kind != training.Collective {
				continue
			}
			k := planFor(w, n)
			count := schedule.Count(k.request(&o))
			if !plans[k] {
				plans[k] = true
				sum += count
			}
			if more := count - live[n.Group]; more > 0 {
				live[n.Group] = count
				sum += more
			}
			if count > largest {
				largest, of = count, n
			}
		}
	}
	if sum <= mostMessages {
		return nil
	}
	g := &w.Groups[of.Group]
	return fmt.Errorf("its collectives have some %d messages, and at most %d are kept: communicator %q has %d ranks, "+
		"whose %v takes %d: %s", sum, mostMessages, g.Name, len(g.Ranks), of.Op, largest, mend(of))
}

// mend says what would make a collective smaller.
func mend(n *training.Node) string {
	text := "use fewer ranks"
	switch n.Phase {
	case training.DataParallel:
		text = "lower the degree of data parallelism (--data)"
	case training.TensorParallel:
		text = "lower the degree of tensor parallelism (--tensor)"
	case training.ExpertParallel:
		text = "lower the degree of expert parallelism (--expert)"
	}
	if n.Op == training.AllReduce {
		text += ", or write --method all-reduce=tree"
	}
	return text
}
