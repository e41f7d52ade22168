package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/torus"
	"lightloom/southbound/hint"
)

func TestParseWish(t *testing.T) {
	box := torus.Box(2, 2, 4)
	for comment, want := range map[string]Wish{
		"":                                      {None, nil},
		"my run":                                {None, nil},
		"my lightloom:circuits=required run":    {Required, nil},
		"lightloom:circuits=none":               {None, nil},
		"lightloom:circuits=wanted,shape=2x2x4": {Wanted, &box},
	} {
		if got, err := ParseWish(comment); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", comment, got, err, want)
		}
	}
	for _, comment := range []string{"lightloom:", "lightloom:circuits=maybe", "lightloom:shape=2", "lightloom:speed=1"} {
		if _, err := ParseWish(comment); err == nil || hint.Of(err) == "" {
			t.Errorf("%q: %v", comment, err)
		}
	}
}

// TestParseJobs: the numbers and states of 22.05's JSON and of 26.05's, and lists of hosts whose names end in -0.
func TestParseJobs(t *testing.T) {
	for version, text := range map[string]string{
		"22.05": `{"jobs": [{"job_id": 7, "job_state": "RUNNING", "comment": "a \"b\"", "nodes": "h0-[0-1],h2-0",
			"node_count": 3, "required_nodes": ""}]}`,
		"26.05": `{"jobs": [{"job_id": 7, "job_state": ["RUNNING", "COMPLETING"], "comment": "a \"b\"", "nodes": "h0-[0-1],h2-0",
			"node_count": {"set": true, "infinite": false, "number": 3}, "required_nodes": ""}], "meta": {}}`,
	} {
		want := []Job{{ID: 7, State: "RUNNING", Comment: `a "b"`, Nodes: []string{"h0-0", "h0-1", "h2-0"}, Count: 3}}
		got, err := ParseJobs([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", version, err, diff)
		}
	}
	for _, text := range []string{"", "{", `{"jobs": [{"job_id": "x"}]}`, `{"jobs": [{"nodes": "n[2-1]"}]}`} {
		if _, err := ParseJobs([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzParseJobs(f *testing.F) {
	f.Add([]byte(`{"jobs": [{"job_id": 7, "job_state": ["RUNNING"], "nodes": "h0-[0-1],h2-0", "node_count": {"number": 3}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseJobs(b)
		for _, j := range all {
			if err == nil && slices.Contains(j.Nodes, "") {
				t.Errorf("a node without a name: %q", j.Nodes)
			}
		}
	})
}

func FuzzParseWish(f *testing.F) {
	f.Add("x lightloom:circuits=required,shape=2x2x2 y")
	f.Fuzz(func(t *testing.T, comment string) {
		if w, err := ParseWish(comment); err == nil && !slices.Contains([]string{None, Wanted, Required}, w.Circuits) {
			t.Errorf("%q: %+v", comment, w)
		}
	})
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]Version{"slurm 22.05.8\n": {22, 5}, "26.05.5-1 sid": {26, 5},
		"slurm-wlm 24.11.0": {24, 11}} {
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseVersion("none"); err == nil {
		t.Error("none is a version")
	}
	for kind, v := range map[string]Version{Block: {22, 5}, Ring: {25, 11}, Torus: {24, 5}} {
		if err := v.Has(kind); err == nil || hint.Of(err) == "" {
			t.Errorf("%s of %s: %v", kind, v, err)
		}
	}
	if err := (Version{22, 5}).Has(Tree); err != nil {
		t.Error(err)
	}
}

func TestFindRoot(t *testing.T) {
	missing := func() (string, error) { return "", errors.New("no slurmctld") }
	if _, err := FindRoot(t.TempDir(), missing); err == nil || !strings.Contains(hint.Of(err), "lightloom slurm root") {
		t.Errorf("an empty directory: %v, %q", err, hint.Of(err))
	}
	if _, err := FindRoot("/", missing); err == nil || !strings.Contains(hint.Of(err), "lightloom slurm root") {
		t.Errorf("nothing installed: %v, %q", err, hint.Of(err))
	}
	old := func() (string, error) { return "slurm 20.11.7", nil }
	if _, err := FindRoot("/", old); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("an old one: %v", err)
	}
}

func TestChoose(t *testing.T) {
	n := network(t, "hybrid:racks=3,hosts=3")
	all := func(names string) map[string]bool {
		out := map[string]bool{}
		for _, x := range strings.Fields(names) {
			out[x] = true
		}
		return out
	}
	for _, tt := range []struct {
		name, idle, busy string
		count            int
		want             string
	}{
		{"the fullest rack that does", "h0-0 h0-1 h0-2 h1-0 h1-2", "", 2, "h1-0 h1-2"},
		{"one rack needs no port", "h0-0 h0-1 h0-2", "tor0 tor1", 3, "h0-0 h0-1 h0-2"},
		{"few racks", "h0-0 h1-0 h1-1 h2-0 h2-1 h2-2", "", 5, "h2-0 h2-1 h2-2 h1-0 h1-1"},
		{"not those that are taken", "h0-0 h1-0 h1-1 h2-0 h2-1", "tor2", 3, "h1-0 h1-1 h0-0"},
		{"too few", "h0-0 h1-0", "", 3, ""},
		{"none", "h0-0", "", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := choose(n, all(tt.idle), all(tt.busy), tt.count)
			if strings.Join(got, " ") != tt.want || ok != (tt.want != "") {
				t.Errorf("%v, %v, want %s", got, ok, tt.want)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	jobs := []Job{{ID: 1, State: "RUNNING"}, {ID: 2, State: "COMPLETED"}, {ID: 3, State: "PENDING"}}
	if got := orphans([]int{1, 2, 3, 4}, jobs); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("%v", got)
	}
}

// desk is a controller's slices and Slurm's job 7, for the order in which a Broker asks.
type desk struct {
	job    Job
	idle   map[string]bool
	slices map[string]*apiv1.Slice
	told   []string
	lights int // reads until a new slice is Ready
	fails  int // calls that fail first
}

func (d *desk) fail() error {
	if d.fails > 0 {
		d.fails--
		return &api.Error{Code: api.NoLeader, Err: errors.New("no leader")}
	}
	return nil
}

func (d *desk) CreateSlice(_ context.Context, r api.SliceRequest) (*apiv1.Slice, error) {
	if err := d.fail(); err != nil {
		return nil, err
	}
	if d.slices[r.Name] != nil {
		return nil, &api.Error{Code: api.Invalid, Err: errors.New("another slice has that name")}
	}
	d.told = append(d.told, "create "+strings.Join(r.Hosts, ","))
	d.slices[r.Name] = &apiv1.Slice{Name: r.Name, Hosts: r.Hosts, State: string(torus.Activating)}
	return d.slices[r.Name], nil
}

func (d *desk) DeleteSlice(_ context.Context, name string) error {
	if d.slices[name] == nil {
		return &api.Error{Code: api.Unknown, Err: errors.New("no such slice")}
	}
	d.told = append(d.told, "delete")
	delete(d.slices, name)
	return nil
}

func (d *desk) Slice(_ context.Context, name string, _ api.Read) (*apiv1.Slice, error) {
	x := d.slices[name]
	if x == nil {
		return nil, &api.Error{Code: api.Unknown, Err: errors.New("no such slice")}
	}
	if d.lights--; d.lights < 0 {
		x.State = string(torus.Ready)
	}
	return x, nil
}

func (d *desk) Slices(context.Context, api.Read) (all []*apiv1.Slice, err error) {
	for _, x := range d.slices {
		all = append(all, x)
	}
	return all, nil
}

func (d *desk) Job(_ context.Context, id int) (Job, error) {
	if id != d.job.ID {
		return Job{}, ErrNoJob
	}
	return d.job, nil
}

func (d *desk) Idle(context.Context) (map[string]bool, error) { return d.idle, nil }

func (d *desk) Require(_ context.Context, id int, nodes []string) error {
	d.told = append(d.told, fmt.Sprint("require ", id, " ", strings.Join(nodes, ",")))
	return nil
}

func (d *desk) Mark(context.Context, int, bool) error { return nil }

func (d *desk) broker(t *testing.T) *Broker {
	n := network(t, "hybrid:racks=2,hosts=2")
	return &Broker{Slices: d, Slurm: d, Network: func(context.Context) (Network, error) { return *n, nil },
		Pause: func(ctx context.Context) error { return ctx.Err() }, Patient: time.Second, Say: t.Logf}
}

// TestBroker: a job is released once its circuits are lit; all can be done again; other nodes than were chosen get
// circuits in place of those; and what is free stays free.
func TestBroker(t *testing.T) {
	d := &desk{job: Job{ID: 7, Comment: "lightloom:circuits=required", Count: 3}, lights: 3, fails: 2,
		idle: map[string]bool{"h0-0": true, "h0-1": true, "h1-0": true}, slices: map[string]*apiv1.Slice{}}
	b := d.broker(t)
	step := func(what string, err error, want ...string) {
		t.Helper()
		if err != nil || !slices.Equal(d.told, want) {
			t.Errorf("%s: %v, %q, want %q", what, err, d.told, want)
		}
		d.told = nil
	}
	step("stage", b.Stage(t.Context(), 7), "create h0-0,h0-1,h1-0", "require 7 h0-0,h0-1,h1-0")
	d.idle["h1-1"], d.job.Placed, d.job.Require = true, true, []string{"h0-0", "h0-1", "h1-0"}
	step("stage again", b.Stage(t.Context(), 7), "require 7 h0-0,h0-1,h1-0")
	d.job.Nodes = []string{"h0-1", "h0-0", "h1-0"}
	step("reserve", b.Reserve(t.Context(), 7))
	d.job.Nodes = []string{"h0-0", "h1-0", "h1-1"}
	step("reserve on other nodes", b.Reserve(t.Context(), 7), "delete", "create h0-0,h1-0,h1-1")
	d.idle, d.job.Require = map[string]bool{"h0-1": true, "h1-0": true, "h1-1": true}, []string{"h0-0", "h1-0", "h1-1"}
	step("a node has failed", b.Stage(t.Context(), 7), "delete", "create h0-1,h1-0,h1-1", "require 7 h1-0,h1-1,h0-1")
	step("free", b.Free(t.Context(), 7), "delete")
	step("free again", b.Free(t.Context(), 7))
	d.job.Comment = "plain"
	step("nothing asked", errors.Join(b.Stage(t.Context(), 7), b.Reserve(t.Context(), 7)))
	if err := b.Stage(t.Context(), 8); !errors.Is(err, ErrNoJob) {
		t.Errorf("no such job: %v", err)
	}
}

// TestWanted: a job that only wants circuits starts without them where they are not there in time.
func TestWanted(t *testing.T) {
	d := &desk{job: Job{ID: 7, Comment: "lightloom:circuits=wanted", Nodes: []string{"h0-0", "h1-0"}, Count: 2},
		lights: 1 << 30, slices: map[string]*apiv1.Slice{}}
	b := d.broker(t)
	b.Patient = time.Millisecond
	if err := b.Reserve(t.Context(), 7); err != nil || len(d.slices) != 0 {
		t.Errorf("%v, slices %v", err, d.slices)
	}
}

func TestFiles(t *testing.T) {
	n := network(t, "hybrid:racks=2,hosts=2")
	hosts := n.hosts()
	for v, want := range map[Version][]string{
		{22, 5}: {"topology.conf", "TopologyPlugin=topology/tree", "CgroupPlugin=cgroup/v1"},
		{26, 5}: {"topology.yaml", "NodeName=h1-1 NodeAddr=10.0.1.2 NodeHostname=h1-1", "CgroupPlugin=disabled"},
	} {
		files, err := Files(v, Tree, n, hosts)
		if err != nil {
			t.Fatal(err)
		}
		if files[want[0]] == "" || !strings.Contains(files["slurm.conf"]+files["cgroup.conf"], want[1]) ||
			!strings.Contains(files["cgroup.conf"], want[2]) || !strings.Contains(files["burst_buffer.lua"], running+"/lightloom slurm") {
			t.Errorf("%v: %v", v, files)
		}
	}
	if _, err := Files(Version{22, 5}, Block, n, hosts); err == nil {
		t.Error("22.05 has no block")
	}
}
