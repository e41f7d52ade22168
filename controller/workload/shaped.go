package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ShapedOptions configure synthetic jobs of one's own sizes, widths and arrivals. Zero values take the
// default in brackets.
type ShapedOptions struct {
	Seed    uint64
	Hosts   int           // of the fabric; at least 2
	Jobs    int           // [40]
	Every   time.Duration // from one arrival to the next [100 ms]
	Poisson bool          // gaps are exponential with mean Every
	Least   pathmap.Bytes // of a job [8 kB]
	Most    pathmap.Bytes // [100 MB]
	Tail    float64       // index of the Pareto distribution of bytes, bounded to Least and Most [1.1]
	Narrow  int           // least number of senders, and of receivers [1]
	Wide    int           // most [4]
}

func (o ShapedOptions) defaults() ShapedOptions {
	set(&o.Jobs, defaultJobs)
	set(&o.Every, 100*time.Millisecond)
	set(&o.Least, 8_000)
	set(&o.Most, max(100_000_000, o.Least))
	set(&o.Tail, 1.1)
	set(&o.Narrow, 1)
	set(&o.Wide, max(4, o.Narrow))
	return o
}

func (o *ShapedOptions) check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > maxJobs:
		return fmt.Errorf("draw synthetic jobs: %d jobs: take 1 to %d", o.Jobs, maxJobs)
	case o.Every < 0 || o.Every > 365*24*time.Hour:
		return fmt.Errorf("draw synthetic jobs: one every %v: take 0 to a year", o.Every)
	case o.Least < 1 || o.Most < o.Least || o.Most > controller.MaxBytes/maxStages:
		return fmt.Errorf("draw synthetic jobs: %d to %d bytes a job: take 1 to %d, the least first",
			o.Least, o.Most,
			controller.MaxBytes/maxStages)
	case !(o.Tail >= 0.01 && o.Tail <= 100):
		return fmt.Errorf("draw synthetic jobs: tail %g: take 0.01 to 100", o.Tail)
	case o.Narrow < 1 || o.Wide < o.Narrow || o.Wide > maxStages:
		return fmt.Errorf("draw synthetic jobs: a width of %d to %d: take 1 to %d, the least first",
			o.Narrow, o.Wide,
			maxStages)
	}
	return nil
}

// Shaped draws jobs in order of arrival, the first at 0. The numbers of senders and of receivers are
// uniform over the widths, each drawn for itself; bytes are Pareto within their bounds. Every other job
// is a bare coflow between hosts drawn uniformly, senders and receivers apart; the others are map-reduce
// jobs, whose tasks the policy places, and compute as those of Synthetic do.
func Shaped(opt ShapedOptions) ([]controller.Job, error) {
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	if opt.Hosts < 2 || opt.Hosts > southbound.MaxRacks*southbound.MaxHostsPerRack {
		return nil, fmt.Errorf("draw synthetic jobs: %d hosts: take 2 to %d", opt.Hosts,
			southbound.MaxRacks*southbound.MaxHostsPerRack)
	}
	g := &generator{opt: SyntheticOptions{Racks: opt.Hosts, HostsPerRack: 1},
		r: rand.New(rand.NewPCG(opt.Seed, 0x736861706564))}
	width := func() int { return opt.Narrow + g.r.IntN(opt.Wide-opt.Narrow+1) }
	jobs := make([]controller.Job, opt.Jobs)
	at := time.Duration(0)
	for i := range jobs {
		d := draft{class: "shaped", bare: i%2 == 0, arrival: at,
			shape: shape{senders: width(), receivers: width()}}
		d.shape.bytes = opt.Least
		if opt.Most > opt.Least {
			d.shape.bytes = pathmap.Bytes(g.pareto(opt.Tail, float64(opt.Least), float64(opt.Most)))
		}
		jobs[i] = g.job(i, d)
		at += gap(opt.Every, opt.Poisson, g.r)
	}
	return jobs, nil
}
