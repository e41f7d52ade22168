package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/southbound/hint"
)

// Info describes a preset.
type Info struct {
	Name  string
	Doc   string
	Joint bool   // one of its parts answers more than one question
	Of    string // the + list of parts that the name stands for, where it is not one itself
}

// Options change the defaults of a named policy.
type Options struct {
	Overrides
	// Redecide is when rates are decided again; empty: when the policy's parts want.
	Redecide Redecide
	// Explain gets the reasons for the places of tasks and the paths of host flows, from parts that can
	// give them; nil disables explanations.
	Explain route.Explainer
	// Prove gets how far each routing is from the optimum at most, from parts that know it anyway; nil
	// wants no proofs.
	Prove route.Explainer
}

// Redecide is how often rates are decided again.
type Redecide string

// AtCoflows is at the start and end of coflows, AtFlows also at the end of every host flow.
const (
	AtCoflows Redecide = "coflow"
	AtFlows   Redecide = "flow"
)

// All returns the presets. Any other + list of parts is a name too, if no two of them answer the same
// question.
func All() []Info {
	all, parts := presets(), list()
	for i := range all {
		for _, name := range strings.Split(cmp.Or(all[i].Of, all[i].Name), "+") {
			e, err := find(parts, name)
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
	return infos(list())
}

func infos(parts []entry) []PartInfo {
	var all []PartInfo
	for i := range parts {
		all = append(all, parts[i].PartInfo)
	}
	slices.SortStableFunc(all, func(a, b PartInfo) int { return int(a.Questions[0]) - int(b.Questions[0]) })
	return all
}

// Spec is a policy as a name and overrides say it, parsed and checked: which part answers which
// question. Its policies are made by New.
type Spec struct {
	name string
	over Overrides
	choice
}

// Parse reads a preset's name, or any + list of parts, and what replaces some of them. Questions that
// are left open are answered by fair (place), none (circuits), shortest (route) and tcp (share). Its
// errors are mistakes of the user.
func Parse(name string, over Overrides) (*Spec, error) {
	s := &Spec{name: name, over: over}
	if err := s.parse(); err != nil {
		return nil, hint.Wrong(err)
	}
	return s, nil
}

func (s *Spec) parse() error {
	names, parts := s.name, list()
	for _, p := range presets() {
		if p.Name == s.name && p.Of != "" {
			names = p.Of
		}
	}
	for _, part := range strings.Split(names, "+") {
		if err := s.add(parts, part); err != nil {
			return fmt.Errorf("make policy %q: %w", s.name, err)
		}
	}
	for q, over := range [questions]string{s.over.Place, s.over.Circuits, s.over.Route, s.over.Share} {
		if err := s.replace(parts, Question(q), over); err != nil {
			return fmt.Errorf("make policy %q with --%v %s: %w", s.name, Question(q), over, err)
		}
	}
	s.complete(parts)
	if err := s.checkMultihop(); err != nil {
		return fmt.Errorf("make policy %q: %w", s.name, err)
	}
	if s.over.Migrate > 0 && !s.Capabilities().Migrates {
		return fmt.Errorf("make policy %q: %w", s.name, ErrStays)
	}
	return nil
}

// Name is what was parsed, without the overrides.
func (s *Spec) Name() string { return s.name }

// New returns a fresh policy. The overrides are the spec's own, not those of opt.
func (s *Spec) New(opt Options) controller.Policy {
	opt.Overrides = s.over
	parts := s.parts(opt)
	p := compose(parts, new(place.Reads), s.Capabilities())
	if s.over.ReadsBeside {
		ReadBeside(p)
	}
	switch ended := controller.Kinds(controller.HostFlowEnded); opt.Redecide {
	case AtFlows:
		p.wants |= ended
	case AtCoflows:
		p.wants = wants(parts[Place]) | wants(parts[Circuits]) | wants(parts[Route]) | wants(parts[Share])&^ended
	}
	return p
}

// New parses a name and returns a fresh policy.
func New(name string, opt Options) (controller.Policy, error) {
	s, err := Parse(name, opt.Overrides)
	if err != nil {
		return nil, err
	}
	return s.New(opt), nil
}

// ErrStays means that the policy has no rule by which it could move a running job.
var ErrStays = errors.New("the policy does not support migration: use crosslayer")

// choice is which entry answers which question.
type choice struct {
	by [questions]*entry
}

// Capabilities are those of all parts together.
func (c *choice) Capabilities() controller.Capabilities {
	can := controller.Capabilities{Blind: true}
	for _, e := range c.by {
		if e != nil {
			can = can.With(e.Capabilities)
		}
	}
	return can
}

func (c *choice) add(parts []entry, part string) error {
	e, err := find(parts, part)
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

func (c *choice) replace(parts []entry, q Question, part string) error {
	if part == "" {
		return nil
	}
	e, err := (*entry)(nil), error(nil)
	if part != "none" || q != Circuits {
		e, err = named(parts, part, q)
	}
	switch {
	case err != nil:
		return err
	case c.by[q] != nil && len(c.by[q].Questions) > 1:
		return fmt.Errorf("%q decides %s together: add --policy %s", c.by[q].Name,
			names(c.by[q].Questions), c.without(q))
	case e == nil:
		c.by[q] = nil
		return nil
	}
	if len(e.Questions) > 1 || e.Questions[0] != q {
		return fmt.Errorf("%q answers %s, not %v; known for %v: %s", part, names(e.Questions), q, q,
			strings.Join(known(parts, q), ", "))
	}
	c.by[q] = e
	return nil
}

// without names a policy that leaves q open and has what the choice has beside the part that answers
// it: defaults stand in for the other answers of that part.
func (c *choice) without(q Question) string {
	var parts []string
	for other, name := range defaults() {
		if e := c.by[other]; e != nil && e != c.by[q] {
			name = e.Name
		}
		if Question(other) != q && name != "" && !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, "+")
}

// named returns the entry of a name that is to answer q.
func named(parts []entry, part string, q Question) (*entry, error) {
	if strings.HasPrefix(part, execPart) {
		return executed(part, q)
	}
	return find(parts, part)
}

// complete answers the questions that are left open.
func (c *choice) complete(parts []entry) {
	for q, name := range defaults() {
		if c.by[q] == nil && name != "" {
			e, err := find(parts, name)
			if err != nil {
				panic("policy: default: " + err.Error())
			}
			c.by[q] = e
		}
	}
}

// parts makes the chosen parts, one by question; a joint entry is made once.
func (c *choice) parts(opt Options) [questions]Part {
	var parts [questions]Part
	made := map[*entry][]Part{}
	for q, e := range c.by {
		if e == nil {
			continue
		}
		if made[e] == nil {
			made[e] = e.make(opt)
		}
		parts[q] = made[e][slices.Index(e.Questions, Question(q))]
	}
	return parts
}

// find returns the entry of that name among parts. The error for an unknown name has the nearest.
func find(parts []entry, name string) (*entry, error) {
	for prefix, open := range fileParts() {
		if file, ok := strings.CutPrefix(name, prefix); ok {
			return open(name, file)
		}
	}
	if strings.HasPrefix(name, execPart) {
		return nil, fmt.Errorf("say what %q answers: --place, --circuits, --route or --share %s", name, name)
	}
	for i := range parts {
		if parts[i].Name == name {
			return &parts[i], nil
		}
	}
	var known []string
	for _, p := range infos(parts) {
		known = append(known, p.Name)
	}
	const listAll = "lightloom policy list shows all"
	if near := nearest(name, known); near != "" {
		return nil, hint.New(fmt.Sprintf("part %q is unknown: did you mean %q?", name, near), listAll)
	}
	return nil, hint.New(fmt.Sprintf("part %q is unknown; of those that there are these are the nearest: %s", name,
		strings.Join(closest(name, known, 3), ", ")), listAll)
}

// known lists the parts that answer just that question.
func known(parts []entry, q Question) []string {
	var all []string
	for _, p := range infos(parts) {
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
