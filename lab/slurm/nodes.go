package slurm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Nodes are Slurm's nodes and partitions.
type Nodes struct {
	all        []string
	idle       map[string]bool // on which nothing runs
	partitions map[string]*partition
}

// partition is one of Slurm's. Jobs of a higher tier go first, and can end those of lower ones.
type partition struct {
	nodes map[string]bool
	tier  int
	mode  string // what becomes of its jobs when others end them
}

// The modes in which a job gives its nodes back. One that is suspended keeps them, and its circuits.
const (
	modeRequeue = "REQUEUE"
	modeCancel  = "CANCEL"
)

// ParseNodes reads lines of a node, its state, and the tier, preemption mode and name of one of its partitions, as
// sinfo prints them for --format=NodesFormat.
func ParseNodes(text string) (Nodes, error) {
	n := Nodes{idle: map[string]bool{}, partitions: map[string]*partition{}}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 5 {
			return n, fmt.Errorf("read nodes of Slurm: %q is no node, state, tier, preemption mode and partition", line)
		}
		tier, err := strconv.Atoi(f[2])
		if err != nil {
			return n, fmt.Errorf("read nodes of Slurm: tier of partition %s: %w", f[4], err)
		}
		p := n.partitions[f[4]]
		if p == nil {
			mode, _, _ := strings.Cut(f[3], ",")
			p = &partition{map[string]bool{}, tier, mode}
			n.partitions[f[4]] = p
		}
		p.nodes[f[0]] = true
		if f[1] == "idle" {
			n.idle[f[0]] = true
		}
		n.all = append(n.all, f[0])
	}
	slices.Sort(n.all)
	n.all = slices.Compact(n.all)
	return n, nil
}

// NodesFormat is what sinfo --Node is asked for.
const NodesFormat = "%N %t %p %M %R"

// yields reports whether jobs of a partition end for those of a higher one.
func (p *partition) yields() bool { return p.mode == modeRequeue || p.mode == modeCancel }

// uneven reports whether jobs of some partition could end jobs of another.
func (n *Nodes) uneven() bool {
	for _, p := range n.partitions {
		for _, q := range n.partitions {
			if q.tier < p.tier && q.yields() {
				return true
			}
		}
	}
	return false
}

// of are a job's partitions.
func (n *Nodes) of(j *Job) (out []*partition) {
	for _, name := range j.Partitions {
		if p := n.partitions[name]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// tier is the highest of a job's partitions.
func (n *Nodes) tier(j *Job) (out int) {
	for _, p := range n.of(j) {
		out = max(out, p.tier)
	}
	return out
}

// has reports whether a job's partitions have a node. A job whose partitions are not known may be anywhere.
func (n *Nodes) has(j *Job, node string) bool {
	of := n.of(j)
	return len(of) == 0 || slices.ContainsFunc(of, func(p *partition) bool { return p.nodes[node] })
}

// offer is what jobs can have.
type offer struct {
	network  Network
	nodes    Nodes
	rack     map[string]string // of the fabric's hosts
	own      map[int][]string  // nodes of slices, by job; those of others have numbers below zero
	running  []*Job
	preempts bool // jobs of higher partitions end those of lower ones
}

// rackOf returns the rack of each host.
func (n *Network) rackOf() map[string]string {
	out := map[string]string{}
	for i := range n.Racks {
		for _, node := range n.Racks[i].Nodes {
			out[node] = n.Racks[i].Name
		}
	}
	return out
}

// ports are the racks whose ports a job on these nodes has: none where they are of one rack.
func (o *offer) ports(nodes []string) []string {
	var racks []string
	for _, n := range nodes {
		racks = append(racks, o.rack[n])
	}
	slices.Sort(racks)
	if racks = slices.Compact(racks); len(racks) < 2 {
		return nil
	}
	return racks
}

// weaker returns the running jobs that Slurm would end for a job: those of the lowest tier, and of it the youngest,
// first.
func (o *offer) weaker(j *Job) (out []*Job) {
	if !o.preempts {
		return nil
	}
	for _, r := range o.running {
		if of := o.nodes.of(r); len(of) == 1 && of[0].yields() && of[0].tier < o.nodes.tier(j) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(x, y *Job) int {
		return cmp.Or(cmp.Compare(o.nodes.tier(x), o.nodes.tier(y)), cmp.Compare(y.ID, x.ID))
	})
	return out
}

// room returns the nodes that a job can have once these others have ended, and the racks whose ports it cannot have.
func (o *offer) room(j *Job, ended []*Job) (free, busy map[string]bool) {
	free, busy = maps.Clone(o.nodes.idle), map[string]bool{}
	over := map[int]bool{j.ID: true}
	for _, r := range ended {
		over[r.ID] = true
		for _, n := range r.Nodes {
			free[n] = true
		}
	}
	for _, r := range o.running {
		for _, n := range r.Nodes {
			if !over[r.ID] {
				delete(free, n)
			}
		}
	}
	for id, nodes := range o.own {
		if over[id] {
			continue
		}
		for _, n := range nodes {
			delete(free, n)
		}
		for _, r := range o.ports(nodes) {
			busy[r] = true
		}
	}
	maps.DeleteFunc(free, func(n string, _ bool) bool { return !o.nodes.has(j, n) })
	return free, busy
}

// ready reports whether a job can have all of these nodes: what else runs there, Slurm ends for it.
func (o *offer) ready(j *Job, nodes []string) bool {
	free, _ := o.room(j, o.weaker(j))
	return !slices.ContainsFunc(nodes, func(n string) bool { return !free[n] })
}

// choose returns nodes for a job, and the jobs of lower tiers that have circuits there and must end first. Those
// without circuits Slurm ends itself as it starts the job. Named nodes are the only ones that it can have.
func (o *offer) choose(j *Job, named []string, weak []*Job) (nodes []string, victims []*Job) {
	try := func(ended int) (out []string, ok bool) {
		free, busy := o.room(j, weak[:ended])
		if named == nil {
			return Choose(&o.network, free, busy, j.Count)
		}
		return named, !slices.ContainsFunc(named, func(n string) bool { return !free[n] }) &&
			!slices.ContainsFunc(o.ports(named), func(r string) bool { return busy[r] })
	}
	ended := sort.Search(len(weak), func(i int) bool { _, ok := try(i); return ok }) // as few as will do
	nodes, ok := try(ended)
	if !ok {
		return nil, nil
	}
	ports := o.ports(nodes)
	for _, w := range weak[:ended] {
		own := o.own[w.ID]
		if meet(own, nodes) || meet(o.ports(own), ports) {
			victims = append(victims, w)
		}
	}
	return nodes, victims
}

// meet reports whether two lists share an element.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
