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

// BackgroundUser is the user of jobs that are background traffic: reports leave them out of their figures.
const BackgroundUser = "background"

// BackgroundModel names what Background draws; a changed model gets another name.
const BackgroundModel = "background-v1"

// backgroundLong is how long a background flow takes at its sender's share, on average.
const backgroundLong = time.Second

// BackgroundOptions describe traffic that fills a share of the links.
type BackgroundOptions struct {
	Seed  uint64
	Share float64                 // of each sender's Rate, above 0 and below 1
	Until time.Duration           // the last arrival
	Rate  []pathmap.BitsPerSecond // by host: what it can send if its rack's hosts share their uplinks
	Rack  []int32                 // by host
}

// maxBackground bounds the flows of a run.
const maxBackground = 1 << 20

// Background draws flows: every host sends flows of exponential size, which take a second on average at
// its rate, to hosts of other racks drawn uniformly, at Poisson arrivals, as many as fill its share. So
// each link carries about that share where all hosts have the same rate, and none is meant to carry
// more. Each flow is a job of its own.
func Background(opt BackgroundOptions) ([]controller.Job, error) {
	if !(opt.Share > 0 && opt.Share < 1) {
		return nil, fmt.Errorf("draw background: a share of %v: take one above 0 and below 1", opt.Share)
	}
	if opt.Until <= 0 {
		return nil, nil
	}
	if n := float64(len(opt.Rate)) * opt.Share * opt.Until.Seconds() / backgroundLong.Seconds(); n > maxBackground {
		return nil, fmt.Errorf("draw background: about %.0f flows within %v, at most %d are drawn: take fewer coflows or a "+
			"smaller share", n, opt.Until, maxBackground)
	}
	others := make([][]southbound.HostID, slices.Max(opt.Rack)+1) // by rack: the hosts elsewhere
	for r := range others {
		for h, rack := range opt.Rack {
			if int(rack) != r {
				others[r] = append(others[r], southbound.HostID(h))
			}
		}
	}
	var jobs []controller.Job
	for h, rate := range opt.Rate {
		to := others[opt.Rack[h]]
		if len(to) == 0 || rate <= 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(opt.Seed, 0x6261636b<<32|uint64(h))) // a stream a host: more hosts do not change others'
		gap := float64(backgroundLong) / opt.Share
		for at := rng.ExpFloat64() * gap; at <= float64(opt.Until); at += rng.ExpFloat64() * gap {
			size := math.Ceil(rng.ExpFloat64() * float64(rate.In(backgroundLong)))
			flow := controller.Flow{Src: southbound.HostID(h), Dst: to[rng.IntN(len(to))],
				Bytes: min(max(1, pathmap.Bytes(size)), controller.MaxBytes), Count: 1}
			jobs = append(jobs, controller.Job{Name: fmt.Sprintf("background-%d-%d", h, len(jobs)),
				User:    BackgroundUser,
				Weight:  1,
				Arrival: time.Duration(at), Edges: []controller.Edge{{Kind: controller.Fixed,
					Flows: []controller.Flow{flow}}}})
		}
	}
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return jobs, nil
}

// Mix puts background jobs among others, by arrival, others first among equals.
func Mix(jobs, background []controller.Job) []controller.Job {
	out := append(slices.Clone(jobs), background...)
	slices.SortStableFunc(out, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return out
}
