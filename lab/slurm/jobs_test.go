package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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
		"lightloom:,circuits=required,\tmy run": {Required, nil},
		"lightloom:circuits=wanted,shape=2x2x4": {Wanted, &box},
	} {
		if got, err := ParseWish(comment); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", comment, got, err, want)
		}
	}
	for _, comment := range []string{"lightloom:", "lightloom:,",
		"lightloom:circuits=maybe", "lightloom:shape=2", "lightloom:speed=1"} {
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
		"26.05": `{"jobs": [{"job_id": 7, "job_state": ["RUNNING", "COMPLETING"], "comment": "a \"b\"",
			"nodes": "h0-[0-1],h2-0", "node_count": {"set": true, "infinite": false, "number": 3},
			"required_nodes": ""}], "meta": {}}`,
	} {
		want := []Job{{ID: 7, State: "RUNNING", Comment: `a "b"`, Nodes: []string{"h0-0", "h0-1", "h2-0"}, Count: 3,
			Completing: version == "26.05"}}
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
	f.Add([]byte(`{"jobs": [{"job_id": 7, "job_state": ["RUNNING"], "nodes": "h0-[0-1],h2-0",
		"node_count": {"number": 3}}]}`))
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
	for kind, v := range map[string]Version{Block: {22, 5}, Ring: {25, 11}, Torus: {24, 5}, "3d_torus": {22, 5},
		"hypercube": {22, 5}} {
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
	for _, dir := range []string{"/srv/a b", "/srv/'; id; '", "/srv/a\n"} {
		if _, err := FindRoot(dir, old); err == nil || !strings.Contains(err.Error(), "no plain path") || hint.Of(err) == "" {
			t.Errorf("%q: %v", dir, err)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if r, err := FindRoot(".", missing); err == nil || r.Dir != dir {
		t.Errorf("a relative path: %q, %v, want %q", r.Dir, err, dir)
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
			got, ok := Choose(n, all(tt.idle), all(tt.busy), tt.count)
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
	lights int  // reads until a new slice is Ready
	left   int  // calls that change a job, of which the last and all after it fail; 0: none does
	begun  bool // the job runs by now
}

func (d *desk) cut() error {
	if d.left == 1 {
		return errors.New("slurmctld is away")
	}
	d.left = max(0, d.left-1)
	return nil
}

func (d *desk) CreateSlice(_ context.Context, r api.SliceRequest) (*apiv1.Slice, error) {
	if d.slices[r.Name] != nil {
		return nil, &api.Error{Code: api.Invalid, Err: errors.New("another slice has that name")}
	}
	d.told = append(d.told, "create "+strings.Join(r.Hosts, ","))
	d.slices[r.Name] = &apiv1.Slice{Name: r.Name, Owner: r.Owner, Hosts: r.Hosts, State: string(torus.Activating)}
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

func (d *desk) Jobs(context.Context) ([]Job, error) { return []Job{d.job}, nil }

func (d *desk) Job(context.Context, int) (Job, error) {
	j := d.job
	if d.begun {
		j.State = "RUNNING"
	}
	return j, nil
}

func (d *desk) Nodes(context.Context) (Nodes, error) {
	n := Nodes{all: strings.Fields("h0-0 h0-1 h1-0 h1-1"), state: map[string]nodeState{}}
	for node, is := range d.idle {
		if is {
			n.state[node] = idle
		}
	}
	return n, nil
}

func (d *desk) Preempts(context.Context) (bool, error) { return false, nil }

func (d *desk) Preempt(_ context.Context, id int, requeue bool) error {
	d.told = append(d.told, fmt.Sprint("preempt ", id, " ", requeue))
	return nil
}

func (d *desk) Require(_ context.Context, j *Job, nodes []string) error {
	if err := d.cut(); err != nil {
		return err
	}
	d.told = append(d.told, fmt.Sprint("require ", j.ID, " ", strings.Join(nodes, ",")))
	d.job.Require, d.job.Mark = nodes, releasing
	return nil
}

func (d *desk) Mark(_ context.Context, _ *Job, mark string) error {
	if err := d.cut(); err != nil {
		return err
	}
	d.job.Mark = mark
	return nil
}

func (d *desk) Release(context.Context, int) error {
	if err := d.cut(); err != nil {
		return err
	}
	d.told = append(d.told, "release")
	d.job.Reason = "Resources"
	return nil
}

func (d *desk) Hold(context.Context, *Job) error {
	d.told = append(d.told, "hold")
	d.job.Reason, d.job.Mark = "JobHeldAdmin", releasing
	return nil
}

func (d *desk) broker(t *testing.T) *Broker {
	n := network(t, "hybrid:racks=2,hosts=2")
	return &Broker{Slices: d, Slurm: d, Network: func(context.Context) (Network, error) { return *n, nil },
		Pause: func(ctx context.Context) error { return ctx.Err() }, Patient: time.Second, Say: t.Logf}
}

// TestBroker: a job is released once its circuits are lit; what was cut off goes on where it was; once a node has
// failed or is another's, the job gets others; and what is free stays free.
func TestBroker(t *testing.T) {
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: "lightloom:circuits=required",
		Count: 3}, lights: looks + 3, idle: map[string]bool{"h0-0": true, "h0-1": true, "h1-0": true},
		slices: map[string]*apiv1.Slice{}}
	b := d.broker(t)
	serve := func(what string, want ...string) {
		t.Helper()
		err := b.Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
		if err != nil || !slices.Equal(d.told, want) {
			t.Errorf("%s: %v, %q, want %q", what, err, d.told, want)
		}
		d.told = nil
	}
	serve("not lit in time", "create h0-0,h0-1,h1-0")
	d.idle["h1-1"] = true
	serve("lit", "require 7 h0-0,h0-1,h1-0", "release")
	serve("it starts soon")
	d.job.Reason, d.job.Mark = "JobHeldUser", held // slurmctld has lost the last of it
	serve("again", "require 7 h0-0,h0-1,h1-0", "release")
	delete(d.idle, "h0-0")
	serve("a node has failed", "hold", "delete", "create h0-1,h1-0,h1-1", "require 7 h1-0,h1-1,h0-1", "release")
	delete(d.idle, "h1-0")
	serve("another has, and none is left", "hold", "delete")
	d.idle["h1-0"] = true
	serve("there is one again", "create h0-1,h1-0,h1-1", "require 7 h1-0,h1-1,h0-1", "release")
	delete(d.slices, "slurm-7")
	serve("Slurm starts it again, though it was over", "hold", "create h0-1,h1-0,h1-1", "require 7 h1-0,h1-1,h0-1",
		"release")
	d.job.Reason, d.job.Mark = "JobHeldUser", "mine"
	serve("held by its user")
	d.job.Reason, d.job.Mark, d.job.After = "BeginTime", placed, time.Unix(120, 0)
	d.slices["slurm-7"] = &apiv1.Slice{Name: "slurm-7", Owner: owner, Hosts: d.job.Require}
	serve("requeued, and not to start at once", "hold", "delete")
	serve("it is not due")
	d.job.After = time.Unix(0, 0)
	serve("it is due", "create h0-1,h1-0,h1-1", "require 7 h1-0,h1-1,h0-1", "release")
	if err := errors.Join(b.Free(t.Context(), 7), b.Free(t.Context(), 7)); err != nil || len(d.slices) != 0 {
		t.Errorf("free twice: %v, %v", err, d.slices)
	}
}

// TestNamed: a job whose user names its nodes waits for these, also once one of them has failed and when it starts
// again.
func TestNamed(t *testing.T) {
	nodes := []string{"h0-1", "h1-1"}
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Count: 2, Require: nodes, Named: true,
		Comment: "lightloom:circuits=required"}, slices: map[string]*apiv1.Slice{},
		idle: map[string]bool{"h0-0": true, "h0-1": true, "h1-0": true, "h1-1": true}}
	b := d.broker(t)
	serve := func(what string, want ...string) {
		t.Helper()
		err := b.Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
		if err != nil || !slices.Equal(d.told, want) || !slices.Equal(d.job.Require, nodes) {
			t.Errorf("%s: %v, %q, nodes %q, want %q", what, err, d.told, d.job.Require, want)
		}
		d.told = nil
	}
	serve("it begins", "create h0-1,h1-1", "require 7 h0-1,h1-1", "release")
	delete(d.idle, "h0-1")
	serve("a node has failed", "hold", "delete")
	serve("it waits for that node")
	d.idle["h0-1"] = true
	serve("the node is back", "create h0-1,h1-1", "require 7 h0-1,h1-1", "release")
	d.job.Reason, d.job.After = "BeginTime", time.Unix(120, 0)
	serve("requeued, and not to start at once", "hold", "delete")
	d.job.After = time.Unix(0, 0)
	serve("it is due", "create h0-1,h1-1", "require 7 h0-1,h1-1", "release")

	nodes = []string{"h0-0", "h1-0"}
	d.job.Require, d.job.Mark = nodes, placed
	serve("others are written into it once it was released", "hold", "delete", "create h0-0,h1-0", "require 7 h0-0,h1-0",
		"release")
	d.job.Require, nodes = nodes[:1], nodes[:1]
	serve("and then fewer than it asks for", "hold", "delete")
	if d.job.Mark != refused+"--nodelist names fewer nodes than it asks for: name all, or none" {
		t.Errorf("with fewer nodes than it asks for: %q", d.job.Mark)
	}
	d = &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Count: 2, Require: nodes, Named: true,
		Comment: "lightloom:circuits=required,shape=2x2x1"}, slices: map[string]*apiv1.Slice{}}
	err := d.broker(t).Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
	if want := refused + "a shape has nodes of its own: leave --nodelist away"; err != nil || d.job.Mark != want {
		t.Errorf("a shape and a list: %v, %q, want %q", err, d.job.Mark, want)
	}

	var all []byte
	on := func(nodes ...string) string { return (&Job{Chosen: nodes}).marked(placed) }
	for _, mark := range []string{held, d.job.marked(placed), placed, d.job.marked(refused + "why"), on("h0-0", "h0-1"),
		on("h1-0", "h1-1"), on("h1-["), on("h0-1")} {
		all = fmt.Appendf(all, `,{"job_id":7,"required_nodes":"h0-1","admin_comment":%q}`, mark)
	}
	all = fmt.Appendf(all, `,{"job_id":7,"required_nodes":"","admin_comment":%q}`, (&Job{Named: true}).marked(releasing))
	got, err := ParseJobs(fmt.Appendf(nil, `{"jobs":[%s]}`, all[1:]))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		mark  string
		named bool
	}{{held, true}, {placed, true}, {placed, false}, {refused + "why", true}, {placed, true}, {placed, true},
		{placed, false}, {placed, false}, {releasing, false}} {
		if got[i].Mark != want.mark || got[i].Named != want.named {
			t.Errorf("%q, named %v, want %+v", got[i].Mark, got[i].Named, want)
		}
	}
}

