package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
)

// Grants returns who has which access, by name. Borrowed.
func (s *State) Grants() []controller.Grant { return s.d.Grants }

// Access returns what is granted to a name; "" if nothing is.
func (s *State) Access(name string) controller.Access {
	if i, ok := s.grantAt(name); ok {
		return s.d.Grants[i].Access
	}
	return ""
}

func (s *State) grantAt(name string) (int, bool) {
	return slices.BinarySearchFunc(s.d.Grants, name, func(g controller.Grant, name string) int {
		return strings.Compare(g.Name, name)
	})
}

// CheckGrant returns why a grant cannot be made, ErrStale if it stands already.
func (s *State) CheckGrant(g controller.Grant) error {
	if err := g.Check(); err != nil {
		return err
	}
	if s.Access(g.Name) == g.Access {
		return ErrStale
	}
	if _, known := s.grantAt(g.Name); !known && len(s.d.Grants) >= controller.MaxGrants {
		return fmt.Errorf("grant %q: %d grants stand: revoke some", g.Name, len(s.d.Grants))
	}
	return nil
}

// grant replaces what a name had.
func (s *State) grant(e *Entry) error {
	g := *e.Grant
	if err := s.CheckGrant(g); err != nil {
		return err
	}
	i, known := s.grantAt(g.Name)
	d := slices.Clone(s.d.Grants) // readers have borrowed the old ones
	switch {
	case g.Access == "":
		d = slices.Delete(d, i, i+1)
	case known:
		d[i] = g
	default:
		d = slices.Insert(d, i, g)
	}
	s.d.Grants = d
	return nil
}

// checkGrants refuses a snapshot whose grants are not what grant leaves.
func (d *Data) checkGrants() error {
	for i, g := range d.Grants {
		if err := g.Check(); err != nil {
			return err
		}
		if g.Access == "" || i > 0 && d.Grants[i-1].Name >= g.Name {
			return fmt.Errorf("grant %q is empty or out of order", g.Name)
		}
	}
	if len(d.Grants) > controller.MaxGrants {
		return errors.New("too many grants")
	}
	return nil
}
