package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/simulated"
	"lightloom/lab/version"
	"lightloom/southbound/hint"
)

// Grid is a replay on the simulator whose runs are made one by one, in any order and by any process. Together they
// give the report that the replay itself would write.
type Grid struct {
	first  *runner // of the first seed
	of     *runner // of the seed asked for last
	inputs []input // that runs read, as Identity found them
}

// input is a file, or a folder, that each seed's runs read again.
type input struct {
	path string
	is   fs.FileInfo
}

// Made is what one run of a grid left behind: one row under one seed.
type Made struct {
	Jobs     string               `json:"jobs_digest"`
	Cost     report.PolicyRun     `json:"cost"`
	Measured report.Measured      `json:"measured"`
	Result   *report.PolicyResult `json:"result,omitempty"` // of the first seed, whose run the report shows
	Leaders  int64                `json:"leader_changes"`
}

// NewGrid reads and checks everything that the runs need.
func NewGrid(opt Options) (*Grid, error) {
	if opt.On != scenario.OnFlowsim {
		return nil, hint.Wrong(fmt.Errorf("runs on %s are not made one by one: write on: %s", opt.On, scenario.OnFlowsim))
	}
	opt.Record = true
	scale, _, err := chooseScale(context.Background(), opt.Options)
	if err != nil {
		return nil, err
	}
	p, err := scenario.Prepare(opt.Options, scale)
	if err != nil {
		return nil, err
	}
	s := &runner{Prepared: p, Console: opt.Console}
	return &Grid{first: s, of: s}, nil
}

// Seeds returns the seeds of the runs.
func (g *Grid) Seeds() []uint64 { return g.first.Seeds() }

// Warnings are about input that is left out.
func (g *Grid) Warnings() []string { return g.first.Warnings }

// Rows returns the names of the rows.
func (g *Grid) Rows() []string {
	names := make([]string, len(g.first.Rows))
	for i, r := range g.first.Rows {
		names[i] = r.Name
	}
	return names
}

// Identity returns what decides the figures of a run, other than its seed, its row and the program: the content of
// files and all settings but those that say which runs there are.
func (g *Grid) Identity() ([]byte, error) {
	m, places, err := g.first.Manifest()
	if err != nil {
		return nil, err
	}
	g.inputs = nil
	for _, p := range places {
		is, err := os.Stat(p.Path)
		if err != nil {
			return nil, fmt.Errorf("read input: %w", err)
		}
		g.inputs = append(g.inputs, input{p.Path, is})
	}
	m.Settings = slices.DeleteFunc(m.Settings, func(s report.Setting) bool {
		return slices.Contains([]string{"policy", "against", "seed", "repeat"}, s.Flag)
	})
	m.Seeds = nil
	if !strings.HasPrefix(g.first.Options.Workload, "spark:") { // a folder, of which the inputs say nothing
		m.Jobs = ""
	}
	return json.Marshal(m)
}

// unchanged returns an error if an input is another than Identity found: a run of it would have a wrong name.
func (g *Grid) unchanged() error {
	for _, in := range g.inputs {
		is, err := os.Stat(in.path)
		if err != nil || is.Size() != in.is.Size() || !is.ModTime().Equal(in.is.ModTime()) {
			return hint.New(fmt.Sprintf("input %q changed while runs were made of it", in.path), "leave inputs alone until all "+
				"runs are made, and start again: runs of the input as it is now are made anew")
		}
	}
	return nil
}

// Make makes the run of a row under a seed. Runs of one seed after each other share what they read.
func (g *Grid) Make(ctx context.Context, seed uint64, row int) (*Made, error) {
	if g.first.memory == nil {
		g.first.memory = simulated.LimitMemory(g.first.Spec.HasOCS())
	}
	if g.of.Options.Seed != seed {
		s, err := g.first.seeded(seed)
		if err == nil {
			err = g.unchanged()
		}
		if err != nil {
			return nil, err
		}
		g.of = s
	}
	s := g.of
	o, cost, err := s.row(ctx, s.Rows[row], func(int) {})
	if err != nil {
		return nil, err
	}
	cost.Seed = seed
	m := s.meta("mem")
	result := o.ResultOf(s.Prepared)
	rep := report.Summarise(m, s.settled([]report.PolicyResult{result}))
	made := &Made{Jobs: m.Workload.Digest, Cost: cost, Measured: report.Measure(&rep.Policies[0]),
		Leaders: o.LeaderChanges}
	if seed == g.first.Options.Seed {
		made.Result = &result
	}
	return made, nil
}

// Report writes the report of all runs to a directory, the runs by seed and row.
func (g *Grid) Report(dir string, began time.Time, made func(seed uint64, row int) (*Made, error)) (*report.Report,
	error) {
	s := g.first
	run := &report.Run{Version: version.This(), Command: s.Args, Started: began, Host: report.ThisHost()}
	repeat := &report.Repeat{Seeds: s.Seeds(), Shown: s.Options.Seed}
	m := s.meta("mem")
	var results []report.PolicyResult
	for _, seed := range repeat.Seeds {
		one := report.SeedRun{Seed: seed}
		for i, name := range g.Rows() {
			r, err := made(seed, i)
			if err != nil {
				return nil, err
			}
			if r.Result != nil {
				results = append(results, *r.Result)
				m.Controller.LeaderChanges += r.Leaders
			}
			one.Order, one.Jobs, one.Policies = append(one.Order, name), r.Jobs, append(one.Policies, r.Measured)
			run.Policies = append(run.Policies, r.Cost)
		}
		repeat.Runs = append(repeat.Runs, one)
	}
	manifest, places, err := s.Manifest()
	if err != nil {
		return nil, err
	}
	rep := report.Summarise(m, s.settled(results))
	if rep.Manifest, run.Inputs = manifest, places; len(repeat.Seeds) > 1 {
		rep.Add(repeat)
	}
	run.Ended = time.Now()
	run.Wall, run.CPU = run.Ended.Sub(began).Seconds(), report.CPUSeconds()
	return rep, rep.WriteDir(dir, run)
}
