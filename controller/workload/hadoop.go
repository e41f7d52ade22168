package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// HadoopOptions configure the map-reduce jobs to draw: those of section 4.2 of Alkaff and Gupta,
// Cross-Layer Scheduling in Cloud Computing Systems. Zero values take the default in brackets.
type HadoopOptions struct {
	Seed     uint64
	Jobs     int           // [600, or as many as Sizes holds]
	Every    time.Duration // from one arrival to the next [1 s, the document's]
	Poisson  bool          // gaps are exponential with mean Every
	Maps     int           // tasks [4, as the document's WordCount]
	Reduces  int           // tasks [4]
	Least    pathmap.Bytes // of a shuffle, log-uniform to Most [100 B, the document's]
	Most     pathmap.Bytes // [10 GB, the document's]
	Rounds   int           // of map and reduce in each job, as Hive and Pig chain them [1]
	Replicas int           // copies that the file system makes of what a round hands to the next, beside the writer's [1]
	Compute  time.Duration // of every task [0: the document's tasks forward data and no more]
	Sizes    []Size        // shuffles in their place, those outside Least to Most left out; arrivals stay Every apart
}

// Size is what one round of a map-reduce job moves, from a trace.
type Size struct{ Shuffle, Output pathmap.Bytes }

func (o HadoopOptions) defaults() HadoopOptions {
	set(&o.Jobs, 600)
	set(&o.Every, time.Second)
	set(&o.Maps, 4)
	set(&o.Reduces, 4)
	set(&o.Least, 100)
	set(&o.Most, max(10e9, o.Least))
	set(&o.Rounds, 1)
	set(&o.Replicas, 1)
	return o
}

func (o *HadoopOptions) check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > maxJobs:
		return fmt.Errorf("draw hadoop jobs: %d jobs: take 1 to %d", o.Jobs, maxJobs)
	case o.Every < 0 || o.Every > 365*24*time.Hour:
		return fmt.Errorf("draw hadoop jobs: one every %v: take 0 to a year", o.Every)
	case o.Maps < 1 || o.Reduces < 1 || o.Maps > controller.MaxTasks || o.Reduces > controller.MaxFlows/o.Maps:
		return fmt.Errorf("draw hadoop jobs: %d maps and %d reduces: take at least 1 of each and at most %d pairs", o.Maps,
			o.Reduces, controller.MaxFlows)
	case o.Least < 1 || o.Most < o.Least || o.Most > controller.MaxBytes:
		return fmt.Errorf("draw hadoop jobs: %d to %d bytes a shuffle: take 1 to %d, the least first",
			o.Least, o.Most,
			controller.MaxBytes)
	case o.Rounds < 1 || o.Rounds > maxStages:
		return fmt.Errorf("draw hadoop jobs: %d rounds: take 1 to %d", o.Rounds, maxStages)
	case o.Replicas < 1 || o.Replicas > 10:
		return fmt.Errorf("draw hadoop jobs: %d replicas: take 1 to 10", o.Replicas)
	case o.Compute < 0:
		return fmt.Errorf("draw hadoop jobs: tasks compute for %v, which is below zero", o.Compute)
	}
	return nil
}

// Hadoop draws map-reduce jobs, in order of arrival, the first at 0. A job of several rounds writes the
// output of its reduces into the file system (a stage for each copy, of as many tasks as there are
// reduces: the hosts of the blocks) and reads the first copy back into the next maps, as Hive and Pig
// do. Every round carries as many bytes as the first, or with Sizes the trace's bytes of its reduces.
func Hadoop(opt HadoopOptions) ([]controller.Job, error) {
	limited := opt.Jobs > 0
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	sizes := opt.Sizes
	if sizes != nil {
		if sizes = opt.within(); len(sizes) == 0 {
			return nil, fmt.Errorf("draw hadoop jobs: none of %d jobs shuffles %d to %d bytes",
				len(opt.Sizes), opt.Least,
				opt.Most)
		}
		if !limited || opt.Jobs > len(sizes) {
			opt.Jobs = len(sizes)
		}
	}
	r := rand.New(rand.NewPCG(opt.Seed, 0x6861646f6f70))
	jobs := make([]controller.Job, opt.Jobs)
	at := time.Duration(0)
	for i := range jobs {
		size := Size{Shuffle: opt.draw(r)}
		size.Output = size.Shuffle
		if sizes != nil {
			size = sizes[i]
		}
		jobs[i] = opt.job(&size)
		jobs[i].Name, jobs[i].Arrival, jobs[i].Weight = fmt.Sprintf("%03d-hadoop", i), at, 1
		at += gap(opt.Every, opt.Poisson, r)
	}
	return jobs, nil
}

// draw is log-uniform: as many shuffles have from 1 to 10 MB as from 10 to 100.
func (o *HadoopOptions) draw(r *rand.Rand) pathmap.Bytes {
	least, most := math.Log(float64(o.Least)), math.Log(float64(o.Most))
	b := pathmap.Bytes(math.Round(math.Exp(least + r.Float64()*(most-least))))
	return min(max(b, o.Least), o.Most)
}

func (o *HadoopOptions) within() (out []Size) {
	for _, s := range o.Sizes {
		if s.Shuffle >= o.Least && s.Shuffle <= o.Most {
			out = append(out, s)
		}
	}
	return out
}

func (o *HadoopOptions) job(size *Size) controller.Job {
	var j controller.Job
	stage := func(name string, n int, compute time.Duration) int {
		s := controller.Stage{Name: name, Tasks: make([]controller.Task, n)}
		for t := range s.Tasks {
			s.Tasks[t].Compute = compute
		}
		j.Stages = append(j.Stages, s)
		return len(j.Stages) - 1
	}
	edge := func(kind controller.EdgeKind, from, to int, b pathmap.Bytes) {
		j.Edges = append(j.Edges, controller.Edge{Kind: kind, From: from, To: to, Bytes: b})
	}
	last := -1
	for round := range o.Rounds {
		suffix := ""
		if o.Rounds > 1 {
			suffix = fmt.Sprint(round + 1)
		}
		m := stage("map"+suffix, o.Maps, o.Compute)
		if last >= 0 {
			edge(controller.ScatterGather, last, m, size.Output)
		}
		reduce := stage("reduce"+suffix, o.Reduces, o.Compute)
		edge(controller.ScatterGather, m, reduce, size.Shuffle)
		if round+1 == o.Rounds {
			break
		}
		for copied := range o.Replicas {
			fs := stage(fmt.Sprintf("hdfs%d.%d", round+1, copied+1), o.Reduces, 0)
			edge(controller.OneToOne, reduce, fs, size.Output)
			if copied == 0 {
				last = fs
			}
		}
	}
	return j
}
