package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/experiment"
	"lightloom/lab/experiment/agreement"
	"lightloom/lab/experiment/clairvoyant"
	"lightloom/lab/experiment/collectives"
	"lightloom/lab/experiment/dawn"
	"lightloom/lab/experiment/dissertation"
	"lightloom/lab/experiment/kept"
	"lightloom/lab/experiment/pods"
	"lightloom/lab/experiment/pushbox"
	"lightloom/lab/experiment/slurmjobs"
	"lightloom/lab/report/plot"
)

// experimentFlags are the flags of experiment run.
type experimentFlags struct {
	seeds          int
	first          uint64
	output, plot   string
	on, data       string
	quick, fresh   bool
	reads          string
	loads          []float64
	engine         engineFlags
	stdout, stderr io.Writer
}

// outputCSV is what experiment run prints beside tables and JSON.
const outputCSV = "csv"

func newExperiment(a actions) *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Repeat the evaluations of published papers",
		Long: "Repeats an evaluation of one of the papers that Lightloom implements, and says row by row what is\n" +
			"reproduced, what differs and why. The folder docs/bench has the results.",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newExperimentList(), newExperimentRun(a), newExperimentTask())
	return c
}

func newExperimentList() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Example: "  lightloom experiment list -o json",
		Args:    noArgs,
	}
	outputFlag(c, &output, []listedExperiment{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		var all []listedExperiment
		for _, e := range experiment.All(moreExperiments()...) {
			all = append(all, listedExperiment{e.Name, e.Doc, e.Source, e.Seeds, e.On, e.Only})
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), all)
		}
		for _, e := range all {
			on := strings.Join(e.On, ", ")
			if e.Only != "" {
				on += " only: " + e.Only
			}
			fmt.Fprintf(c.OutOrStdout(), "%-24s %s\n%-24s %s; %s; on %s\n", e.Name, e.Doc, "", e.Source,
				console.Count(e.Seeds, "seed"), on)
		}
		return nil
	}
	return c
}

// listedExperiment is an experiment in the JSON of experiment list.
type listedExperiment struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Source string   `json:"source"`
	Seeds  int      `json:"seeds"`
	On     []string `json:"on"`
	Only   string   `json:"only,omitempty"` // why on no other
}

func newExperimentRun(a actions) *cobra.Command {
	var f experimentFlags
	c := &cobra.Command{
		Use:   "run NAME",
		Short: "Run one experiment",
		Example: "  lightloom experiment run topology-map\n" +
			"  lightloom experiment run crosslayer-failure --repeat 5 -o json --plot figures\n" +
			"  lightloom experiment run factorial --on-engine slurm --partition long",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("run them one by one", "experiment run: %d experiments are named; take one", len(args))
			}
			return nil
		},
		ValidArgsFunction: completeExperiments,
	}
	f.settings(c)
	alsoSeeds(c)
	outputFlag(c, &f.output, experiment.Page{}, outputCSV)
	c.Flags().StringVar(&f.plot, "plot", "", "folder for the figures, as SVG and PDF")
	c.Flags().StringVar(&f.on, "on", "", "where: "+experiment.OnFlowsim+" or "+experiment.OnNetns+
		"; default: the first that the experiment names")
	c.Flags().BoolVar(&f.fresh, "fresh", false,
		"make all runs, also those that an interrupted start of the same "+
			"command has made")
	f.engine.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("lightloom experiment list names them", "experiment run: there is no experiment to run")
		}
		e, err := experiment.Find(args[0], moreExperiments()...)
		if err != nil {
			return usage("lightloom experiment list names them", "%w", err)
		}
		if err := f.check(c, &e); err != nil {
			return err
		}
		if err := f.engine.check(c, f.on, &e); err != nil {
			return err
		}
		f.stdout, f.stderr = c.OutOrStdout(), c.ErrOrStderr()
		return a.experiment(c.Context(), &f, e)
	}
	return c
}

// settings adds the flags that decide the figures of runs.
func (f *experimentFlags) settings(c *cobra.Command) {
	c.Flags().IntVar(&f.seeds, repeatFlag, 0, "runs per setting, under seeds from --seed on; default: as "+
		"many as the experiment's pilot found necessary")
	c.Flags().Uint64Var(&f.first, "seed", 1, "first seed; further runs use the seeds after it")
	c.Flags().StringVar(&f.data, "data", os.Getenv("LIGHTLOOM_DATA"),
		"folder with the real traces, or the trace of faults of slices-faults; default: $LIGHTLOOM_DATA")
	c.Flags().BoolVar(&f.quick, "quick", false, "run a small part only, to try the command; its rows prove "+
		"nothing, and say so")
	c.Flags().StringVar(&f.reads, readsFlag, readsNetwork, "how tasks read blocks of which their rack has no copy: "+
		"network, or beside it")
	c.Flags().Float64SliceVar(&f.loads, "loads", nil, "offered loads as multiples of the paper's, for "+
		"experiments that sweep the load; default: 1,3,10,30")
}

