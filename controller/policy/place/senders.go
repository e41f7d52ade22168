package place

import (
	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/pathmap"
)

// What ShuffleWatcher and NEAT ask beside the receiving machine: where the senders of a task ran, where
// others of its job receive, and what the links on the way have still to carry.

// senders is what a rule asks of a job's senders and receivers.
type senders struct {
	outputs   []func() []pushbox.Output // by stage
	receivers func() []int
	ran       map[int][]pushbox.Output // by sending stage: tasks by machine, in the decision of that number
	asked     int
}

// sending fills in what a rule asks of a job's senders.
func (k *Packer) sending(w *work, j *pushbox.Job, stages []int) {
	if k.Rule != pushbox.ShuffleWatcher && k.Rule != pushbox.NEAT {
		return
	}
	if w.senders == nil {
		w.senders = k.newSenders(w)
	}
	for i, s := range stages {
		j.Stages[i].Outputs = w.senders.outputs[s]
	}
	j.Receivers = w.senders.receivers
}

// newSenders answers for a job in whatever decision asks.
func (k *Packer) newSenders(w *work) *senders {
	x := &senders{receivers: func() []int { return w.receiversBy(len(k.view.Fabric.HostRack)) }}
	for s := range w.open {
		x.outputs = append(x.outputs, func() []pushbox.Output {
			if x.asked != k.asked {
				x.asked, x.ran = k.asked, map[int][]pushbox.Output{}
			}
			return k.outputs(k.view, w, s, x.ran)
		})
	}
	return x
}

// receiversBy counts, by machine, tasks that receive and have or had a slot.
func (w *work) receiversBy(machines int) []int {
	n := make([]int, machines)
	for s := range w.open {
		for t := w.first[s]; t < w.first[s+1] && w.receiver[s] && w.hosts != nil; t++ {
			if h := w.hosts[t]; h != controller.NoHost {
				n[h]++
			}
		}
	}
	return n
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
func (k *Packer) links(v *controller.View, y *slotAllocator) pushbox.Links {
	l := k.idle(v)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started {
			continue
		}
		w, size := y.workOf(c.Job), 0.0
		if w != nil && !c.Block {
			size = w.graph.of[c.Edge]
		}
		for r, dst := range c.Dst {
			src := c.Src[r]
			if c.Ended[r] || src == dst {
				continue
			}
			if w == nil || c.Block {
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
