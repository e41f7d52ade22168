package astrasim

// channel is messages that only their order tells apart: the nth sent meets the nth received.
type channel struct {
	tag      int64
	from, to int32
	size     int64
}

// waiting is what a channel's messages still wait for.
type pending struct {
	sent, received int // how many of each there were
	meetings       map[int]*meeting
}

// meeting is one message: what is to be called at its arrival.
type meeting struct {
	received func() // nil until the receiver waits for it
	arrived  bool
}

// collectiveTags begin the tags of messages of collectives; below are those of nodes that send.
const collectiveTags = 500_000_000

// post is where messages meet those who wait for them.
type post struct {
	q        *queue
	net      transport
	channels map[channel]*pending
}

func (p *post) channel(c channel) *pending {
	w := p.channels[c]
	if w == nil {
		w = &pending{meetings: map[int]*meeting{}}
		p.channels[c] = w
	}
	return w
}

func (w *pending) meeting(n int) *meeting {
	m := w.meetings[n]
	if m == nil {
		m = &meeting{}
		w.meetings[n] = m
	}
	return m
}

// send sends a message. sent, which may be nil, is called when it has arrived, before the receiver is told.
func (p *post) send(c channel, sent func()) {
	w := p.channel(c)
	n := w.sent
	w.sent++
	m := w.meeting(n)
	p.net.send(c.from, c.to, c.size, func() {
		if sent != nil {
			sent()
		}
		if m.received == nil {
			m.arrived = true
			return
		}
		delete(w.meetings, n)
		m.received()
	})
}

// receive has received called when the next message of a channel has arrived. If it has already, that is the last
// thing to happen in this instant.
func (p *post) receive(c channel, received func()) {
	w := p.channel(c)
	n := w.received
	w.received++
	m := w.meeting(n)
	if m.arrived {
		delete(w.meetings, n)
		p.q.at(p.q.now, received)
		return
	}
	m.received = received
}
