package simulated_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// stepFlow is a flow of the reference implementation; amounts are megabytes, rates megabytes a step: a
// port carries one a step.
type stepFlow struct {
	src, dst   int
	left, rate float64
}

// stepCoflow is a coflow of the reference implementation.
type stepCoflow struct {
	index     int
	arrival   int64 // ms
	flows     []*stepFlow
	mappers   int
	reducers  int
	largest   float64 // receiver
	total     float64
	alpha     float64
	deadline  float64 // ms that it would have had
	start     int64   // ms
	end       int64   // ms, 0 while it lasts
	completed float64
	queue     int
}

// stepReference goes through time in steps of 8 ms and does literally what coflowsim's rules state:
// which coflows it admits at the beginning of each epoch, in which order it serves them, and what moves
// in each step.
type stepReference struct {
	rule   string
	ports  int
	epoch  int64
	all    []*stepCoflow
	order  []*stepCoflow   // of those under way; by queue for dclas
	queues [][]*stepCoflow // of dclas
	racks  [][]*stepFlow   // of fair and pfp: by receiver, in the order of insertion
}

const stepMS = 8

func (s *stepReference) run() {
	next, active := 0, 0
	for now := int64(0); next < len(s.all) || active > 0; now += s.epoch {
		admitted := false
		for ; next < len(s.all) && s.all[next].arrival <= now+s.epoch; next++ {
			s.admit(s.all[next], now)
			admitted, active = true, active+1
		}
		if admitted {
			s.rates(now)
		}
		for at := now; at < now+s.epoch && active > 0; at += stepMS {
			if n := s.step(at); n > 0 {
				active -= n
				s.rates(at)
			}
		}
	}
}

func (s *stepReference) admit(c *stepCoflow, now int64) {
	c.start = now
	switch s.rule {
	case "fair", "pfp":
		for _, f := range c.flows {
			list := s.racks[f.dst]
			i := slices.IndexFunc(list, func(o *stepFlow) bool { return o.left > f.left })
			if i < 0 {
				i = len(list)
			}
			s.racks[f.dst] = slices.Insert(list, i, f)
		}
	case "dclas":
		s.queues[0] = append(s.queues[0], c)
	default:
		i := slices.IndexFunc(s.order, func(o *stepCoflow) bool { return s.key(c) < s.key(o)*(1-1e-9) })
		if i < 0 {
			i = len(s.order)
		}
		s.order = slices.Insert(s.order, i, c)
	}
}

func (s *stepReference) key(c *stepCoflow) float64 {
	switch s.rule {
	case "scf":
		return c.largest / float64(c.mappers)
	case "ncf":
		return float64(min(c.mappers, c.reducers))
	case "lcf":
		sum := 0.0
		for _, f := range c.flows {
			sum += f.left
		}
		return sum
	case "sebf":
		return c.alpha
	}
	return 0
}

// tinyStep is the part of a port that counts as none. slackStep is the part of a step by which a flow
// can exceed it: our rates are whole bits a second, so an end that misses a step by 20 µs counts as
// meeting it.
const (
	tinyStep  = 1e-6
	slackStep = .020 / stepMS
)

// rates sets the rates of all flows anew, but for fair and pfp, which do so in every step.
func (s *stepReference) rates(now int64) {
	send, recv := slices.Repeat([]float64{1}, s.ports), slices.Repeat([]float64{1}, s.ports)
	switch s.rule {
	case "fair", "pfp":
		return
	case "dclas":
		s.sink()
		for _, q := range s.queues {
			for _, c := range q {
				s.share([]*stepCoflow{c}, send, recv)
			}
		}
		return
	}
	var skipped []*stepCoflow
	for _, c := range s.order {
		alpha, ok := c.time(send, recv)
		if !ok {
			for _, f := range c.flows {
				f.rate = 0
			}
			skipped = append(skipped, c)
			continue
		}
		for _, f := range c.flows {
			f.rate = f.left / alpha
		}
		for _, f := range c.flows {
			send[f.src] -= f.rate
			recv[f.dst] -= f.rate
		}
	}
	s.share(skipped, send, recv)
	byDue := slices.Clone(s.order)
	due := func(c *stepCoflow) int64 { return int64(float64(c.start) + c.deadline - float64(now)) }
	slices.SortStableFunc(byDue, func(a, b *stepCoflow) int { return cmp.Compare(due(a), due(b)) })
	for _, c := range byDue {
		for _, f := range c.flows {
			if more := min(send[f.src], recv[f.dst]); f.left > 0 && more > tinyStep {
				f.rate += more
				send[f.src] -= more
				recv[f.dst] -= more
			}
		}
	}
}

