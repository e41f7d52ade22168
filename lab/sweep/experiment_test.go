package sweep

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/experiment/kept"
	"lightloom/lab/labtest"
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
	run := kept.Key{Grid: 1, Setting: 2, Seed: 8}
	path := folder.point(x.key(run))
	whole := labtest.Read(t, path)
	for name, c := range map[string]string{
		"it is cut short":       "{",
		"no figures":            strings.Replace(whole, `{"a":1}`, "{}", 1),
		"figures are null":      strings.Replace(whole, `{"a":1}`, "null", 1),
		"a number was edited":   strings.Replace(whole, `"a":1`, `"a":2`, 1),
		"a folder of that name": "",
	} {
		err := os.Remove(path)
		if err == nil && c == "" {
			err = os.MkdirAll(filepath.Join(path, "more"), 0o700)
		} else if err == nil {
			err = os.WriteFile(path, []byte(c), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if is, ok := x.Figures(run); ok || c == whole {
			t.Errorf("%s: its figures are %s", name, is)
		}
		before := made
		if fill(3); made != before+1 {
			t.Errorf("%s: %d runs were made again", name, made-before)
		}
		if is, ok := x.Figures(run); !ok || string(is) != `{"a":1}` {
			t.Errorf("%s: made again, its figures are %s", name, is)
		}
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
	none := filepath.Join(t.TempDir(), "none") // an experiment that reads no trace does not mind
	if id("p", 1, none) == id("p", 1, "") || id("p", 1, none) == a {
		t.Error("a folder that is not there is as another")
	}
	if id("p", 1, filepath.Join(write("x"), "trace", "none")) != id("p", 1, none) {
		t.Error("a folder below a file is as another than one that is not there")
	}
}

// TestIdentityLinks: traces behind symbolic links count, and links that lead around end.
func TestIdentityLinks(t *testing.T) {
	store, data := t.TempDir(), t.TempDir()
	folder, file := filepath.Join(store, "folder"), filepath.Join(store, "file")
	for _, err := range []error{os.Mkdir(folder, 0o700), os.Symlink(folder, filepath.Join(data, "folder")),
		os.Symlink(file, filepath.Join(data, "file")), os.Symlink(data, filepath.Join(folder, "around")),
		os.Symlink(data, filepath.Join(store, "data"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	id := func(inFolder, inFile string) string {
		t.Helper()
		err := errors.Join(os.WriteFile(filepath.Join(folder, "trace"), []byte(inFolder), 0o600),
			os.WriteFile(file, []byte(inFile), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Identity("p", 1, data)
		through, err2 := Identity("p", 1, filepath.Join(store, "data"))
		if err != nil || err2 != nil || s != through {
			t.Errorf("%s, %v; through a link %s, %v", s, err, through, err2)
		}
		return s
	}
	if a := id("x", "x"); a == id("y", "x") || a == id("x", "y") || a != id("x", "x") {
		t.Error("it does not depend on what is behind a link, and on that alone")
	}
}

// TestThisBuild: a program that Go has linked has an identity, the same each time.
func TestThisBuild(t *testing.T) {
	if a, b := ThisBuild(), ThisBuild(); a == "" || a != b {
		t.Errorf("%q, then %q", a, b)
	}
}

// TestBuildOf: an id that was set by hand, perhaps to the same for many programs, is none.
func TestBuildOf(t *testing.T) {
	note := func(id string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, 4)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
		b = binary.LittleEndian.AppendUint32(b, 4)
		return append(append(b, "Go\x00\x00"...), id...)
	}
	if a, b := buildOf(note("a/b/c/d")), buildOf(note("a/b/c/e")); a == "" || a == b {
		t.Errorf("%q and %q", a, b)
	}
	for _, id := range []string{"", "redacted", "a/b/c", "a/b//d", "/b/c/d", "a/b/c/", "a/b/c/d/e", "///"} {
		if got := buildOf(note(id)); got != "" {
			t.Errorf("%q is the build %s", id, got)
		}
	}
	if got := buildOf([]byte("a/b/c/d")); got != "" {
		t.Errorf("a note that is too short is the build %s", got)
	}
}
