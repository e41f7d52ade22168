package anneal

import (
	"math"

	"lightloom/pathmap"
)

// trial is a path on which a flow is tried: what all flows are worth if it goes there is found without telling the
// objective, since mostly it goes nowhere. It counts as work, and leaves on links, what going there and back does.
type trial struct {
	flow  int32
	links []triedLink
	held  []heldFlow // by link of the path: flows that it holds back
	ends  [hostHops]int64

	low    []int64 // by group: the least rate of a pair of tasks that has become less; unlimited: none has
	groups []int32 // those
	worst  []int64 // by sinks: the least rate that has become less; unlimited: none has
	sinks  []int32 // those
	work   int64   // before
}

// triedLink is a link as it was before the trial.
type triedLink struct {
	link
	place   int32
	held    int   // where its flows begin
	highest int64 // of all rates on it, before; below zero: not known
}

// heldFlow is a flow and the rate that it had.
type heldFlow struct {
	flow int32
	rate int64
}

// absent has the objective forget a flow until it gets its rate.
func (n *network) absent(f int32) {
	if fl := &n.flows[f]; fl.each != math.MaxInt64 {
		n.changed(fl.group, fl.place, fl.each, math.MaxInt64)
		fl.each = math.MaxInt64
	}
}

// try returns the utility with a flow on a path, which is on the links of its hosts alone and absent. The utility is
// up to date before. The trial ends with leave or cancel.
func (n *network) try(f int32, path []pathmap.LinkID) int64 {
	t := &n.trial
	t.flow, t.links, t.held, t.work = f, t.links[:0], t.held[:0], n.work
	rate := n.bottleneck(f)
	for _, id := range path {
		l := n.at(id)
		k := &n.links[l]
		t.links = append(t.links, triedLink{*k, l, len(t.held), -1})
		k.share, k.next = k.next, k.capacity/int64(n.lists[l].len+2)
		n.work++
		if k.most > k.share {
			t.links[len(t.links)-1].highest = n.squeeze(l)
		}
		rate = min(rate, k.share)
	}
	for i, h := range n.hopsOf(f) {
		k := &n.links[h.link]
		t.ends[i] = k.most
		k.most = max(k.most, rate)
	}
	for i := range t.links {
		k := &n.links[t.links[i].place]
		k.most = max(k.most, rate)
	}
	return n.worth(rate)
}

// squeeze is hold without telling the objective. It returns the largest rate there was.
func (n *network) squeeze(l int32) int64 {
	on, k, rates, t := n.flowsOn(l), &n.links[l], n.rate, &n.trial
	n.work += int64(len(on))
	most := int64(0)
	for _, o := range on {
		rate := rates[o.flow]
		if most = max(most, rate); rate > k.share {
			t.held = append(t.held, heldFlow{o.flow, rate})
			rates[o.flow] = k.share
		}
	}
	k.most = min(most, k.share)
	return most
}

// worth is the utility with the rates of the trial.
func (n *network) worth(rate int64) int64 {
	t := &n.trial
	for len(t.low) < len(n.groups) {
		t.low = append(t.low, unlimited)
	}
	for len(t.worst) < len(n.objective.sinks) {
		t.worst = append(t.worst, unlimited)
	}
	n.lessen(t.flow, rate)
	for i := range t.held {
		f := t.held[i].flow
		n.lessen(f, n.rate[f])
	}
	for _, g := range t.groups {
		gr, low := &n.groups[g], t.low[g]
		t.low[g] = unlimited
		if gr.sinks >= 0 {
			t.limit(gr.sinks, low)
			continue
		}
		for i := range n.jobs[gr.job].stages {
			if st := &n.jobs[gr.job].stages[i]; st.has(g) {
				for _, k := range st.at {
					t.limit(k, low)
				}
			}
		}
	}
	sum := n.utility
	for _, k := range t.sinks {
		s := &n.objective.sinks[k]
		if s.count > 0 {
			stage := &n.jobs[n.groups[s.group].job].stages[s.stage]
			sum += int64(s.count)*min(t.worst[k], n.upstream(stage), s.local, n.least(s.group)) - s.value
		}
		t.worst[k] = unlimited
	}
	t.groups, t.sinks = t.groups[:0], t.sinks[:0]
	return sum
}

const unlimited = int64(math.MaxInt64)

// lessen notes that a flow has no more than a rate.
func (n *network) lessen(f int32, rate int64) {
	t, fl := &n.trial, &n.flows[f]
	if t.low[fl.group] == unlimited {
		t.groups = append(t.groups, fl.group)
	}
	t.low[fl.group] = min(t.low[fl.group], n.eachOf(fl, rate))
}

// limit notes that sinks have no more than a rate.
func (t *trial) limit(k int32, rate int64) {
	if t.worst[k] == unlimited {
		t.sinks = append(t.sinks, k)
	}
	t.worst[k] = min(t.worst[k], rate)
}

// leave takes the flow off the path again.
func (n *network) leave() {
	t := &n.trial
	for i := len(t.links) - 1; i >= 0; i-- {
		was := &t.links[i]
		k := &n.links[was.place]
		before, most := k.share, k.most
		for _, x := range t.held[was.held:] {
			n.raise(x.flow, x.rate) // on links that come later, too, which have seen less of it
		}
		n.restore(was.held)
		k.share, k.next = was.share, was.next
		n.work++
		if k.share == before || most < before {
			continue
		}
		on := n.flowsOn(was.place)
		n.work += int64(len(on))
		if k.most = was.highest; k.most >= 0 {
			continue
		}
		k.most = 0
		for _, o := range on {
			k.most = max(k.most, n.rate[o.flow])
		}
	}
}

// cancel has all be as if there had been no trial.
func (n *network) cancel() {
	t := &n.trial
	n.restore(0)
	for i := len(t.links) - 1; i >= 0; i-- {
		n.links[t.links[i].place] = t.links[i].link
	}
	for i, h := range n.hopsOf(t.flow) {
		n.links[h.link].most = t.ends[i]
	}
	n.work = t.work
}

// restore gives flows back the rates that they had, from the last to one of those held.
func (n *network) restore(to int) {
	t := &n.trial
	for i := len(t.held) - 1; i >= to; i-- {
		n.rate[t.held[i].flow] = t.held[i].rate
	}
	t.held = t.held[:to]
}