// TestCleared: a job whose nodes somebody takes out of its ReqNodeList, so that any would do, gets those again that
// have its circuits.
func TestCleared(t *testing.T) {
	nodes := []string{"h0-0", "h1-0"}
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "Resources", Mark: placed, Count: 2, Chosen: nodes,
		Comment: "lightloom:circuits=required"}, idle: map[string]bool{"h0-0": true, "h1-0": true, "h1-1": true},
		slices: map[string]*apiv1.Slice{"slurm-7": {Name: "slurm-7", Owner: owner, Hosts: nodes}}}
	err := d.broker(t).Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
	if want := []string{"hold", "require 7 h0-0,h1-0", "release"}; err != nil || !slices.Equal(d.told, want) {
		t.Errorf("%v, %q, want %q", err, d.told, want)
	}
}

// TestBegun: a job that has begun since it was listed, so that its nodes are no longer idle, keeps its circuits.
func TestBegun(t *testing.T) {
	nodes := []string{"h0-0", "h1-0"}
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "Resources", Mark: placed, Count: 2, Require: nodes,
		Comment: "lightloom:circuits=required"}, idle: map[string]bool{"h0-1": true, "h1-1": true}, begun: true,
		slices: map[string]*apiv1.Slice{"slurm-7": {Name: "slurm-7", Owner: owner, Hosts: nodes}}}
	err := d.broker(t).Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
	if err != nil || !slices.Equal(d.told, []string{"hold"}) {
		t.Errorf("%v, %q", err, d.told)
	}
}

