package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/cmd/lightloom/internal/config"
	"lightloom/lab/experiment"
	"lightloom/lab/experiment/kept"
	"lightloom/lab/replay"
	"lightloom/lab/sweep"
)

// engineFlags say which engine makes the runs of an experiment.
type engineFlags struct {
	name      string // empty: none, they are made here
	results   string
	workers   int
	partition string
	sbatch    []string
	again     []string // the command that goes on
}

// onEngine is the flag that names an engine.
const onEngine = "on-engine"

func (f *engineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.name, onEngine, "", "what makes the runs, by processes that can be killed: "+sweep.OnLocal+
		" or "+sweep.OnSlurm+"; default: this process")
	c.Flags().StringVar(&f.results, "results", "", "with --"+onEngine+": folder of the runs; default: NAME.results")
	c.Flags().IntVar(&f.workers, "workers", 0, "with --"+onEngine+" local: processes at a time; default: as many as "+
		"there are cores")
	c.Flags().StringVar(&f.partition, "partition", "", "with --"+onEngine+" slurm: partition of Slurm; default: Slurm's")
	c.Flags().StringArrayVar(&f.sbatch, "sbatch", nil, "with --"+onEngine+" slurm: another option of sbatch; repeatable")
}

// check checks the flags against the experiment, and where it runs.
func (f *engineFlags) check(c *cobra.Command, on string, e *experiment.Experiment) error {
	for _, x := range []struct {
		flag    string
		engines []string
	}{{"results", []string{sweep.OnLocal, sweep.OnSlurm}}, {"workers", []string{sweep.OnLocal}},
		{"partition", []string{sweep.OnSlurm}}, {"sbatch", []string{sweep.OnSlurm}}} {
		if c.Flags().Changed(x.flag) && !slices.Contains(x.engines, f.name) {
			return usage("write --"+onEngine+" "+x.engines[0]+", or leave it away", "experiment run: --%s is of --%s %s alone",
				x.flag, onEngine, strings.Join(x.engines, " and "))
		}
	}
	if f.name == "" && !c.Flags().Changed(onEngine) {
		return nil
	}
	if err := oneOf(c, onEngine, f.name, sweep.OnLocal, sweep.OnSlurm); err != nil {
		return err
	}
	const away = "leave --" + onEngine + " away"
	switch {
	case e.Alone != "":
		return usage(away, "experiment run: no engine makes the runs of %s: %s", e.Name, e.Alone)
	case on == experiment.OnNetns:
		return usage(away+", or write --on "+experiment.OnFlowsim, "experiment run: no engine makes runs on packets: they "+
			"need a machine for themselves")
	case c.Flags().Changed("fresh"):
		return usage("name a new folder: --results DIR", "experiment run: --fresh is of runs that are made here")
	case c.Flags().Changed("results") && f.results == "":
		return usage("write --results DIR, or leave it away", "experiment run: --results names no folder")
	case c.Flags().Changed("workers") && (f.workers < 1 || f.workers > 1024):
		return usage("write --workers 2, or leave it away", "experiment run: --workers %d is not within 1 to 1024", f.workers)
	}
	f.results = cmp.Or(f.results, e.Name+".results")
	f.again = append([]string{"lightloom", "experiment", "run", e.Name}, flagsOf(c)...)
	if !c.Flags().Changed("results") {
		f.again = append(f.again, "--results="+f.results)
	}
	if data := c.Flag("data"); !data.Changed && data.Value.String() != "" { // of the environment
		f.again = append(f.again, "--data="+data.Value.String())
	}
	return nil
}

// flagsOf are the flags of a command that were set, by name.
func flagsOf(c *cobra.Command) (all []string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, v := range values {
			all = append(all, "--"+f.Name+"="+v)
		}
	})
	return all
}

