package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// reign is one leadership: the loop, what has come in for it, and its queues to devices and hosts.
type reign struct {
	w       *world
	seat    *seat
	term    uint64
	loop    *loop.Loop
	in      loop.Inputs
	through uint64
	claims  []opening
	callers map[southbound.DeviceID]*caller
	hosts   channel // calls
	events  channel
	ahead   time.Duration // of the simulator's clock
	flight  []byte        // on its way into the log
	busy    bool          // in the middle of a step
	wake    int           // number of the last wake-up that was planned
	over    bool
}

// opening is a device that may be written to once the loop has what was read back in that life.
type opening struct {
	c    *caller
	life int
}

// channel keeps messages in their order, however long each is under way.
type channel struct{ last time.Duration }

// under plans the arrival of the next message.
func (c *channel) under(w *world, f func()) {
	c.last = max(c.last, w.now()+w.faults.delay(w))
	w.sim.At(c.last, f)
}

func newReign(s *seat, term uint64) *reign {
	w, ctl := s.w, s.w.rolled()
	r := &reign{w: w, seat: s, term: term, callers: map[southbound.DeviceID]*caller{},
		loop: loop.New(w.fabric, loop.Config{Policy: w.policyOf(), Paths: w.paths, Seed: w.seed,
			Delta: ctl.Delta(w.fabric.Spec.Dark), ElephantThreshold: 1 << 20, Rollout: ctl.Options(0), Patience: time.Second,
			Verify: true})}
	r.ahead = max(s.skew, s.state.Live().At-w.now())
	for _, id := range w.sim.Devices() {
		r.callers[id] = &caller{r: r, id: id}
	}
	return r
}

func (r *reign) begin() {
	for _, id := range r.w.sim.Devices() {
		r.callers[id].claim()
		r.callers[id].watch()
	}
	r.w.agents.listen(r)
	r.plan(0)
}

// end is the moment in which the process learns that it leads no more.
func (r *reign) end(why string) {
	if !r.over {
		r.w.note("replica %d has heard that it leads no more in term %d: %s", r.seat.place, r.term, why)
	}
	r.over = true
}

// clock is the time as the replica's process has it.
// It begins at the last entry at least.
func (r *reign) clock() time.Duration { return r.w.now() + r.ahead }

// put adds an input.
func (r *reign) put(add func(in *loop.Inputs)) {
	add(&r.in)
	r.plan(r.w.upTo(200 * time.Microsecond))
}

// plan has the next step happen after a while.
func (r *reign) plan(d time.Duration) {
	r.wake++
	n := r.wake
	r.w.after(max(d, 0), func() {
		r.seat.do(func() {
			if n == r.wake {
				r.step()
			}
		})
	})
}

// step is what leader.lead does between two waits. At its points the process can be stopped or killed.
func (r *reign) step() {
	if r.over || r.busy {
		return
	}
	in, through := r.take()
	now := r.clock()
	entries, act, wake := r.loop.Step(r.seat.state, now, in)
	r.errors(act.Errs)
	r.busy = true
	r.at(stepped, func() {
		for i := range act.Urgent {
			r.set(&act.Urgent[i])
		}
		if len(entries) == 0 {
			r.act(act, through, now, wake)
			return
		}
		batch, err := state.Encode(entries)
		if err != nil {
			r.w.fail("encode entries: %v", err)
		}
		r.w.append(r, batch, func() {
			r.w.clients.answer(r)
			r.at(committed, func() { r.act(act, through, now, wake) })
		})
	})
}

// take empties what has come in.
func (r *reign) take() (loop.Inputs, uint64) {
	in, through := r.in, r.through
	r.in, r.through = loop.Inputs{}, 0
	for _, o := range r.claims {
		o.c.open = o.c.open || o.life == o.c.life
	}
	r.claims = nil
	slices.SortStableFunc(in.Events, func(a, b southbound.Event) int { return int(a.At - b.At) })
	in.Remaining = r.w.sim.Host().Remaining
	return in, through
}

// errors adds what a leader must never find to what was found.
func (r *reign) errors(errs []error) {
	for _, err := range errs {
		text := err.Error()
		r.w.note("replica %d: %v", r.seat.place, text)
		if strings.Contains(text, "verify tables") || strings.Contains(text, "plan at") {
			r.w.fail("replica %d: %v", r.seat.place, text)
		}
	}
}

// at lets the process come to a point, and go on from there if nothing happens to it.
func (r *reign) at(p point, then func()) {
	r.w.faults.point(r.w, r.seat, p)
	r.seat.do(func() {
		if !r.over {
			then()
		}
	})
}

