package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/replica"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

const someFabric = "hybrid:racks=2,hosts=1"

// TestState: a cluster is founded once, opened by one process at a time and only under its own names,
// and destroyed by an explicit command alone. Each refusal names the command to type.
func TestState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	spec, err := topo.ParseSpec(someFabric)
	if err != nil {
		t.Fatal(err)
	}
	other, err := topo.ParseSpec("leafspine:racks=2,hosts=1")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error, says, hinted string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(hint.Of(err), hinted) {
			t.Errorf("%s: %v, hint %q; want %q, hint %q", what, err, hint.Of(err), says, hinted)
		}
	}
	_, err = OpenState(dir, 3, spec)
	refused("nothing there", err, "is of no cluster", "lightloom cluster init "+dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = OpenState(dir, 3, spec)
	refused("empty", err, "is of no cluster", "lightloom cluster init "+dir)
	if err := InitState(dir, 3, spec); err != nil {
		t.Fatal(err)
	}
	refused("founded twice", InitState(dir, 3, spec), "already", "cluster destroy "+dir)
	_, err = OpenState(dir, 5, spec)
	refused("other number", err, "of 3 replicas, not 5", "--replicas 3")
	_, err = OpenState(dir, 3, other)
	refused("other fabric", err, "is of the fabric "+spec.String(), "")
	s, err := OpenState(dir, 3, spec)
	if err != nil {
		t.Fatal(err)
	}
	if since := time.Since(s.Epoch); since < 0 || since > time.Minute {
		t.Errorf("it began %v ago", since)
	}
	_, err = DestroyState(dir, true)
	refused("in use", err, "another process uses it", "end the controller")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	stranger := filepath.Join(dir, "controller1", "letters")
	if err := os.WriteFile(stranger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = DestroyState(dir, true)
	refused("with a stranger's file", err, "letters", "move it")
	if err := os.Remove(stranger); err != nil {
		t.Fatal(err)
	}
	if d, err := DestroyState(dir, false); err != nil || len(d.Dirs) != 3 || d.Bytes == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "controller0", nodeFile)); err != nil {
		t.Error(err)
	}
	one := filepath.Join(dir, "controller0")
	if _, err := DestroyState(one, true); err != nil {
		t.Error(err)
	}
	if rest, err := os.ReadDir(one); err != nil || len(rest) != 0 {
		t.Errorf("%v, %v: want an empty directory", rest, err)
	}
	if d, err := DestroyState(dir, true); err != nil || len(d.Dirs) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	if rest, err := os.ReadDir(dir); err != nil || len(rest) != 1 {
		t.Errorf("%v are left, %v: want the one that was destroyed before", rest, err)
	}
	_, err = DestroyState(t.TempDir(), true)
	refused("no log", err, "is no state directory", "")
}

