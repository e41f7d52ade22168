package scenario

import (
	"fmt"
	"os"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// attributed gives jobs the weights and deadlines of the --attributes file.
func (s *Prepared) attributed(jobs []controller.Job) error {
	name := s.Options.Rules.Attributes
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read attributes: %w", err)
	}
	defer f.Close()
	a, err := workload.ReadAttributes(f, name)
	if err != nil {
		return err
	}
	n, err := a.Apply(jobs)
	if err != nil {
		return err
	}
	s.Notes = append(s.Notes, fmt.Sprintf("weights and deadlines: of %d of %d jobs, from a file of %d.", n, len(jobs),
		len(a.ByID)))
	return nil
}

// mixed adds the requested background traffic to jobs. It lasts until the last arrival, or until the
// busiest port could have sent all bytes of the jobs, whichever is later.
func (s *Prepared) mixed(jobs []controller.Job) ([]controller.Job, error) {
	share := s.Options.Rules.Background
	if share == 0 {
		return jobs, nil
	}
	opt := workload.BackgroundOptions{Seed: s.Options.Seed, Share: share, Rack: s.Fabric.HostRack,
		Rate: s.shares()}
	port := make([]pathmap.Bytes, 2*len(opt.Rate))
	for i := range jobs {
		opt.Until = max(opt.Until, jobs[i].Arrival)
		for k := range jobs[i].Edges {
			for _, f := range jobs[i].Edges[k].Flows {
				port[2*f.Src] += f.Bytes
				port[2*f.Dst+1] += f.Bytes
			}
		}
	}
	for i, b := range port {
		if d := b.Over(opt.Rate[i/2]); d < pathmap.MaxDuration {
			opt.Until = max(opt.Until, d)
		}
	}
	flows, err := workload.Background(opt)
	if err != nil {
		return nil, hint.New(err.Error(), "write --background 0.1, or take fewer coflows with --coflows")
	}
	bytes := workload.Sum(flows).Bytes
	s.Background = &backgroundTraffic{Flows: len(flows), Bytes: bytes}
	s.Notes = append(s.Notes, fmt.Sprintf("background traffic (%s, seed %d): %d flows of %d bytes before scaling, for "+
		"%v; every host sends to hosts of other racks, drawn uniformly, "+
		"%g %% of what it can send beside its rack's others, in flows of a second on average at Poisson arrivals. Policies "+
		"see them as coflows of one flow. "+
		"No figure of coflows and jobs counts them; bytes over circuits and packets do.",
		workload.BackgroundModel, s.Options.Seed, len(flows), bytes, opt.Until.Round(time.Second), 100*share))
	return workload.Mix(jobs, flows), nil
}

// backgroundTraffic is the amount of background traffic, before scaling.
type backgroundTraffic struct {
	Flows int
	Bytes pathmap.Bytes
}

// shares returns the rate of each host, before scaling, while all hosts of its rack send: its link's
// rate, or its part of the rack's links to other switches, if that is less.
func (s *Prepared) shares() []pathmap.BitsPerSecond {
	f := s.Fabric
	up := make([]float64, f.Racks)
	for _, l := range f.Topology.Links() {
		from, to := f.Topology.Node(l.From), f.Topology.Node(l.To)
		if from.Role == pathmap.ToR && to.Role != pathmap.Host && to.Role != pathmap.OCS {
			up[from.Rack] += float64(l.Capacity)
		}
	}
	out := make([]pathmap.BitsPerSecond, f.Hosts())
	for h := range out {
		r := f.HostRack[h]
		out[h] = pathmap.BitsPerSecond(min(float64(s.hostRate(h)),
			up[r]/float64(f.HostsOf(int(r)))) * s.Options.Scale)
	}
	return out
}

// hostRate is the rate of a host's link, as run.
func (s *Prepared) hostRate(h int) pathmap.BitsPerSecond {
	t := s.Fabric.Topology
	return t.Link(t.OutPort(s.Fabric.HostNode[h], 0)).Capacity
}

// isBackground reports whether a job is background traffic.
func isBackground(j *controller.Job) bool { return j.User == workload.BackgroundUser }

// Foreground are the jobs that are not background traffic.
func (s *Prepared) Foreground() []controller.Job {
	if s.Background == nil {
		return s.Jobs
	}
	return slices.DeleteFunc(slices.Clone(s.Jobs), func(j controller.Job) bool { return isBackground(&j) })
}
