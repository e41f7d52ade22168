package flowsim

import (
	"cmp"
	"errors"
	"fmt"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// hosts is the door to all hosts. A call is checked whole before it has any effect.
type hosts struct{ *Sim }

// Host returns the door to all hosts. It acts at Now.
func (s *Sim) Host() southbound.Host { return hosts{s} }

// Run implements southbound.Host.
func (h hosts) Run(tasks []southbound.Task) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range tasks {
		if err := h.checkHost(t.Host); err != nil {
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

// Start implements southbound.Host.
func (h hosts) Start(starts []southbound.Start) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range starts {
		if err := h.checkStart(&starts[i]); err != nil {
			return fmt.Errorf("start coflow %d: %w", starts[i].Coflow, err)
		}
	}
	for i := range starts {
		if _, known := h.fluid.byID[starts[i].Coflow]; !known {
			h.fluid.add(&starts[i])
			h.voidLost(&starts[i])
		}
	}
	return nil
}

func (s *Sim) checkStart(st *southbound.Start) error {
	n := len(st.Size)
	if len(st.Src) != n || len(st.Dst) != n || len(st.Tag) != n || st.Cap != nil && len(st.Cap) != n {
		return fmt.Errorf("columns of %d sources, %d destinations, %d sizes, %d tags, %d caps", len(st.Src), len(st.Dst), n, len(st.Tag), len(st.Cap))
	}
	for i, c := range st.Cap {
		if c < 0 {
			return fmt.Errorf("row %d: a cap of %d; take one above zero, or 0 for none", i, c)
		}
	}
	for i := range n {
		if err := s.checkRow(st, i); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (s *Sim) checkRow(st *southbound.Start, i int) error {
	src, dst := st.Src[i], st.Dst[i]
	if err := errors.Join(s.checkHost(src), s.checkHost(dst), s.checkTag(st.Tag[i])); err != nil {
		return err
	}
	switch {
	case src == dst && !s.opt.Hairpins:
		return fmt.Errorf("from host %d to itself", src)
	case st.Size[i] <= 0 || st.Size[i] > maxSize:
		return fmt.Errorf("%d bytes; take 1 to %d", st.Size[i], maxSize)
	case i > 0 && (dst < st.Dst[i-1] || dst == st.Dst[i-1] && src <= st.Src[i-1]):
		return fmt.Errorf("%d→%d after %d→%d: rows are sorted by destination, then source", src, dst, st.Src[i-1], st.Dst[i-1])
	}
	return nil
}

// maxSize keeps what is left of a bundle exact to a byte in a float64.
const maxSize = pathmap.Bytes(1 << 50)

func (s *Sim) checkHost(h southbound.HostID) error {
	if n := s.fabric.Hosts(); h < 0 || int(h) >= n {
		return fmt.Errorf("host %d: hosts are 0 to %d", h, n-1)
	}
	return nil
}

func (s *Sim) checkTag(t southbound.Tag) error {
	if t >= s.tags && t != southbound.TagHold {
		return fmt.Errorf("tag %d: tags are 0 to %d, or %d to hold", t, s.tags-1, southbound.TagHold)
	}
	return nil
}

// tagsOf returns one more than the highest tag of a fabric: of those on the wire, or of as many paths as are kept.
func tagsOf(f *topo.Fabric) southbound.Tag {
	return max(southbound.Tags, southbound.PathTag(f.Spec.PathsKept()-1)+1)
}

// known returns the index of a coflow.
func (s *Sim) known(c southbound.CoflowID) (int32, error) {
	i, ok := s.fluid.byID[c]
	if !ok {
		return 0, fmt.Errorf("coflow %d: not started here", c)
	}
	return i, nil
}

// Steer implements southbound.Host. A bundle that has ended stays where it was.
func (h hosts) Steer(steers []southbound.Steer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.fluid
	f.tmp.turns = f.tmp.turns[:0]
	for _, st := range steers {
		b, err := h.row(st.BundleKey)
		if err != nil {
			return fmt.Errorf("steer: %w", err)
		}
		if err := h.checkTag(st.Tag); err != nil {
			return fmt.Errorf("steer row %d of coflow %d: %w", st.Row, st.Coflow, err)
		}
		if b != none {
			f.tmp.turns = append(f.tmp.turns, turn{b, st.Tag})
		}
	}
	f.foresee(f.tmp.turns)
	for _, t := range f.tmp.turns {
		if f.bundles[t.bundle].class != gone {
			f.steer(t.bundle, t.tag)
		}
	}
	return nil
}

// row returns the bundle of a key, none where all of its coflow have ended.
func (s *Sim) row(k southbound.BundleKey) (int32, error) {
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

// Left implements southbound.Host: it is exact here. What one coflow lends stays as it is when others are asked for.
func (h hosts) Left(c southbound.CoflowID) (southbound.Left, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, ok := h.fluid.byID[c]
	if !ok {
		return southbound.Left{}, false
	}
	return h.fluid.left(&h.fluid.coflows[i]), true
}

// SetRates implements southbound.Host. A bundle on packets follows its coflow's pace, if that has one; every other one
// gets the rate of its pair, or where its coflow is spread, the smaller one of its two hosts. What no link can carry is shared max-min fairly below the rates asked for, and a bundle
// that cannot hold its coflow's pace, or finds the finish instant passed, goes on by itself as fast as it was to, until
// the next SetRates sets it in again. Under Fair the rates of pairs are kept, and do not act.
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
	if r.Fair && len(r.Pace)+len(r.Spread)+len(r.Extra)+len(r.Pairs) > 0 {
		return errors.New("fair, and yet with paces, spreads, extras or pairs")
	}
	s.fluid.checks++
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
		s.fluid.coflows[i].heard = s.fluid.checks
	}
	if err := s.checkSpreads(r); err != nil {
		return err
	}
	for _, p := range r.Pairs {
		if err := errors.Join(s.checkHost(p.Src), s.checkHost(p.Dst)); err != nil {
			return fmt.Errorf("pair %d→%d: %w", p.Src, p.Dst, err)
		}
		if p.Tag >= s.tags {
			return fmt.Errorf("pair %d→%d: tag %d: tags are 0 to %d", p.Src, p.Dst, p.Tag, s.tags-1)
		}
		if p.Src == p.Dst && !s.opt.Hairpins || p.Rate < 0 {
			return fmt.Errorf("pair %d→%d: rate %d: take two hosts and a rate of 0 or more", p.Src, p.Dst, p.Rate)
		}
	}
	return nil
}

// named says whether the rates that are being checked have named a coflow.
func (s *Sim) named(i int32) bool { return s.fluid.coflows[i].heard == s.fluid.checks }

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
		s.fluid.coflows[known].heard = s.fluid.checks
		if i > 0 && sameRates(sp.From, r.Spread[i-1].From) && sameRates(sp.To, r.Spread[i-1].To) {
			continue // these have been checked
		}
		if err := errors.Join(s.checkHostRates(sp.From), s.checkHostRates(sp.To)); err != nil {
			return fmt.Errorf("spread: coflow %d: %w", sp.Coflow, err)
		}
	}
	rows := int32(-1) // of the coflow that is being looked at
	for i, x := range r.Extra {
		if i == 0 || x.Coflow != r.Extra[i-1].Coflow || x.Row < 0 || x.Row >= rows {
			if _, err := s.row(x.BundleKey); err != nil {
				return fmt.Errorf("extra: %w", err)
			}
			known := s.fluid.byID[x.Coflow]
			if !s.named(known) {
				return fmt.Errorf("extra: coflow %d has neither a pace nor a spread", x.Coflow)
			}
			rows = s.fluid.coflows[known].rows
		}
		switch {
		case x.Rate <= 0:
			return fmt.Errorf("extra: row %d of coflow %d: rate %d; take one above zero", x.Row, x.Coflow, x.Rate)
		case i > 0 && x.Coflow == r.Extra[i-1].Coflow && x.Row > r.Extra[i-1].Row:
		case i > 0 && compareKeys(r.Extra[i-1].BundleKey, x.BundleKey) >= 0:
			return fmt.Errorf("extra: row %d of coflow %d: rows are sorted by coflow, then row, and named once", x.Row, x.Coflow)
		}
	}
	return nil
}

func compareKeys(a, b southbound.BundleKey) int {
	return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.Row, b.Row))
}

func (s *Sim) checkHostRates(rates []southbound.HostRate) error {
	for i, r := range rates {
		if err := s.checkHost(r.Host); err != nil {
			return err
		}
		if r.Rate < 0 || i > 0 && rates[i-1].Host >= r.Host {
			return fmt.Errorf("host %d at %d: rates are 0 or more, hosts ascend", r.Host, r.Rate)
		}
	}
	return nil
}
