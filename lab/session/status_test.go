package session

import (
	"strings"
	"testing"

	"lightloom/emulator/fault"
	"lightloom/lab/testbed/emulated"
)

func TestVerdict(t *testing.T) {
	replicas := func(lost int) []ReplicaStatus {
		all := make([]ReplicaStatus, 3)
		for i := range lost {
			all[i].Error = "connection refused"
		}
		return all
	}
	for _, tc := range []struct {
		name string
		s    Status
		want string // beginning
		and  string
	}{
		{"well", Status{Leader: "c0", Term: 2, Replicas: replicas(0)},
			"ok: leader c0 in term 2, 3 replicas at work", ""},
		{"one replica lost", Status{Leader: "c1", Replicas: replicas(1)},
			"degraded: 2 of 3 replicas answer", "leader c1"},
		{"two replicas lost", Status{Replicas: replicas(2)},
			"no leader: 1 of 3 replicas answer, and 2 must", "heal"},
		{"two replicas lost a moment ago", Status{Leader: "c2", Term: 2, Replicas: replicas(2)},
			"no leader: 1 of 3", "heal"},
		{"a replica waits", Status{Replicas: []ReplicaStatus{{ID: "c0", Standing: "waiting",
			Reason: "no answer from c2"},
			{}, {Error: "refused"}}}, "no leader: c0 waits (no answer from c2)", "2 of 3 replicas answer"},
		{"a replica learns", Status{Leader: "c1", Replicas: []ReplicaStatus{{ID: "c0", Standing: "learning",
			Reason: "its disk has gone back"}}}, "degraded: c0 learns (its disk has gone back)", "leader c1"},
		{"a replica is apart", Status{Leader: "c1", Replicas: []ReplicaStatus{{ID: "c0", Trouble: "apart"}}},
			"degraded: c0: apart", "leader c1"},
		{"election", Status{Replicas: replicas(1)}, "no leader: an election is under way", ""},
		{"link", Status{Leader: "c0", Replicas: replicas(0),
			Failed:  []fault.Fault{{Kind: fault.Link, Name: "a-b"}},
			Waiting: []WaitingStatus{{}}}, "degraded: 1 part failed", "1 job waiting"},
		{"unclaimed", Status{Leader: "c0", Replicas: replicas(0),
			Switches: []SwitchStatus{{Claim: "unclaimed"}}},
			"degraded: 1 switch unclaimed", ""},
		{"refused", Status{Leader: "c0", Replicas: replicas(0), Switches: []SwitchStatus{{Claim: "fenced"},
			{Claim: "fenced", Refused: "table full"}}}, "degraded: 1 switch refused a change", "status switches"},
		{"agents", Status{Leader: "c0", Replicas: replicas(0),
			Agents: []AgentStatus{{Lost: true, Error: "silent"}, {},
				{Error: "run tasks: no such host"}, {Error: "no room"}}}, "degraded: 1 agent lost", "2 agents in trouble"},
		{"tasks", Status{Leader: "c0", Replicas: replicas(0), Silent: []SilentStatus{{Tasks: 3}}},
			"degraded: 1 job with tasks that should have ended", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.s.verdict(); !strings.HasPrefix(got, tc.want) || !strings.Contains(got, tc.and) {
				t.Errorf("%q, want %q … %q", got, tc.want, tc.and)
			}
			tc.s.Verdict = tc.s.verdict()
			var b strings.Builder
			if err := tc.s.show(StatusOptions{Section: "circuits"}, &b); err != nil ||
				b.String() != "circuits: none\n" {
				t.Errorf("no circuits are shown as %q, %v", &b, err)
			}
			b.Reset()
			if err := tc.s.print(&b); err != nil || !strings.HasPrefix(b.String(), tc.want) {
				t.Errorf("%v: the verdict does not come first:\n%s", err, b.String())
			}
		})
	}
}

// TestAheadOrApart: a replica that is ahead of the leader, or holds another state after the same entry,
// is named.
func TestAheadOrApart(t *testing.T) {
	s := Status{Replicas: []ReplicaStatus{{ID: "c0", Applied: 7, Digest: "aa"},
		{ID: "c1", Applied: 8, Digest: "bb"},
		{ID: "c2", Applied: 7, Digest: "cc", Trouble: "seen"}, {ID: "c3", Applied: 6, Digest: "dd"},
		{ID: "c4", Applied: 9, Error: "refused"}}}
	s.holdAgainst("c0", 7, "aa")
	for i, want := range []string{"", "ahead of the leader", "seen; apart", "", ""} {
		if got := s.Replicas[i].Trouble; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", s.Replicas[i].ID, got, want)
		}
	}
}

// TestDrained: what is drained is told, and whether circuits still go over it.
func TestDrained(t *testing.T) {
	s := Status{Leader: "c0", Replicas: make([]ReplicaStatus, 3), Drained: []string{"ocs", "spine1"},
		Circuits: []CircuitStatus{{Switch: "ocs", Out: 1}, {Switch: "ocs", In: 1}}}
	var b strings.Builder
	if err := s.print(&b); err != nil || !strings.Contains(b.String(),
		"\ndrained: ocs (2 circuits still lit), spine1\n") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	s.Drained = nil
	if err := s.print(&b); err != nil || strings.Contains(b.String(), "drained") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// TestSections: what is said of nothing is so, values tell their age, and ports without light are told apart.
func TestSections(t *testing.T) {
	idle := emulated.LinkStatus{From: "a", To: "b", Capacity: 1e9, Span: 1}
	busy := emulated.LinkStatus{From: "a", To: "b", Capacity: 1e9, Rate: 313e6, Span: 1, Age: 0.4}
	late, stale := busy, busy
	late.Age, stale.Age = 2, 30
	for _, tc := range []struct {
		name, section string
		s             Status
		want, not     string
	}{
		{"jobs have ended", "jobs", Status{Jobs: 2, JobsEnded: 2},
			"jobs: none is open; of 2 that have ended", ""},
		{"there were none", "jobs", Status{}, "jobs: none\n", "ended"},
		{"nothing is counted yet", "links", Status{Rates: []emulated.LinkStatus{{Capacity: 1e9}}},
			"not known yet", "busy"},
		{"all are idle", "links", Status{Rates: []emulated.LinkStatus{idle}}, "none is busy", "known"},
		{"one is busy", "links", Status{Rates: []emulated.LinkStatus{busy}}, "1.0 s", "ago"},
		{"not counted since", "links", Status{Rates: []emulated.LinkStatus{idle},
			View: []emulated.LinkStatus{late}},
			"1.0 s, 2.0 s ago", "stale"},
		{"long ago", "links", Status{Rates: []emulated.LinkStatus{stale}}, "stale: 30 s old", ""},
		{"a healthy switch", "switches", Status{Switches: []SwitchStatus{{Name: "tor0", Claim: "fenced",
			Dark: []int{4}}}},
			"claimed", "fenced"},
		{"a failed cable", "switches", Status{Switches: []SwitchStatus{{Name: "tor0", Down: []int{2}}}},
			"tor0:2", "tor0:4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			if err := tc.s.show(StatusOptions{Section: tc.section}, &b); err != nil ||
				!strings.Contains(b.String(), tc.want) ||
				tc.not != "" && strings.Contains(b.String(), tc.not) {
				t.Errorf("%v\n%swant %q and not %q", err, &b, tc.want, tc.not)
			}
		})
	}
}
