package experiment

import (
	"context"
	"fmt"
)

// The document moves no task of a running job, and leaves that to later work: efficiently and
// infrequently, since what is gained has to be worth the overhead (section 6). The experiment
// crosslayer-migration measures what our move gains over none. The document has no figure of it.

// The figures of a run in which tasks may move.
const (
	tasksMoved = "tasks moved"
	sentAgain  = "bytes sent again" // GB
)

// movers are our default mode, and the same with moves that gain more than so many times their cost.
func movers() []system {
	all := []system{defaults()[3]}
	for _, factor := range []float64{1, 3} {
		s := all[0]
		s.name, s.migrate = fmt.Sprintf("both, moving tasks that gain over %g times the cost", factor), factor
		all = append(all, s)
	}
	return all
}

// migrationStands are the document's networks of 30 hosts, also with streams that last ten times as
// long, which have more to gain from a move.
func migrationStands(b *Bench) []stand {
	long := storm()
	long.text += ",bytes=10MB-1GB"
	var all []stand
	for _, n := range networks() {
		all = append(all, stand{storm(), n, 30, "800Mbps", b.On, slotsEach, ""},
			stand{long, n, 30, "800Mbps", b.On, slotsEach, ", streams of ten times the bytes"},
			stand{hadoop(), n, 30, "800Mbps", b.On, slotsEach, ""})
	}
	return all
}

func runMigration(ctx context.Context, b *Bench) (*Result, error) {
	out := b.Result(append(assumedCrosslayer(b),
		"a task that moves sends again what it had sent, and computes again; at most one job's tasks move at a decision")...)
	r, err := Fill(ctx, b, out, migrationStands(b), movers(), stand.run, stand.migrationRows)
	if err == nil {
		r.Notes = append(r.Notes, b.failures()...)
	}
	return r, err
}

func (s stand) migrationRows(out *Result, at Systems) {
	who := movers()
	still := who[0].name
	for _, sys := range who[1:] {
		h := out.At("none", s.String()+", "+sys.name, "the document leaves moves to later work")
		h.Row("throughput above that without moves", "%", 0, at.Against(sys.name, still, perJobRate, Above))
		h.Row(meanJCT+" below that without moves", "%", 0, at.Against(sys.name, still, meanJCT, Below))
		h.Row(tasksMoved, "", 0, at[sys.name].Of(tasksMoved))
		h.Row(sentAgain, "GB", 0, at[sys.name].Of(sentAgain))
	}
}
