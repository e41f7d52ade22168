package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFrozen: entries and snapshots are written as level 1 wrote them, and read again. What a level
// adds goes into a file of its own: replicas of two versions compare digests of these bytes.
func TestFrozen(t *testing.T) {
	n := 0
	var whole state.Entry
	fill(reflect.ValueOf(&whole).Elem(), &n, 2)
	var entries bytes.Buffer
	all := []state.Entry{whole}
	for k := state.JobAccepted; k.Level() <= 2; k++ {
		all = append(all, state.Entry{Kind: k, Request: k.String()})
	}
	for _, e := range all {
		b, err := state.Encode([]state.Entry{e})
		if err != nil {
			t.Fatal(err)
		}
		entries.Write(append(b, '\n'))
		back, err := state.Decode(b)
		if err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], e) {
			t.Errorf("%v is read as %+v, %v", e.Kind, back, err)
		}
	}
	golden(t, "entries.jsonl", entries.Bytes())

	var d state.Data
	fill(reflect.ValueOf(&d).Elem(), &n, 2)
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "snapshot.json", append(b, '\n'))
	empty, err := state.New(fabric(t)).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "empty.json", append(empty, '\n'))
}

// TestFrozenLoads: what level 3 adds, the loads of tasks and their vCPUs, is written as it was, and
// refused by a cluster of a lower level.
func TestFrozenLoads(t *testing.T) {
	n := 0
	e := state.Entry{Job: new(controller.Job), Placement: new(controller.Placement)}
	fill(reflect.ValueOf(e.Job).Elem(), &n, 3)
	fill(reflect.ValueOf(e.Placement).Elem(), &n, 3)
	b, err := state.Encode([]state.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back[0], e) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	golden(t, "level3.jsonl", append(b, '\n'))
	task := new(controller.TaskState)
	fill(reflect.ValueOf(task).Elem(), &n, 3)
	if b, err = json.Marshal(task); err != nil {
		t.Fatal(err)
	}
	golden(t, "level3-task.json", append(b, '\n'))

	job := &controller.Job{Name: "loads", Stages: []controller.Stage{{Name: "a",
		Tasks: []controller.Task{{Load: 1}}}}}
	for level, taken := range map[state.Level]bool{2: false, 3: true} {
		s := state.New(fabric(t))
		found := state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}}
		if err := s.Apply(&found); err != nil {
			t.Fatal(err)
		}
		err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: job})
		if (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// addedAt is the level from which on a field is written, 1 for those of the first.
func addedAt(of reflect.Type, field string) state.Level {
	switch {
	case of == reflect.TypeFor[controller.Task]() && field == "Replicas",
		of == reflect.TypeFor[controller.Placement]() && field == "ReadFrom",
		of == reflect.TypeFor[state.Job]() && field == "Blocks",
		of == reflect.TypeFor[state.Coflow]() && field == "Block",
		of == reflect.TypeFor[controller.TaskState]() && slices.Contains([]string{"OverNetwork", "Reading", "ReadSince",
			"ExtraMilli", "Done", "Rated"}, field),
		of == reflect.TypeFor[state.Planning]() && field == "Resize":
		return state.BlocksLevel
	case of == reflect.TypeFor[controller.Edge]() && field == "Reducers",
		of == reflect.TypeFor[controller.Job]() && field == "Slice":
		return state.RingsLevel
	case of == reflect.TypeFor[controller.Stage]() && field == "Hosts":
		return state.PinnedLevel
	case later(of, field):
		return 3
	}
	return 1
}

// later are the fields that levels 3 and 4 add.
func later(of reflect.Type, field string) bool {
	switch of {
	case reflect.TypeFor[controller.Job]():
		return field == "Limits"
	case reflect.TypeFor[state.Planning]():
		return field == "Slice"
	case reflect.TypeFor[state.Data]():
		return field == "Slices"
	case reflect.TypeFor[state.Cluster]():
		return field == "Fabric" || field == "Retention"
	case reflect.TypeFor[controller.Edge]():
		return field == "Reads"
	case reflect.TypeFor[controller.Stage]():
		return field == "Efficiency"
	case reflect.TypeFor[controller.Task]():
		return field == "Load"
	case reflect.TypeFor[controller.Placement](), reflect.TypeFor[controller.TaskState]():
		return field == "MilliVCPUs"
	}
	return false
}

// TestFrozenLog: a log of level 1 gives the state that it gave.
func TestFrozenLog(t *testing.T) {
	s := state.New(fabric(t))
	m := state.Machine{State: s}
	if *update {
		writeLog(t)
	}
	log, err := os.ReadFile(filepath.Join("testdata", "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		if err := m.Apply(bytes.TrimSpace(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "log-end.json", append(snap, '\n'))
}

// writeLog writes a log of a cluster that is founded and runs a job over a circuit.
func writeLog(t *testing.T) {
	var out bytes.Buffer
	for _, batch := range lifeOfAJob() {
		b, err := state.Encode(batch)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	golden(t, "log.jsonl", out.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed: give what is new a feature level and leave the rest (-update rewrites the file)\n%s", name,
			got)
	}
}

// fill gives every exported field of a level a value of its own.
func fill(v reflect.Value, n *int, level state.Level) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 2)
	case reflect.String:
		v.SetString("text " + time.Duration(*n).String())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, level)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n, level)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n, level)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n, level)
		fill(value, n, level)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && addedAt(v.Type(), f.Name) <= level {
				fill(v.Field(i), n, level)
			}
		}
	}
}

