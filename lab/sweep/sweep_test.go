package sweep

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

const study = `fabrics:
  - hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
  - leafspine:racks=4,hosts=2,spines=2,eps=1Gbps
workloads:
  - synthetic:jobs=6
policies: [random+ecmp, crosslayer]
seeds: 3-5
flags: {speedup: 2}
`

// options stands for the command line of replay.
func options(args []string) (replay.Options, error) {
	o := replay.Options{Options: scenario.Options{Speedup: 1, Scale: 1, On: scenario.OnFlowsim, Record: true},
		Console: replay.Console{Stdout: io.Discard, Stderr: io.Discard}}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		o.Settings = append(o.Settings, report.Setting{Flag: name, Value: value, Input: name == "fabric"})
		switch name {
		case "fabric":
			o.Fabric = value
		case "workload":
			o.Workload = value
		case "policy":
			o.Policies = strings.Split(value, ",")
		case "seed":
			o.Seed, _ = strconv.ParseUint(value, 10, 64)
		case "repeat":
			o.Repeat, _ = strconv.Atoi(value)
		case "speedup":
			o.Speedup, _ = strconv.ParseFloat(value, 64)
		default:
			return o, fmt.Errorf("replay: unknown flag: --%s", name)
		}
	}
	return o, nil
}

func open(t *testing.T, text string, folder Folder) (*Sweep, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(path, folder, "program", options)
}