// time is the steps that a coflow takes with what is left of the ports; false where one of its is taken.
func (c *stepCoflow) time(send, recv []float64) (float64, bool) {
	out, in := make([]float64, len(send)), make([]float64, len(recv))
	for _, f := range c.flows {
		out[f.src] += f.left
		in[f.dst] += f.left
	}
	most := 0.0
	for i := range send {
		if out[i] > 0 && send[i] <= tinyStep || in[i] > 0 && recv[i] <= tinyStep {
			return 0, false
		}
		if out[i] > 0 {
			most = max(most, out[i]/send[i])
		}
		if in[i] > 0 {
			most = max(most, in[i]/recv[i])
		}
	}
	return most, true
}

// share gives all flows of some coflows equal parts of what is left, and takes it.
func (s *stepReference) share(cs []*stepCoflow, send, recv []float64) {
	out, in := make([]float64, s.ports), make([]float64, s.ports)
	for _, c := range cs {
		for _, f := range c.flows {
			if f.rate = 0; f.left > 0 && send[f.src] > tinyStep && recv[f.dst] > tinyStep {
				out[f.src]++
				in[f.dst]++
			}
		}
	}
	usedOut, usedIn := make([]float64, s.ports), make([]float64, s.ports)
	for _, c := range cs {
		for _, f := range c.flows {
			if f.left > 0 && send[f.src] > tinyStep && recv[f.dst] > tinyStep {
				f.rate = min(send[f.src]/out[f.src], recv[f.dst]/in[f.dst])
				usedOut[f.src] += f.rate
				usedIn[f.dst] += f.rate
			}
		}
	}
	for i := range send {
		send[i] -= usedOut[i]
		recv[i] -= usedIn[i]
	}
}

// sink moves coflows one queue down where they have sent more than theirs holds: 10 MB, then ten times
// as much each.
func (s *stepReference) sink() {
	for q := 0; q+1 < len(s.queues); q++ {
		var moved []*stepCoflow
		for _, c := range s.queues[q] {
			due := 0
			for k := 10.0; k < c.completed*(1-1e-7); k *= 10 {
				due++
			}
			if c.queue < due {
				c.queue++
				moved = append(moved, c)
			}
		}
		s.queues[q] = slices.DeleteFunc(s.queues[q],
			func(c *stepCoflow) bool { return slices.Contains(moved, c) })
		s.queues[q+1] = append(s.queues[q+1], moved...)
	}
}

// step moves bytes for one step and returns how many coflows end with it.
func (s *stepReference) step(at int64) (ended int) {
	switch s.rule {
	case "fair":
		s.fairStep()
	case "pfp":
		s.pfpStep()
	}
	for _, c := range s.all {
		if c.end > 0 || len(c.flows) == 0 || c.start < 0 {
			continue
		}
		for _, f := range c.flows {
			moved := min(f.rate, f.left)
			f.left -= moved
			c.completed += moved
			if f.left <= max(tinyStep, f.rate*slackStep) {
				f.left = 0
			}
		}
		c.flows = slices.DeleteFunc(c.flows, func(f *stepFlow) bool { return f.left == 0 })
		if len(c.flows) == 0 {
			c.end = at + stepMS
			ended++
			is := func(o *stepCoflow) bool { return o == c }
			s.order = slices.DeleteFunc(s.order, is)
			for q := range s.queues {
				s.queues[q] = slices.DeleteFunc(s.queues[q], is)
			}
		}
	}
	for r := range s.racks {
		s.racks[r] = slices.DeleteFunc(s.racks[r], func(f *stepFlow) bool { return f.left == 0 })
	}
	return ended
}

// fairStep: a flow has the lesser of equal parts of its two ports.
func (s *stepReference) fairStep() {
	out := make([]float64, s.ports)
	for _, list := range s.racks {
		for _, f := range list {
			out[f.src]++
		}
	}
	for _, list := range s.racks {
		for _, f := range list {
			f.rate = min(1/float64(len(list)), 1/out[f.src])
		}
	}
}

// pfpStep: receivers by number; each takes the first flow of its list whose sender no other has taken.
func (s *stepReference) pfpStep() {
	busy := make([]bool, s.ports)
	for _, list := range s.racks {
		taken := false
		for _, f := range list {
			if f.rate = 0; !taken && !busy[f.src] {
				f.rate, taken, busy[f.src] = 1, true, true
			}
		}
	}
}

