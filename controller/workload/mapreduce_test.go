package workload

import (
	"testing"

	"lightloom/pathmap"
)

// TestMapReduce: jobs carry what their coflows do, receiver by receiver, and a fabric takes them.
func TestMapReduce(t *testing.T) {
	trace := &Trace{Racks: 3, Coflows: []TraceCoflow{{ID: 1, Mappers: []int32{0},
		Reducers: []Reducer{{1, 2500e6}}},
		{ID: 2, Arrival: 5, Mappers: []int32{0, 2}, Reducers: []Reducer{{1, 1e6}, {2, 3e6}}}}}
	for _, times := range []float64{1, 0.5, 2} {
		m := FacebookV1()
		m.Times = times
		for i, j := range m.Jobs(trace) {
			c := &trace.Coflows[i]
			if err := j.Check(6, 12); err != nil {
				t.Error(err)
			}
			read := pathmap.Bytes(0)
			for _, task := range j.Stages[0].Tasks {
				read += task.Input
			}
			if want := pathmap.Bytes(float64(c.Bytes()) * times); read != want || j.Arrival != c.Arrival {
				t.Errorf("job %s reads %d bytes, want %d", j.Name, read, want)
			}
			for k, r := range c.Reducers {
				if want := pathmap.Bytes(float64(r.Bytes) * times); j.Edges[k].Bytes != want ||
					len(j.Stages[k+1].Tasks) != 1 {
					t.Errorf("job %s: reduce %d receives %d bytes, want %d", j.Name, k, j.Edges[k].Bytes, want)
				}
			}
		}
	}
}
