package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/controller/training/chakra"
	"lightloom/controller/training/llm"
	"lightloom/lab/console"
	"lightloom/lab/iteration"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// newTraining returns the commands of training jobs.
func newTraining() *cobra.Command {
	c := &cobra.Command{
		Use:   "training",
		Short: "Run training jobs: collectives and computing, rank by rank",
		Long: "Runs one iteration of a training job on the network between its ranks, and says what its communication\n" +
			"costs. " +
			"A job is a set of Chakra traces, an algorithm of MSCCL, or is generated from a model.",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTrainingRun(), newTrainingExport())
	return c
}

// modelFlags are the flags of generated jobs.
type modelFlags struct {
	model string
	job   llm.Job
}

func (f *modelFlags) add(c *cobra.Command) {
	var names []string
	for _, m := range llm.Models() {
		names = append(names, m.Name)
	}
	f.job = llm.Default(llm.Model{})
	j := &f.job
	c.Flags().StringVar(&f.model, "model", "", "generate a job of "+strings.Join(names, ", "))
	_ = c.RegisterFlagCompletionFunc("model", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVar(&j.Data, "data", j.Data, "degree of data parallelism")
	c.Flags().IntVar(&j.Tensor, "tensor", j.Tensor, "degree of tensor parallelism")
	c.Flags().IntVar(&j.Pipeline, "pipeline", j.Pipeline, "stages of the pipeline")
	c.Flags().IntVar(&j.Expert, "expert", j.Expert, "data-parallel ranks among which experts are spread")
	c.Flags().IntVar(&j.Batch, "batch", j.Batch, "sequences of an iteration")
	c.Flags().IntVar(&j.Micro, "micro", j.Micro, "sequences of a microbatch")
	c.Flags().IntVar(&j.Tokens, "tokens", j.Tokens, "tokens of a sequence")
	c.Flags().IntVar(&j.Blocks, "blocks", j.Blocks,
		"blocks of a stage: gradients of one are sent while the next is computed")
	c.Flags().Float64Var(&j.Speed, "speed", j.Speed, "operations a second that a rank reaches")
	c.Flags().Float64Var(&j.Skew, "skew", 0, "how fast the experts' shares of tokens fall, as 1/rank^SKEW; 0: all alike")
	c.Flags().IntVar(&j.Iterations, "iterations", 1, "iterations, one after the other")
}

// idle refuses a flag that was given and changes nothing: mend says what gives it a meaning.
func idle(c *cobra.Command, when, mend string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return usage(mend, "%s: --%s changes nothing %s", strings.TrimPrefix(c.CommandPath(), "lightloom "), name, when)
		}
	}
	return nil
}

// idleFlags refuses flags that the job, the network or the rules of a run have no use for.
func (f *trainingFlags) idleFlags(c *cobra.Command) error {
	var errs []error
	if f.o.Source.Model != nil {
		errs = append(errs, idle(c, "with --model", "leave it away", "groups", "bytes"))
	} else {
		errs = append(errs, idle(c, "without --model", "leave it away", "data", "tensor", "pipeline", "expert", "batch",
			"micro", "tokens", "blocks", "speed", "skew", "iterations"))
		if strings.HasSuffix(f.o.Source.Path, ".xml") {
			errs = append(errs, idle(c, "for an algorithm", "leave it away", "method", "groups"))
		} else {
			errs = append(errs, idle(c, "for traces, which have their sizes", "leave it away", "bytes"))
		}
	}
	if f.o.System == "" {
		errs = append(errs, idle(c, "without --system", "add --system system.json", "congestion", "queues"))
	}
	if f.o.Net.File != "" {
		errs = append(errs, idle(c, "with --network", "leave it away", "nic", "inside", "latency"))
	}
	return cmp.Or(errs...)
}

// source returns the job that a command line names: a path or a model.
func (f *modelFlags) source(c *cobra.Command, args []string) (iteration.Source, error) {
	const mend = "write lightloom training run traces, or lightloom training run --model dense-7b"
	name := strings.TrimPrefix(c.CommandPath(), "lightloom ")
	switch {
	case len(args) > 1:
		return iteration.Source{}, usage(mend, "%s: want one path, got %d", name, len(args))
	case len(args) == 1 && f.model != "":
		return iteration.Source{}, usage(mend, "%s: it has both a path and --model", name)
	case len(args) == 1:
		return iteration.Source{Path: args[0]}, nil
	case f.model == "":
		return iteration.Source{}, usage(mend, "%s: there is no job", name)
	}
	m, err := llm.ModelOf(f.model)
	if err != nil {
		return iteration.Source{}, usage("write --model dense-7b", "%s: %v", name, err)
	}
	j := f.job
	j.Model = m
	return iteration.Source{Model: &j}, nil
}

