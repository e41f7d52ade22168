package swim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// Jobs turns drawn jobs into what a controller takes: a map stage, a reduce stage where something is
// shuffled, and the shuffle between them, all to be placed incrementally. r draws the errors of
// predictions.
func (m *Model) Jobs(drawn []Job, r *rand.Rand) []controller.Job {
	jobs := make([]controller.Job, len(drawn))
	for i := range drawn {
		jobs[i] = m.controllerJob(&drawn[i], r)
	}
	return jobs
}

func (m *Model) controllerJob(d *Job, r *rand.Rand) controller.Job {
	j := controller.Job{Name: d.Name, User: fmt.Sprintf("user%02d", d.User), Arrival: d.Arrival,
		Incremental: true}
	maps := make([]controller.Task, d.Maps)
	left := d.Input
	for i := range maps {
		b := min(left, m.Block)
		left -= b
		t := d.MapTime
		if i == len(maps)-1 {
			t = d.LastMap
		}
		maps[i] = controller.Task{Compute: t, Input: b, NonLocal: seconds(float64(b) / m.FarRate)}
	}
	j.Stages = []controller.Stage{{Name: "map", Tasks: maps}}
	if d.Reduces > 0 {
		reduces := make([]controller.Task, d.Reduces)
		for i := range reduces {
			reduces[i].Compute = d.ReduceTime
		}
		j.Stages = append(j.Stages, controller.Stage{Name: "reduce", Tasks: reduces})
		j.Edges = []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: d.Shuffle}}
	}
	if d.Recurring {
		j.Predicted = m.predict(d, r)
	}
	return j
}

// predict is what earlier runs let expect: each figure off by up to Error, either way, and tasks as
// they follow from it.
func (m *Model) predict(d *Job, r *rand.Rand) *controller.Prediction {
	off := func() float64 { return max(0, 1+m.Error*(2*r.Float64()-1)) }
	p := &controller.Prediction{Input: pathmap.Bytes(float64(d.Input) * off()),
		Shuffle: pathmap.Bytes(float64(d.Shuffle) * off())}
	p.Maps, p.Reduces = max(parts(p.Input, m.Block), 1), parts(p.Shuffle, m.ReduceBytes)
	if m.MostReduces > 0 {
		p.Reduces = min(p.Reduces, m.MostReduces)
	}
	p.MapTime, p.RedTime = time.Duration(float64(d.MapTime)*off()), time.Duration(float64(d.ReduceTime)*off())
	return p
}
