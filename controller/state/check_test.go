package state

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func hybrid(t *testing.T) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 3, Hosts: 1, Spines: 1}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func apply(t *testing.T, s *State, all ...Entry) {
	t.Helper()
	for i := range all {
		if err := s.Apply(&all[i]); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
}

// shuffles is a state with two jobs of a map and a reduce, the first of which is placed.
func shuffles(t *testing.T) *State {
	t.Helper()
	s := New(hybrid(t))
	job := func() *controller.Job {
		return &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
			{Tasks: make([]controller.Task, 1)}},
			Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 100}}}
	}
	apply(t, s, Entry{Kind: JobAccepted, Job: job()}, Entry{Kind: JobAccepted, Job: job()},
		Entry{Kind: Placed, Placement: &controller.Placement{Job: 0, Hosts: []southbound.HostID{0, 2}}})
	return s
}

// TestRestoreRefusesJobs: a snapshot whose jobs, tasks and coflows do not refer to each other as
// entries have them do is refused, with what is wrong.
func TestRestoreRefusesJobs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(d *Data)
		want  string
	}{
		{"nothing", func(*Data) {}, ""},
		{"a stage less", func(d *Data) { d.Jobs[0].Stages = d.Jobs[0].Stages[1:] },
			"job 0 has stages or hosts missing"},
		{"a host less", func(d *Data) { d.Jobs[0].Hosts = d.Jobs[0].Hosts[1:] },
			"job 0 has stages or hosts missing"},
		{"no tasks", func(d *Data) { d.Tasks = nil }, "job 0 has tasks missing"},
		{"a task of the other job", func(d *Data) { d.Tasks[1].Job = 1 }, "job 0 has tasks missing"},
		{"a task of the other stage", func(d *Data) { d.Tasks[1].Stage = 0 }, "job 0 has tasks missing"},
		{"a task on no host", func(d *Data) { d.Tasks[1].Host = 3 }, "job 0 has tasks missing"},
		{"a task more", func(d *Data) { d.Tasks = append(d.Tasks, Task{}) }, "do not add up"},
		{"a host that there is not", func(d *Data) { d.Jobs[0].Hosts[1] = 3 }, "job 0 is placed on host 3 of 3"},
		{"a host below none", func(d *Data) { d.Jobs[0].Hosts[1] = controller.NoHost - 1 },
			"job 0 is placed on host"},
		{"no host", func(d *Data) { d.Jobs[0].Hosts[1] = controller.NoHost }, ""},
		{"an edge from no stage", func(d *Data) { d.Jobs[0].Edges[0].From = 2 },
			"an edge 0 between stages that it has not"},
		{"an edge from below", func(d *Data) { d.Jobs[0].Edges[0].From = -1 },
			"an edge 0 between stages that it has not"},
		{"an edge to no stage", func(d *Data) { d.Jobs[0].Edges[0].To = 2 },
			"an edge 0 between stages that it has not"},
		{"an edge to below", func(d *Data) { d.Jobs[0].Edges[0].To = -1 },
			"an edge 0 between stages that it has not"},
		{"another edge's coflow", func(d *Data) { d.Coflows[0].Edge = 1 }, "job 0 has coflows missing"},
		{"another job's coflow", func(d *Data) { d.Coflows[0].Job = 1 }, "job 0 has coflows missing"},
		{"a coflow sent again", func(d *Data) { d.Coflows[0].Resent = true }, "job 0 has coflows missing"},
		{"a coflow less", func(d *Data) { d.Coflows = d.Coflows[:1] }, "job 1 has coflows missing"},
		{"a coflow more", func(d *Data) {
			c := *d.Coflows[1]
			c.ID, d.Next.Coflow = 2, 3
			d.Coflows = append(d.Coflows, &c)
		}, "do not add up"},
		{"jobs in another order", func(d *Data) { d.Jobs[0], d.Jobs[1] = d.Jobs[1], d.Jobs[0] },
			"job 1 has ids out of order"},
		{"tasks that another has", func(d *Data) { d.Jobs[1].FirstTask = 1 }, "job 1 has ids out of order"},
		{"coflows that another has", func(d *Data) { d.Jobs[1].FirstCoflow = 0 }, "job 1 has ids out of order"},
		{"a job that comes next", func(d *Data) { d.Next.Job = 1 }, "have not been given yet"},
		{"a task that comes next", func(d *Data) { d.Next.Task = 3 }, "have not been given yet"},
		{"a coflow that comes next", func(d *Data) { d.Next.Coflow = 1 }, "have not been given yet"},
		{"coflows in another order", func(d *Data) { d.Coflows[0], d.Coflows[1] = d.Coflows[1], d.Coflows[0] },
			"coflow 1 is missing or out of order"},
		{"a coflow below", func(d *Data) { d.Coflows[0].ID = -1 }, "coflow 0 is missing or out of order"},
		{"a row without a tag", func(d *Data) { d.Coflows[0].Tag = d.Coflows[0].Tag[1:] },
			"coflow 0 is incomplete"},
		{"a row without an end", func(d *Data) { d.Coflows[0].Done = nil }, "coflow 0 is incomplete"},
		{"a row without a size", func(d *Data) { d.Coflows[0].Columns.Size = nil }, "coflow 0 is incomplete"},
		{"a host flow to no host", func(d *Data) { d.Coflows[0].Columns.Dst[0] = 3 },
			"has a host flow 0→3 on 3 hosts"},
		{"a host flow from below", func(d *Data) { d.Coflows[0].Columns.Src[0] = -1 },
			"has a host flow -1→2 on 3 hosts"},
	} {
		s := shuffles(t)
		tc.spoil(&s.d)
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

// TestBandwidth: a request is granted once, what it holds is seen on its links and until when, and
// released once; more than may be reserved is refused.
func TestBandwidth(t *testing.T) {
	f := hybrid(t)
	s := New(f)
	path, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	up, down := f.Topology.OutPort(f.HostNode[0], 0), f.Topology.OutPort(f.ToRNode[1], 0)
	links := append(path.AppendPath([]pathmap.LinkID{up}, 0, 1, 0), down)
	most := southbound.Never
	var whole pathmap.BitsPerSecond = 1 << 62
	for _, l := range links {
		whole = min(whole, controller.ReservableBandwidth(f.Topology.Link(l).Capacity))
	}
	ask := func(request string, rate pathmap.BitsPerSecond, until time.Duration) *Entry {
		return &Entry{Kind: BandwidthReserved, At: 3, Request: request,
			BandwidthReservation: &controller.BandwidthReservation{Src: 0, Dst: 1, Rate: rate,
				Until: until, Links: links}}
	}
	if s.ReservedBandwidth(up) != 0 || s.NextBandwidthExpiry() != most {
		t.Errorf("nothing is reserved, and %v is, until %v", s.ReservedBandwidth(up), s.NextBandwidthExpiry())
	}
	apply(t, s, *ask("a", whole-10, 90), *ask("b", 4, 50))
	for request, want := range map[string]controller.BandwidthReservationID{"a": 1, "b": 2} {
		p, known, stands := s.BandwidthReservation(request)
		if p.ID != want || !known || !stands || p.From != 3 {
			t.Errorf("request %s: %+v, known %v, stands %v", request, p, known, stands)
		}
	}
	if _, known, stands := s.BandwidthReservation("c"); known || stands {
		t.Errorf("request c: known %v, stands %v", known, stands)
	}
	if n := len(s.BandwidthReservations()); n != 2 || s.ReservedBandwidth(up) != whole-6 ||
		s.NextBandwidthExpiry() != 50 {
		t.Errorf("%d stand, %v is reserved of %v, until %v", n, s.ReservedBandwidth(up), whole,
			s.NextBandwidthExpiry())
	}
	if err := s.Apply(ask("a", 1, 90)); !strings.Contains(err.Error(), ErrStale.Error()) {
		t.Errorf("the same request: %v", err)
	}
	if err := s.Apply(ask("c", 7, 90)); err == nil || !strings.Contains(err.Error(), ErrNoRoom.Error()) {
		t.Errorf("seven where six are left: %v", err)
	}
	p := ask("c", 6, 90).BandwidthReservation
	if err := s.CheckBandwidthReservation(p, map[pathmap.LinkID]pathmap.BitsPerSecond{links[1]: 1}); err == nil {
		t.Error("six where others of the batch have left five")
	}
	release := &Entry{Kind: BandwidthReleased, BandwidthReservationID: 1}
	apply(t, s, *ask("c", 6, 70), *release)
	if err := s.Apply(release); !strings.Contains(err.Error(), ErrStale.Error()) {
		t.Errorf("released again: %v", err)
	}
	if p, known, stands := s.BandwidthReservation("a"); p.ID != 1 || !known || stands {
		t.Errorf("what is over: %+v, known %v, stands %v", p, known, stands)
	}
	if s.ReservedBandwidth(links[1]) != 10 || s.NextBandwidthExpiry() != 50 {
		t.Errorf("%v is reserved until %v", s.ReservedBandwidth(links[1]), s.NextBandwidthExpiry())
	}
}

// TestViewsOfTotals: callers that read less are given less, and the sizes where nothing is known.
func TestViewsOfTotals(t *testing.T) {
	s := New(hybrid(t))
	job := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed,
		Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 30}, {Src: 1, Dst: 2, Bytes: 12}}}}}
	apply(t, s, Entry{Kind: JobAccepted, Job: job}, Entry{Kind: Placed, Placement: &controller.Placement{}})
	total := func(southbound.CoflowID) (float64, bool) { return 7, true }
	var v controller.View
	s.FillTotalsView(&v, total)
	if c := &v.Coflows[0]; c.Remaining.Live != 2 || c.Remaining.Total != 42 || c.Remaining.Base != nil {
		t.Errorf("before it starts: %+v", c.Remaining)
	}
	apply(t, s, Entry{Kind: Routed, Routing: &controller.Routing{Tags: make([]southbound.Tag, 2)}},
		Entry{Kind: CoflowStarted})
	for _, tc := range []struct {
		total func(southbound.CoflowID) (float64, bool)
		want  float64
	}{{total, 7}, {func(southbound.CoflowID) (float64, bool) { return 7, false }, 42}} {
		if s.FillTotalsView(&v, tc.total); v.Coflows[0].Remaining.Total != tc.want {
			t.Errorf("%v is left, want %v", v.Coflows[0].Remaining.Total, tc.want)
		}
	}
	if s.FillBlindView(&v); v.Coflows[0].Remaining.Live != 2 || v.Coflows[0].Remaining.Total != 0 {
		t.Errorf("blind: %+v", v.Coflows[0].Remaining)
	}
	left := southbound.Remaining{F: 1, Base: []float64{1, 2}, Live: 2}
	s.FillView(&v, func(southbound.CoflowID) (southbound.Remaining, bool) { return left, true })
	if got := v.Coflows[0].LeftTotal(); got != 3 {
		t.Errorf("%v is left of 3", got)
	}
	short := southbound.Remaining{F: 1, Base: []float64{1}, Live: 2}
	s.FillView(&v, func(southbound.CoflowID) (southbound.Remaining, bool) { return short, true })
	if got := v.Coflows[0].LeftTotal(); got != 42 {
		t.Errorf("a report of too few rows: %v is left, want the sizes", got)
	}
}