// elsewhere has an engine make the runs of an experiment, and prints what it found.
func (f *experimentFlags) elsewhere(ctx context.Context, e experiment.Experiment) (err error) {
	x, task, err := f.open(e)
	if err != nil {
		return err
	}
	if err := x.Lock(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	asked := false
	b := &experiment.Bench{Kept: kept.In(x), Seeds: f.seeds, First: f.first, On: f.on, Data: f.data, Quick: f.quick,
		Loads: f.loads, Elsewhere: func(ctx context.Context, grid, settings, seeds int) error {
			asked = true
			task := append(slices.Clone(task), fmt.Sprintf("--grid=%d", grid))
			engine := func(r *sweep.Runs) sweep.Engine {
				if f.engine.name == sweep.OnLocal {
					return localEngine(task, f.engine.workers)
				}
				return slurmEngine(task, r, f.engine.partition, f.engine.sbatch, f.stderr)
			}
			return x.Fill(ctx, engine, sweep.CommandLine(task...), grid, settings, seeds, f.first, f.stderr)
		}}
	r, err := e.Run(f.reading(ctx), b)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(f.stderr, "what was made is kept: the same command goes on")
	}
	if err != nil {
		return fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	if !asked {
		fmt.Fprintf(f.stderr, "%s has no grid of runs: it was run here\n", e.Name)
	}
	return f.tell(ctx, e, b, r)
}

// reading is a context of runs that read as the flags say.
func (f *experimentFlags) reading(ctx context.Context) context.Context {
	if f.reads == readsBeside {
		return replay.ReadingBeside(ctx)
	}
	return ctx
}

// open finds the folder of results, and the command of its tasks.
func (f *experimentFlags) open(e experiment.Experiment) (*sweep.Experiment, []string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("experiment run: find this program: %w", err)
	}
	program, err := sweep.ThisProgram()
	if err != nil {
		return nil, nil, err
	}
	folder, err := filepath.Abs(f.engine.results) // tasks may begin elsewhere
	if err != nil {
		return nil, nil, fmt.Errorf("experiment run: find results: %w", err)
	}
	data := f.data
	if data != "" {
		if data, err = filepath.Abs(data); err != nil {
			return nil, nil, fmt.Errorf("experiment run: find traces: %w", err)
		}
	}
	x := &sweep.Experiment{Folder: sweep.Folder(folder), Name: e.Name, Engine: f.engine.name,
		Again: sweep.CommandLine(f.engine.again...)}
	x.Identity, err = sweep.Identity(program, []any{e.Name, f.seeds, f.first, f.on, f.quick, f.loads, f.reads}, data)
	if err != nil {
		return nil, nil, err
	}
	task := []string{self, "experiment", "task", e.Name, "--results=" + folder, "--identity=" + x.Identity,
		"--program=" + program, "--build=" + sweep.ThisBuild(), fmt.Sprintf("--seed=%d", f.first),
		fmt.Sprintf("--repeat=%d", f.seeds), "--data=" + data, fmt.Sprintf("--quick=%v", f.quick),
		"--" + readsFlag + "=" + f.reads, "--on=" + f.on, "--config=" + config.Off}
	for _, load := range f.loads {
		task = append(task, fmt.Sprintf("--loads=%g", load))
	}
	return x, task, nil
}

// newExperimentTask makes a few runs of an experiment: it is what experiment run starts.
func newExperimentTask() *cobra.Command {
	var f experimentFlags
	var groups, identity, program, build string
	var grid int
	c := &cobra.Command{Use: "task NAME", Hidden: true, Args: one("NAME", "lightloom experiment list names experiments")}
	f.settings(c)
	c.Flags().StringVar(&f.on, "on", "", "where the runs are made")
	c.Flags().StringVar(&f.engine.results, "results", "", "folder of the runs")
	c.Flags().StringVar(&identity, "identity", "", "hash of all that decides the figures")
	c.Flags().StringVar(&program, "program", "", "hash of the program that asks")
	c.Flags().StringVar(&build, "build", "", "build of the program that asks")
	c.Flags().IntVar(&grid, "grid", 0, "the grid whose runs to make, from 0")
	c.Flags().StringVar(&groups, "groups", "", "runs to make, as setting.seed, counted from 0; default: read from "+
		"standard input until it ends")
	c.RunE = func(c *cobra.Command, args []string) error {
		e, err := experiment.Find(args[0], moreExperiments()...)
		if err != nil {
			return usage("lightloom experiment list names them", "%w", err)
		}
		if err := f.check(c, &e); err != nil {
			return err
		}
		if groups != "" && program != "" { // perhaps on another machine
			if err := isProgram(program, build); err != nil {
				return err
			}
		}
		x := &sweep.Experiment{Folder: sweep.Folder(f.engine.results), Name: e.Name, Identity: identity}
		b := &experiment.Bench{Kept: kept.In(x), Seeds: f.seeds, First: f.first, On: f.on, Data: f.data, Quick: f.quick,
			Loads: f.loads, Part: &experiment.Part{Grid: grid, Make: making(groups, c.InOrStdin(), c.OutOrStdout())}}
		if _, err = e.Run(f.reading(c.Context()), b); err == nil {
			err = fmt.Errorf("experiment task: %s has no grid %d", e.Name, grid)
		}
		if errors.Is(err, experiment.ErrPart) {
			return nil
		}
		return err
	}
	return c
}

// making makes groups, or those that it reads if none are named.
func making(groups string, stdin io.Reader, stdout io.Writer) func(context.Context,
	func(context.Context, int, int) error) error {
	return func(ctx context.Context, one func(context.Context, int, int) error) error {
		produce := func(ctx context.Context, all []sweep.Group, made func()) error {
			for _, g := range all {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := one(ctx, g.Case, g.Seed); err != nil {
					return err
				}
				made()
			}
			return nil
		}
		if groups == "" {
			return sweep.Serve(ctx, stdin, stdout, sweep.ParseGroups, produce)
		}
		all, err := sweep.ParseGroups(groups)
		if err != nil {
			return err
		}
		return produce(ctx, all, func() {})
	}
}
