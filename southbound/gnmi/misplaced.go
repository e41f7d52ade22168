package gnmi

import (
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// misplacedRule is a rule that a device has at another place than its match and the number of racks give it:
// the fabric had fewer racks when it was written.
type misplacedRule struct {
	at   schema.Path
	rule southbound.Rule
}

// numbering is an optional interface of a Profile whose rules have such places.
type numbering interface {
	misplaced(state []schema.Leaf) ([]misplacedRule, error)
}

var (
	_ numbering = OpenConfig{}
	_ numbering = OpenConfigPlain{}
)

func (p OpenConfig) misplaced(state []schema.Leaf) ([]misplacedRule, error) {
	return p.misplacedAmong(ReadTables(state, "state"))
}

func (p OpenConfigPlain) misplaced(state []schema.Leaf) ([]misplacedRule, error) {
	where := "state"
	if p.ReadConfig {
		where = "config"
	}
	return p.openConfig().misplacedAmong(ReadTables(state, where))
}

func (p OpenConfig) misplacedAmong(t *Tables) (out []misplacedRule, err error) {
	for _, seq := range t.Sequences() {
		r, err := t.Rule(seq)
		if err != nil {
			return nil, err
		}
		if seq != p.Sequence(r.Match) {
			out = append(out, misplacedRule{rulePath(seq), r})
		}
	}
	return out, nil
}

func (r *renamed) misplaced(state []schema.Leaf) ([]misplacedRule, error) {
	n, ok := r.Profile.(numbering)
	if !ok {
		return nil, nil
	}
	all, err := n.misplaced(r.in.leaves(state))
	for i := range all {
		all[i].at = r.out.path(all[i].at)
	}
	return all, err
}

// findMisplaced remembers the misplaced rules among what a device reports.
func (s *Session) findMisplaced(state []schema.Leaf) error {
	n, ok := s.cfg.Profile.(numbering)
	if !ok {
		return nil
	}
	all, err := n.misplaced(state)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.misplaced = all
	return err
}

// gather has a change bring misplaced rules to their places: it returns the change with those rules that it does
// not speak of, and what is to be deleted first. A change that replaces everything, or nothing, is left
// alone.
func (s *Session) gather(c *southbound.Change) (*southbound.Change, []*gpb.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.misplaced) == 0 || c.Replace || c.Empty() {
		return c, nil
	}
	out := *c
	out.Rules = slices.Clone(c.Rules)
	var gone []*gpb.Path
	for _, x := range s.misplaced {
		gone = append(gone, s.model.Proto(x.at))
		if !slices.Contains(c.Drop, x.rule.Match) && !slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool {
			return r.Match == x.rule.Match
		}) {
			out.Rules = append(out.Rules, x.rule)
		}
	}
	return &out, gone
}

// gathered forgets the misplaced rules: a change that brought them to their places, or replaced them, has been
// accepted.
func (s *Session) gathered(c *southbound.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.Empty() {
		s.misplaced = nil
	}
}
