package hostagent

import (
	"math"
	"time"

	"lightloom/southbound"
)

// settle gives a host flow what the rates in force grant it, and begins to send where that is new.
func (a *Agent) settle(b *hostFlow, now time.Duration) {
	if !b.toSend {
		return
	}
	if b.tag != b.lineTag && b.tag != southbound.TagHold {
		net := a.net()
		b.line, b.lineTag = payload(net.line(b.src, b.dst, b.tag)), b.tag
		b.circuit = net.isCircuit(b.src, b.tag)
	}
	line := b.line
	if b.cap > 0 && (line <= 0 || b.cap < line) {
		line = b.cap
	}
	b.granted = a.rates.grant(b.key, class{b.src, b.dst, b.tag}, b.circuit, float64(b.left), now, line)
	a.pass(b, b.granted.rate)
}

// pass hands a rate to a host flow's sender, making it first if there is something to send.
func (a *Agent) pass(b *hostFlow, rate float64) {
	w := want{rate: rate, fair: b.granted.fair, prio: b.granted.prio, tag: b.tag,
		circuit: b.circuit && b.tag != southbound.TagHold}
	switch {
	case b.out != nil && w == b.passed:
		return
	case b.out != nil:
		b.passed = w
		b.out.set(w)
	case rate > 0 && !a.closed:
		s := newSender(a, b, w)
		b.out, b.passed = s, w
		a.active = append(a.active, b)
		a.done.Go(s.run)
	}
}

// tick reads backlogs and derives paces anew until the agent ends.
func (a *Agent) tick() {
	t := time.NewTicker(a.cfg.Tick)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.onTick()
		case <-a.ctx.Done():
			return
		}
	}
}

func (a *Agent) onTick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.table.reading++
	now := a.cfg.Now()
	a.table.readAt = now
	kept := a.active[:0]
	for _, b := range a.active {
		if !b.toSend {
			continue
		}
		kept = append(kept, b)
		before := b.left
		a.read(a.table.live[b.key.Coflow], b)
		b.out.observe(float64(before-b.left) / a.cfg.Tick.Seconds())
		a.show(now, b)
		if b.granted.until > 0 {
			a.repace(b, now)
		}
	}
	clear(a.active[len(kept):])
	a.active = kept
}

// repace lets a pace follow what is left: a host flow that lags sends faster, one that leads slower.
func (a *Agent) repace(b *hostFlow, now time.Duration) {
	rate := b.granted.follow(float64(b.left), now)
	if b.cap > 0 {
		rate = min(rate, b.cap)
	}
	if was := b.passed.rate; rate > 0 && math.Abs(rate-was) > 0.01*was {
		a.pass(b, rate)
	}
}

// read takes a host flow's backlog from its socket.
func (a *Agent) read(c *coflow, b *hostFlow) {
	if b.out == nil || b.left == 0 {
		return
	}
	if left, ok := b.out.left(); ok {
		a.table.move(c, b, left)
	}
}

// show tells who watches what a host flow has left.
func (a *Agent) show(now time.Duration, b *hostFlow) {
	if a.cfg.Watch != nil {
		a.cfg.Watch.Left(now, HostFlowLeft{b.key, b.src, b.dst, b.tag, b.size, b.left})
	}
}

// retired tells who watches what a connection has met.
func (a *Agent) retired(b *hostFlow, n Carried) {
	if a.cfg.Watch == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cfg.Watch.Retired(b.key, n)
}

// sent records that a receiver has acknowledged the last byte.
func (a *Agent) sent(b *hostFlow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.table.live[b.key.Coflow]; c != nil && b.toSend {
		a.table.move(c, b, 0)
		a.table.sent(b)
	}
}

// taken records that a receiver here has the last byte, which is the end of a host flow.
func (a *Agent) taken(b *hostFlow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.table.live[b.key.Coflow]
	if c == nil || !b.toTake {
		return
	}
	a.events.add(southbound.Event{At: a.cfg.Now(), Kind: southbound.HostFlowEnded,
		HostFlowKey: b.key, Host: b.dst})
	a.stats.ended.Add(1)
	a.table.move(c, b, 0)
	a.show(a.cfg.Now(), b)
	a.table.taken(b)
}