// TestClusterEntries: what replicas agree on about themselves is refused before there is a cluster, or
// where it is not whole, and is stale where it is known.
func TestClusterEntries(t *testing.T) {
	founded := Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 5, Level: 1}}
	latest := Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 5, Level: Newest}}
	seen := func(all ...Member) Entry { return Entry{Kind: MembersSeen, Cluster: &Cluster{Members: all}} }
	a := Member{ID: "a", API: "x:1", Level: 1}
	long := strings.Repeat("x", maxMemberText)
	var many []Member
	for i := range maxMembers + 1 {
		many = append(many, Member{ID: string(rune('a'+i%26)) + string(rune('a'+i/26)), Level: 1})
	}
	for _, tc := range []struct {
		name   string
		before []Entry
		entry  Entry
		want   string
	}{
		{"founded", nil, founded, ""},
		{"founded again", []Entry{founded}, founded, ErrStale.Error()},
		{"no epoch", nil, Entry{Kind: ClusterFounded, Cluster: &Cluster{Level: 1}},
			"an epoch and a level alone"},
		{"no level", nil, Entry{Kind: ClusterFounded, Cluster: &Cluster{Epoch: 1}},
			"an epoch and a level alone"},
		{"members too", nil, Entry{Kind: ClusterFounded,
			Cluster: &Cluster{Epoch: 1, Level: 1, Members: []Member{a}}},
			"an epoch and a level alone"},
		{"members of no cluster", nil, seen(a), "the cluster has no epoch yet"},
		{"a level of no cluster", nil, Entry{Kind: LevelRaised, Cluster: &Cluster{Level: 2}},
			"the cluster has no epoch yet"},
		{"a level that is", []Entry{founded}, Entry{Kind: LevelRaised, Cluster: &Cluster{Level: 1}},
			ErrStale.Error()},
		{"a newer level", []Entry{founded}, Entry{Kind: LevelRaised, Cluster: &Cluster{Level: 255}},
			ErrNewer.Error()},
		{"a member", []Entry{founded}, seen(a), ""},
		{"a member that is known", []Entry{founded, seen(a)}, seen(a), ErrStale.Error()},
		{"a member that moved", []Entry{founded, seen(a)}, seen(Member{ID: "a", API: "y:1", Level: 1}), ""},
		{"a member without a name", []Entry{founded}, seen(Member{API: "x:1", Level: 1}), `member "" is none`},
		{"a member without a level", []Entry{founded}, seen(Member{ID: "a", API: "x:1"}), `member "a" is none`},
		{"a long name", []Entry{founded}, seen(Member{ID: long, API: long, Level: 1}), ""},
		{"a longer name", []Entry{founded}, seen(Member{ID: long + "x", Level: 1}), "is none"},
		{"a longer address", []Entry{founded}, seen(Member{ID: "a", API: long + "x", Level: 1}), "is none"},
		{"many members", []Entry{founded}, seen(many[1:]...), ""},
		{"too many", []Entry{founded}, seen(many...), "65 members, at most 64 are kept"},
		{"forgotten", []Entry{latest, seen(a)}, Entry{Kind: MembersForgotten,
			Cluster: &Cluster{Members: []Member{a}}}, ""},
		{"nobody forgotten", []Entry{latest, seen(a)},
			Entry{Kind: MembersForgotten, Cluster: &Cluster{Members: []Member{{ID: "b"}}}}, ErrStale.Error()},
	} {
		s := New(hybrid(t))
		apply(t, s, tc.before...)
		err := s.Apply(&tc.entry)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestBandwidthForm: a reservation of bandwidth leads over links from one host to another, at a rate
// above zero.
func TestBandwidthForm(t *testing.T) {
	f := hybrid(t)
	path, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	up, down := f.Topology.OutPort(f.HostNode[0], 0), f.Topology.OutPort(f.ToRNode[1], 0)
	links := append(path.AppendPath([]pathmap.LinkID{up}, 0, 1, 0), down)
	between := "take two of the hosts 0 to 2"
	for _, tc := range []struct {
		name  string
		spoil func(p *controller.BandwidthReservation)
		want  string
	}{
		{"nothing", func(*controller.BandwidthReservation) {}, ""},
		{"from no host", func(p *controller.BandwidthReservation) { p.Src = 3 }, between},
		{"from below", func(p *controller.BandwidthReservation) { p.Src = -1 }, between},
		{"to no host", func(p *controller.BandwidthReservation) { p.Dst = 3 }, between},
		{"to below", func(p *controller.BandwidthReservation) { p.Dst = -1 }, between},
		{"to itself", func(p *controller.BandwidthReservation) { p.Dst = 0 }, between},
		{"to another host", func(p *controller.BandwidthReservation) { p.Dst = 2 },
			"reserve bandwidth on links that do not lead to host 2"},
		{"from another host", func(p *controller.BandwidthReservation) { p.Src = 2 },
			"which does not go on from node"},
		{"no rate", func(p *controller.BandwidthReservation) { p.Rate = 0 },
			"reserve 0 bit/s: take a rate above zero"},
		{"a rate below", func(p *controller.BandwidthReservation) { p.Rate = -1 }, "reserve -1 bit/s"},
		{"no links", func(p *controller.BandwidthReservation) { p.Links = nil }, "reserve bandwidth on 0 links"},
		{"more links than nodes", func(p *controller.BandwidthReservation) {
			p.Links = make([]pathmap.LinkID, len(f.Topology.Nodes())+1)
		}, "reserve bandwidth on"},
		{"a link less", func(p *controller.BandwidthReservation) { p.Links = links[:len(links)-1] },
			"do not lead to host 1"},
		{"a link below", func(p *controller.BandwidthReservation) { p.Links = []pathmap.LinkID{-1} },
			"on link -1, which"},
		{"no such link", func(p *controller.BandwidthReservation) {
			p.Links = []pathmap.LinkID{pathmap.LinkID(len(f.Topology.Links()))}
		}, "which does not go on from node"},
		{"a link left out", func(p *controller.BandwidthReservation) { p.Links = []pathmap.LinkID{up, down} },
			"which does not go on from node"},
	} {
		s := New(f)
		p := &controller.BandwidthReservation{Src: 0, Dst: 1, Rate: 1, Until: 9, Links: links}
		tc.spoil(p)
		err := s.CheckBandwidthReservation(p, nil)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		s.d.BandwidthReservations = make([]controller.BandwidthReservation,
			controller.MaxBandwidthReservations-1)
		if err := s.CheckBandwidthReservation(p, nil); (err == nil) != (tc.want == "") {
			t.Errorf("%s, and one less than may be active: %v", tc.name, err)
		}
		s.d.BandwidthReservations = append(s.d.BandwidthReservations, controller.BandwidthReservation{})
		if err := s.CheckBandwidthReservation(p, nil); err == nil || tc.want == "" && err.Error() !=
			"reserve bandwidth: 65536 reservations are active: release some" {
			t.Errorf("%s, and as many as may be are active: %v", tc.name, err)
		}
	}
}

// TestRestoreRefusesReferences: a snapshot whose reservations are out of order, or that carries again
// what nobody has lost, is refused.
func TestRestoreRefusesReferences(t *testing.T) {
	f := hybrid(t)
	up := f.Topology.OutPort(f.HostNode[0], 0)
	path, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	links := append(path.AppendPath([]pathmap.LinkID{up}, 0, 1, 0), f.Topology.OutPort(f.ToRNode[1], 0))
	bandwidth := func(d *Data, last controller.BandwidthReservationID, ids ...controller.BandwidthReservationID) {
		for _, id := range ids {
			d.BandwidthReservations = append(d.BandwidthReservations,
				controller.BandwidthReservation{ID: id, Src: 0, Dst: 1,
					Rate: 1, Until: 9, Links: links})
		}
		d.LastBandwidthReservation = last
	}
	reserved := func(d *Data, in, out southbound.Port, id southbound.CoflowID) {
		d.Ledger = append(d.Ledger, CircuitReservation{CircuitReservation: controller.CircuitReservation{In: in, Out: out,
			Coflow: id, NotBefore: 1, NotAfter: 2}})
	}
	resent := func(d *Data, c Coflow, pairs ...controller.Flow) {
		c.ID, c.Resent, c.Pairs, c.Started, c.Ended = 2, true, pairs, Unset, Unset
		d.Coflows, d.Next.Coflow = append(d.Coflows, &c), 3
		d.Jobs[0].Redo = []southbound.CoflowID{2}
	}
	for _, tc := range []struct {
		name  string
		spoil func(d *Data)
		want  string
	}{
		{"bandwidth in order", func(d *Data) { bandwidth(d, 5, 2, 5) }, ""},
		{"bandwidth twice", func(d *Data) { bandwidth(d, 5, 2, 2) }, "bandwidth reservation 2 is out of order"},
		{"bandwidth in another order", func(d *Data) { bandwidth(d, 5, 3, 2) },
			"bandwidth reservation 2 is out of order"},
		{"bandwidth of no id", func(d *Data) { bandwidth(d, 5, 0) }, "bandwidth reservation 0 is out of order"},
		{"bandwidth that comes next", func(d *Data) { bandwidth(d, 4, 2, 5) },
			"bandwidth reservation 5 is out of order"},
		{"a reservation for no coflow", func(d *Data) { reserved(d, 0, 2, 2) },
			"reservation 0→2 for coflow 2 is outside"},
		{"a reservation from below", func(d *Data) { reserved(d, -1, 2, 1) },
			"reservation -1→2 for coflow 1 is outside"},
		{"hosts are lost in another order", func(d *Data) { d.Lost = []southbound.HostID{2, 1} },
			"lost host 1 is outside"},
		{"sent again", func(d *Data) { resent(d, Coflow{}, controller.Flow{Src: 0, Dst: 1, Bytes: 1}) }, ""},
		{"sent again by no task", func(d *Data) {
			resent(d, Coflow{},
				controller.Flow{Src: 2, Dst: 1, Bytes: 1})
		},
			"coflow 2 carries 1 bytes again from 2 to 1 of 2"},
		{"sent again to no task", func(d *Data) {
			resent(d, Coflow{},
				controller.Flow{Src: 0, Dst: 2, Bytes: 1})
		},
			"coflow 2 carries 1 bytes again from 0 to 2 of 2"},
		{"nothing is sent again", func(d *Data) { resent(d, Coflow{}, controller.Flow{Src: 0, Dst: 1}) },
			"coflow 2 carries 0 bytes again from 0 to 1 of 2"},
		{"sent again from below", func(d *Data) {
			resent(d, Coflow{},
				controller.Flow{Src: -1, Dst: 1, Bytes: 1})
		},
			"carries 1 bytes again from -1"},
		{"sent again to below", func(d *Data) {
			resent(d, Coflow{},
				controller.Flow{Src: 0, Dst: -1, Bytes: 1})
		},
			"carries 1 bytes again from 0 to -1"},
		{"of another job's coflow", func(d *Data) { resent(d, Coflow{Of: 1}) },
			"carries again what no coflow had"},
		{"of no coflow", func(d *Data) { resent(d, Coflow{Of: 7}) }, "carries again what no coflow had"},
		{"another job's is sent again", func(d *Data) { resent(d, Coflow{Job: 1, Of: 1}) },
			"job 0 has coflows missing"},
		{"not said to be sent again", func(d *Data) {
			resent(d, Coflow{})
			d.Coflows[2].Resent = false
		}, "job 0 has coflows missing"},
		{"sent again twice", func(d *Data) {
			resent(d, Coflow{})
			d.Jobs[0].Redo = []southbound.CoflowID{2, 2}
		}, "job 0 has coflows missing"},
	} {
		s := shuffles(t)
		tc.spoil(&s.d)
		snap, err := json.Marshal(&s.d)
		if err != nil {
			t.Fatal(err)
		}
		err = New(f).Restore(snap)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}
