package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClusterIsRead: before a cluster is founded there is nothing to read of it, then what its entries
// have said.
func TestClusterIsRead(t *testing.T) {
	s := New(hybrid(t))
	s.KeepEnded(Keep{Requests: time.Hour})
	_, epoch := s.Epoch()
	_, member := s.Member("a")
	if kept, agreed := s.Retention(); epoch || member || s.Members() != nil || agreed ||
		kept.Requests != time.Hour {
		t.Errorf("no cluster: epoch %v, member %v, members %v, kept %v, %v", epoch, member,
			s.Members(), kept, agreed)
	}
	member1 := func(id string) Member { return Member{ID: id, API: id + ":1", Level: 1} }
	all := func(k Kind, ids ...string) Entry {
		e := Entry{Kind: k, Cluster: &Cluster{}}
		for _, id := range ids {
			e.Cluster.Members = append(e.Cluster.Members, member1(id))
		}
		return e
	}
	forget := all(MembersForgotten, "a")
	if err := s.forgetMembers(&forget); !errors.Is(err, ErrStale) {
		t.Errorf("forgotten in no cluster: %v", err)
	}
	apply(t, s, Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 5, Level: Newest}},
		all(MembersSeen, "c", "a"),
		all(MembersSeen, "b"))
	if at, ok := s.Epoch(); !ok || at.UnixNano() != 5 {
		t.Errorf("epoch %v, %v", at, ok)
	}
	ids := func() (out []string) {
		for _, m := range s.Members() {
			out = append(out, m.ID+" "+m.API)
		}
		return out
	}
	if got := ids(); !slices.Equal(got, []string{"a a:1", "b b:1", "c c:1"}) {
		t.Errorf("members %q", got)
	}
	if m, ok := s.Member("b"); !ok || m != member1("b") {
		t.Errorf("member b: %+v, %v", m, ok)
	}
	if m, ok := s.Member("d"); ok || m != (Member{}) {
		t.Errorf("member d: %+v, %v", m, ok)
	}
	moved := all(MembersSeen, "c")
	moved.Cluster.Members[0].API = "z:9"
	apply(t, s, moved, all(MembersForgotten, "b", "d"))
	if got := ids(); !slices.Equal(got, []string{"a a:1", "c z:9"}) {
		t.Errorf("members %q", got)
	}
	if kept, agreed := s.Retention(); agreed || kept.Requests != time.Hour {
		t.Errorf("no retention was agreed on: %v, %v", kept, agreed)
	}
	apply(t, s, Entry{Kind: RetentionSet, Cluster: &Cluster{Retention: &Retention{}}})
	if kept, agreed := s.Retention(); !agreed || kept.Requests != 0 || len(s.Members()) != 2 {
		t.Errorf("none was agreed on: %v, %v, members %v", kept, agreed, s.Members())
	}
}

// TestLevelRises: a level is raised to one that this version knows, and never falls.
func TestLevelRises(t *testing.T) {
	s := New(hybrid(t))
	raise := func(l Level) error { return s.Apply(&Entry{Kind: LevelRaised, Cluster: &Cluster{Level: l}}) }
	tooNew := Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 5, Level: s.Knows() + 1}}
	if err := s.Apply(&tooNew); !errors.Is(err, ErrNewer) {
		t.Errorf("founded above: %v", err)
	}
	if apply(t, s, Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 5, Level: 1}}); s.Level() != 1 {
		t.Errorf("founded at level %d", s.Level())
	}
	for _, tc := range []struct {
		to   Level
		err  error
		then Level
	}{{1, ErrStale, 1}, {s.Knows() + 1, ErrNewer, 1}, {2, nil, 2}, {1, ErrStale, 2}, {s.Knows(),
		nil, s.Knows()},
		{s.Knows(), ErrStale, s.Knows()}} {
		if err := raise(tc.to); !errors.Is(err, tc.err) || s.Level() != tc.then {
			t.Errorf("to level %d: %v, now %d, want %v, %d", tc.to, err, s.Level(), tc.err, tc.then)
		}
	}
}

// TestRestoreRefusesClusters: a snapshot whose cluster no entries could have made is refused, with what
// is wrong.
func TestRestoreRefusesClusters(t *testing.T) {
	members := func(n int) (all []Member) {
		for i := range n {
			all = append(all, Member{ID: fmt.Sprintf("m%03d", i), Level: 1})
		}
		return all
	}
	for _, tc := range []struct {
		name  string
		spoil func(c *Cluster)
		want  string
	}{
		{"nothing", func(*Cluster) {}, ""},
		{"a newer level", func(c *Cluster) { c.Level = Newest + 1 },
			fmt.Sprintf("level %d, this version knows %d", Newest+1, Newest)},
		{"the newest level", func(c *Cluster) { c.Level = Newest }, ""},
		{"no level", func(c *Cluster) { c.Level = 0 }, "the cluster is incomplete"},
		{"no epoch", func(c *Cluster) { c.Epoch = 0 }, "the cluster is incomplete"},
		{"as many members as may be", func(c *Cluster) { c.Members = members(maxMembers) }, ""},
		{"too many members", func(c *Cluster) { c.Members = members(maxMembers + 1) },
			"the cluster is incomplete"},
		{"a member without a name", func(c *Cluster) { c.Members[0].ID = "" }, "member 0 is out of order"},
		{"a member without a level", func(c *Cluster) { c.Members[1].Level = 0 }, "member 1 is out of order"},
		{"a member twice", func(c *Cluster) { c.Members[1].ID = "m000" }, "member 1 is out of order"},
		{"members in another order", func(c *Cluster) { c.Members[0].ID = "m001x" }, "member 1 is out of order"},
	} {
		s := shuffles(t)
		s.d.Cluster = &Cluster{Epoch: 5, Level: 1, Members: members(2)}
		tc.spoil(s.d.Cluster)
		snap, err := json.Marshal(&s.d)
		if err != nil {
			t.Fatal(err)
		}
		err = New(s.fabric).Restore(snap)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}