// act sends the actions, and plans the next step.
func (r *reign) act(a *loop.Actions, through uint64, now, wake time.Duration) {
	r.busy = false
	h := r.w.sim.Host()
	if through > 0 {
		r.tell("ack", func() error { r.w.agents.forget(through); return nil })
	}
	if starts := carried(a.Start); len(starts) > 0 {
		r.tell("start", func() error { r.w.agents.begun(starts); return h.Start(starts) })
	}
	if steers := carried(a.Steer); len(steers) > 0 {
		r.tell("steer", func() error { return h.Steer(steers) })
	}
	if rates := carried(a.Rates); rates != nil {
		r.tell("rates", func() error { return h.SetRates(rates) })
	}
	if tasks := carried(a.Run); len(tasks) > 0 {
		r.tell("run", func() error { return h.Run(tasks) })
	}
	for i := range a.Sets {
		r.set(&a.Sets[i])
	}
	for _, id := range a.Reads {
		if c := r.callers[id]; c.open {
			c.push(func() { c.read(func(seen southbound.Seen, err error) { c.answered(seen, err) }) })
		}
	}
	switch {
	case wake == now || len(r.in.Jobs)+len(r.in.Slices)+len(r.in.Events)+len(r.in.Devices)+len(r.in.Seen)+
		len(r.in.Done)+len(r.claims) > 0:
		r.plan(10 * time.Microsecond)
	case wake != southbound.Never:
		r.plan(wake - r.clock())
	}
}

// carried is what arrives of what is sent: a loop lends its actions until its next step only.
func carried[T any](sent T) (got T) {
	b, err := json.Marshal(sent)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		panic(err)
	}
	return got
}

// tell sends a call to the hosts, which refuse former leaders. Now and then it comes twice.
func (r *reign) tell(what string, f func() error) {
	w := r.w
	arrive := func() {
		if r.term < w.agents.fence {
			w.agents.refused++
			w.note("hosts refuse %s of term %d", what, r.term)
			return
		}
		w.agents.fence = r.term
		if err := f(); err != nil {
			w.note("hosts: %s: %v", what, err)
		}
	}
	r.hosts.under(w, arrive)
	if w.chance(w.faults.Double) {
		r.hosts.under(w, arrive)
	}
}

func (r *reign) set(s *rollout.Set) { r.callers[s.Device].queue(s) }

// caller is a leader's queue to one device, as leader.worker is: claim, read back, then write.
type caller struct {
	r       *reign
	id      southbound.DeviceID
	open    bool
	life    int
	calling bool
	broken  bool // to be claimed again
	calls   []func()
	backoff time.Duration
	line    channel
	stream  channel
	streams int // number of the newest stream of events
	watches bool
}

// door is what a device remembers of its leaders. It learns of them by Sets alone: reads carry no term.
type door struct {
	fence, read uint64
	refused     int
	cut         bool // nobody reaches the device, and it reaches nobody
}

// send makes a call. What is lost, or late, is reported after a while; what is late arrives all the same.
func (c *caller) send(do func() error, then func(error)) {
	w, answered := c.r.w, false
	reply := func(err error) {
		if answered {
			return
		}
		answered = true
		c.r.seat.do(func() {
			if !c.r.over {
				then(err)
			}
		})
	}
	w.after(answerWithin, func() { reply(errUnreachable) })
	if w.chance(w.faults.Lose) {
		return
	}
	c.line.under(w, func() {
		if w.doors[c.id].cut {
			return
		}
		err := do()
		if w.chance(w.faults.Lose) {
			return
		}
		w.after(w.faults.delay(w), func() { reply(err) })
	})
}

// fenced is what a device does with a Set. A claim is an empty one.
func (c *caller) fenced(f func() error) error {
	d := c.r.w.doors[c.id]
	if c.r.term < d.fence {
		d.refused++
		return southbound.ErrNotLeader
	}
	d.fence = c.r.term
	return f()
}

// claim takes the device over: nothing is written before it knows the term and has been read back.
func (c *caller) claim() {
	c.calling, c.broken = true, false
	again := func() {
		c.backoff = min(max(2*c.backoff, retryAfter), 16*retryAfter)
		c.r.w.after(c.backoff, func() { c.r.seat.do(func() { c.claim() }) })
	}
	if c.r.over {
		return
	}
	life := c.life
	c.send(func() error { return c.fenced(func() error { return nil }) }, func(err error) {
		if err != nil {
			again()
			return
		}
		c.read(func(seen southbound.Seen, err error) {
			if err != nil {
				again()
				return
			}
			c.backoff = 0
			c.r.claims = append(c.r.claims, opening{c, life})
			c.r.put(func(in *loop.Inputs) { in.Seen = append(in.Seen, loop.DeviceSeen{Device: c.id, Seen: seen}) })
			c.next()
		})
	})
}