// TestWanted: a job that only wants circuits starts without them where they are not there in time, and one whose
// circuits cannot be is marked with the reason.
func TestWanted(t *testing.T) {
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: "lightloom:circuits=wanted",
		Count: 2}, idle: map[string]bool{"h0-0": true}, slices: map[string]*apiv1.Slice{}}
	b := d.broker(t)
	for _, now := range []int64{0, 500, 1000} {
		if err := b.Serve(t.Context(), time.UnixMilli(now), []Job{d.job}); err != nil ||
			(d.job.Mark == without) != (now == 1000) {
			t.Errorf("after %d ms: %v, %q", now, err, d.job.Mark)
		}
	}
	d.job.Reason, d.job.Mark, d.job.Comment = "JobHeldUser", held, "lightloom:circuits=required"
	d.lights = 1 << 30
	d.idle["h1-0"], d.slices["slurm-7"] = true, &apiv1.Slice{Name: "slurm-7", Owner: owner,
		Hosts: []string{"h0-0", "h1-0"}, State: string(torus.Failed), Message: "no rack has so many ports"}
	if err := b.Serve(t.Context(), time.Unix(9, 0), []Job{d.job}); err != nil ||
		d.job.Mark != refused+"no rack has so many ports" || len(d.slices) != 0 {
		t.Errorf("%v, %q", err, d.job.Mark)
	}
}

