package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
)

// Cluster is what the replicas have agreed on about themselves.
type Cluster struct {
	Epoch   int64    `json:"epoch_unix_ns,omitempty"` // instant 0 of the log
	Level   Level    `json:"level,omitempty"`
	Members []Member `json:"members,omitempty"` // replicas that have introduced themselves, by ID
	// what has been changed of the fabric since; nil: nothing
	Fabric *controller.FabricChange `json:"fabric,omitempty"`
	// how long what is over stays, whatever each replica was told; nil: as it was told
	Retention *Retention `json:"retention,omitempty"`
}

// Member is a replica as it has introduced itself.
type Member struct {
	ID    string `json:"id"`
	API   string `json:"api"`   // address of its northbound
	Level Level  `json:"level"` // that its version knows
}

// Bounds of members: of their number, and of their texts.
const (
	maxMembers    = 64
	maxMemberText = 256
)

// Retention is how long what is over stays in the state of every replica.
type Retention struct {
	Requests time.Duration `json:"requests_ns"` // as in Keep
}

// Retention returns what the cluster has agreed on; false if it has not.
func (s *State) Retention() (Retention, bool) {
	if c := s.d.Cluster; c != nil && c.Retention != nil {
		return *c.Retention, true
	}
	return Retention{Requests: s.kept.Requests}, false
}

// setRetention says how long what is over stays, from this entry on.
func (s *State) setRetention(e *Entry) error {
	switch r := *e.Cluster.Retention; {
	case s.d.Cluster == nil:
		return errors.New("the cluster has no epoch yet")
	case r.Requests < 0:
		return fmt.Errorf("a retention of %v is none", r.Requests)
	case s.d.Cluster.Retention != nil && *s.d.Cluster.Retention == r:
		return ErrStale
	default:
		own := *s.d.Cluster // readers have borrowed the old one
		own.Retention = &r
		s.d.Cluster = &own
	}
	return nil
}

// Epoch returns instant 0 of the log; false before the cluster's first leader has said it.
func (s *State) Epoch() (time.Time, bool) {
	if c := s.d.Cluster; c != nil && c.Epoch != 0 {
		return time.Unix(0, c.Epoch), true
	}
	return time.Time{}, false
}

// Members returns the replicas that have introduced themselves, by ID. Borrowed.
func (s *State) Members() []Member {
	if s.d.Cluster == nil {
		return nil
	}
	return s.d.Cluster.Members
}

// Member returns a replica as it has introduced itself.
func (s *State) Member(id string) (Member, bool) {
	i, found := findMember(s.Members(), id)
	if !found {
		return Member{}, false
	}
	return s.d.Cluster.Members[i], true
}

func findMember(all []Member, id string) (int, bool) {
	return slices.BinarySearchFunc(all, id, func(m Member, id string) int { return strings.Compare(m.ID, id) })
}

// foundCluster sets the epoch and the first level, once.
func (s *State) foundCluster(e *Entry) error {
	switch c := e.Cluster; {
	case s.d.Cluster != nil:
		return ErrStale
	case c.Epoch == 0 || c.Level == 0 || len(c.Members) > 0:
		return errors.New("it needs an epoch and a level alone")
	case c.Level > s.knows:
		return ErrNewer
	default:
		s.d.Cluster = &Cluster{Epoch: c.Epoch, Level: c.Level}
	}
	return nil
}

// raiseLevel raises the cluster's level.
func (s *State) raiseLevel(e *Entry) error {
	switch l := e.Cluster.Level; {
	case s.d.Cluster == nil:
		return errors.New("the cluster has no epoch yet")
	case l <= s.d.Cluster.Level:
		return ErrStale
	case l > s.knows:
		return ErrNewer
	default:
		s.d.Cluster.Level = l
	}
	return nil
}

// seeMembers notes how replicas introduce themselves.
func (s *State) seeMembers(e *Entry) error {
	if s.d.Cluster == nil {
		return errors.New("the cluster has no epoch yet")
	}
	all := slices.Clone(s.d.Cluster.Members)
	for _, m := range e.Cluster.Members {
		if m.ID == "" || m.Level == 0 || len(m.ID) > maxMemberText || len(m.API) > maxMemberText {
			return fmt.Errorf("member %.20q is none", m.ID)
		}
		if i, found := findMember(all, m.ID); found {
			all[i] = m
		} else {
			all = slices.Insert(all, i, m)
		}
	}
	switch {
	case slices.Equal(all, s.d.Cluster.Members):
		return ErrStale
	case len(all) > maxMembers:
		return fmt.Errorf("%d members, at most %d are kept", len(all), maxMembers)
	}
	s.d.Cluster.Members = all
	return nil
}

// forgetMembers removes what replicas have said that were taken out of the cluster.
func (s *State) forgetMembers(e *Entry) error {
	if s.d.Cluster == nil {
		return ErrStale
	}
	var left []Member
	for _, m := range s.d.Cluster.Members {
		if _, gone := findMember(e.Cluster.Members, m.ID); !gone {
			left = append(left, m)
		}
	}
	if len(left) == len(s.d.Cluster.Members) {
		return ErrStale
	}
	s.d.Cluster.Members = left
	return nil
}

// check refuses a snapshot's cluster that no entries could have made, or of a newer version.
func (c *Cluster) check(knows Level) error {
	switch {
	case c == nil:
		return nil
	case c.Level > knows:
		return fmt.Errorf("level %d, this version knows %d: %w", c.Level, knows, ErrNewer)
	case c.Level == 0 || c.Epoch == 0 || len(c.Members) > maxMembers:
		return errors.New("the cluster is incomplete")
	}
	for i, m := range c.Members {
		if m.ID == "" || m.Level == 0 || i > 0 && c.Members[i-1].ID >= m.ID {
			return fmt.Errorf("member %d is out of order", i)
		}
	}
	return nil
}
