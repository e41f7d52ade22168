package flowsim

import (
	"fmt"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// hosts is the door to all hosts. A call is checked whole before it has any effect.
type hosts struct{ *Sim }

// Host returns the door to all hosts. It acts at Now.
func (s *Sim) Host() southbound.Hosts { return hosts{s} }

// Run implements southbound.Hosts.
func (h hosts) Run(tasks []southbound.Task) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range tasks {
		if err := h.addresses().CheckHost(t.Host); err != nil {
			return fmt.Errorf("run task %d: %w", t.Task, err)
		}
		if t.Task < 0 || t.Try < 0 {
			return fmt.Errorf("run task %d, try %d: count from 0", t.Task, t.Try)
		}
		if t.Compute < 0 {
			return fmt.Errorf("run task %d: it computes for %v, which is below zero", t.Task, t.Compute)
		}
	}
	for _, t := range tasks {
		if was, known := h.tasks[t.Task]; known && was.try >= t.Try {
			continue
		} else if known {
			h.forget(t.Task)
		}
		if h.isLost(t.Host) {
			h.tasks[t.Task] = tried{t.Host, t.Try, none}
			continue
		}
		at := h.clock.Now() + t.Compute
		if at < 0 {
			at = southbound.Never
		}
		index := keep(&h.running, &h.idle, t)
		h.tasks[t.Task] = tried{t.Host, t.Try, index}
		h.clock.At(at, event{taskEnds, index})
	}
	return nil
}

// Start implements southbound.Hosts.
func (h hosts) Start(starts []southbound.Start) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range starts {
		if err := starts[i].Check(h.addresses()); err != nil {
			return fmt.Errorf("start coflow %d: %w", starts[i].Coflow, err)
		}
	}
	for i := range starts {
		if _, known := h.fluid.byID.Find(starts[i].Coflow); !known {
			h.fluid.add(&starts[i])
			h.voidLost(&starts[i])
		}
	}
	return nil
}

// addresses are the hosts and tags that calls can name.
func (s *Sim) addresses() southbound.Addresses {
	return southbound.Addresses{Hosts: s.fabric.Hosts(), Tags: s.tags, ToItself: s.opt.Hairpins}
}

// tagsOf returns one more than the highest tag of a fabric: of those on the wire, or of as many paths
// as are kept.
func tagsOf(f *topo.Fabric) southbound.Tag {
	return max(southbound.Tags, southbound.PathTag(f.Spec.PathsKept()-1)+1)
}

// known returns the index of a coflow.
func (s *Sim) known(c southbound.CoflowID) (int32, error) {
	i, ok := s.fluid.byID.Find(c)
	if !ok {
		return 0, fmt.Errorf("coflow %d: not started here", c)
	}
	return i, nil
}

// Steer implements southbound.Hosts. A host flow that has ended stays where it was.
func (h hosts) Steer(steers []southbound.Steer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.fluid
	f.tmp.reroutes = f.tmp.reroutes[:0]
	for _, st := range steers {
		b, err := h.row(st.HostFlowKey)
		if err != nil {
			return fmt.Errorf("steer: %w", err)
		}
		if err := h.addresses().CheckTag(st.Tag); err != nil {
			return fmt.Errorf("steer row %d of coflow %d: %w", st.Row, st.Coflow, err)
		}
		if b != none {
			f.tmp.reroutes = append(f.tmp.reroutes, reroute{b, st.Tag})
		}
	}
	f.foresee(f.tmp.reroutes)
	for _, t := range f.tmp.reroutes {
		if f.hostFlows[t.hostFlow].class != gone {
			f.steer(t.hostFlow, t.tag)
		}
	}
	return nil
}

// row returns the host flow of a key, none where all of its coflow have ended.
func (s *Sim) row(k southbound.HostFlowKey) (int32, error) {
	i, err := s.known(k.Coflow)
	if err != nil {
		return 0, err
	}
	co := &s.fluid.coflows[i]
	if k.Row < 0 || k.Row >= co.rows {
		return 0, fmt.Errorf("row %d of coflow %d: it has %d rows", k.Row, k.Coflow, co.rows)
	}
	if co.live == 0 {
		return none, nil
	}
	return co.first + k.Row, nil
}

