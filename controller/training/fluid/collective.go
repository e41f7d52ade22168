package fluid

import (
	"lightloom/controller/training"
	"lightloom/controller/training/schedule"
	"lightloom/pathmap"
)

// plan is a schedule with what is looked up while it runs. Collectives of one kind and size share it.
type plan struct {
	*schedule.Schedule
	from, to list    // by rank: its messages
	then     list    // by message: those that wait for it
	next     []int32 // by message: the one after it from the same rank to the same rank, which waits until it is sent; -1
	queued   []bool  // by message: there is one before it
}

// list is rows of ids, one after the other.
type list struct{ ids, ends []int32 }

func (l *list) row(i int32) []int32 {
	from := int32(0)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.ids[from:l.ends[i]]
}

// newList returns rows of the ids that each calls put with, in order.
func newList(rows int, each func(put func(row, id int32))) list {
	l := list{ends: make([]int32, rows)}
	each(func(row, _ int32) { l.ends[row]++ })
	sum := int32(0)
	for i, n := range l.ends {
		l.ends[i], sum = sum, sum+n
	}
	l.ids = make([]int32, sum)
	each(func(row, id int32) {
		l.ids[l.ends[row]] = id
		l.ends[row]++
	})
	return l
}

func newPlan(s *schedule.Schedule) *plan {
	p := &plan{Schedule: s}
	p.from = newList(s.Ranks, func(put func(row, id int32)) {
		for i := range s.Messages {
			put(s.Messages[i].From, int32(i))
		}
	})
	p.to = newList(s.Ranks, func(put func(row, id int32)) {
		for i := range s.Messages {
			put(s.Messages[i].To, int32(i))
		}
	})
	p.then = newList(len(s.Messages), func(put func(row, id int32)) {
		for i := range s.Messages {
			for _, a := range s.After(i) {
				put(a, int32(i))
			}
		}
	})
	p.line()
	return p
}

// line puts the messages between the same two ranks one after the other: they share a channel.
func (p *plan) line() {
	p.next, p.queued = make([]int32, len(p.Messages)), make([]bool, len(p.Messages))
	last := make([]int32, p.Ranks) // by receiver: 1 + the last message to it
	for r := range p.Ranks {
		for _, m := range p.from.row(int32(r)) {
			p.next[m] = -1
			to := p.Messages[m].To
			if before := last[to]; before > 0 {
				p.next[before-1], p.queued[m] = m, true
			}
			last[to] = m + 1
		}
		clear(last)
	}
}

// planOf identifies plans.
type planOf struct {
	op    training.Op
	ranks int
	bytes pathmap.Bytes
	skew  int32
	back  bool
}

func planFor(w *training.Workload, n *training.Node) planOf {
	return planOf{n.Op, len(w.Groups[n.Group].Ranks), n.Bytes, n.Skew, n.Combine}
}

// request is what a schedule is wanted for, without shares.
func (k planOf) request(o *Options) schedule.Request {
	return schedule.Request{Op: k.op, Method: o.Methods[k.op], Ranks: k.ranks, Bytes: k.bytes, Server: o.Server}
}

// plan returns the plan of a collective.
func (r *run) plan(n *training.Node) (*plan, error) {
	k := planFor(r.work, n)
	if p := r.plans[k]; p != nil {
		return p, nil
	}
	q := k.request(&r.options)
	if n.Skew > 0 {
		q.Shares, q.Return = r.work.Skews[n.Skew-1], n.Combine
	}
	s, err := schedule.New(q)
	if err != nil {
		return nil, err
	}
	p := newPlan(s)
	r.plans[k] = p
	return p, nil
}

// instance is one collective that runs, or one message between two ranks.
type instance struct {
	*plan
	group  []int32
	waits  []int32 // by message: for how many it waits; -1: it has begun
	left   []int32 // by place: messages to send and to receive
	node   []int32 // by place: its node; -1 before it has joined
	joined int
	ended  int
	eager  bool // messages do not wait for their receivers
}

