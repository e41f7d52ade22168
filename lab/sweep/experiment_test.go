package sweep

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/experiment/kept"
	"lightloom/southbound/hint"
)

// TestExperiment: runs of a grid are made once, whoever made them, also one whose file is damaged, and the folder says
// how far it is and who has it.
func TestExperiment(t *testing.T) {
	folder := Folder(t.TempDir())
	x := &Experiment{Folder: folder, Name: "e", Engine: OnLocal, Identity: "1", Again: "lightloom experiment run e"}
	if err := x.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := 0
	engine := func(*Runs) Engine {
		return func(_ context.Context, groups []Group, done func()) error {
			for i, g := range groups {
				if i%3 == 2 {
					continue // its process was killed
				}
				made++
				err := x.Keep(kept.Key{Grid: 1, Setting: g.Case, Seed: 7 + uint64(g.Seed)}, json.RawMessage(`{"a":1}`), time.Second)
				if err != nil {
					return err
				}
				done()
			}
			return nil
		}
	}
	fill := func(settings int) {
		t.Helper()
		x.points = nil
		if err := x.Fill(t.Context(), engine, "by hand", 1, settings, 4, 7, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	fill(2)
	if fill(3); made != 12 {
		t.Errorf("%d runs were made, of 3 settings and 4 seeds", made)
	}
	if err := os.WriteFile(folder.point(x.key(kept.Key{Grid: 1, Setting: 2, Seed: 8})), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fill(3); made != 13 {
		t.Errorf("%d runs were made after one was damaged", made)
	}
	if _, err := folder.Get(x.key(kept.Key{Grid: 1, Setting: 0, Seed: 7})); err == nil {
		t.Error("figures were read as a replay")
	}
	other := &Experiment{Folder: folder, Name: "e"}
	err := other.Lock(t.Context())
	if err == nil || !strings.Contains(err.Error(), "in use by the experiment e (process ") ||
		!strings.Contains(hint.Of(err), "name another folder") {
		t.Errorf("two with one folder: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := folder.Status(time.Now())
	if err != nil || st.String() != "12 of 12 runs made: it is done" {
		t.Errorf("%s, %v", st, err)
	}
}

// TestIdentity: it depends on settings, program and the content of traces alone.
func TestIdentity(t *testing.T) {
	write := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "trace"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	id := func(program string, settings any, data string) string {
		t.Helper()
		s, err := Identity(program, settings, data)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := id("p", 1, write("x"))
	if a != id("p", 1, write("x")) {
		t.Error("it depends on where traces are")
	}
	for name, b := range map[string]string{"program": id("q", 1, write("x")), "settings": id("p", 2, write("x")),
		"traces": id("p", 1, write("y")), "no traces": id("p", 1, "")} {
		if a == b {
			t.Errorf("it does not depend on %s", name)
		}
	}
	if _, err := Identity("p", 1, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there")
	}
}

// TestThisBuild: a program that Go has linked has an identity, the same each time.
func TestThisBuild(t *testing.T) {
	if a, b := ThisBuild(), ThisBuild(); a == "" || a != b {
		t.Errorf("%q, then %q", a, b)
	}
}
