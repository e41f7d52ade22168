package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// BareOptions describe coflows for holding two fabrics against each other: all of them bare, so that no
// placement comes between, and long against what a fluid leaves out (slow start, queues).
type BareOptions struct {
	Seed         uint64
	Coflows      int
	Racks        int
	HostsPerRack int
	Link         pathmap.BitsPerSecond // that sizes are 0.22 to 0.5 s of
	Window       time.Duration         // arrivals are uniform in it; it sets the load
}

// Bare draws the jobs: each has one or two senders and as many receivers in different racks, and host
// flows of 0.22 to 0.5 s of one link each.
func Bare(opt BareOptions) ([]controller.Job, error) {
	if opt.Coflows < 1 || opt.Racks < 4 || opt.HostsPerRack < 1 || opt.Link <= 0 || opt.Window <= 0 {
		return nil, fmt.Errorf("draw bare coflows: %d on %d racks of %d hosts at %v within %v: take at least 1, 4, 1 and "+
			"more than zero",
			opt.Coflows, opt.Racks, opt.HostsPerRack, opt.Link, opt.Window)
	}
	r := rand.New(rand.NewPCG(opt.Seed, 0x6c6f6164))
	jobs := make([]controller.Job, opt.Coflows)
	for i := range jobs {
		racks := r.Perm(opt.Racks)
		senders, receivers := 1+r.IntN(2), 1+r.IntN(2)
		var flows []controller.Flow
		host := func(rack int) southbound.HostID {
			return southbound.HostID(rack*opt.HostsPerRack + r.IntN(opt.HostsPerRack))
		}
		for s := range senders {
			for d := range receivers {
				length := time.Duration((0.22 + 0.28*r.Float64()) * float64(time.Second))
				flows = append(flows, controller.Flow{Src: host(racks[s]), Dst: host(racks[senders+d]),
					Bytes: opt.Link.In(length),
					Count: 1})
			}
		}
		jobs[i] = controller.Job{
			Name:    fmt.Sprintf("%03d-load", i),
			Arrival: opt.Window * time.Duration(i) / time.Duration(opt.Coflows),
			Edges:   []controller.Edge{{Kind: controller.Fixed, Flows: flows}},
		}
	}
	return jobs, nil
}