func (f *experimentFlags) check(c *cobra.Command, e *experiment.Experiment) error {
	if f.on == "" {
		f.on = e.On[0]
	}
	if !slices.Contains(e.On, f.on) {
		why := e.Only
		if f.on != experiment.OnNetns && f.on != experiment.OnFlowsim {
			why = "there is no such testbed"
		}
		return usage("write --on "+strings.Join(e.On, " or --on "),
			"experiment run: %s does not run on %q: %s", e.Name, f.on, why)
	}
	if err := oneOf(c, readsFlag, f.reads, readsNetwork, readsBeside); err != nil {
		return err
	}
	if len(f.loads) > 0 && !e.Loads {
		return usage("leave --loads away", "experiment run: %s is no curve over the offered load", e.Name)
	}
	for _, load := range f.loads {
		if !(load >= 0.01 && load <= 1000) {
			return usage("write --loads 1,3", "experiment run: a load of %g is not between 0.01 and 1000", load)
		}
	}
	if !c.Flags().Changed(repeatFlag) {
		f.seeds = e.Seeds
		if f.on == experiment.OnNetns && e.OnPackets > 0 {
			f.seeds = e.OnPackets
		}
		if f.quick {
			f.seeds = 2
		}
	}
	if f.seeds < 1 {
		return usage("write --repeat 20", "experiment run: --repeat %d is less than one run", f.seeds)
	}
	return nil
}

// runExperiment runs one and prints what it found.
func runExperiment(ctx context.Context, f *experimentFlags, e experiment.Experiment) error {
	if f.engine.name != "" {
		return f.elsewhere(ctx, e)
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(f.stderr),
		progressbar.OptionSetDescription(e.Name),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(console.IsTerminal(f.stderr)),
		progressbar.OptionThrottle(100*time.Millisecond))
	resumed, err := f.resume(e.Name)
	if err != nil {
		return err
	}
	what, began := fmt.Sprint(e.Name, " on ", f.on, ", quick ", f.quick, ", loads ", f.loads, ", ", f.reads),
		time.Now()
	f.announce(e.Name, what)
	b := &experiment.Bench{Kept: resumed, Seeds: f.seeds, First: f.first, On: f.on, Data: f.data,
		Quick: f.quick, Loads: f.loads,
		Progress: func(done, of int) { bar.ChangeMax(of); _ = bar.Set(done) }}
	r, err := e.Run(f.reading(ctx), b)
	_ = bar.Clear()
	cut := len(b.Interrupted()) > 0
	if n := resumed.Recalled(); n > 0 {
		fmt.Fprintf(f.stderr, "%s of an interrupted start counted\n", console.Count(n, "run"))
	} else if err == nil && !cut {
		kept.Learn(kept.Folder(), what, f.seeds, time.Since(began))
	}
	if err := resumed.Close(err == nil && !cut); err != nil {
		fmt.Fprintln(f.stderr, err)
	}
	if n := resumed.Held(); err != nil && ctx.Err() != nil && n > 0 {
		fmt.Fprintf(f.stderr, "%s kept; the same command goes on\n", console.Count(n, "run"))
	}
	if err != nil {
		return fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	return f.tell(ctx, e, b, r)
}

// tell draws and prints what an experiment found.
func (f *experimentFlags) tell(ctx context.Context, e experiment.Experiment, b *experiment.Bench,
	r *experiment.Result) error {
	if f.plot != "" {
		names, err := plot.WriteFiles(f.plot, r.Pictures)
		if err != nil {
			return fmt.Errorf("draw pictures: %w", err)
		}
		for _, n := range names {
			fmt.Fprintln(f.stderr, "drawn:", n)
		}
		if len(names) == 0 {
			fmt.Fprintf(f.stderr, "nothing is drawn: %s has tables only\n", e.Name)
		}
	}
	r.Notes = append(r.Notes, b.Interrupted()...)
	if err := f.show(experiment.NewPage(e, b, r)); err != nil {
		return err
	}
	for _, cut := range b.Interrupted() {
		fmt.Fprintln(f.stderr, cut)
	}
	if len(b.Interrupted()) > 0 {
		return ctx.Err()
	}
	return nil
}

// resume opens the runs that an interrupted start of the same experiment has made.
func (f *experimentFlags) resume(name string) (*kept.Runs, error) {
	path, err := kept.File(kept.Folder(), name, []any{f.seeds, f.first, f.on, f.data, f.quick, f.loads, f.reads})
	if err != nil {
		return nil, err
	}
	if f.fresh {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("forget earlier runs: %w", err)
		}
	}
	return kept.Open(path)
}

// announce says what runs, and how long it will take where that is known.
func (f *experimentFlags) announce(name, what string) {
	about := "how long it takes is not known before its first end on this machine"
	if predicted, known := kept.Estimate(kept.Folder(), what, f.seeds); known {
		about = "about " + predicted.Round(100*time.Millisecond).String()
	}
	fmt.Fprintf(f.stderr, "%s on %s, %s: %s\n", name, f.on, console.Count(f.seeds, "seed"), about)
}

// show prints what was found.
func (f *experimentFlags) show(page *experiment.Page) error {
	switch f.output {
	case console.OutputJSON:
		return page.JSON(f.stdout)
	case outputCSV:
		for _, n := range page.Notes { // the rows have no place for them
			fmt.Fprintln(f.stderr, "note:", n)
		}
		return page.CSV(f.stdout)
	}
	return page.Table(f.stdout)
}

// moreExperiments are those of packages of their own.
func moreExperiments() []experiment.Experiment {
	return slices.Concat(dissertation.Experiments(), dawn.Experiments(), pushbox.Experiments(),
		clairvoyant.Experiments(), agreement.Experiments(), pods.Experiments(), collectives.Experiments(),
		slurmjobs.Experiments())
}