// TestAnywhere: a job that only wants circuits, and has lost the nodes that were chosen for it, starts on any others.
func TestAnywhere(t *testing.T) {
	nodes := []string{"h0-0", "h1-0"}
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "Resources", Mark: placed, Count: 2, Require: nodes,
		Comment: "lightloom:circuits=wanted"}, idle: map[string]bool{"h0-1": true},
		slices: map[string]*apiv1.Slice{"slurm-7": {Name: "slurm-7", Owner: owner, Hosts: nodes}}}
	b := d.broker(t)
	for _, now := range []int64{0, 1} {
		if err := b.Serve(t.Context(), time.Unix(now, 0), []Job{d.job}); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"hold", "delete", "require 7 ", "release"}; !slices.Equal(d.told, want) || d.job.Mark != without {
		t.Errorf("%q, %q", d.told, d.job.Mark)
	}
}

// TestRefusedAgain: a job that was refused while a host was missing is placed once it is there again.
func TestRefusedAgain(t *testing.T) {
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Count: 4,
		Comment: "lightloom:circuits=required"}, slices: map[string]*apiv1.Slice{},
		idle: map[string]bool{"h0-0": true, "h0-1": true, "h1-0": true, "h1-1": true}}
	b := d.broker(t)
	whole := b.Network
	b.Network = func(ctx context.Context) (Network, error) {
		n, err := whole(ctx)
		n.Racks = slices.Clone(n.Racks)
		n.Racks[1].Nodes = n.Racks[1].Nodes[:1]
		return n, err
	}
	serve := func() {
		if err := b.Serve(t.Context(), time.Unix(0, 0), []Job{d.job}); err != nil {
			t.Error(err)
		}
	}
	if serve(); !d.job.Refused() {
		t.Errorf("%q", d.job.Mark)
	}
	b.Network = whole
	if serve(); d.job.Mark != placed {
		t.Errorf("%q", d.job.Mark)
	}
}