// Remaining implements southbound.Hosts: it is exact here. A coflow's result stays valid when others
// are read.
func (h hosts) Remaining(c southbound.CoflowID) (southbound.Remaining, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, ok := h.fluid.byID.Find(c)
	if !ok {
		return southbound.Remaining{}, false
	}
	return h.fluid.left(&h.fluid.coflows[i]), true
}

// Brief is Remaining of Host for readers that mostly need no more than a brief one: that it is where the coflow holds,
// so that hundreds of rows with extras need not be read.
func (s *Sim) Brief(c southbound.CoflowID) (southbound.Remaining, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.fluid.byID.Find(c)
	if !ok {
		return southbound.Remaining{}, false
	}
	co := &s.fluid.coflows[i]
	if left, ok := s.fluid.brief(co); ok {
		return left, true
	}
	return s.fluid.left(co), true
}

// SetRates implements southbound.Hosts. A host flow on packets follows its coflow's pace, if that has
// one; every other one gets the rate of its pair, or where its coflow is spread, the smaller one of its
// two hosts. What no link can carry is shared max-min fairly below the rates asked for, and a host flow
// that cannot hold its coflow's pace, or finds the finish instant passed, goes on by itself as fast as
// it was to, until the next SetRates sets it in again. Under Fair the rates of pairs are kept, and do
// not act.
func (h hosts) SetRates(r *southbound.Rates) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.checkRates(r); err != nil {
		return fmt.Errorf("set rates: %w", err)
	}
	h.fluid.setRates(r)
	return nil
}

func (s *Sim) checkRates(r *southbound.Rates) error {
	if err := r.Check(s.addresses()); err != nil {
		return err
	}
	s.fluid.checks++
	s.fluid.tmp.named = s.fluid.tmp.named[:0]
	for _, p := range r.Pace {
		i, err := s.known(p.Coflow)
		switch {
		case err != nil:
			return fmt.Errorf("pace: %w", err)
		case s.named(i):
			return fmt.Errorf("pace: coflow %d is named twice", p.Coflow)
		case p.Until < 0:
			return fmt.Errorf("pace: coflow %d until %v, which is below zero", p.Coflow, p.Until)
		}
		s.name(i)
	}
	return s.checkSpreads(r)
}

// named reports whether the rates that are being checked have named a coflow.
func (s *Sim) named(i int32) bool { return s.fluid.coflows[i].heard == s.fluid.checks }

// name notes that the rates that are being checked name a coflow.
func (s *Sim) name(i int32) {
	s.fluid.coflows[i].heard = s.fluid.checks
	s.fluid.tmp.named = append(s.fluid.tmp.named, i)
}

// checkSpreads checks spreads and extras. Coflows that have a pace are named.
func (s *Sim) checkSpreads(r *southbound.Rates) error {
	for i := range r.Spread {
		sp := &r.Spread[i]
		known, err := s.known(sp.Coflow)
		if err != nil {
			return fmt.Errorf("spread: %w", err)
		}
		if s.named(known) {
			return fmt.Errorf("spread: coflow %d is named twice", sp.Coflow)
		}
		s.name(known)
	}
	if err := s.checkEven(r); err != nil {
		return err
	}
	for first := 0; first < len(r.Extra); {
		end := southbound.ExtrasOf(r.Extra, first)
		for _, x := range [...]southbound.Extra{r.Extra[first], r.Extra[end-1]} { // rows ascend
			if _, err := s.row(x.HostFlowKey); err != nil {
				return fmt.Errorf("extra: %w", err)
			}
			known, _ := s.fluid.byID.Find(x.Coflow)
			if !s.named(known) {
				return fmt.Errorf("extra: coflow %d has neither a pace nor a spread", x.Coflow)
			}
		}
		first = end
	}
	return nil
}

// Total returns how many bytes a coflow has left, all rows together; false where it is not known.
func (s *Sim) Total(c southbound.CoflowID) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.fluid.byID.Find(c)
	if !ok {
		return 0, false
	}
	return s.fluid.total(&s.fluid.coflows[i]), true
}

// total adds up what is left of a coflow.
func (f *fluid) total(co *coflow) float64 {
	if co.apart.Rows == co.live && len(co.legs) == 0 {
		return co.apart.Left(f.perBit, f.clock.Now())
	}
	sum := 0.0
	for b := co.first; b < co.end; b++ {
		sum += f.leftOf(b)
	}
	return sum
}
