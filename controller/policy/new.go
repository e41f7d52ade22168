package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/policy/route"
)

// Info describes a preset.
type Info struct {
	Name  string
	Doc   string
	Joint bool   // one of its parts answers more than one question
	Of    string // the + list of parts that the name stands for, where it is not one itself
}

// Options change what a name says. A part named here takes the place of the one that answers its question; that is an
// error where a joint part answers it. "none" for Light takes the circuits away.
type Options struct {
	Place, Light, Route, Share string
	// EveryBundle has the policy asked at the end of every bundle too, whatever its parts want.
	EveryBundle bool
	// Explain is told why tasks and bundles go where they do, by the parts that can say; nil: nobody wants to know.
	Explain route.Teller
	// Migrate has tasks of running jobs moved where that gains more than so many times its cost; 0: never. An error where
	// no part of the policy can.
	Migrate float64
}

// All returns the presets. Any other + list of parts is a name too, if no two of them answer the same question.
func All() []Info {
	all := presets()
	for i := range all {
		for _, name := range strings.Split(cmp.Or(all[i].Of, all[i].Name), "+") {
			e, err := find(name)
			if err != nil {
				panic("policy: preset " + all[i].Name + ": " + err.Error())
			}
			all[i].Joint = all[i].Joint || len(e.Questions) > 1
		}
	}
	return all
}

// Parts returns every part, by question and in the list's order.
func Parts() []PartInfo {
	var all []PartInfo
	for _, e := range list() {
		all = append(all, e.PartInfo)
	}
	slices.SortStableFunc(all, func(a, b PartInfo) int { return int(a.Questions[0]) - int(b.Questions[0]) })
	return all
}

// New returns a fresh policy: a preset's name, or any + list of parts. Questions that the name leaves open are answered
// by fair (place), none (light), shortest (route) and tcp (share).
func New(name string, opt Options) (controller.Policy, error) {
	var c choice
	list := name
	for _, p := range presets() {
		if p.Name == name && p.Of != "" {
			list = p.Of
		}
	}
	for _, part := range strings.Split(list, "+") {
		if err := c.add(part); err != nil {
			return nil, fmt.Errorf("make policy %q: %w", name, err)
		}
	}
	for q, over := range [questions]string{opt.Place, opt.Light, opt.Route, opt.Share} {
		if err := c.replace(Question(q), over); err != nil {
			return nil, fmt.Errorf("make policy %q with --%v %s: %w", name, Question(q), over, err)
		}
	}
	parts := c.parts()
	for _, part := range parts {
		if t, ok := part.(interface{ Tell(route.Teller) }); ok && opt.Explain != nil {
			t.Tell(opt.Explain)
		}
	}
	if opt.Migrate > 0 {
		if m, ok := parts[Place].(interface{ Migrate(float64) bool }); !ok || !m.Migrate(opt.Migrate) {
			return nil, fmt.Errorf("make policy %q: %w", name, ErrStays)
		}
	}
	p := Compose(parts[Place], parts[Light], parts[Route], parts[Share])
	if c.blind() {
		p = blind{p}
	}
	if opt.EveryBundle {
		p = always{p}
	}
	if e := c.by[Light]; e != nil && e.Relays {
		p = relaying{p}
	}
	return p, nil
}

// blind is a policy none of whose parts reads what coflows have left: whoever runs it need not find out.
type blind struct{ controller.Policy }

// Blind implements what package loop asks for.
func (blind) Blind() bool { return true }

// ErrStays: the policy has no rule by which it could move a running job.
var ErrStays = errors.New("it never moves what runs, and only crosslayer can")

// choice is which entry answers which question.
type choice struct {
	by [questions]*entry
}

// blind says whether all entries are.
func (c *choice) blind() bool {
	for _, e := range c.by {
		if e != nil && !e.Blind {
			return false
		}
	}
	return true
}

func (c *choice) add(part string) error {
	e, err := find(part)
	if err != nil {
		return err
	}
	for _, q := range e.Questions {
		if c.by[q] != nil {
			return fmt.Errorf("%q and %q both answer %v: leave one out", c.by[q].Name, part, q)
		}
		c.by[q] = e
	}
	return nil
}

func (c *choice) replace(q Question, part string) error {
	switch {
	case part == "":
		return nil
	case c.by[q] != nil && len(c.by[q].Questions) > 1:
		return fmt.Errorf("%q decides %s together: choose another policy", c.by[q].Name, names(c.by[q].Questions))
	case part == "none" && q == Light:
		c.by[q] = nil
		return nil
	}
	e, err := find(part)
	if err != nil {
		return err
	}
	if len(e.Questions) > 1 || e.Questions[0] != q {
		return fmt.Errorf("%q answers %s, not %v; known for %v: %s", part, names(e.Questions), q, q, strings.Join(known(q), ", "))
	}
	c.by[q] = e
	return nil
}

// parts makes the chosen parts, one by question; a joint entry is made once.
func (c *choice) parts() [questions]Part {
	for q, name := range defaults() {
		if c.by[q] == nil && name != "" {
			e, err := find(name)
			if err != nil {
				panic("policy: default: " + err.Error())
			}
			c.by[q] = e
		}
	}
	var parts [questions]Part
	made := map[*entry][]Part{}
	for q, e := range c.by {
		if e == nil {
			continue
		}
		if made[e] == nil {
			made[e] = e.make()
		}
		parts[q] = made[e][slices.Index(e.Questions, Question(q))]
	}
	return parts
}

// find returns the entry of that name. An unknown name lists the known ones and says which is nearest.
func find(name string) (*entry, error) {
	if file, ok := strings.CutPrefix(name, "schedule:"); ok {
		return scheduled(name, file)
	}
	all := list()
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	var known []string
	for _, p := range Parts() {
		known = append(known, p.Name)
	}
	err := fmt.Errorf("part %q is unknown; known: %s", name, strings.Join(known, ", "))
	if near := nearest(name, known); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return nil, err
}

// known lists the parts that answer just that question.
func known(q Question) []string {
	var all []string
	for _, p := range Parts() {
		if len(p.Questions) == 1 && p.Questions[0] == q {
			all = append(all, p.Name)
		}
	}
	return all
}

func names(qs []Question) string {
	var all []string
	for _, q := range qs {
		all = append(all, q.String())
	}
	return strings.Join(all, " and ")
}

// always is a policy that is asked at the end of every bundle too.
type always struct{ controller.Policy }

// Wants implements controller.Policy.
func (a always) Wants() controller.KindSet {
	return a.Policy.Wants() | controller.Kinds(controller.BundleEnded)
}