// TestCommands: hidden partitions are listed, and a job that has finished is not requeued.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, name := range []string{"squeue", "sinfo", "scontrol", "scancel"} {
		script := "#!/bin/sh\necho " + name + " $* >>'" + dir + "/log'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var c Client
	_, _ = c.Jobs(t.Context()) // what is printed is no list
	_, _ = c.Job(t.Context(), 7)
	_, errNodes := c.Nodes(t.Context())
	err := errors.Join(errNodes, c.Preempt(t.Context(), 7, true), c.Preempt(t.Context(), 8, false),
		c.Require(t.Context(), &Job{ID: 7}, nil))
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	want := "squeue --json --all --states=all\nsqueue --json --all --states=all --jobs=7\n" +
		"sinfo --noheader --all --Node --format=" + NodesFormat + "\nscontrol requeue Incomplete 7\nscancel 8\n" +
		"scontrol update JobId=7 ReqNodeList= AdminComment=" + releasing + "\n"
	if err != nil || string(log) != want {
		t.Errorf("%v, %q, want %q", err, log, want)
	}
}

// TestSlow: a command that does not end is given up.
func TestSlow(t *testing.T) {
	c := Client{Longest: 50 * time.Millisecond}
	if _, err := c.Call(t.Context(), "sleep", "600"); !errors.Is(err, errSlow) {
		t.Error(err)
	}
}

// TestCut: wherever the calls to Slurm are cut off, the job is released in the end, and marked for what it has.
func TestCut(t *testing.T) {
	for comment, want := range map[string]string{"lightloom:circuits=required": placed,
		"lightloom:circuits=wanted": without} {
		for calls := range 3 {
			d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: comment, Count: 2},
				idle: map[string]bool{"h0-0": true, "h0-1": want == placed}, slices: map[string]*apiv1.Slice{}, left: calls + 1}
			b := d.broker(t)
			b.Patient = 0
			err := b.Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
			if err == nil {
				t.Errorf("%s, cut after %d: %v", comment, calls, err)
			}
			d.left = 0
			if err := b.Serve(t.Context(), time.Unix(0, 0), []Job{d.job}); err != nil {
				t.Error(err)
			}
			if d.job.Reason != "Resources" || d.job.Mark != want {
				t.Errorf("%s, cut after %d: %q, %q", comment, calls, d.job.Reason, d.job.Mark)
			}
		}
	}
}

// TestUnread: a job whose comment is not understood is marked with the reason, whatever it asks for.
func TestUnread(t *testing.T) {
	for _, comment := range []string{"lightloom:circuits=required,shape=0x1x1", "lightloom:circuits=wanted,shape=0x1x1",
		"lightloom:shape=0x1x1", "lightloom:speed=1"} {
		d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: comment, Count: 1},
			idle: map[string]bool{"h0-0": true}, slices: map[string]*apiv1.Slice{}}
		err := d.broker(t).Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
		if err != nil || !strings.HasPrefix(d.job.Mark, refused+"read comment: ") || len(d.told) != 0 {
			t.Errorf("%q: %v, %q, %q", comment, err, d.job.Mark, d.told)
		}
	}
}

// TestNever: a job that can never have circuits between its nodes stays held, with the reason. They are between all of
// them, so that its user names all or none.
func TestNever(t *testing.T) {
	for _, tt := range []struct {
		count   int
		require []string
		want    string
	}{
		{3, []string{"h0-0", "h1-0"}, "--nodelist names fewer nodes than it asks for: name all, or none"},
		{2, []string{"h0-0", "x9"}, "node x9 of --nodelist is no host of the fabric, and has no circuits: name others"},
		{5, nil, "it asks for 5 nodes, and 4 of its partition's are hosts of the fabric: ask for fewer"},
	} {
		d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Count: tt.count,
			Comment: "lightloom:circuits=required", Require: tt.require, Named: len(tt.require) > 0},
			slices: map[string]*apiv1.Slice{}}
		err := d.broker(t).Serve(t.Context(), time.Unix(0, 0), []Job{d.job})
		if err != nil || d.job.Mark != refused+tt.want || len(d.told) != 0 {
			t.Errorf("%v: %v, %q, %q", tt.require, err, d.job.Mark, d.told)
		}
	}
}