// giveUp has the device claimed again before anything else is written to it.
func (c *caller) giveUp() {
	c.open, c.broken = false, true
	c.life++
	if !c.calling {
		c.next()
	}
}

// push queues a call.
func (c *caller) push(f func()) {
	c.calls = append(c.calls, f)
	if !c.calling {
		c.next()
	}
}

// next makes the next call of the queue.
func (c *caller) next() {
	c.calling = false
	switch {
	case c.r.over:
	case c.broken:
		c.claim()
	case len(c.calls) > 0:
		f := c.calls[0]
		c.calls, c.calling = c.calls[1:], true
		f()
	}
}

// queue queues a Set. The loop gets its result, also if it cannot be queued.
func (c *caller) queue(s *rollout.Set) {
	set, life := carried(*s), c.life
	done := func(err error) {
		c.r.put(func(in *loop.Inputs) {
			in.Done = append(in.Done, loop.SetDone{Device: set.Device, Token: set.Token, Err: err})
		})
	}
	if !c.open {
		done(errUnclaimed)
		return
	}
	c.push(func() {
		if !c.open || c.life != life {
			done(errUnclaimed)
			c.next()
			return
		}
		c.r.at(sent, func() {
			c.send(func() error { return c.fenced(func() error { return c.apply(&set.Change) }) },
				func(err error) {
					c.r.at(acknowledged, func() {
						done(err)
						if errors.Is(err, southbound.ErrNotLeader) {
							c.giveUp()
						}
						c.next()
					})
				})
		})
	})
}

var errUnclaimed = errors.New("the device has not been claimed in this term")

// apply has the device take a Set, and notes one that it should not have taken.
func (c *caller) apply(change *southbound.Change) error {
	w, d := c.r.w, c.r.w.doors[c.id]
	if d.read != c.r.term {
		w.fail("device %d takes a Set of term %d, and was read back in term %d", c.id, c.r.term, d.read)
	}
	err := w.sim.Device(c.id).Set(context.Background(), change)
	w.note("device %d: Set of term %d: %+v: %v", c.id, c.r.term, *change, err)
	return err
}

// read asks the device for its whole state.
func (c *caller) read(then func(southbound.Seen, error)) {
	var seen southbound.Seen
	c.send(func() (err error) {
		d := c.r.w.doors[c.id]
		d.read = max(d.read, c.r.term)
		seen, err = c.r.w.sim.Device(c.id).Read(context.Background())
		return err
	}, func(err error) { then(seen, err) })
}

// answered hands what was read to the loop; a failure only after a pause.
func (c *caller) answered(seen southbound.Seen, err error) {
	hand := func() {
		c.r.put(func(in *loop.Inputs) {
			in.Seen = append(in.Seen, loop.DeviceSeen{Device: c.id, Seen: seen, Err: err})
		})
		c.next()
	}
	if err == nil {
		hand()
		return
	}
	c.r.w.after(retryAfter, func() { c.r.seat.do(hand) })
}

// watch opens a stream of the device's events: first its state, then each change.
func (c *caller) watch() {
	if c.r.over {
		return
	}
	w := c.r.w
	c.streams++
	seen, err := w.sim.Device(c.id).Read(context.Background())
	if err != nil || w.doors[c.id].cut {
		c.watches = false
		w.after(retryAfter, func() { c.r.seat.do(c.watch) })
		return
	}
	c.watches = true
	e := southbound.DeviceEvent{At: w.now(), Device: c.id}
	for _, x := range seen.Connections {
		e.Kind, e.In, e.Out, e.Status = southbound.ConnectionStatus, x.In, x.Out, x.Status
		c.hear(e)
	}
	e.Out, e.Status = southbound.NoPort, 0
	for _, p := range seen.Down {
		e.Kind, e.In = southbound.PortDown, p
		c.hear(e)
	}
	e.Kind, e.In = southbound.Synced, southbound.NoPort
	c.hear(e)
}

