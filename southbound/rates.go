package southbound

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"lightloom/pathmap"
)

// MaxPriority is the highest priority of a host flow. A switch has eight: the highest is that of
// handshakes and acknowledgements, without which nothing goes on.
const MaxPriority = 6

// Priority is the strict priority of a coflow's host flows, from 1 up to MaxPriority; the highest goes
// first. What is not named has priority 0. Where links are shared, a host flow gets only what those of
// higher priority leave.
type Priority struct {
	Coflow   CoflowID
	Priority uint8
	Low      []int32 // rows that have priority 0 all the same, ascending
}

// Of returns the priority of a row.
func (p *Priority) Of(row int32) uint8 {
	if _, low := slices.BinarySearch(p.Low, row); low {
		return 0
	}
	return p.Priority
}

// PriorityOf finds the priority of a coflow among those that are sorted by coflow.
func PriorityOf(all []Priority, c CoflowID) Priority {
	i, named := slices.BinarySearchFunc(all, c,
		func(p Priority, c CoflowID) int { return cmp.Compare(p.Coflow, c) })
	if !named {
		return Priority{Coflow: c}
	}
	return all[i]
}

// CheckPriorities returns an error if priorities are invalid.
func (r *Rates) CheckPriorities() error {
	if len(r.Priority) > 0 && !r.Fair {
		return errors.New("priorities are of hosts that share by themselves, and these rates are not fair")
	}
	for i, p := range r.Priority {
		switch {
		case i > 0 && r.Priority[i-1].Coflow >= p.Coflow:
			return fmt.Errorf("priority of coflow %d: coflows ascend, each once", p.Coflow)
		case p.Priority == 0 || p.Priority > MaxPriority:
			return fmt.Errorf("priority %d of coflow %d: take 1 to %d, or leave it out", p.Priority,
				p.Coflow, MaxPriority)
		}
		for k, row := range p.Low {
			if row < 0 || k > 0 && p.Low[k-1] >= row {
				return fmt.Errorf("priority of coflow %d: row %d: rows ascend from 0, each once", p.Coflow, row)
			}
		}
	}
	return nil
}

// Check returns what is wrong with rates, as far as that shows without the coflows that they name.
func (r *Rates) Check(a Addresses) error {
	if r.Fair && len(r.Pace)+len(r.Spread)+len(r.Even.Coflows)+len(r.Extra)+len(r.Pairs) > 0 {
		return errors.New("fair, and yet with paces, spreads, extras or pairs")
	}
	if err := r.CheckPriorities(); err != nil {
		return err
	}
	for i := range r.Spread {
		s := &r.Spread[i]
		if i > 0 && s.Same(&r.Spread[i-1]) {
			continue // these have been checked
		}
		if err := errors.Join(a.checkHostRates(s.From), a.checkHostRates(s.To)); err != nil {
			return fmt.Errorf("spread: coflow %d: %w", s.Coflow, err)
		}
	}
	for _, rates := range [2][]pathmap.BitsPerSecond{r.Even.From, r.Even.To} {
		if len(rates) > a.Hosts || len(rates) > 0 && slices.Min(rates) < 0 {
			return fmt.Errorf("even spread: %d rates, from %d on: rates are 0 or more, of %d hosts", len(rates),
				slices.Min(rates), a.Hosts)
		}
	}
	if err := r.checkExtras(); err != nil {
		return err
	}
	for _, p := range r.Pairs {
		if err := p.check(a); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rates) checkExtras() error {
	last := int64(math.MinInt64)
	for i := range r.Extra {
		x := &r.Extra[i]
		key := int64(x.Coflow)<<32 + int64(x.Row) // in the order of both
		if x.Rate <= 0 {
			return fmt.Errorf("extra: row %d of coflow %d: rate %d; take one above zero", x.Row, x.Coflow, x.Rate)
		}
		if key <= last {
			return fmt.Errorf("extra: row %d of coflow %d: rows are sorted by coflow, then row, and named once", x.Row, x.Coflow)
		}
		last = key
	}
	return nil
}

// ExtrasOf returns where the extras of one coflow end that begin at first, among those that are sorted.
func ExtrasOf(all []Extra, first int) (end int) {
	c := all[first].Coflow
	return first + sort.Search(len(all)-first, func(i int) bool { return all[first+i].Coflow > c })
}

func (p *PairRate) check(a Addresses) error {
	if err := errors.Join(a.CheckHost(p.Src), a.CheckHost(p.Dst)); err != nil {
		return fmt.Errorf("pair %d→%d: %w", p.Src, p.Dst, err)
	}
	if p.Tag >= a.Tags {
		return fmt.Errorf("pair %d→%d: tag %d: tags are 0 to %d", p.Src, p.Dst, p.Tag, a.Tags-1)
	}
	if p.Src == p.Dst && !a.ToItself || p.Rate < 0 {
		return fmt.Errorf("pair %d→%d: rate %d: take two hosts and a rate of 0 or more", p.Src, p.Dst, p.Rate)
	}
	return nil
}

// Spreads returns the spreads of all coflows that have one, those of Even last.
func (r *Rates) Spreads() []Spread {
	all := slices.Clip(r.Spread)
	if len(r.Even.Coflows) == 0 {
		return all
	}
	from, to := named(r.Even.From), named(r.Even.To)
	for _, c := range r.Even.Coflows {
		all = append(all, Spread{Coflow: c, From: from, To: to})
	}
	return all
}

// named returns the rates above zero.
func named(rates []pathmap.BitsPerSecond) (out []HostRate) {
	for h, rate := range rates {
		if rate > 0 {
			out = append(out, HostRate{Host: HostID(h), Rate: rate})
		}
	}
	return out
}

// Same reports whether two spreads have their rates in the same memory.
func (s *Spread) Same(o *Spread) bool { return oneList(s.From, o.From) && oneList(s.To, o.To) }

func oneList(a, b []HostRate) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (a Addresses) checkHostRates(rates []HostRate) error {
	last := HostID(-1)
	for _, r := range rates {
		if r.Host <= last || int(r.Host) >= a.Hosts || r.Rate < 0 {
			if err := a.CheckHost(r.Host); err != nil {
				return err
			}
			return fmt.Errorf("host %d at %d: rates are 0 or more, hosts ascend", r.Host, r.Rate)
		}
		last = r.Host
	}
	return nil
}