// TestNode: a state directory is used by the replica, cluster and fabric that it was made for, and with
// the log that it had.
func TestNode(t *testing.T) {
	dir := t.TempDir()
	n := Node{Cluster: "c1", Replica: "controller0", Replicas: 3, Fabric: someFabric, Epoch: time.Now()}
	if err := n.Found(dir); err != nil {
		t.Fatal(err)
	}
	if err := n.Found(dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("founded twice: %v", err)
	}
	got, err := ReadNode(dir)
	if err != nil || got.Cluster != n.Cluster || !got.Epoch.Equal(n.Epoch) || got.Begun {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, tt := range []struct {
		want Node
		says string
	}{
		{Node{Replica: "controller0"}, ""},
		{n, ""},
		{Node{Replica: "controller1"}, "is replica \"controller0\"'s"},
		{Node{Replica: "controller0", Cluster: "c2"}, "is of cluster c1, not c2"},
		{Node{Replica: "controller0", Fabric: "crossbar:ports=2"}, "is of the fabric"},
	} {
		if err := got.check(dir, tt.want); tt.says == "" && err != nil ||
			tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%+v: %v, want %q", tt.want, err, tt.says)
		}
	}
	got.Begun = true
	for _, log := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(filepath.Join(dir, replica.VoteFile), nil, 0o600) },
	} {
		if err := log(); err != nil {
			t.Fatal(err)
		}
		if err := got.check(dir, n); err == nil || !strings.Contains(err.Error(), "has lost its log") {
			t.Errorf("without its log: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, replica.VoteFile), []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := got.check(dir, n); err != nil {
		t.Error(err)
	}
}

// TestLinksInState: a state directory behind a link is the one that it leads to; what links within lead to
// is not deleted with it, and a directory in which everybody can put some is not taken.
func TestLinksInState(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	at, behind, other := filepath.Join(parent, "at"), filepath.Join(parent,
		"behind"), filepath.Join(parent, "other")
	must(t, errors.Join(os.Mkdir(at, 0o700), os.Symlink(at, behind), os.Mkdir(other, 0o700),
		os.WriteFile(filepath.Join(other, "mine"), nil, 0o600)))
	spec, err := topo.ParseSpec(someFabric)
	must(t, err)
	must(t, InitState(behind, 1, spec))
	s, err := OpenState(behind, 1, spec)
	must(t, err)
	if _, err := OpenState(at, 1, spec); err == nil ||
		!strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("one directory by two names: %v", err)
	}
	must(t, s.Close())
	dir := filepath.Join(at, "controller0")
	must(t, os.Symlink(other, filepath.Join(dir, replica.Files()[0])))
	if _, err := DestroyState(behind, true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(other, "mine")); err != nil {
		t.Errorf("where a link led to: %v", err)
	}
	must(t, os.Chmod(at, 0o777))
	n := Node{Cluster: "c1", Replica: "controller0", Replicas: 1, Fabric: someFabric, Epoch: time.Now()}
	if err := n.Found(at); err == nil || !strings.Contains(hint.Of(err), "chmod 700") {
		t.Errorf("a directory of everybody's: %v, hint %q", err, hint.Of(err))
	}
	must(t, os.Chmod(at, 0o700))
	must(t, n.Found(at))
	must(t, os.Chmod(at, 0o707))
	if err := n.check(at, n); err == nil || !strings.Contains(hint.Of(err), "chmod 700") {
		t.Errorf("one that was opened to everybody since: %v, hint %q", err, hint.Of(err))
	}
}

func FuzzNode(f *testing.F) {
	f.Add([]byte(`{"format":1,"cluster":"c","replica":"r","replicas":3,"fabric":"f",` +
		`"epoch":"2026-01-02T03:04:05Z","begun":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := parseNode(data); (err == nil) != (n != nil) {
			t.Error(n, err)
		}
	})
}

// TestJoinState: a replica whose directory is gone is taken in beside the others, by a word of its own
// alone.
func TestJoinState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	spec, err := topo.ParseSpec(someFabric)
	if err != nil {
		t.Fatal(err)
	}
	if err := InitState(dir, 3, spec); err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(dir, "controller1")
	if err := JoinState(one); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("over a log: %v", err)
	}
	if err := os.RemoveAll(one); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(dir, 3, spec); err == nil ||
		!strings.Contains(hint.Of(err), "lightloom cluster join "+one) {
		t.Errorf("with one directory gone: %v, hint %q", err, hint.Of(err))
	}
	if err := JoinState(one); err != nil {
		t.Fatal(err)
	}
	n, err := ReadNode(one)
	if err != nil || !n.Joining || n.Begun || n.Replica != "controller1" || n.Replicas != 3 {
		t.Errorf("%+v, %v", n, err)
	}
	s, err := OpenState(dir, 3, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := JoinState(filepath.Join(t.TempDir(), "controller1")); err == nil ||
		!strings.Contains(err.Error(), "stands beside") {
		t.Errorf("beside nobody: %v", err)
	}
	alone := filepath.Join(t.TempDir(), "alone")
	if err := InitState(alone, 1, spec); err != nil {
		t.Fatal(err)
	}
	if err := JoinState(filepath.Join(alone, "controller1")); err == nil ||
		!strings.Contains(err.Error(), "nobody to learn from") {
		t.Errorf("a cluster of one: %v", err)
	}
}