// hear carries an event to the loop. The stream ends with Lost, and begins again.
func (c *caller) hear(e southbound.DeviceEvent) {
	if !c.watches {
		return
	}
	n, breaks := c.streams, e.Kind == southbound.Lost || c.r.w.chance(c.r.w.faults.Break)
	if breaks {
		e, c.watches = southbound.DeviceEvent{Device: c.id, Kind: southbound.Lost}, false
	}
	c.stream.under(c.r.w, func() {
		c.r.seat.do(func() {
			if c.r.over || n != c.streams {
				return
			}
			c.r.put(func(in *loop.Inputs) { in.Devices = append(in.Devices, e) })
			if breaks {
				c.giveUp()
				c.r.w.after(retryAfter, func() { c.r.seat.do(c.watch) })
			}
		})
	})
}

// stream hands an event of a device to all who watch it.
func (w *world) stream(e southbound.DeviceEvent) {
	w.note("device %d: event %+v", e.Device, e)
	for _, s := range w.seats {
		if r := s.reign; r != nil && !r.over && r.callers[e.Device].watches {
			r.callers[e.Device].hear(e)
		}
	}
}

// agents are the hosts' side: events are kept until a leader acknowledges them.
type agents struct {
	tally   deliveries
	fence   uint64
	refused int
	events  []southbound.Event
	base    uint64                                       // number of events[0]
	into    map[southbound.HostFlowKey]southbound.HostID // who receives a host flow, as far as hosts know
}

func newAgents() agents {
	return agents{tally: newDeliveries(), base: 1, into: map[southbound.HostFlowKey]southbound.HostID{}}
}

func (a *agents) begun(starts []southbound.Start) {
	for _, s := range starts {
		for row, to := range s.Dst {
			a.into[southbound.HostFlowKey{Coflow: s.Coflow, Row: int32(row)}] = to
		}
	}
}

// report keeps an event and sends it to all who listen.
func (a *agents) report(w *world, e southbound.Event) {
	a.tally.add(e)
	a.say(w, e)
}

func (a *agents) say(w *world, e southbound.Event) {
	a.events = append(a.events, e)
	w.note("host event %+v", e)
	num := a.base + uint64(len(a.events)) - 1
	for _, s := range w.seats {
		if r := s.reign; r != nil && !r.over {
			a.send(r, num, e)
		}
	}
}

// listen sends a leader all events that are kept.
func (a *agents) listen(r *reign) {
	for i, e := range a.events {
		a.send(r, a.base+uint64(i), e)
	}
}

// send carries one event to a leader. Now and then the stream breaks, and the next begins with what it
// had before.
func (a *agents) send(r *reign, num uint64, e southbound.Event) {
	r.events.under(r.w, func() {
		r.seat.do(func() {
			if r.over {
				return
			}
			r.through = max(r.through, num)
			r.put(func(in *loop.Inputs) { in.Events = append(in.Events, e) })
		})
	})
}

// again repeats to all leaders what is kept, as a stream that begins anew does.
func (a *agents) again(w *world) {
	for _, s := range w.seats {
		if r := s.reign; r != nil && !r.over {
			a.listen(r)
		}
	}
}

func (a *agents) forget(through uint64) {
	if n := through + 1 - a.base; through >= a.base && n <= uint64(len(a.events)) {
		a.events, a.base = a.events[n:], through+1
	}
}

// clients submit jobs, each until it is acknowledged.
type clients struct{ acknowledged []bool }

func newClients(jobs int) clients { return clients{make([]bool, jobs)} }

// submit hands a job to a replica that leads, or believes so, and tries again until one has said that
// it is in the log.
func (c *clients) submit(w *world, i int) {
	if c.acknowledged[i] {
		return
	}
	for range 1 + w.r.IntN(2) { // now and then twice at once
		s := w.seats[w.r.IntN(len(w.seats))]
		if r := s.reign; r != nil && !r.over {
			w.after(w.faults.delay(w), func() {
				s.do(func() {
					if !r.over {
						r.put(func(in *loop.Inputs) {
							in.Jobs = append(in.Jobs, controller.Offer{Job: &w.jobs[i], Request: request(i)})
						})
					}
				})
			})
		}
	}
	w.after(100*time.Millisecond+w.upTo(100*time.Millisecond), func() { c.submit(w, i) })
}

// answer acknowledges what is in the log as far as a leader has applied it. Answers get lost.
func (c *clients) answer(r *reign) {
	known := map[string]bool{}
	for _, g := range r.seat.state.Live().Requests {
		known[g.Request] = true
	}
	for i, done := range c.acknowledged {
		if !done && known[request(i)] && !r.w.chance(r.w.faults.Lose) {
			c.acknowledged[i] = true
			r.w.note("job %d is acknowledged", i)
		}
	}
}
