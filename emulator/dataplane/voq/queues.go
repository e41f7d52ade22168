package voq

import (
	"sync/atomic"

	"lightloom/southbound"
)

// Verdict is what became of a frame that was to pass.
type Verdict uint8

// The verdicts.
const (
	Sent Verdict = iota
	Held         // its circuit is dark: it stays, and so does what is behind it
	Full         // the link takes no more now
	Lost         // no rule leads it anywhere, or its link is gone
)

// Gate is the switch that packets are queued for. Its methods are called by the queues' only goroutine.
type Gate interface {
	// Pass calls send to send a frame out of the link that the current rules give. The rules and the light
	// must not change until send has returned, so that no queued frame is sent into the dark.
	Pass(f Frame, send func(link int) Verdict) Verdict
	// Queued returns how many packets the switch has sent here for a rack and Left has not reported yet.
	Queued(rack southbound.RackID) int
	// Left reports that n packets for a rack have left the queue. Once none waits, packets bypass the
	// queue again.
	Left(rack southbound.RackID, n int)
}

// Count is what became of packets for one destination rack so far. A large segment is one of Frames.
type Count struct {
	Frames  uint64 `json:"frames"`  // that were queued
	Packets uint64 `json:"packets"` // of these, as they are on a cable
	Dropped uint64 `json:"dropped"` // packets that found the queue full, or were lost on the way here
	Bytes   int64  `json:"bytes"`   // that wait now
	Most    int64  `json:"most"`    // that have waited at once
}

// counter is a Count that others read meanwhile.
type counter struct {
	frames, packets, dropped atomic.Uint64
	bytes, most              atomic.Int64
}

// voqs is the queues without the socket. It is the goroutine's alone, but for counts.
type voqs struct {
	gate   Gate
	queues []fifo
	counts []counter
	astray []int // by rack: packets that were missing when missing last looked
	turn   int   // the rack that is asked first
}

func newVOQs(gate Gate, racks, limit int) *voqs {
	l := &voqs{gate: gate, queues: make([]fifo, racks), counts: make([]counter, racks),
		astray: make([]int, racks)}
	for i := range l.queues {
		l.queues[i].limit = limit
	}
	return l
}

// take parks a frame, or drops it where its queue is full. What is no packet of the address plan did
// not come from the switch: the interface speaks for itself.
func (l *voqs) take(f Frame) {
	dst, _, _, ok := f.Route()
	if !ok || int(dst) >= len(l.queues) {
		return
	}
	c, q := &l.counts[dst], &l.queues[dst]
	if !q.push(f) {
		c.dropped.Add(uint64(f.Segments()))
		l.gate.Left(dst, 1)
		return
	}
	c.frames.Add(1)
	c.packets.Add(uint64(f.Segments()))
	c.note(q)
}

func (c *counter) note(q *fifo) {
	c.bytes.Store(int64(q.bytes))
	if int64(q.bytes) > c.most.Load() {
		c.most.Store(int64(q.bytes))
	}
}

// burst is how many frames of a queue go before the next queue has its turn.
const burst = 16

// flush sends what may go, queues in turn, until all are held or empty, the link is full, or each has
// had its turn.
func (l *voqs) flush(send func(Frame, int) Verdict) (sent, full bool) {
	for i := range l.queues {
		rack := (l.turn + i) % len(l.queues)
		n, stop := l.some(southbound.RackID(rack), send)
		sent = sent || n > 0
		if stop {
			l.turn = rack
			return sent, true
		}
	}
	l.turn = (l.turn + 1) % len(l.queues)
	return sent, false
}

// some sends up to burst frames of one queue, and returns how many have left it.
func (l *voqs) some(rack southbound.RackID, send func(Frame, int) Verdict) (n int, full bool) {
	q, c := &l.queues[rack], &l.counts[rack]
	for ; n < burst && q.len() > 0; n++ {
		f := q.first()
		switch l.gate.Pass(f, func(link int) Verdict { return send(f, link) }) {
		case Held:
			return n, false
		case Full:
			return n, true
		case Lost:
			c.dropped.Add(uint64(f.Segments()))
		}
		q.pop()
		c.note(q)
		l.gate.Left(rack, 1)
	}
	return n, false
}

// missing counts the packets of each rack that the switch has queued and that have not come, and
// reports whether there are any.
func (l *voqs) missing() (any bool) {
	for rack := range l.queues {
		l.astray[rack] = max(0, l.gate.Queued(southbound.RackID(rack))-l.queues[rack].len())
		any = any || l.astray[rack] > 0
	}
	return any
}

// writeOff gives up those that were missing and still are, so long after that the kernel must have
// dropped them on their way here: without, the queue would never be empty again.
func (l *voqs) writeOff() {
	for rack := range l.queues {
		n := min(l.astray[rack], l.gate.Queued(southbound.RackID(rack))-l.queues[rack].len())
		if n > 0 {
			l.counts[rack].dropped.Add(uint64(n))
			l.gate.Left(southbound.RackID(rack), n)
		}
	}
}

// read returns all counts, by rack.
func (l *voqs) read() []Count {
	out := make([]Count, len(l.counts))
	for i := range l.counts {
		c := &l.counts[i]
		out[i] = Count{Frames: c.frames.Load(), Packets: c.packets.Load(), Dropped: c.dropped.Load(),
			Bytes: c.bytes.Load(),
			Most:  c.most.Load()}
	}
	return out
}
