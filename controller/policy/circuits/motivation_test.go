package circuits

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// The example of section III-B and Figure 2 of co-scheduler: two jobs of nine and fifteen maps and
// three reduces each on three racks, one unit from each map to each reduce, circuits of one unit a
// second. Sunflow sends the shorter job first.
//
// Case 2's tables follow from its prose, and TestCoSchedulerCase2 has it. Those of case 1 are only in
// the figure: what is below is inferred from the completion times and from the text on rack 2's
// circuits.

const motivationDelta = 10 * time.Millisecond

// tasks are a job's maps and reduces by rack.
type tasks struct{ maps, reduces [3]int }

// matrix is the shuffle in seconds of a circuit. What stays in a rack is on the diagonal, which add
// leaves out.
func (x tasks) matrix() [][]time.Duration {
	m := uniform(3, 0)
	for i := range m {
		for j := range m[i] {
			m[i][j] = time.Duration(x.maps[i]*x.reduces[j]) * time.Second
		}
	}
	return m
}

// bar is one bar of the Gantt chart: a circuit of a job, and its length in units.
type bar struct {
	job   southbound.CoflowID
	to    southbound.Port
	units time.Duration
}

// motivated plays two jobs and returns when their shuffles end, and what Sunflow plans for a rack, in order.
func motivated(t *testing.T, first, second tasks, rack southbound.Port) (ends [2]time.Duration, row []bar) {
	t.Helper()
	r := newReplay(t, 3, motivationDelta)
	r.part.Horizon = time.Hour
	r.add(0, 1, first.matrix())
	r.add(0, 2, second.matrix())
	for _, a := range r.arrive {
		r.v.Coflows = append(r.v.Coflows, a.coflow)
	}
	var p controller.Plan
	p.Reset()
	r.part.Fill(r.v, nil, &p)
	r.v.Coflows = nil
	last := southbound.NoPort
	for _, x := range p.Reserve { // sorted by input and beginning
		if x.In != rack {
			continue
		}
		long := x.NotAfter - x.NotBefore
		if x.Out != last {
			long -= motivationDelta
		}
		last = x.Out
		row = append(row, bar{x.Coflow, x.Out, long.Round(time.Millisecond)})
	}
	r.run()
	return [2]time.Duration{r.ended[1], r.ended[2]}, row
}

// near reports whether an end is at an instant, up to the bytes lost to rounding.
func near(got, want time.Duration) bool { return got <= want && got > want-time.Millisecond }

// rack2 is the second row of Figure 2(a) as the text reads it: three units of job 1 to rack 3, three of
// job 2's five, ten of job 2 to rack 1, and the two that are left.
func rack2(row []bar) bool {
	want := []bar{{1, 2, 3 * time.Second}, {2, 2, 3 * time.Second}, {2, 0, 10 * time.Second},
		{2, 2, 2 * time.Second}}
	return slices.Equal(row, want)
}

// inferred is case 1: maps as in case 2, and two of three reduces together.
var inferred = [2]tasks{{[3]int{3, 3, 3}, [3]int{0, 2, 1}}, {[3]int{5, 5, 5}, [3]int{2, 0, 1}}}

// TestCase1 holds the inferred tables against the printed times and the printed row.
func TestCase1(t *testing.T) {
	ends, row := motivated(t, inferred[0], inferred[1], 1)
	for i, want := range [2]time.Duration{12*time.Second + 2*motivationDelta,
		20*time.Second + 3*motivationDelta} {
		if !near(ends[i], want) {
			t.Errorf("job %d ends at %v, want %v", i+1, ends[i], want)
		}
	}
	if !rack2(row) {
		t.Errorf("rack 2's circuits: %v", row)
	}
}

// TestCase1IsInferred looks at every placement that the text allows: three maps of job 1 and five of
// job 2 on rack 2, a reduce of job 1 and of job 2 on rack 3, two of job 2 on rack 1. Two give both
// times and the row; of these, one has maps as even as case 2.
func TestCase1IsInferred(t *testing.T) {
	var times, all [][2]tasks
	for a := range 7 {
		for reduces := range 3 {
			for b := range 11 {
				first := tasks{[3]int{a, 3, 6 - a}, [3]int{reduces, 2 - reduces, 1}}
				second := tasks{[3]int{b, 5, 10 - b}, [3]int{2, 0, 1}}
				ends, row := motivated(t, first, second, 1)
				if !near(ends[0], 12*time.Second+2*motivationDelta) ||
					!near(ends[1], 20*time.Second+3*motivationDelta) {
					continue
				}
				times = append(times, [2]tasks{first, second})
				if rack2(row) {
					all = append(all, [2]tasks{first, second})
				}
			}
		}
	}
	uneven := [2]tasks{inferred[0], {[3]int{9, 5, 1}, [3]int{2, 0, 1}}}
	if len(times) != 3 || !slices.Equal(all, [][2]tasks{inferred, uneven}) {
		t.Errorf("of 231 placements %v give the times, and %v the row as well", times, all)
	}
}
