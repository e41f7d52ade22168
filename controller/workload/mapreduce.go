package workload

import (
	"fmt"
	"math"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// MapReduce is the assumptions by which the coflows of a trace become MapReduce jobs: the trace has
// nothing but their shuffle. An experiment that changes a number must change Name.
type MapReduce struct {
	Name       string
	Block      pathmap.Bytes // of input that one map reads
	InputRatio float64       // bytes of input for one byte of shuffle
	MapRate    float64       // bytes of input that a map computes on in a second
	ReduceRate float64       // bytes of shuffle that a reduce computes on in a second
	FarRate    float64       // bytes a second at which a map reads a block of which its rack has no copy
	Start      time.Duration // of every task, beside its bytes
	Times      float64       // bytes and so computing times are as many times those of the trace
}

// FacebookV1 is facebook-v1: blocks of 1 GB as on PushBox's testbed, as much input as shuffle, and
// tasks that compute as fast as a disk reads.
func FacebookV1() MapReduce {
	return MapReduce{Name: "facebook-v1", Block: 1e9, InputRatio: 1, MapRate: 100e6,
		ReduceRate: 100e6, FarRate: 100e6,
		Start: 100 * time.Millisecond, Times: 1}
}

// Lines describes the model for a report, an assumption a line.
func (m *MapReduce) Lines() []string {
	return []string{
		fmt.Sprintf("%s: what a trace of coflows does not say", m.Name),
		fmt.Sprintf("%g bytes of input for a byte of shuffle, in blocks of %d MB with three replicas on machines drawn at "+
			"random, a map each", m.InputRatio, m.Block/1e6),
		fmt.Sprintf("%g MB/s a map, %g MB/s a reduce, %v to start a task", m.MapRate/1e6,
			m.ReduceRate/1e6, m.Start),
		fmt.Sprintf("a map without a copy of its block in its rack reads it over the network first; with --remote-reads "+
			"beside at %g MB/s, which the fabric does not carry", m.FarRate/1e6),
		"a reduce for each receiver of the trace, with its bytes, from every map alike; racks of the trace are not kept, " +
			"since schedulers place the tasks",
	}
}

// Jobs turns coflows into jobs: a stage of maps, and for each receiver a stage of one reduce, so that
// each receives as soon as it has a slot, and as much as the trace says.
func (m *MapReduce) Jobs(t *Trace) []controller.Job {
	jobs := make([]controller.Job, len(t.Coflows))
	for i := range t.Coflows {
		jobs[i] = m.job(&t.Coflows[i])
	}
	return jobs
}

func (m *MapReduce) job(c *TraceCoflow) controller.Job {
	j := controller.Job{Name: fmt.Sprint(c.ID), Arrival: c.Arrival, Incremental: true}
	input := pathmap.Bytes(math.Ceil(float64(c.Bytes()) * m.Times * m.InputRatio))
	j.Stages = []controller.Stage{{Name: "map", Tasks: m.Maps(input)}}
	for k, r := range c.Reducers {
		if r.Bytes == 0 {
			continue
		}
		m.Reduce(&j, k, max(pathmap.Bytes(float64(r.Bytes)*m.Times), 1))
	}
	return j
}

// Maps returns the maps that read so many bytes of input, at least one.
func (m *MapReduce) Maps(input pathmap.Bytes) (maps []controller.Task) {
	for left := input; left > 0 || len(maps) == 0; {
		b := min(left, m.Block)
		left -= b
		maps = append(maps, controller.Task{Compute: m.Start + after(float64(b)/m.MapRate), Input: b,
			NonLocal: after(float64(b) / m.FarRate)})
	}
	return maps
}

// Reduce adds the reduce of a number that receives so many bytes from all maps, the job's first stage.
func (m *MapReduce) Reduce(j *controller.Job, number int, b pathmap.Bytes) {
	j.Stages = append(j.Stages, controller.Stage{Name: fmt.Sprint("reduce ", number),
		Tasks: []controller.Task{{Compute: m.Start + after(float64(b)/m.ReduceRate)}}})
	j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: 0,
		To: len(j.Stages) - 1, Bytes: b})
}

func after(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
