package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Nodes are Slurm's nodes and partitions.
type Nodes struct {
	all        []string
	state      map[string]nodeState
	partitions map[string]*partition
}

// nodeState is a node's, as far as jobs that wait for it are concerned. Several together are a set.
type nodeState int

// The states in which a node can be given to a job, now or soon. All others are no state here: it is down or draining,
// reserved, in maintenance, does not answer or has no power.
const (
	idle       nodeState = 1 << iota
	completing           // nothing runs on it any more, and what its jobs left is still being ended
	planned              // backfill means to start a job there
	allocated            // jobs run on it
)

var states = map[string]nodeState{"idle": idle, "comp": completing, "plnd": planned, "mix-": planned,
	"alloc": allocated, "alloc+": allocated, "mix": allocated}

// partition is one of Slurm's. Jobs of a higher tier go first, and can end those of lower ones.
type partition struct {
	nodes  map[string]bool // nil: all
	starts bool            // jobs that wait in it
	tier   int
	mode   string // what becomes of its jobs when others end them
}

// The modes in which a job gives its nodes back. One that is suspended keeps them, and its circuits.
const (
	modeRequeue = "REQUEUE"
	modeCancel  = "CANCEL"
)

// ParseNodes reads lines of a node, its state, and the state, tier, preemption mode and name of one of its partitions,
// as sinfo prints them for --format=NodesFormat.
func ParseNodes(text string) (Nodes, error) {
	n := Nodes{state: map[string]nodeState{}, partitions: map[string]*partition{}}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 6 {
			return n, fmt.Errorf("read nodes of Slurm: %q is no node and its state, and a partition's state, tier, "+
				"preemption mode and name", line)
		}
		tier, err := strconv.Atoi(f[3])
		if err != nil {
			return n, fmt.Errorf("read nodes of Slurm: tier of partition %s: %w", f[5], err)
		}
		p := n.partitions[f[5]]
		if p == nil {
			mode := f[4][strings.LastIndex(f[4], ",")+1:] // GANG and WITHIN may stand before it
			p = &partition{map[string]bool{}, f[2] == "up" || f[2] == "drain", tier, mode}
			n.partitions[f[5]] = p
		}
		p.nodes[f[0]] = true
		n.state[f[0]] = states[f[1]]
		n.all = append(n.all, f[0])
	}
	slices.Sort(n.all)
	n.all = slices.Compact(n.all)
	return n, nil
}

// NodesFormat is what sinfo --Node is asked for.
const NodesFormat = "%N %t %a %p %M %R"

// has reports whether a node is one of the partition's.
func (p *partition) has(node string) bool { return p.nodes == nil || p.nodes[node] }

// preemptable reports whether jobs of a partition can end for those of a higher tier.
func (p *partition) preemptable() bool { return p.mode == modeRequeue || p.mode == modeCancel }

// mayPreempt reports whether jobs of some partition could end jobs of another.
func (n *Nodes) mayPreempt() bool {
	for _, p := range n.partitions {
		for _, q := range n.partitions {
			if q.tier < p.tier && q.preemptable() {
				return true
			}
		}
	}
	return false
}