// javaDouble draws as java.util.Random does.
func javaDouble(seed *uint64) float64 {
	next := func(bits uint) uint64 {
		*seed = (*seed*0x5DEECE66D + 0xB) & (1<<48 - 1)
		return *seed >> (48 - bits)
	}
	hi := next(26)
	return float64(hi<<27+next(27)) / (1 << 53)
}

// drawSteps draws a small trace, as text and for the reference implementation.
func drawSteps(r *rand.Rand, rule string, epoch int64) (string, *stepReference) {
	ports, n := 3+r.IntN(4), 2+r.IntN(6)
	s := &stepReference{rule: rule, ports: ports, epoch: epoch, queues: make([][]*stepCoflow, 10),
		racks: make([][]*stepFlow, ports)}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d\n", ports, n)
	at := int64(0)
	seed := (uint64(17) ^ 0x5DEECE66D) & (1<<48 - 1)
	for i := range n {
		c := &stepCoflow{index: i, arrival: at, start: -1}
		from, to := r.Perm(ports)[:1+r.IntN(ports)], r.Perm(ports)[:1+r.IntN(ports)]
		text := slices.Clone(from)
		if r.IntN(4) == 0 {
			text = append(text, from[0]) // two mappers of a rack are one
		}
		fmt.Fprintf(&b, "%d %d %d", i+1, at, len(text))
		for _, m := range text {
			fmt.Fprintf(&b, " %d", m)
		}
		slices.Sort(from)
		fmt.Fprintf(&b, " %d", len(to))
		amount := make([]int, ports)
		for _, d := range to {
			amount[d] = len(text) + r.IntN(20*len(from))
			fmt.Fprintf(&b, " %d:%d", d, amount[d])
		}
		b.WriteString("\n")
		for d, mb := range amount {
			if mb == 0 {
				continue
			}
			each := (mb + len(from) - 1) / len(from) // rounded up
			for _, m := range from {
				c.flows = append(c.flows, &stepFlow{src: m, dst: d, left: float64(each)})
			}
			c.largest = max(c.largest, float64(each*len(from)))
			c.total += float64(each * len(from))
		}
		c.mappers, c.reducers = len(from), len(to)
		c.alpha = max(c.total/float64(c.mappers), c.largest)
		c.deadline = c.alpha / 128 * (1 + javaDouble(&seed)) * 1000
		s.all = append(s.all, c)
		at += int64(r.IntN(200))
	}
	return b.String(), s
}

// TestCoflowsimReference compares the compatible mode with the step-by-step reference implementation,
// under every rule and two epochs: every coflow ends in the same step, except that at most two in a
// hundred and thirty end one step apart.
func TestCoflowsimReference(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"fair", "pfp", "fifo", "scf", "ncf", "lcf", "sebf", "dclas"} {
		for _, epoch := range []int64{8, 10240} {
			t.Run(fmt.Sprint(rule, " ", epoch), func(t *testing.T) {
				coflows, off := 0, 0
				for seed := range uint64(tries.Of(30, 60)) {
					text, reference := drawSteps(rand.New(rand.NewPCG(seed, 7)), rule, epoch)
					reference.run()
					rules := scenario.Rules{Compat: scenario.CompatCoflowsim, CarryLocal: true}
					if epoch > 8 {
						rules.Epoch = time.Duration(epoch) * time.Millisecond
					}
					_, o, took := labtest.ReplayText(t, text, scenario.Options{Fabric: fmt.Sprintf(
						"crossbar:ports=%d,rate=1Gbps", reference.ports), Policies: []string{rule}, Rules: rules})
					for i, c := range reference.all {
						coflows++
						want := time.Duration(c.end-c.start) * time.Millisecond
						if o.State.Coflows[i].Ready != time.Duration(c.start)*time.Millisecond {
							t.Fatalf("seed %d: coflow %d begins at %v, the reference's at %d ms\n%s", seed, i+1,
								o.State.Coflows[i].Ready,
								c.start, text)
						}
						if took[i] == want {
							continue
						}
						// An end within rounding of a step's end can rarely fall into the next step.
						if off++; (took[i]-want).Abs() > stepMS*time.Millisecond || off > 2 {
							t.Errorf("seed %d: coflow %d takes %v, the reference's %v\n%s", seed, i+1, took[i], want, text)
						}
					}
				}
				if coflows < 100 {
					t.Errorf("%d coflows were compared", coflows)
				}
			})
		}
	}
}