// key tells which collective of its communicator a node belongs to.
type key struct {
	group   int32
	op      training.Op
	ordinal int32
}

func newInstance(p *plan, group []int32) *instance {
	x := &instance{plan: p, group: group, waits: make([]int32, len(p.Messages)), left: make([]int32, len(group)),
		node: make([]int32, len(group))}
	for i := range x.waits {
		x.waits[i] = int32(len(p.After(i)))
		if p.queued[i] {
			x.waits[i]++
		}
	}
	for i := range x.node {
		x.node[i] = -1
		if len(p.Messages) > 0 {
			x.left[i] = int32(len(p.from.row(int32(i))) + len(p.to.row(int32(i))))
		}
	}
	return x
}

// join has a rank take part in an instance, from its node on.
func (r *run) join(id int32, place, node int32) {
	x := r.instances[id]
	x.node[place] = node
	x.joined++
	if len(x.Messages) == 0 {
		if x.joined == len(x.group) {
			for p := range x.group {
				r.leave(id, int32(p))
			}
		}
		return
	}
	if x.left[place] == 0 {
		r.leave(id, place)
		return
	}
	for _, m := range x.from.row(place) {
		r.start(id, m)
	}
	for _, m := range x.to.row(place) {
		r.start(id, m)
	}
}

// start begins a message if it waits for nothing.
func (r *run) start(id, m int32) {
	x := r.instances[id]
	msg := &x.Messages[m]
	if x.waits[m] != 0 || x.node[msg.From] < 0 || x.node[msg.To] < 0 && !x.eager {
		return
	}
	x.waits[m] = -1
	from, to := x.group[msg.From], x.group[msg.To]
	if msg.Bytes == 0 {
		r.sent(flow{instance: id, message: m})
		return
	}
	r.links.add(from, to, msg.Bytes, id, m)
}

// done counts a message of a rank, which leaves the collective after its last.
func (r *run) done(id, place int32) {
	x := r.instances[id]
	if x.left[place]--; x.left[place] == 0 && x.node[place] >= 0 {
		r.leave(id, place)
	}
}

// arrived ends a message at its receiver, and begins those that waited for it.
func (r *run) arrived(id, m int32) {
	x := r.instances[id]
	for _, c := range x.then.row(m) {
		x.waits[c]--
		r.start(id, c)
	}
	r.done(id, x.Messages[m].To)
}

// leave ends a rank's part.
func (r *run) leave(id, place int32) {
	x := r.instances[id]
	rank, node := x.group[place], x.node[place]
	if x.ended++; x.ended == len(x.group) {
		r.instances[id] = nil
		r.spare = append(r.spare, id)
	}
	r.ranks[rank].end(node)
}

// instanceOf finds the instance of a node, or makes it.
func (r *run) instanceOf(k key, n *training.Node) (int32, error) {
	if id, ok := r.byKey[k]; ok {
		return id, nil
	}
	p, err := r.plan(n)
	if err != nil {
		return 0, err
	}
	id := r.add(newInstance(p, r.work.Groups[n.Group].Ranks))
	r.byKey[k] = id
	return id, nil
}

func (r *run) add(x *instance) int32 {
	if n := len(r.spare); n > 0 {
		id := r.spare[n-1]
		r.spare = r.spare[:n-1]
		r.instances[id] = x
		return id
	}
	r.instances = append(r.instances, x)
	return int32(len(r.instances) - 1)
}

// pairOf tells which message between two ranks a node belongs to.
type pairOf struct{ from, to, tag, ordinal int32 }

// messageOf finds the message of a node that sends or receives, or makes it.
func (r *run) messageOf(k pairOf, n *training.Node) int32 {
	if id, ok := r.byPair[k]; ok {
		return id
	}
	p := r.messages[n.Bytes]
	if p == nil {
		p = newPlan(schedule.Single(n.Bytes))
		r.messages[n.Bytes] = p
	}
	x := newInstance(p, []int32{k.from, k.to})
	x.eager = true
	id := r.add(x)
	r.byPair[k] = id
	return id
}
