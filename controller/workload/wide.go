package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// WideOptions configure jobs with wide shuffles whose tasks are all free. Zero values take the default
// in brackets.
type WideOptions struct {
	Seed          uint64
	Jobs          int           // [40]
	Maps, Reduces [2]int        // tasks of a job, from the first to the second, log-uniform [8 to 32, 4 to 16]
	Least, Most   pathmap.Bytes // of a shuffle, Pareto(1.1) [1 to 20 GB]
	Compute       time.Duration // mean of a task; exponential within a tenth and five times of it [100 ms]
}

func (o WideOptions) defaults() WideOptions {
	o.Jobs = cmp.Or(o.Jobs, defaultJobs)
	o.Maps = cmp.Or(o.Maps, [2]int{8, 32})
	o.Reduces = cmp.Or(o.Reduces, [2]int{4, 16})
	o.Least, o.Most = cmp.Or(o.Least, 1e9), cmp.Or(o.Most, 20e9)
	o.Compute = cmp.Or(o.Compute, 100*time.Millisecond)
	return o
}

func (o *WideOptions) check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > maxJobs:
		return fmt.Errorf("draw wide jobs: %d jobs: take 1 to %d", o.Jobs, maxJobs)
	case o.Maps[0] < 1 || o.Maps[1] < o.Maps[0] || o.Maps[1] > controller.MaxTasks || o.Reduces[0] < 1 ||
		o.Reduces[1] < o.Reduces[0] || o.Reduces[1] > controller.MaxFlows/o.Maps[1]:
		return fmt.Errorf("draw wide jobs: %v maps and %v reduces: take at least 1 of each, the least first, and at most %d "+
			"pairs", o.Maps, o.Reduces, controller.MaxFlows)
	case o.Least < 1 || o.Most < o.Least || o.Most > controller.MaxBytes:
		return fmt.Errorf("draw wide jobs: %d to %d bytes a shuffle: take 1 to %d, the least first",
			o.Least, o.Most,
			controller.MaxBytes)
	case o.Compute < 0:
		return fmt.Errorf("draw wide jobs: tasks compute for %v, which is below zero", o.Compute)
	}
	return nil
}

// Wide draws map-reduce jobs that arrive uniformly at random in one second, the first at 0; Pace gives
// them their time.
func Wide(opt WideOptions) ([]controller.Job, error) {
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	g := &generator{r: rand.New(rand.NewPCG(opt.Seed, 0x77696465))}
	jobs := make([]controller.Job, opt.Jobs)
	for i := range jobs {
		maps, reduces := g.between(opt.Maps), g.between(opt.Reduces)
		mean := float64(opt.Compute)
		jobs[i] = mapReduce(g.tasks(maps, mean, mean/10, 5*mean), g.tasks(reduces, mean, mean/10, 5*mean),
			pathmap.Bytes(g.pareto(1.1, float64(opt.Least), float64(opt.Most))))
		if i > 0 {
			jobs[i].Arrival = time.Duration(g.r.Float64() * float64(time.Second))
		}
	}
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := range jobs {
		jobs[i].Name = fmt.Sprintf("%03d-wide", i)
	}
	return jobs, nil
}

// between is log-uniform over the whole numbers from the first to the second.
func (g *generator) between(span [2]int) int {
	least, most := math.Log(float64(span[0])), math.Log(float64(span[1])+1)
	return min(int(math.Exp(least+g.r.Float64()*(most-least))), span[1])
}

func mapReduce(maps, reduces []controller.Task, shuffle pathmap.Bytes) controller.Job {
	return controller.Job{Weight: 1,
		Stages: []controller.Stage{{Name: "map", Tasks: maps}, {Name: "reduce", Tasks: reduces}},
		Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: shuffle}}}
}

// FreeJobs makes a map-reduce job of each of these coflows, so that a policy can place it: a map for
// every mapper and a reduce for every reducer, which compute nothing. The trace's racks are left out,
// and reducers receive equal shares.
func FreeJobs(coflows []TraceCoflow) []controller.Job {
	jobs := make([]controller.Job, len(coflows))
	for i := range coflows {
		c := &coflows[i]
		jobs[i] = mapReduce(make([]controller.Task, len(c.Mappers)),
			make([]controller.Task, len(c.Reducers)), c.Bytes())
		jobs[i].Name, jobs[i].Arrival = fmt.Sprint(coflowPrefix, c.ID), c.Arrival-coflows[0].Arrival
	}
	return jobs
}

// Pace stretches the arrivals so that ports are busy for the given share of the time from the first
// arrival to the last: every rack has port bits a second in each direction, and shuffles go from all
// racks to all racks alike. It changes the jobs.
func Pace(jobs []controller.Job, racks int, port pathmap.BitsPerSecond, load float64) error {
	if racks < 2 || port <= 0 || !(load > 0) || len(jobs) == 0 {
		return fmt.Errorf("pace %d jobs: %d racks with ports of %d bit/s and a load of %g: take at least 2 racks, and all "+
			"above zero", len(jobs), racks, port, load)
	}
	first, last := jobs[0].Arrival, jobs[len(jobs)-1].Arrival
	if last <= first {
		return fmt.Errorf("pace %d jobs: all arrive at %v", len(jobs), first)
	}
	bits := 8 * float64(Sum(jobs).Bytes) * float64(racks-1) / float64(racks)
	window := bits / (float64(racks) * float64(port) * load) * float64(time.Second)
	if window > float64(southbound.Never/2) {
		return fmt.Errorf("pace %d jobs: at a load of %g the last would arrive after %.3g s: take a higher load", len(jobs),
			load, window/float64(time.Second))
	}
	for i := range jobs {
		jobs[i].Arrival = time.Duration(float64(jobs[i].Arrival-first) / float64(last-first) * window)
	}
	return nil
}