// of are a job's partitions, the highest tier first. A job whose partitions are not known may be anywhere.
func (n *Nodes) of(j *Job) (out []*partition) {
	for _, name := range j.Partitions {
		if p := n.partitions[name]; p != nil {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(p, q *partition) int { return cmp.Compare(q.tier, p.tier) })
	if len(out) == 0 {
		out = append(out, &partition{starts: true})
	}
	return out
}

// startable are the partitions of a job that start jobs.
func (n *Nodes) startable(j *Job) []*partition {
	return slices.DeleteFunc(n.of(j), func(p *partition) bool { return !p.starts })
}

// tier is the highest in which a job can start.
func (n *Nodes) tier(j *Job) int {
	for _, p := range n.startable(j) {
		return p.tier
	}
	return 0
}

// has reports whether a job's partitions have a node.
func (n *Nodes) has(j *Job, node string) bool {
	return slices.ContainsFunc(n.of(j), func(p *partition) bool { return p.has(node) })
}

// offer is what jobs can have.
type offer struct {
	network  Network
	nodes    Nodes
	rack     map[string]string // of the fabric's hosts
	own      map[int][]string  // nodes of slices or kept for one, by job; those of others have numbers below zero
	leaving  map[int]bool      // jobs that are over, or have just been ended: what they have comes free
	running  []*Job
	preempts bool // jobs of higher tiers end those of lower ones
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

// candidates returns the running jobs that Slurm would end for one in a partition: those of the lowest tier, and of it
// the youngest, first.
func (o *offer) candidates(p *partition) (out []*Job) {
	if !o.preempts {
		return nil
	}
	tiers := map[int]int{}
	for _, r := range o.running {
		if of := o.nodes.of(r); len(of) == 1 && of[0].preemptable() && of[0].tier < p.tier && !o.leaving[r.ID] {
			out = append(out, r)
			tiers[r.ID] = of[0].tier
		}
	}
	slices.SortFunc(out, func(x, y *Job) int {
		return cmp.Or(cmp.Compare(tiers[x.ID], tiers[y.ID]), cmp.Compare(y.ID, x.ID))
	})
	return out
}

// room returns the nodes that a job can have in a partition where these others are ended, and the racks whose ports it
// cannot have. Nodes of these states are free but for jobs that run there. With completing ones, it can have what is
// leaving, too.
func (o *offer) room(j *Job, p *partition, ended []*Job, usable nodeState) (free, busy map[string]bool) {
	free, busy = map[string]bool{}, map[string]bool{}
	for _, n := range o.nodes.all {
		if o.nodes.state[n]&usable != 0 {
			free[n] = true
		}
	}
	over := map[int]bool{j.ID: true}
	for _, r := range ended {
		over[r.ID] = true
	}
	gone := func(id int) bool { return over[id] || usable&completing != 0 && o.leaving[id] }
	for _, r := range o.running {
		for _, n := range r.Nodes {
			if gone(r.ID) && o.nodes.state[n] == allocated {
				free[n] = true
			}
		}
	}
	for _, r := range o.running {
		for _, n := range r.Nodes {
			if !gone(r.ID) && o.nodes.state[n] != completing { // else it has ended since it was listed
				delete(free, n)
			}
		}
	}
	for id, nodes := range o.own {
		if gone(id) {
			continue
		}
		for _, n := range nodes {
			delete(free, n)
		}
		for _, r := range o.ports(nodes) {
			busy[r] = true
		}
	}
	for n := range free {
		if !p.has(n) {
			delete(free, n)
		}
	}
	return free, busy
}

// fits reports whether a job can have all of these nodes, and their ports.
func (o *offer) fits(nodes []string, free, busy map[string]bool) bool {
	return !slices.ContainsFunc(nodes, func(n string) bool { return !free[n] }) &&
		!slices.ContainsFunc(o.ports(nodes), func(r string) bool { return busy[r] })
}

// ready reports whether a job that has circuits between these nodes will start there: what else runs on them, Slurm
// ends for it, and what it has ended is over soon.
func (o *offer) ready(j *Job, nodes []string) bool {
	return slices.ContainsFunc(o.nodes.startable(j), func(p *partition) bool {
		free, _ := o.room(j, p, o.candidates(p), idle|completing|planned)
		return o.fits(nodes, free, nil)
	})
}

// pick returns nodes for a job in a partition once these others have ended.
func (o *offer) pick(j *Job, p *partition, named []string, ended []*Job, usable nodeState) ([]string, bool) {
	free, busy := o.room(j, p, ended, usable)
	if named == nil {
		return Choose(&o.network, free, busy, j.Count)
	}
	return named, o.fits(named, free, busy)
}

// choose returns nodes for a job, and whether it can have them now. Else they are to be kept for it until they come
// free, once these others have been ended, which are of lower tiers and have circuits there. Those without circuits
// Slurm ends itself as it starts the job. No job ends where waiting for what is completing does. Named nodes are the
// only ones that it can have.
func (o *offer) choose(j *Job, named []string, preempt bool) (nodes []string, preempted []*Job, now bool) {
	parts := o.nodes.startable(j)
	for _, usable := range []nodeState{idle, idle | completing} {
		for _, p := range parts {
			if nodes, ok := o.pick(j, p, named, nil, usable); ok {
				return nodes, nil, usable == idle
			}
		}
	}
	for _, p := range parts {
		ended := o.needed(j, p, named)
		if !preempt || len(ended) == 0 {
			continue
		}
		nodes, _ := o.pick(j, p, named, ended, idle|completing)
		ports := o.ports(nodes)
		for _, e := range ended {
			if own := o.own[e.ID]; meet(own, nodes) || meet(o.ports(own), ports) {
				preempted = append(preempted, e)
			}
		}
		free, busy := o.room(j, p, ended, idle)
		return nodes, preempted, len(preempted) == 0 && o.fits(nodes, free, busy)
	}
	return nil, nil, false
}

// needed returns jobs of lower tiers of which none can stay if a job is to have nodes, the lowest and youngest first;
// none where even all are not enough.
func (o *offer) needed(j *Job, p *partition, named []string) []*Job {
	all := o.candidates(p)
	enough := func(ended []*Job) bool { _, ok := o.pick(j, p, named, ended, idle|completing); return ok }
	n := sort.Search(len(all)+1, func(i int) bool { return enough(all[:i]) })
	if n > len(all) {
		return nil
	}
	out := slices.Clone(all[:n])
	for i := n - 2; i >= 0; i-- { // without the last, the rest is not enough
		if without := slices.Delete(slices.Clone(out), i, i+1); enough(without) {
			out = without
		}
	}
	return out
}

// meet reports whether two lists share an element.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
