package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/config"
	"lightloom/lab/console"
	"lightloom/lab/replay"
	"lightloom/lab/slurm"
	"lightloom/lab/sweep"
	"lightloom/southbound/hint"
)

// sweepFlags are those of sweep and of its tasks.
type sweepFlags struct {
	results   string
	workers   int
	engine    string
	partition string
	sbatch    []string // more options
	output    string
	program   string // its hash, known to the sweep that asks for a task
	build     string // the identity of its build
	groups    string
}

func newSweep() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Replay every policy on every fabric, trace and seed of a file, on all cores or a cluster",
		Long: `Replays a grid on the simulator, by as many processes as there are cores. Each run leaves one file, named
for all that decides its figures: the program, the content of input files, and the settings. So the same sweep,
started again, makes only what is missing, and a process that is killed loses what it was at. At the end each fabric
and trace has the report that lightloom replay would write. With --engine slurm the tasks of a job array make them,
on nodes that see the results, the input files and this program under the same paths. FILE is YAML:

  fabrics:              # as --fabric of lightloom replay takes them
    - hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
  traces: [synthetic]   # as --trace does; workloads: are those of --workload
  policies: [random+ecmp, crosslayer+sunflow]   # the first is compared with
  seeds: 1-40
  flags: {speedup: 2}   # other flags of lightloom replay, by name`,
		Example: "  lightloom sweep study.yaml\n" +
			"  lightloom sweep study.yaml --engine slurm --partition long --sbatch=--account=net\n" +
			"  lightloom sweep status study.results\n" +
			"  lightloom sweep cancel study.results",
		Args: one("FILE", "write lightloom sweep study.yaml; lightloom sweep --help shows such a file"),
	}
	c.Flags().StringVar(&f.results, "results", "", "folder of the results; default: FILE's name with .results in place "+
		"of .yaml")
	c.Flags().IntVar(&f.workers, "workers", 0, "processes at a time; default: as many as there are cores")
	c.Flags().StringVar(&f.engine, "engine", sweep.OnLocal, "what makes the runs: "+sweep.OnLocal+" or "+sweep.OnSlurm)
	c.Flags().StringVar(&f.partition, "partition", "", "partition of Slurm; default: Slurm's")
	c.Flags().StringArrayVar(&f.sbatch, "sbatch", nil, "another option of sbatch, such as --sbatch=--account=net; "+
		"repeatable; it counts more than the time and memory that first tasks took")
	outputFlag(c, &f.output, []sweep.Done{})
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args[0]) }
	c.AddCommand(newSweepStatus(), newSweepCancel(), newSweepTask())
	return c
}

// folder is that of the results.
func (f *sweepFlags) folder(file string) sweep.Folder {
	if f.results != "" {
		return sweep.Folder(f.results)
	}
	return sweep.Folder(strings.TrimSuffix(file, filepath.Ext(file)) + ".results")
}

func (f *sweepFlags) run(c *cobra.Command, file string) error {
	if err := f.check(c); err != nil {
		return err
	}
	s, err := console.Until(c.Context(), func() (*sweep.Sweep, error) {
		return sweep.Open(file, f.folder(file), "", replayOptions)
	})
	if err != nil {
		return err
	}
	s.Engine = f.engine
	engine, err := f.engineOf(c, s)
	if err != nil {
		return err
	}
	done, err := s.Run(c.Context(), engine, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if f.output == console.OutputJSON {
		return console.WriteJSON(c.OutOrStdout(), done)
	}
	return sweep.Print(c.OutOrStdout(), done)
}

func (f *sweepFlags) check(c *cobra.Command) error {
	if err := oneOf(c, "engine", f.engine, sweep.OnLocal, sweep.OnSlurm); err != nil {
		return err
	}
	for name, engine := range map[string]string{"workers": sweep.OnLocal, "partition": sweep.OnSlurm,
		"sbatch": sweep.OnSlurm} {
		if c.Flags().Changed(name) && f.engine != engine {
			return usage("write --engine "+engine+", or leave it away", "sweep: --%s is of the engine %s alone", name, engine)
		}
	}
	if c.Flags().Changed("results") && f.results == "" {
		return usage("write --results DIR, or leave it away", "sweep: --results names no folder")
	}
	if c.Flags().Changed("workers") && (f.workers < 1 || f.workers > 1024) {
		return usage("write --workers 2, or leave it away", "sweep: --workers %d is not within 1 to 1024", f.workers)
	}
	return nil
}

// engineOf is the engine that flags ask for.
func (f *sweepFlags) engineOf(c *cobra.Command, s *sweep.Sweep) (sweep.Engine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("sweep: find this program: %w", err)
	}
	results, err := filepath.Abs(string(s.Folder)) // tasks may begin elsewhere
	if err != nil {
		return nil, fmt.Errorf("sweep: find results: %w", err)
	}
	task := []string{self, "sweep", "task", sweep.Folder(results).Study(), "--results=" + results,
		"--program=" + s.Program(), "--build=" + sweep.ThisBuild(), "--config=" + config.Off}
	if f.engine == sweep.OnLocal {
		return localEngine(task, f.workers), nil
	}
	return slurmEngine(task, s.Runs(), f.partition, f.sbatch, c.ErrOrStderr()), nil
}

