package share

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Deadline is Varys with deadlines (Chowdhury, Zhong and Stoica, "Efficient coflow scheduling with
// Varys", SIGCOMM 2014, section 5.4, guaranteed completion). A coflow with a deadline is admitted at
// its start if its minimum rates fit beside those of the coflows admitted before: what each link
// carries for it divided by the time left (MADD with the deadline in place of the bottleneck). It keeps
// these rates, whatever comes later. The remaining capacity goes to the other coflows as under SEBF,
// and then to single host flows, also of admitted coflows, which can so end earlier.
//
// A coflow that does not fit is rejected. In Varys its user resubmits it; here it has been accepted
// already, and goes on as if it had no deadline. The decision is committed with the plan, and a promise
// outlives the controller that made it. It is broken by what the policy cannot know: a link that fails,
// a circuit that takes a host's link.
type Deadline struct{ Ordered }

// NewDeadline returns Varys with deadlines.
func NewDeadline() *Deadline { return &Deadline{*NewSEBF()} }

// Fill sets the rates of all coflows, and decides on the admission of those that have just started.
func (p *Deadline) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := o.demands(v, ev)
	slices.SortFunc(all, func(a, b demand) int {
		return cmp.Or(cmp.Compare(standing(a.c), standing(b.c)), cmp.Compare(a.c.Start, b.c.Start),
			cmp.Compare(a.c.ID, b.c.ID))
	})
	rest := all[:0:0]
	for i := range all {
		d := &all[i]
		switch standing(d.c) {
		case promised:
			o.keep(v, d)
			continue
		case undecided:
			ok := o.fits(v, d)
			plan.Admissions = append(plan.Admissions, controller.AdmissionDecision{Coflow: d.c.ID, Admitted: ok})
			if ok {
				o.keep(v, d)
				continue
			}
		}
		rest = append(rest, *d)
	}
	slices.SortFunc(plan.Admissions, func(a, b controller.AdmissionDecision) int {
		return cmp.Compare(a.Coflow, b.Coflow)
	})
	o.order.rank(&o.topologyContext, rest)
	for i := range rest {
		o.madd(v, &rest[i])
	}
	o.order.rank(&o.topologyContext, all)
	o.backfillAll(v, all)
	o.finish(plan)
}

// The classes of coflows, in the order in which they are asked.
const (
	promised = iota
	undecided
	besteffort
)

func standing(c *controller.CoflowView) int {
	switch {
	case c.Deadline == 0 || c.Admission == controller.Rejected:
		return besteffort
	case c.Admission == controller.Admitted:
		return promised
	}
	return undecided
}

// early is how much before its deadline a coflow is to end: what rounding rates and instants can cost.
const early = time.Microsecond

// fits reports whether the minimum rates of a coflow are left on its links.
func (o *Ordered) fits(v *controller.View, d *demand) bool {
	left := d.c.Deadline - early - v.Now
	if left <= 0 {
		return false
	}
	for _, l := range d.loads {
		if l.bits*1e9/float64(left) > o.topologyContext.free[l.link] {
			return false
		}
	}
	return true
}

// keep gives a coflow its least rates, or, where its links have lost what it was promised, what they have.
func (o *Ordered) keep(v *controller.View, d *demand) {
	until := d.c.Deadline - early
	if until <= v.Now || !o.nearlyFits(d, until-v.Now) {
		o.madd(v, d)
		return
	}
	if len(d.loads) == 0 {
		until = 0
	}
	o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: d.c.ID, Until: until})
	for _, l := range d.loads {
		o.topologyContext.take(l.link, l.bits*1e9/float64(until-v.Now))
	}
}

// nearlyFits allows for what is left of a coflow that was paced by another's figures: a billionth of a link.
func (o *Ordered) nearlyFits(d *demand, left time.Duration) bool {
	for _, l := range d.loads {
		if l.bits*1e9/float64(left) > o.topologyContext.free[l.link]+1e-9*o.topologyContext.capacity[l.link] {
			return false
		}
	}
	return true
}
