package astrasim

import (
	"math/bits"

	"lightloom/controller/training"
)

// circle is the ranks of one phase, in their order, and the place of this one.
type circle struct {
	ranks []int32
	at    int
	group bool // a communicator smaller than the world, whose endpoint takes localDelay
}

// localDelay is what a message costs at an endpoint of a communicator that is not the world, in ns, whatever the
// endpoint delay is.
const localDelay = 10

// letter is a message to be sent, and the one to be received in return.
type letter struct {
	to, from int32
	size     int64
}

// exchange is a collective in which each rank sends a row of messages, each after it has received one: by ring, direct
// or halving-doubling. It lets the endpoint deal with each message before it sends the next.
type exchange struct {
	c      *chunk
	op     training.Op
	ranks  circle
	method method
	step   int // +1, or -1 for backwards

	left   int // messages to send
	window int // messages at once
	size   int64

	free    int // endpoint tasks that have ended, less messages sent
	letters []letter
	total   int // messages received

	plain, handled int  // of this round: how many are to be passed on as they are, then how many after handling
	round          int  // rounds begun
	reach          int  // halving-doubling: how far away the peer is
	growing        bool // the reach doubles, and the message halves
	to, from       int  // direct: places of the peers of the next message
}

// newExchange returns the algorithm of a phase in which each rank holds size bytes.
func newExchange(c *chunk, op training.Op, impl implementation, ranks circle, size int64, back bool) *exchange {
	n := len(ranks.ranks)
	x := &exchange{c: c, op: op, ranks: ranks, method: impl.method, step: 1, left: n - 1, window: 1, size: size}
	if back {
		x.step = -1
	}
	if op != training.AllGather {
		x.size = size / int64(n)
	}
	if op == training.AllReduce {
		x.left = 2 * (n - 1)
	}
	x.to, x.from = x.place(x.ranks.at, x.step), x.place(x.ranks.at, -x.step)
	switch impl.method {
	case ring:
		if op == training.AllToAll {
			x.left = n * (n - 1) / 2
		}
	case direct:
		x.window = n - 1
		if impl.window > 0 {
			x.window = min(impl.window, n-1)
		}
	case halvingDoubling:
		x.halving(n, size)
	}
	return x
}

// after returns what a rank holds after a phase among n, in bytes.
func after(op training.Op, n int, size int64) int64 {
	switch op {
	case training.AllGather:
		return size * int64(n)
	case training.ReduceScatter:
		return size / int64(n)
	}
	return size
}

// halving sets up halving-doubling: a message goes to ranks 1, 2, 4 … away and is half as large each time; an
// all-gather goes the other way.
func (x *exchange) halving(n int, size int64) {
	steps := bits.Len(uint(n)) - 1
	x.left = steps
	if x.op == training.AllReduce {
		x.left = 2 * steps
	}
	x.reach, x.size, x.growing = 1, size/2, true
	if x.op == training.AllGather {
		x.reach, x.size, x.growing = n/2, size, false
	}
}

// place returns the place that is so many steps away.
func (x *exchange) place(at, steps int) int {
	n := len(x.ranks.ranks)
	return ((at+steps)%n + n) % n
}

func (x *exchange) start() {
	for range x.window {
		x.admit()
	}
}

func (x *exchange) received() {
	x.total++
	x.admit()
}

// processed sends a message if there is one. The second half of a direct all-reduce waits until all messages of the
// first have come.
func (x *exchange) processed() {
	x.free++
	if x.method != direct || x.op != training.AllReduce || x.left > len(x.ranks.ranks)-1 {
		x.post()
		x.finish()
		return
	}
	if x.total < len(x.ranks.ranks)-1 {
		return
	}
	for range x.window {
		x.post()
	}
	x.finish()
}

// rounds returns how many messages of a round are handled as received ones.
func (x *exchange) rounds() int {
	n := len(x.ranks.ranks)
	switch {
	case x.method == halvingDoubling:
		return bits.Len(uint(n)) - 2
	case x.method == direct && !x.ranks.group:
		return x.window
	}
	return (n - 1) * x.window
}

// admit gives the endpoint a message to deal with, and writes the letter that follows it.
func (x *exchange) admit() {
	if x.plain == 0 && x.handled == 0 {
		x.plain, x.handled = x.window, x.rounds()
		x.round++
	}
	l := x.letter()
	reduce := false
	if x.plain > 0 {
		x.plain--
	} else {
		x.handled--
		reduce = x.op == training.ReduceScatter || x.op == training.AllReduce && x.round%2 == 1
	}
	x.letters = append(x.letters, l)
	x.c.handle(l.size, reduce, x.ranks.group)
	x.turn()
}

// letter returns the next message.
func (x *exchange) letter() letter {
	to, from := x.to, x.from
	if x.method == halvingDoubling {
		to = x.peer()
		from = to
	}
	return letter{x.ranks.ranks[to], x.ranks.ranks[from], x.size}
}

// peer returns the place of the rank at the present reach.
func (x *exchange) peer() int {
	if x.reach > 0 && x.ranks.at/x.reach%2 == 1 {
		return x.place(x.ranks.at, -x.reach)
	}
	return x.place(x.ranks.at, x.reach)
}

// turn chooses whom the message after this one goes to.
func (x *exchange) turn() {
	switch x.method {
	case direct:
		if x.to = x.place(x.to, x.step); x.to == x.ranks.at {
			x.to = x.place(x.to, x.step)
		}
		if x.from = x.place(x.from, -x.step); x.from == x.ranks.at {
			x.from = x.place(x.from, -x.step)
		}
	case halvingDoubling:
		if x.growing {
			x.reach, x.size = x.reach*2, x.size/2
		} else {
			x.reach, x.size = x.reach/2, x.size*2
		}
		if x.growing && x.reach == len(x.ranks.ranks) && x.op == training.AllReduce {
			x.growing = false
			x.reach, x.size = x.reach/2, x.size*2
		}
	}
}

// post sends the oldest letter if the endpoint has dealt with what it waits for.
func (x *exchange) post() {
	if len(x.letters) == 0 || x.left == 0 || x.free == 0 {
		return
	}
	l := x.letters[0]
	x.c.exchange(l)
	x.left--
	x.letters = x.letters[1:]
	x.free--
}

func (x *exchange) finish() {
	if x.left == 0 && x.free == x.window {
		x.c.next()
	}
}

// handle lets the endpoint deal with a message of so many bytes, and reduce it.
func (c *chunk) handle(size int64, reduce, local bool) {
	delay, at := c.n.system.endpoint(), c.at
	if local {
		delay = localDelay
	}
	c.n.after(delay, func() {
		if reduce {
			c.n.after(c.n.system.reduction(size), at.processed)
			return
		}
		at.processed()
	})
}

// exchange sends a message and waits for the one in return.
func (c *chunk) exchange(l letter) {
	c.send(l.to, l.size)
	c.receive(l.from, l.size)
}

func (c *chunk) send(to int32, size int64) {
	c.n.post.send(channel{collectiveTags + c.id%collectiveTags, c.n.id, to, size}, nil)
}

func (c *chunk) receive(from int32, size int64) {
	c.n.post.receive(channel{collectiveTags + c.id%collectiveTags, from, c.n.id, size}, c.at.received)
}