// trainingFlags are those of training run.
type trainingFlags struct {
	modelFlags
	o                                         iteration.Options
	output, timeline, nic, inside, congestion string
	bytes, groups                             string
}

func newTrainingRun() *cobra.Command {
	var f trainingFlags
	c := &cobra.Command{
		Use:   "run [PATH]",
		Short: "Run a training job, and say what its communication costs",
		Long: "Runs a training job. PATH is a folder with Chakra traces, NAME.0.et, NAME.1.et and so on, one of them,\n" +
			"or a path with NAME; or an algorithm of MSCCL (.xml). --model generates a job instead.\n\n" +
			"Messages share links exactly, unless --system names a system file of ASTRA-sim: then its analytical\n" +
			"backend's rules hold to the nanosecond.",
		Example: "  lightloom training run --model dense-7b\n" +
			"  lightloom training run traces --nic 400Gbps --timeline timeline.json\n" +
			"  lightloom training run traces --system system.json --network network.yml",
	}
	f.modelFlags.add(c)
	s := c.Flags()
	s.StringVar(&f.groups, "groups", "", "file of communicators, such as {\"1\": [0, 1]}")
	s.StringVar(&f.bytes, "bytes", "1MiB", "of an algorithm: bytes that each rank holds")
	s.StringVar(&f.nic, "nic", "400Gbps", "rate of a rank's NIC")
	s.StringVar(&f.inside, "inside", "3.6Tbps", "rate of a rank to others of its server")
	s.IntVar(&f.o.Net.Server, "server", 0, "ranks of a server; 0: 8 for a model, 1 for traces")
	s.DurationVar(&f.o.Net.Latency, "latency", 1000, "of a message")
	s.StringVar(&f.o.Net.File, "network", "", "network file of ASTRA-sim, in place of NICs")
	s.StringSliceVar(&f.o.Methods, "method", nil, "how a collective is carried out, such as all-reduce=halving-doubling")
	s.StringSliceVar(&f.o.Delays, "delay", nil, "rank that begins late, such as 3=5ms")
	s.StringVar(&f.o.System, "system", "", "system file of ASTRA-sim: use its rules")
	s.StringVar(&f.congestion, "congestion", "aware", "of these rules: aware, or unaware")
	s.IntVar(&f.o.Queues, "queues", 1, "of these rules: queues of a dimension")
	s.StringVar(&f.timeline, "timeline", "", "file for the timeline, for ui.perfetto.dev or chrome://tracing")
	mark(c, inputMark, "network", "system", "groups")
	mark(c, placeMark, "timeline")
	outputFlag(c, &f.output, iteration.Result{})
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args) }
	return c
}

