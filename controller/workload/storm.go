package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// StormOptions configure the stream topologies to draw: those of section 4.1 of Alkaff and Gupta,
// Cross-Layer Scheduling in Cloud Computing Systems. Zero values take the default in brackets, which is
// the document's where it has one.
type StormOptions struct {
	Seed     uint64
	Jobs     int           // [100]
	Every    time.Duration // from one arrival to the next [6 s: ten a minute]
	Poisson  bool          // gaps are exponential with mean Every
	Spouts   int           // [2]
	Bolts    int           // beside the spouts [10]
	Parallel int           // tasks of each spout and bolt [1]
	Children float64       // mean of how many bolts each spout and bolt sends to [2]
	Sigma    float64       // standard deviation of it; below zero: none [2]
	Least    pathmap.Bytes // of a spout's data [1 MB]
	Most     pathmap.Bytes // [100 MB]
	Split    bool          // a tuple goes to one child, not a copy to each
	Back     float64       // share of the bolts that send a tenth of what they receive back to an earlier bolt [0]
}

func (o StormOptions) defaults() StormOptions {
	set(&o.Jobs, 100)
	set(&o.Every, 6*time.Second)
	set(&o.Spouts, 2)
	set(&o.Bolts, 10)
	set(&o.Parallel, 1)
	set(&o.Children, 2)
	set(&o.Sigma, 2)
	set(&o.Least, 1e6)
	set(&o.Most, max(100e6, o.Least))
	o.Sigma = max(o.Sigma, 0)
	return o
}

func set[T comparable](p *T, d T) {
	if *p == *new(T) {
		*p = d
	}
}

// Bounds of what the generators draw.
const (
	maxJobs   = 1 << 20
	maxStages = 1 << 10
)

func (o *StormOptions) check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > maxJobs:
		return fmt.Errorf("draw storm jobs: %d jobs: take 1 to %d", o.Jobs, maxJobs)
	case o.Every < 0 || o.Every > 365*24*time.Hour:
		return fmt.Errorf("draw storm jobs: one every %v: take 0 to a year", o.Every)
	case o.Spouts < 1 || o.Bolts < 1 || o.Spouts > maxStages || o.Bolts > maxStages:
		return fmt.Errorf("draw storm jobs: %d spouts and %d bolts: take 1 to %d of each", o.Spouts,
			o.Bolts, maxStages)
	case o.Parallel < 1 || o.Parallel > maxStages:
		return fmt.Errorf("draw storm jobs: parallelism %d: take 1 to %d", o.Parallel, maxStages)
	case !(o.Children > 0 && o.Children <= maxStages) || !(o.Sigma <= maxStages):
		return fmt.Errorf("draw storm jobs: %v children, deviation %v: take a mean above 0 and both up to %d", o.Children,
			o.Sigma, maxStages)
	case o.Least < 1 || o.Most < o.Least || o.Most > controller.MaxBytes/maxStages:
		return fmt.Errorf("draw storm jobs: %d to %d bytes a spout: take 1 to %d, the least first",
			o.Least, o.Most,
			controller.MaxBytes/maxStages)
	case !(o.Back >= 0 && o.Back <= 1):
		return fmt.Errorf("draw storm jobs: %v of the bolts send back: take 0 to 1", o.Back)
	}
	return nil
}

// Storm draws topologies in order of arrival, the first at 0. Spouts come first, then bolts. Each draws
// its number of children from a normal distribution, rounded, at least none (a spout: one) and at most
// all bolts after it, and then as many different bolts. A bolt without a sender gets an earlier one;
// one without children is a sink. A bolt forwards all that it receives, a copy to each child, unless
// Split. What is sent back in a cycle is not forwarded again. All groupings are shuffles.
func Storm(opt StormOptions) ([]controller.Job, error) {
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(opt.Seed, 0x73746f726d))
	jobs := make([]controller.Job, opt.Jobs)
	at := time.Duration(0)
	for i := range jobs {
		d := dataflow{opt: &opt, r: r, next: make([][]int, opt.Spouts+opt.Bolts)}
		jobs[i] = d.job()
		jobs[i].Name, jobs[i].Arrival, jobs[i].Weight = fmt.Sprintf("%03d-storm", i), at, 1
		at += gap(opt.Every, opt.Poisson, r)
	}
	return jobs, nil
}

// gap is the time to the next arrival.
func gap(every time.Duration, poisson bool, r *rand.Rand) time.Duration {
	if !poisson {
		return every
	}
	return time.Duration(r.ExpFloat64() * float64(every))
}

// dataflow is one topology being drawn. Stages are numbered so that children come after parents.
type dataflow struct {
	opt  *StormOptions
	r    *rand.Rand
	next [][]int // by stage: children, ascending
}

func (d *dataflow) job() controller.Job {
	d.connect()
	var j controller.Job
	for s := range d.next {
		name := fmt.Sprintf("bolt%d", s-d.opt.Spouts+1)
		if s < d.opt.Spouts {
			name = fmt.Sprintf("spout%d", s+1)
		}
		j.Stages = append(j.Stages, controller.Stage{Name: name, Tasks: make([]controller.Task, d.opt.Parallel)})
	}
	in := make([]pathmap.Bytes, len(d.next))
	for s := range d.opt.Spouts {
		in[s] = d.opt.Least + pathmap.Bytes(d.r.Int64N(int64(d.opt.Most-d.opt.Least)+1))
	}
	stream := func(from, to int, b pathmap.Bytes) {
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: from, To: to,
			Bytes: b, Stream: true})
	}
	for s, children := range d.next {
		for k, c := range children {
			b := in[s]
			if d.opt.Split {
				b = in[s] / pathmap.Bytes(len(children))
				if pathmap.Bytes(k) < in[s]%pathmap.Bytes(len(children)) {
					b++
				}
			}
			stream(s, c, b)
			in[c] = min(in[c]+b, controller.MaxBytes)
		}
	}
	for s := d.opt.Spouts + 1; s < len(d.next); s++ {
		if len(d.next[s]) > 0 && d.r.Float64() < d.opt.Back { // a sink that sent would be none
			stream(s, d.opt.Spouts+d.r.IntN(s-d.opt.Spouts), in[s]/10)
		}
	}
	return j
}

// connect draws who sends to whom.
func (d *dataflow) connect() {
	fed := make([]bool, len(d.next))
	for s := range d.next {
		first := max(s+1, d.opt.Spouts)
		left := len(d.next) - first
		n := int(math.Round(d.opt.Children + d.opt.Sigma*d.r.NormFloat64()))
		if s < d.opt.Spouts {
			n = max(n, 1)
		}
		for _, k := range d.r.Perm(left)[:min(max(n, 0), left)] {
			d.add(s, first+k)
			fed[first+k] = true
		}
	}
	for s := d.opt.Spouts; s < len(d.next); s++ {
		if !fed[s] {
			d.add(d.r.IntN(s), s)
		}
	}
}

// add keeps children ascending.
func (d *dataflow) add(s, child int) {
	c := append(d.next[s], child)
	for i := len(c) - 1; i > 0 && c[i] < c[i-1]; i-- {
		c[i], c[i-1] = c[i-1], c[i]
	}
	d.next[s] = c
}
