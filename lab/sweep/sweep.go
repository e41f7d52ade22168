package sweep

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"lightloom/lab/console"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/southbound/durable"
)

// Sweep is a file's grid with what its runs need.
type Sweep struct {
	File    string
	Folder  Folder
	Engine  string // its name, for who asks for the status
	program string // its hash
	file    *File
	options func(args []string) (replay.Options, error)
	cases   []Case
	grids   []*replay.Grid // of cases; nil: not read
	ids     [][]byte       // of grids
	lazy    bool           // one case is read at a time
}

// Open reads a sweep's file and all that its runs need. options turns the command line of a replay into its options;
// program is the hash of the program that makes the runs, "" for this one.
func Open(file string, folder Folder, program string, options func(args []string) (replay.Options, error)) (*Sweep,
	error) {
	s, err := OpenTask(file, folder, program, options)
	if err != nil {
		return nil, err
	}
	s.lazy = false
	for c := range s.cases {
		if err := s.read(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// OpenTask reads a sweep's file for a task, which makes some of its runs: what a case needs is read with its first run.
func OpenTask(file string, folder Folder, program string, options func(args []string) (replay.Options, error)) (*Sweep,
	error) {
	f, err := Read(file)
	if err != nil {
		return nil, err
	}
	s := &Sweep{File: file, Folder: folder, Engine: OnLocal, program: program, file: f, options: options,
		cases: f.Cases(), lazy: true}
	s.grids, s.ids = make([]*replay.Grid, len(s.cases)), make([][]byte, len(s.cases))
	if program == "" {
		if s.program, err = ThisProgram(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// read reads what a case needs, unless it has been.
func (s *Sweep) read(c int) error {
	if s.grids[c] != nil {
		return nil
	}
	if s.lazy {
		clear(s.grids)
	}
	opt, err := s.options(s.cases[c].Args)
	if err != nil {
		return s.cases[c].At(err)
	}
	g, err := replay.NewGrid(opt)
	if err != nil {
		return s.cases[c].At(err)
	}
	if s.ids[c], err = g.Identity(); err != nil {
		return err
	}
	s.grids[c] = g
	return nil
}

// Self is the program that runs, also where another lies under its path by now.
const Self = "/proc/self/exe"

// ThisProgram is the hash of the program that runs.
func ThisProgram() (string, error) {
	sum, _, err := scenario.HashFile(Self)
	return sum, err
}

// ThisBuild is the identity that the linker gave the program that runs, "" where it has none or one set by hand. It is
// read in no time, where a hash of the program takes as long as some runs do.
func ThisBuild() string {
	f, err := elf.Open(Self)
	if err != nil {
		return ""
	}
	defer f.Close()
	note := f.Section(".note.go.buildid")
	if note == nil {
		return ""
	}
	is, err := note.Data()
	if err != nil {
		return ""
	}
	return buildOf(is)
}

// buildOf is the identity that an ELF note holds, "" unless it is of Go's four parts: -ldflags=-buildid can set the
// same one for different programs.
func buildOf(note []byte) string {
	const header = 16 // three lengths and "Go"
	if len(note) < header {
		return ""
	}
	parts := strings.Split(strings.TrimRight(string(note[header:]), "\x00"), "/")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return ""
	}
	sum := sha256.Sum256(note)
	return hex.EncodeToString(sum[:8])
}

// Program is the hash of the program that makes the runs.
func (s *Sweep) Program() string { return s.program }

// Group is the runs of one case under one seed, which share what they read.
type Group struct{ Case, Seed int }

// groups are all of the grid.
func (s *Sweep) groups() []Group {
	var all []Group
	for c := range s.cases {
		for k := range s.file.count {
			all = append(all, Group{c, k})
		}
	}
	return all
}

// keys are those of a group's runs, by row.
func (s *Sweep) keys(of Group) []Key {
	g := s.grids[of.Case]
	var all []Key
	for _, row := range g.Rows() {
		all = append(all, keyOf(s.program, s.ids[of.Case], row, g.Seeds()[of.Seed], of.Seed == 0))
	}
	return all
}

// Runs are those of the sweep, for engines.
func (s *Sweep) Runs() *Runs {
	return &Runs{Folder: s.Folder, Keys: s.keys, Seeds: s.file.count,
		ByHand: CommandLine("lightloom", "sweep", "task", s.Folder.Study(), "--results", string(s.Folder))}
}

// Make makes the runs of groups that are missing and calls made after each.
func (s *Sweep) Make(ctx context.Context, groups []Group, made func()) error {
	for _, of := range groups {
		if err := s.read(of.Case); err != nil {
			return err
		}
		g := s.grids[of.Case]
		for row, k := range s.keys(of) {
			if s.Folder.has(k) {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			m, err := g.Make(ctx, g.Seeds()[of.Seed], row)
			if err != nil {
				return fmt.Errorf("%s: %w", s.cases[of.Case].Name, err)
			}
			if err := s.Folder.Put(k, m); err != nil {
				return err
			}
			made()
		}
	}
	return nil
}

// Run makes what is missing by an engine, and returns the reports that it has written. Progress goes to stderr.
func (s *Sweep) Run(ctx context.Context, engine Engine, stderr io.Writer) (done []Done, err error) {
	lock, err := s.Folder.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	began := time.Now()
	all := s.groups()
	held, err := s.announce(all, began, stderr)
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, engine, all, held, stderr); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(stderr, "%s are still to be made: start the same sweep again to go on\n",
				console.Count(s.Runs().count(all), "run"))
		}
		return nil, err
	}
	return s.report(began)
}

// announce writes the state of the sweep, with the copy of its file that tasks read, and says how much there is to do.
func (s *Sweep) announce(all []Group, began time.Time, stderr io.Writer) (held int, err error) {
	for _, g := range s.grids {
		for _, w := range g.Warnings() {
			fmt.Fprintln(stderr, w)
		}
	}
	st := state{File: s.File, Engine: s.Engine, Process: os.Getpid(), Began: began}
	st.Host, _ = os.Hostname() // for readers alone
	st.Start = started(st.Process)
	for _, g := range all {
		for _, k := range s.keys(g) {
			if st.Points = append(st.Points, k); s.Folder.has(k) {
				st.Held++
			}
		}
	}
	fmt.Fprintf(stderr, "%s of %s, %d to make; results in %s\n", console.Count(len(st.Points), "run"),
		console.Count(len(s.cases), "replay"), len(st.Points)-st.Held, string(s.Folder))
	b, err := json.Marshal(st)
	if err != nil {
		return 0, fmt.Errorf("write state of sweep: %w", err)
	}
	err = durable.Replace(s.Folder.Study(), s.file.text, false)
	if err == nil {
		err = durable.Replace(s.Folder.statePath(), b, false)
	}
	if err != nil {
		return 0, &FullError{s.Folder, err}
	}
	return st.Held, nil
}

// fill has the engine make what is missing, and shows how far it is.
func (s *Sweep) fill(ctx context.Context, engine Engine, all []Group, held int, stderr io.Writer) error {
	r := s.Runs()
	bar := Bar(r.count(all), held, stderr)
	if err := r.Fill(ctx, engine, all, func() { _ = bar.Add(1) }); err != nil {
		return errors.Join(err, bar.Clear())
	}
	return bar.Finish()
}

// Bar shows how many of so many runs are made.
func Bar(all, held int, stderr io.Writer) *progressbar.ProgressBar {
	bar := progressbar.NewOptions(all, progressbar.OptionSetWriter(stderr), progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("runs"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(console.IsTerminal(stderr)), progressbar.OptionThrottle(100*time.Millisecond))
	_ = bar.Set(held)
	return bar
}

// Done is a case whose runs are all made.
type Done struct {
	Case   string `json:"case"`
	Runs   int    `json:"runs"`
	Best   string `json:"least_mean_cct"` // a policy
	Report string `json:"report"`         // a folder
}

// report writes the report of each case.
func (s *Sweep) report(began time.Time) (all []Done, err error) {
	for c, g := range s.grids {
		seeds := g.Seeds()
		rep, err := g.Report(s.Folder.report(s.cases[c].Name), began, func(seed uint64, row int) (*replay.Made, error) {
			m, err := s.Folder.Get(s.keys(Group{c, int(seed - seeds[0])})[row])
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.Join(err, s.forget(c))
			}
			return m, err
		})
		if disk := (*report.DiskError)(nil); errors.As(err, &disk) {
			return nil, &FullError{s.Folder, disk.Err}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Done{s.cases[c].Name, len(seeds) * len(g.Rows()), best(rep), s.Folder.report(s.cases[c].Name)})
	}
	return all, nil
}

// Print prints a table of the reports.
func Print(w io.Writer, all []Done) error {
	t := console.NewTable(w, "fabric and jobs", "runs", "least mean CCT", "report")
	for _, d := range all {
		t.Row(d.Case, d.Runs, d.Best, d.Report+"/report.html")
	}
	return t.Print()
}

// forget removes results of a case that cannot be read, so that the next start makes them again.
func (s *Sweep) forget(c int) error {
	var errs []error
	for k := range s.grids[c].Seeds() {
		for _, key := range s.keys(Group{c, k}) {
			if _, err := s.Folder.Get(key); errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, os.RemoveAll(s.Folder.point(key))) // also a folder of that name
			}
		}
	}
	return errors.Join(append(errs, errors.New("a result was damaged and is removed: start the same sweep again"))...)
}

// best names the policy with the least mean CCT of the run that the report shows.
func best(rep *report.Report) string {
	at := 0
	for i := range rep.Policies {
		if rep.Policies[i].CCT.Mean < rep.Policies[at].CCT.Mean {
			at = i
		}
	}
	return rep.Policies[at].Name
}