// TestOthers: slices of other owners, and those whose names only look like a job's, are left alone.
func TestOthers(t *testing.T) {
	d := &desk{job: Job{ID: 7, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: "lightloom:circuits=required",
		Count: 2}, idle: map[string]bool{"h0-0": true, "h0-1": true}, slices: map[string]*apiv1.Slice{}}
	for name, by := range map[string]string{"slurm-7": "train", "slurm-8": "train", "slurm-07": owner, "slurm--1": owner} {
		d.slices[name] = &apiv1.Slice{Name: name, Owner: by}
		if id, ok := jobOf(d.slices[name]); ok {
			t.Errorf("%s of %s is that of job %d", name, by, id)
		}
	}
	a := Agent{Broker: *d.broker(t)}
	for range 2 { // orphans are freed at the second look
		if err := a.reconcile(t.Context(), time.Unix(0, 0)); err != nil {
			t.Error(err)
		}
	}
	if len(d.told) != 0 || d.job.Mark != refused+`slice slurm-7 is of owner "train": end it, and submit the job again` {
		t.Errorf("%q, %q", d.told, d.job.Mark)
	}
	if err := a.Free(t.Context(), 8); err != nil || d.slices["slurm-8"] == nil {
		t.Errorf("another's slice is freed: %v", err)
	}
	d.slices["slurm-9"] = &apiv1.Slice{Name: "slurm-9", Owner: owner}
	for range 2 {
		if err := a.reconcile(t.Context(), time.Unix(0, 0)); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(d.told, []string{"delete"}) || d.slices["slurm-9"] != nil {
		t.Errorf("an orphan of its own: %q", d.told)
	}
}

// TestPause: a Slurm of many jobs is asked less often, and so is one that takes long to fail.
func TestPause(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name        string
		every, took time.Duration
		jobs        int
		failed      bool
		want        time.Duration
	}{
		{"few", time.Second, 30 * ms, 100, false, time.Second},
		{"few, on a busy machine", time.Second, 4 * time.Second, 50, false, time.Second},
		{"many", time.Second, 30 * ms, 500, false, 5 * time.Second},
		{"a thousand", time.Second, 200 * ms, 1000, false, 10 * time.Second},
		{"no less at more", time.Second, 200 * ms, 5000, false, 10 * time.Second},
		{"seldom by its user's wish", time.Minute, 30 * ms, 5000, false, time.Minute},
		{"failed at once", time.Second, ms, 3, true, time.Second},
		{"a job of a thousand failed", time.Second, ms, 1000, true, 10 * time.Second},
		{"failed after a while", time.Second, 200 * ms, 3, true, 3800 * ms},
		{"failed after a time-out", time.Second, time.Minute, 0, true, 10 * time.Second},
		{"failed, and asked seldom", time.Minute, time.Minute, 0, true, time.Minute},
	} {
		if got := pause(tt.every, tt.took, tt.jobs, tt.failed); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// away is a Slurm that fails after a while.
type away struct {
	*desk
	asked int
}

func (a *away) Jobs(context.Context) ([]Job, error) {
	a.asked++
	time.Sleep(300 * time.Millisecond) // of synctest's clock
	return nil, errors.New("away")
}

// TestAway: a Slurm that takes 0.3 s to fail is asked every 6 s.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &away{desk: &desk{}}
		a := &Agent{Broker: *s.broker(t)}
		a.Slurm = s
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		if err := a.Run(ctx, time.Second); err != nil || s.asked != 10 {
			t.Errorf("%v: asked %d times in a minute, want 10", err, s.asked)
		}
	})
}