func mustOpen(t *testing.T, text string, folder Folder) *Sweep {
	t.Helper()
	s, err := open(t, text, folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSameReport: whatever becomes of tasks, the reports are those of replay to the byte, and a second start makes
// nothing.
func TestSameReport(t *testing.T) {
	folder := Folder(t.TempDir())
	s := mustOpen(t, study, folder)
	draw := rand.New(rand.NewPCG(1, 2))
	made := 0
	lossy := func(ctx context.Context, groups []Group, done func()) error {
		for _, g := range groups {
			if draw.IntN(3) == 0 {
				continue // its process was killed
			}
			if err := s.Make(ctx, []Group{g}, func() { made++; done() }); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := s.Run(t.Context(), lossy, io.Discard); err != nil {
		t.Fatal(err)
	}
	if made != 12 {
		t.Errorf("%d runs were made, of 2 fabrics, 2 policies and 3 seeds", made)
	}
	for _, c := range s.cases {
		opt, err := options(c.Args)
		if err != nil {
			t.Fatal(err)
		}
		opt.ReportDir = t.TempDir()
		if err := replay.Replay(t.Context(), opt); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"report.json", "report.html", "circuits.csv"} {
			want, err1 := os.ReadFile(filepath.Join(opt.ReportDir, name))
			got, err2 := os.ReadFile(filepath.Join(folder.report(c.Name), name))
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s differs from replay's: %v", c.Name, name, err)
			}
		}
	}
	none := func(context.Context, []Group, func()) error { return errors.New("nothing is missing") }
	if _, err := mustOpen(t, study, folder).Run(t.Context(), none, io.Discard); err != nil {
		t.Error(err)
	}
}

// TestOnlyWhatIsMissing: more seeds and policies keep the runs that there are; other settings and programs do not.
func TestOnlyWhatIsMissing(t *testing.T) {
	folder := Folder(t.TempDir())
	s := mustOpen(t, study, folder)
	if err := os.MkdirAll(folder.points(), 0o755); err != nil {
		t.Fatal(err)
	}
	all := s.groups()
	for _, g := range all {
		for _, k := range s.keys(g) {
			if err := folder.Put(k, &replay.Made{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		from, to string
		missing  int
	}{
		"nothing else":     {"", "", 0},
		"more seeds":       {"3-5", "3-7", 2 * 2 * 2},
		"another policy":   {"crosslayer]", "crosslayer, random+ecmp+maxmin]", 2 * 3},
		"another speed":    {"speedup: 2", "speedup: 3", 12},
		"another fabric":   {"leafspine:racks=4", "leafspine:racks=5", 6},
		"an earlier seed":  {"3-5", "2-5", 2 * 2 * 2}, // it is shown, and 3 no longer is
		"another workload": {"jobs=6", "jobs=7", 12},
	} {
		t.Run(name, func(t *testing.T) {
			x := mustOpen(t, strings.Replace(study, c.from, c.to, 1), folder)
			if got := x.Runs().count(x.groups()); got != c.missing {
				t.Errorf("%d runs are missing, and not %d", got, c.missing)
			}
		})
	}
	s.program = "another"
	if got := s.Runs().count(all); got != 12 {
		t.Errorf("another program: %d runs are missing", got)
	}
}

// TestDamaged: a result that is cut short is never reported, and made again by the next start.
func TestDamaged(t *testing.T) {
	folder := Folder(t.TempDir())
	s := mustOpen(t, study, folder)
	if _, err := s.Run(t.Context(), s.Make, io.Discard); err != nil {
		t.Fatal(err)
	}
	path := folder.point(s.keys(s.groups()[1])[1])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), s.Make, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "a result was damaged") {
		t.Errorf("a damaged result: %v", err)
	}
	if _, err := s.Run(t.Context(), s.Make, io.Discard); err != nil {
		t.Errorf("the start after it: %v", err)
	}
}

// TestOneFolder: of two sweeps with one folder the second is refused, and says whose it is.
func TestOneFolder(t *testing.T) {
	folder := Folder(t.TempDir())
	s := mustOpen(t, study, folder)
	_, err := s.Run(t.Context(), func(ctx context.Context, groups []Group, done func()) error {
		if st, err := folder.Status(time.Now()); err != nil || !st.Running || st.Runs != 12 || st.Made != 0 {
			t.Errorf("%+v, %v", st, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel() // it need not wait
		_, second := mustOpen(t, study, folder).Run(ended, nil, io.Discard)
		if second == nil || !strings.Contains(second.Error(), fmt.Sprintf("is in use by the sweep of %s (process %d", s.File,
			os.Getpid())) {
			t.Errorf("%v", second)
		}
		st, err := folder.readState()
		if err != nil || st.Start == "" || st.Start != started(os.Getpid()) {
			t.Errorf("the state says that this process began at %+v: %v", st, err)
		}
		st.Start = "0" // its number is another process's by now
		b, err := json.Marshal(st)
		if err := errors.Join(err, os.WriteFile(folder.statePath(), b, 0o600)); err != nil {
			t.Error(err)
		}
		if err := folder.Cancel(ctx, nil); err == nil || !strings.Contains(err.Error(), "it has only just begun or ended") {
			t.Errorf("another process: %v", err)
		}
		return s.Make(ctx, groups, done)
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	st, err := folder.Status(time.Now())
	if err != nil || st.folder != folder || st.Running || st.Made != 12 ||
		st.String() != "12 of 12 runs made: it is done" {
		t.Errorf("%+v (%v), %v", st, st, err)
	}
	if err := folder.Cancel(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no sweep runs in") {
		t.Error(err)
	}
	if _, err := Folder(t.TempDir()).Status(time.Now()); err == nil || !strings.Contains(err.Error(), "holds no sweep") {
		t.Error(err)
	}
}

// TestLockWaits: a sweep that starts while its status is asked for waits for that, but not for ever; and what else
// keeps it from the lock is told as it is.
func TestLockWaits(t *testing.T) {
	folder := Folder(t.TempDir())
	first, err := folder.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := flock(t.Context(), first); !errors.Is(err, unix.EBADF) {
		t.Errorf("a closed file: %v", err)
	}
	for _, held := range []time.Duration{lockWait / 2, 2 * lockWait} {
		synctest.Test(t, func(t *testing.T) {
			status, err := os.Open(filepath.Join(string(folder), "lock"))
			if err != nil {
				t.Fatal(err)
			}
			defer status.Close()
			if err := unix.Flock(int(status.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(held, func() { status.Close() })
			lock, err := folder.lock(t.Context())
			if err == nil {
				lock.Close()
			}
			if inUse := err != nil && strings.Contains(err.Error(), "is in use by"); inUse != (held > lockWait) {
				t.Errorf("held for %v: %v", held, err)
			}
		})
	}
}

// TestGoesOn: what status says to type names the folder, which need not be the file's own.
func TestGoesOn(t *testing.T) {
	s := Status{File: "study.yaml", Runs: 2, Made: 1, folder: "elsewhere"}
	if got := s.String(); !strings.HasSuffix(got, "lightloom sweep study.yaml --results elsewhere goes on") {
		t.Error(got)
	}
}

// TestFruitless: an engine that never makes anything ends the sweep.
func TestFruitless(t *testing.T) {
	s := mustOpen(t, study, Folder(t.TempDir()))
	asked := 0
	_, err := s.Run(t.Context(), func(context.Context, []Group, func()) error { asked++; return nil }, io.Discard)
	if asked != mostFruitless || err == nil || !strings.Contains(err.Error(), "ended 5 times without any result") {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// TestBadFiles: what is wrong in a file has its place and what to write.
func TestBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"a misspelt key":       {"policies:", "polices:", `:6:1: unknown field "polices": write policies`},
		"an unknown key":       {"seeds:", "machines:", `unknown field "machines": the keys are fabrics, traces`},
		"a misspelt policy":    {"crosslayer]", "crosslaye]", `:6:25: `},
		"a misspelt flag":      {"speedup: 2", "spedup: 2", `:8:17: replay: unknown flag: --spedup`},
		"a misspelt fabric":    {"leafspine:", "leafspin:", `:3:5: parse fabric spec "leafspin:`},
		"a workload":           {"synthetic:jobs=6", "synthetic:job=6", `:5:5: `},
		"seeds":                {"3-5", "5-3", ":7:8: seeds 5-3 end before they begin: write 3-5"},
		"no seeds":             {"3-5", "all", `"all" are no seeds: write them like 1-40`},
		"a flag of its own":    {"speedup: 2", "seed: 2", ":8:15: seed: write it under seeds:"},
		"a program":            {"speedup: 2", "place: exec:./p.py", ":8:16: place: the content of a program cannot be told"},
		"a testbed":            {"speedup: 2", "on: netns", ":8:13: on: leave it out: sweeps run on the simulator"},
		"a flag with a list":   {"speedup: 2", "speedup: [2]", "speedup: its value is no word or number"},
		"a name given twice":   {"crosslayer]", "random+ecmp]", `:6:25: "random+ecmp" is named twice`},
		"no workload":          {"workloads:\n  - synthetic:jobs=6\n", "", "no traces: write traces: and a list"},
		"too many seeds":       {"3-5", "1-99999999", "are more than 10000"},
		"a number without end": {"3-5", "1" + strings.Repeat("0", 400), "are no seeds"},
		"nested without end":   {"3-5", strings.Repeat("[", 10_000), "more than 100 lists within each other"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, strings.Replace(study, c.from, c.to, 1), Folder(t.TempDir()))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, and not %s", err, c.want)
			}
		})
	}
}

// TestLocal: one process makes many groups; those that are killed are no error, and what a process says when it refuses
// is.
func TestLocal(t *testing.T) {
	dir := t.TempDir()
	shell := func(script string) Local {
		return Local{Command: []string{"/no/sh", "-c", script, dir}, Program: "/bin/sh", Workers: 2}
	}
	groups := []Group{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}}
	made := 0
	once := `echo $$ >> "$0/started"; while read g; do [ $g = 0.1 ] && kill -9 $$; echo made; echo done; done`
	if err := shell(once).Engine(t.Context(), groups, func() { made++ }); err != nil || made != 4 {
		t.Errorf("%d runs with one process killed: %v", made, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "started")); err != nil || bytes.Count(b, []byte("\n")) > 3 {
		t.Errorf("processes, of two and one that was killed: %q, %v", b, err)
	}
	told := `read g; echo 'lightloom: interrupted; everything is cleaned up' >&2; exit 130`
	if err := shell(told).Engine(t.Context(), groups, func() {}); err != nil {
		t.Errorf("processes that somebody told to end: %v", err)
	}
	err := shell(`printf 'lightloom: write result: no space\nhint: free some\n' >&2; exit 3`).Engine(t.Context(), groups,
		func() {})
	if err == nil || err.Error() != "write result: no space" {
		t.Errorf("a process that refuses: %v", err)
	}
}

// TestServe: a task reads its groups, says what it made, and stops in its run when the sweep is gone.
func TestServe(t *testing.T) {
	folder := Folder(t.TempDir())
	s := mustOpen(t, study, folder)
	if err := os.MkdirAll(folder.points(), 0o755); err != nil {
		t.Fatal(err)
	}
	task, err := OpenTask(s.File, folder, "program", options)
	if err != nil {
		t.Fatal(err)
	}
	in, tell := io.Pipe()
	out, says := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- task.Serve(t.Context(), in, says) }()
	lines, made := bufio.NewScanner(out), 0
	for _, g := range []Group{{1, 0}, {0, 2}} {
		if !ask(tell, lines, g, func() { made++ }) {
			t.Errorf("%v is not made", g)
		}
	}
	if err := errors.Join(tell.Close(), <-ended); err != nil || made != 4 || s.Runs().count(s.groups()) != 8 {
		t.Errorf("%d made: %v", made, err)
	}
	if task.grids[1] != nil || task.grids[0] == nil {
		t.Error("a case that is over is kept")
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if err := task.Make(gone, s.groups(), func() {}); err == nil {
		t.Error("runs are made for nobody")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(study))
	f.Add([]byte("seeds: 1-2\nflags: {a: {b: c}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse("f", data)
		if err != nil {
			return
		}
		for i, c := range s.Cases() {
			if i > 100 {
				return
			}
			if len(c.Args) < 6 || c.At(io.EOF) == nil {
				t.Fatalf("%q", c.Args)
			}
		}
	})
}

// TestInputChanges: a run of an input that is another by now is not kept under the name of the old one.
func TestInputChanges(t *testing.T) {
	fabric := filepath.Join(t.TempDir(), "fabric.yaml")
	write := func(spines int) {
		text := fmt.Sprintf("kind: leafspine\nracks: 4\nhosts: 2\nspines: %d\neps: 1Gbps\n", spines)
		if err := os.WriteFile(fabric, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(2)
	text := strings.Replace(study, "leafspine:racks=4,hosts=2,spines=2,eps=1Gbps", fabric, 1)
	s := mustOpen(t, text, Folder(t.TempDir()))
	_, err := s.Run(t.Context(), func(ctx context.Context, groups []Group, made func()) error {
		write(16)
		return s.Make(ctx, groups, made)
	}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "changed while runs were made of it") {
		t.Error(err)
	}
}