func (f *trainingFlags) run(c *cobra.Command, args []string) error {
	if err := f.parse(c, args); err != nil {
		return err
	}
	t, err := newTimeline(f.timeline)
	if err != nil {
		return fmt.Errorf("training run: --timeline: %w", err)
	}
	defer t.close()
	r, err := iteration.Run(c.Context(), f.o)
	if err != nil {
		return fmt.Errorf("training run: %w", err)
	}
	if err := t.write(r); err != nil {
		return fmt.Errorf("training run: --timeline: %w", err)
	}
	if f.output == console.OutputJSON {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.Print(c.OutOrStdout())
}

// parse reads the flags that are no numbers.
func (f *trainingFlags) parse(c *cobra.Command, args []string) error {
	if err := oneOf(c, "congestion", f.congestion, "aware", "unaware"); err != nil {
		return err
	}
	f.o.Unaware = f.congestion == "unaware"
	if f.o.Queues < 1 || f.o.Queues > 1<<10 {
		return usage("write --queues 1", "training run: --queues %d is not within 1 to 1024", f.o.Queues)
	}
	var err error
	if f.o.Source, err = f.source(c, args); err != nil {
		return err
	}
	if err := f.idleFlags(c); err != nil {
		return err
	}
	f.o.Source.Groups = f.groups
	if f.o.Source.Bytes, err = pathmap.ParseBytes(f.bytes); err != nil {
		return usage("write --bytes 1MiB", "training run: --bytes: %v", err)
	}
	if f.o.Net.NIC, err = pathmap.ParseRate(f.nic); err != nil {
		return usage("write --nic 400Gbps", "training run: --nic: %v", err)
	}
	if f.o.Net.Inside, err = pathmap.ParseRate(f.inside); err != nil {
		return usage("write --inside 3.6Tbps", "training run: --inside: %v", err)
	}
	switch server := &f.o.Net.Server; {
	case *server < 0:
		return usage("write --server 8", "training run: --server %d is below zero", *server)
	case *server == 0 && f.o.Source.Model != nil:
		*server = 8
	}
	return nil
}

// timeline is a file that takes its name once it is whole. A device or a pipe is written to as it is.
type timeline struct {
	path string
	file *os.File // nil: none is wanted
}

// newTimeline tries the place of a timeline; an empty path is none.
func newTimeline(path string) (*timeline, error) {
	if path == "" {
		return &timeline{}, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &timeline{path, file}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new*")
	if err == nil {
		err = file.Chmod(0o644)
	}
	return &timeline{path, file}, err
}

// write writes the timeline of a result.
func (t *timeline) write(r *iteration.Result) error {
	if t.file == nil {
		return nil
	}
	if err := errors.Join(r.WriteTimeline(t.file), t.file.Close()); err != nil || t.file.Name() == t.path {
		return err
	}
	return os.Rename(t.file.Name(), t.path)
}

// close removes what was not written to its end.
func (t *timeline) close() {
	if t.file != nil && t.file.Name() != t.path {
		t.file.Close()
		os.Remove(t.file.Name())
	}
}

func newTrainingExport() *cobra.Command {
	var f modelFlags
	var to, name string
	c := &cobra.Command{
		Use:   "export --model MODEL --to FOLDER",
		Short: "Write a generated training job as Chakra traces",
		Long: "Writes a job as Chakra traces, NAME.0.et and so on, for lightloom training run or ASTRA-sim, and its\n" +
			"communicators as groups.json. Traces have no skew of experts: each gets as many tokens.",
		Example: "  lightloom training export --model dense-7b --to traces",
		Args:    noArgs,
	}
	f.add(c)
	c.Flags().StringVar(&to, "to", "", "folder, which is made")
	c.Flags().StringVar(&name, "name", "", "what the files' names begin with; default: the model's name")
	c.RunE = func(c *cobra.Command, args []string) error {
		if to == "" {
			return usage("add --to traces", "training export: there is no folder")
		}
		s, err := f.source(c, args)
		if err != nil {
			return err
		}
		if f.job.Skew != 0 {
			return hint.New("training export: traces cannot say which expert gets how many tokens", "leave --skew away")
		}
		if !c.Flags().Changed("name") {
			name = f.model
		}
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
			return usage("write --name job", "training export: --name %q is no name of files in the folder", name)
		}
		if err := exportTraces(s, to, name); err != nil {
			return fmt.Errorf("training export: %w", err)
		}
		return nil
	}
	return c
}

// othersTraces refuses a folder with traces of that name of ranks that the job does not have: they would count as its.
func othersTraces(to, name string, ranks int) error {
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	var others []string
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), name+".")
		middle, et := strings.CutSuffix(middle, ".et")
		if r, err := strconv.ParseUint(middle, 10, 32); ok && et && err == nil && int(r) >= ranks {
			others = append(others, e.Name())
		}
	}
	if len(others) == 0 {
		return nil
	}
	shown := strings.Join(others[:min(len(others), 4)], ", ")
	if more := len(others) - 4; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return hint.Wrong(hint.New(fmt.Sprintf("%q holds %s of another job, which has more than %d ranks", to, shown, ranks),
		"remove them, or write another --name or --to"))
}

// exportTraces writes a file for each rank, and the communicators.
func exportTraces(s iteration.Source, to, name string) error {
	w, err := s.Load()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := othersTraces(to, name, len(w.Ranks)); err != nil {
		return err
	}
	for r := range w.Ranks {
		file, err := os.Create(filepath.Join(to, fmt.Sprintf("%s.%d.et", name, r)))
		if err != nil {
			return err
		}
		b := bufio.NewWriter(file)
		if err := chakra.Write(b, w, r); err != nil {
			file.Close()
			return err
		}
		if err := b.Flush(); err != nil {
			file.Close()
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(chakra.GroupsOf(w), "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "groups.json"), append(text, '\n'), 0o644)
}
