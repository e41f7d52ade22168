package main

import (
	"context"
	"errors"
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
	"lightloom/lab/sweep"
)

// sweepFlags are those of sweep and of its tasks.
type sweepFlags struct {
	results string
	workers int
	program string // its hash, known to the sweep that asks for a task
	groups  string
}

func newSweep() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Replay every policy on every fabric, trace and seed of a file, on all cores",
		Long: `Replays a grid on the simulator, by as many processes as there are cores. Each run leaves one file, named
for all that decides its figures: the program, the content of input files, and the settings. So the same sweep,
started again, makes only what is missing, and a process that is killed loses what it was at. At the end each fabric
and trace has the report that lightloom replay would write. FILE is YAML:

  fabrics:              # as --fabric of lightloom replay takes them
    - hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
  traces: [synthetic]   # as --trace does; workloads: are those of --workload
  policies: [random+ecmp, crosslayer+sunflow]   # the first is compared with
  seeds: 1-40
  flags: {speedup: 2}   # other flags of lightloom replay, by name`,
		Example: "  lightloom sweep study.yaml\n" +
			"  lightloom sweep status study.results\n" +
			"  lightloom sweep cancel study.results",
		Args: one("FILE", "write lightloom sweep study.yaml; lightloom sweep --help shows such a file"),
	}
	c.Flags().StringVar(&f.results, "results", "", "folder of the results; default: FILE's name with .results in place "+
		"of .yaml")
	c.Flags().IntVar(&f.workers, "workers", 0, "processes at a time; default: as many as there are cores")
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
	if f.workers < 0 || f.workers > 1024 {
		return usage("write --workers 2, or leave it away", "sweep: --workers %d is not within 1 to 1024", f.workers)
	}
	workers := f.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s, err := console.Until(c.Context(), func() (*sweep.Sweep, error) {
		return sweep.Open(file, f.folder(file), "", replayOptions)
	})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("sweep: find this program: %w", err)
	}
	engine := sweep.Local{Command: []string{self, "sweep", "task", file, "--results=" + string(f.folder(file)),
		"--program=" + s.Program(), "--config=" + config.Off}, Workers: workers}
	return s.Run(c.Context(), engine.Engine, c.OutOrStdout(), c.ErrOrStderr())
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
			return sweep.Folder(args[0]).Cancel(c.Context())
		},
	}
}

// newSweepTask makes a few runs of a sweep: it is what sweep starts.
func newSweepTask() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{Use: "task FILE", Hidden: true, Args: one("FILE", "name the sweep's file")}
	c.Flags().StringVar(&f.results, "results", "", "folder of the results")
	c.Flags().StringVar(&f.program, "program", "", "hash of this program, if it is known")
	c.Flags().StringVar(&f.groups, "groups", "", "runs to make, as case.seed, counted from 0")
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := sweep.Open(args[0], f.folder(args[0]), f.program, replayOptions)
		if err != nil {
			return err
		}
		groups, err := s.Groups(f.groups)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(c.Context())
		defer cancel(nil)
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, c.InOrStdin())
			cancel(errors.New("the sweep that asked for these runs has ended"))
		}()
		return s.Make(ctx, groups, func() { fmt.Fprintln(c.OutOrStdout(), "made") })
	}
	return c
}