// TestFrozenBlocks: what level 8 adds, where blocks lie and are read from and vCPUs that change, is written as
// it was, and refused by a cluster of a lower level.
func TestFrozenBlocks(t *testing.T) {
	n := 0
	e := state.Entry{Job: new(controller.Job), Placement: new(controller.Placement)}
	e.Resize = new(controller.Resize)
	task, coflow := new(controller.TaskState), new(state.Coflow)
	for _, v := range []any{e.Job, e.Placement, e.Resize, task, coflow} {
		fill(reflect.ValueOf(v).Elem(), &n, state.BlocksLevel)
	}
	b, err := state.Encode([]state.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back[0], e) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	for _, v := range []any{task, coflow} {
		more, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b = append(append(b, '\n'), more...)
	}
	golden(t, "level8.jsonl", append(b, '\n'))

	job := &controller.Job{Name: "blocks", Stages: []controller.Stage{{Name: "a",
		Tasks: []controller.Task{{Input: 1, Replicas: []southbound.RackID{0}}}}}}
	for level, taken := range map[state.Level]bool{state.BlocksLevel - 1: false, state.BlocksLevel: true} {
		s := state.New(fabric(t))
		found := state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}}
		if err := s.Apply(&found); err != nil {
			t.Fatal(err)
		}
		err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: job})
		if (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// TestFrozenSkew: what level 9 adds, parts of reducers, is written as it was, and refused by a cluster of a
// lower level.
func TestFrozenSkew(t *testing.T) {
	job := &controller.Job{Name: "skew", Stages: []controller.Stage{{Name: "m", Tasks: make([]controller.Task, 1)},
		{Name: "r", Tasks: make([]controller.Task, 2)}}, Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1,
		Bytes: 10, Reducers: []int64{1, 4}}}}
	b, err := state.Encode([]state.Entry{{Kind: state.JobAccepted, Job: job}})
	if want := `"edges":[{"kind":1,"from":0,"to":1,"bytes":10,"reducers":[1,4]}]`; err != nil ||
		!strings.Contains(string(b), want) {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	for level, taken := range map[state.Level]bool{state.RingsLevel - 1: false, state.RingsLevel: true} {
		s := state.New(fabric(t))
		found := state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}}
		if err := s.Apply(&found); err != nil {
			t.Fatal(err)
		}
		err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: job})
		if (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// TestFrozenPinned: what level 10 adds, hosts of tasks and flows between tasks, is written as it was, and refused by a
// cluster of a lower level.
func TestFrozenPinned(t *testing.T) {
	job := &controller.Job{Name: "ranks", Stages: []controller.Stage{
		{Name: "a", Tasks: make([]controller.Task, 2), Hosts: []southbound.HostID{0, 1}},
		{Name: "b", Tasks: make([]controller.Task, 2), Hosts: []southbound.HostID{0, 1}}},
		Edges: []controller.Edge{{Kind: controller.Pairs, To: 1, Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 10}}}}}
	b, err := state.Encode([]state.Entry{{Kind: state.JobAccepted, Job: job}})
	if want := `"edges":[{"kind":6,"from":0,"to":1,"flows":[{"src":0,"dst":1,"bytes":10}]}]`; err != nil ||
		!strings.Contains(string(b), want) || !strings.Contains(string(b), `"hosts":[0,1]`) {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	for level, taken := range map[state.Level]bool{state.PinnedLevel - 1: false, state.PinnedLevel: true} {
		s := state.New(fabric(t))
		found := state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}}
		if err := s.Apply(&found); err != nil {
			t.Fatal(err)
		}
		err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: job})
		if (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// TestFrozenChange: what level 4 adds, changes of the fabric, is written as it was.
func TestFrozenChange(t *testing.T) {
	n := 0
	e := state.Entry{Kind: state.FabricChanged, Cluster: &state.Cluster{Fabric: &controller.FabricChange{}}}
	fill(reflect.ValueOf(e.Cluster.Fabric).Elem(), &n, 4)
	b, err := state.Encode([]state.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back[0], e) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	golden(t, "level4.jsonl", append(b, '\n'))
	b, err = state.Encode([]state.Entry{{Kind: state.RetentionSet,
		Cluster: &state.Cluster{Retention: &state.Retention{Requests: time.Minute}}}})
	if want := `[{"k":28,"t":0,"cluster":{"retention":{"requests_ns":60000000000}}}]`; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}