func localEngine(task []string, workers int) sweep.Engine {
	return sweep.Local{Command: task, Program: sweep.Self, Workers: cmp.Or(workers, runtime.GOMAXPROCS(0))}.Engine
}

func slurmEngine(task []string, runs *sweep.Runs, partition string, sbatch []string, stderr io.Writer) sweep.Engine {
	return (&sweep.Slurm{Runs: runs, Command: task, Partition: partition, Options: sbatch, Call: (&slurm.Client{}).Call,
		Now: time.Now, Pause: func(ctx context.Context) error { return pause(ctx, 2*time.Second) },
		Say: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }}).Engine
}

// replayOptions are what a command line of replay asks for; nothing runs.
func replayOptions(args []string) (opt replay.Options, err error) {
	a := actions{replay: func(_ context.Context, o replay.Options) error {
		opt = o
		return nil
	}}
	root := newRoot(a, append(args, "--config="+config.Off), strings.NewReader(""), io.Discard, io.Discard)
	err = root.Execute()
	return opt, err
}

func newSweepStatus() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "status DIR",
		Short:   "Say how far the sweep of a folder of results has come",
		Example: "  lightloom sweep status study.results",
		Args:    one("DIR", "name the folder of the results, such as study.results"),
	}
	outputFlag(c, &output, sweep.Status{})
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := sweep.Folder(args[0]).Status(time.Now())
		if err != nil {
			return err
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), s)
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), s)
		return err
	}
	return c
}

func newSweepCancel() *cobra.Command {
	return &cobra.Command{
		Use:     "cancel DIR",
		Short:   "End the sweep that uses a folder of results; what it has made stays",
		Example: "  lightloom sweep cancel study.results",
		Args:    one("DIR", "name the folder of the results, such as study.results"),
		RunE: func(c *cobra.Command, args []string) error {
			return sweep.Folder(args[0]).Cancel(c.Context(), (&slurm.Client{}).Call)
		},
	}
}

// isProgram returns an error unless this program is of that build, or has that hash.
func isProgram(hash, build string) error {
	if build != "" && build == sweep.ThisBuild() {
		return nil
	}
	is, err := sweep.ThisProgram()
	if err == nil && is != hash {
		err = hint.New("make runs: this machine has another lightloom than the one that asks for these runs",
			"install the same one on all nodes, or name one on a shared file system")
	}
	return err
}

// newSweepTask makes a few runs of a sweep: it is what sweep starts.
func newSweepTask() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{Use: "task FILE", Hidden: true, Args: one("FILE", "name the sweep's file")}
	c.Flags().StringVar(&f.results, "results", "", "folder of the results")
	c.Flags().StringVar(&f.program, "program", "", "hash of the program that asks")
	c.Flags().StringVar(&f.build, "build", "", "build of the program that asks")
	c.Flags().StringVar(&f.groups, "groups", "", "runs to make, as case.seed, counted from 0; default: read from "+
		"standard input until it ends")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.groups != "" && f.program != "" { // perhaps on another machine
			if err := isProgram(f.program, f.build); err != nil {
				return err
			}
		}
		s, err := sweep.OpenTask(args[0], f.folder(args[0]), f.program, replayOptions)
		if err != nil {
			return err
		}
		if f.groups == "" {
			return s.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout())
		}
		groups, err := s.Groups(f.groups)
		if err != nil {
			return err
		}
		return s.Make(c.Context(), groups, func() {})
	}
	return c
}