// TestFollow: nodes move until Slurm has taken them, one by one, and a new agent moves all where the file that stands
// is another.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	script := "#!/bin/sh\n[ ! -e '" + dir + "/'$2 ] || exit 1\necho $2 $3 >>'" + dir + "/log'\n"
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	lit, alone := network(t, "hybrid:racks=3,hosts=1", [2]int{0, 2}, [2]int{2, 0}), network(t, "hybrid:racks=3,hosts=1")
	n := alone
	start := func() *Agent {
		return &Agent{Broker: Broker{Network: func(context.Context) (Network, error) { return *n, nil }}, Client: &Client{},
			Version: Version{26, 5}, Kind: Block, File: filepath.Join(dir, "topology.yaml")}
	}
	tick := func(a *Agent, what string, fails bool, want ...string) {
		t.Helper()
		err := a.follow(t.Context(), time.Unix(0, 0))
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		_ = os.Remove(filepath.Join(dir, "log"))
		if got := strings.Join(want, "\n"); (err != nil) != fails || strings.TrimSpace(string(log)) != got {
			t.Errorf("%s: %v, %q, want %q", what, err, log, got)
		}
	}
	const to = " Topology=" + Name + ":"
	all := []string{"NodeName=h0-0" + to + "tor0", "NodeName=h1-0" + to + "tor1", "NodeName=h2-0" + to + "tor2"}
	a := start()
	tick(a, "no file", false, all...)
	tick(a, "nothing new", false)
	tick(start(), "a new agent, whose forerunner died before Slurm took the file", false, all...)
	n = lit
	refusal := filepath.Join(dir, "NodeName=h2-0")
	if err := os.WriteFile(refusal, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tick(a, "a node that Slurm does not take", true)
	if err := os.Remove(refusal); err != nil {
		t.Fatal(err)
	}
	tick(a, "it does now", false, "NodeName=h2-0"+to+"tor0")
	tick(a, "it has", false)
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
			!strings.Contains(files["cgroup.conf"], want[2]) ||
			files["job_submit.lua"] == "" {
			t.Errorf("%v: %v", v, files)
		}
	}
	if _, err := Files(Version{22, 5}, Block, n, hosts); err == nil {
		t.Error("22.05 has no block")
	}
	for _, name := range []string{"", "-h", "h0;id", "h0 CPUs=9", "h0\n", "$(id)"} {
		_, err := Files(Version{26, 5}, Tree, n, append(n.hosts(), Host{Name: name}))
		if err == nil || !strings.Contains(err.Error(), "is no name of a node") || hint.Of(err) == "" {
			t.Errorf("host %q: %v", name, err)
		}
	}
}

// TestDiffer: nodes of Slurm that are no hosts, and hosts that are no nodes, are told apart.
func TestDiffer(t *testing.T) {
	n := &Network{Racks: []Rack{{Nodes: []string{"a", "b"}}, {Nodes: []string{"c"}}}}
	for _, tt := range []struct{ nodes, strange, idle []string }{
		{[]string{"c", "a", "b", "a"}, nil, nil}, // Slurm names a node for each of its partitions
		{[]string{"login", "a", "c"}, []string{"login"}, []string{"b"}},
		{nil, nil, []string{"a", "b", "c"}},
	} {
		strange, idle := n.differ(tt.nodes)
		if !slices.Equal(strange, tt.strange) || !slices.Equal(idle, tt.idle) {
			t.Errorf("%v: %v and %v, want %v and %v", tt.nodes, strange, idle, tt.strange, tt.idle)
		}
	}
	if got := some(strings.Fields("1 2 3 4 5 6 7 8 9")); got != "1, 2, 3, 4, 5, 6, 7, 8, …" {
		t.Error(got)
	}
}
