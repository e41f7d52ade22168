package place

import (
	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/pathmap"
)

// What ShuffleWatcher and NEAT ask beside the receiving machine: where the senders of a task ran, where
// others of its job receive, and what the links on the way have still to carry.

// sending fills in what a rule asks of a job's senders.
func (k *Packer) sending(v *controller.View, w *work, j *pushbox.Job, stages []int) {
	if k.Rule != pushbox.ShuffleWatcher && k.Rule != pushbox.NEAT {
		return
	}
	ran := map[int][]pushbox.Output{} // by sending stage: tasks by machine
	for i, s := range stages {
		j.Stages[i].Sends = w.sends(s)
		j.Stages[i].Outputs = func() []pushbox.Output { return k.outputs(v, w, s, ran) }
	}
	j.Receivers = func() []int {
		n := make([]int, len(v.Fabric.HostRack))
		for s := range w.open {
			for t := w.first[s]; t < w.first[s+1] && w.receiver[s] && w.hosts != nil; t++ {
				if h := w.hosts[t]; h != controller.NoHost {
					n[h]++
				}
			}
		}
		return n
	}
}

// sends reports whether others of the job receive what the tasks of a stage make.
func (w *work) sends(stage int) bool {
	for i := range w.job.Edges {
		if e := &w.job.Edges[i]; e.Kind != controller.Fixed && e.From == stage {
			return true
		}
	}
	return false
}

// outputs is where the input of a stage is, as estimated: each sender has made an equal part.
func (k *Packer) outputs(v *controller.View, w *work, stage int, ran map[int][]pushbox.Output) []pushbox.Output {
	var out []pushbox.Output
	for i := range w.job.Edges {
		e := &w.job.Edges[i]
		if e.Kind == controller.Fixed || e.To != stage {
			continue
		}
		if _, known := ran[e.From]; !known {
			ran[e.From] = w.ran(v, e.From)
		}
		each := float64(e.Bytes) * k.off(v, w.job, i) / float64(w.size(e.From))
		for _, x := range ran[e.From] {
			out = append(out, pushbox.Output{Machine: x.Machine, Bytes: x.Bytes * each})
		}
	}
	return out
}

// ran counts the tasks of a stage by the machine on which they ran or run, a byte each.
func (w *work) ran(v *controller.View, stage int) []pushbox.Output {
	if w.hosts == nil {
		return nil
	}
	n := make([]int, len(v.Fabric.HostRack))
	for _, h := range w.hosts[w.first[stage]:w.first[stage+1]] {
		if h != controller.NoHost {
			n[h]++
		}
	}
	var out []pushbox.Output
	for h, tasks := range n {
		if tasks > 0 {
			out = append(out, pushbox.Output{Machine: h, Bytes: float64(tasks)})
		}
	}
	return out
}

// links are the links of a fabric to the packet network, with what the started coflows of a view have
// left to send over them. What stays on a host passes none.
func (k *Packer) links(v *controller.View, sizes map[controller.JobID]*graph) pushbox.Links {
	l := k.idle(v)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started {
			continue
		}
		g, size := sizes[c.Job], 0.0
		if g != nil && !c.Block {
			size = g.of[c.Edge]
		}
		for r, dst := range c.Dst {
			src := c.Src[r]
			if c.Ended[r] || src == dst {
				continue
			}
			if g == nil || c.Block {
				size = float64(c.Size[r])
			}
			x := pushbox.Inflow{Coflow: size, Left: c.Remaining.Row(int32(r))}
			l.Up[src].Add(k.Network, x)
			l.Down[dst].Add(k.Network, x)
			if from, to := v.HostRack(src), v.HostRack(dst); from != to {
				l.RackUp[from].Add(k.Network, x)
				l.RackDown[to].Add(k.Network, x)
			}
		}
	}
	return l
}

// idle are links that carry nothing.
func (k *Packer) idle(v *controller.View) pushbox.Links {
	hosts := len(v.Fabric.HostRack)
	l := pushbox.Links{Up: make([]pushbox.Link, hosts), Down: make([]pushbox.Link, hosts),
		RackUp: make([]pushbox.Link, v.Fabric.Racks), RackDown: make([]pushbox.Link, v.Fabric.Racks)}
	for h := range hosts {
		l.Up[h].Rate = pushbox.Line(v.Fabric.Spec.NIC)
		l.Down[h].Rate = l.Up[h].Rate
	}
	for r, links := range uplinks(v) {
		up, down := pathmap.BitsPerSecond(1), pathmap.BitsPerSecond(1) // a rack without links is the last to be chosen
		for _, id := range links {
			up += v.Fabric.Topology.Link(id).Capacity
			down += v.Fabric.Topology.Link(pathmap.Reverse(id)).Capacity
		}
		l.RackUp[r].Rate, l.RackDown[r].Rate = pushbox.Line(up), pushbox.Line(down)
	}
	return l
}
