package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/config"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/version"
	"lightloom/southbound/hint"
)

func newRerun(a actions) *cobra.Command {
	r := rerun{actions: a}
	c := &cobra.Command{
		Use:   "rerun DIR",
		Short: "Repeat the run of a report and compare the results",
		Long: "Reads the manifest of DIR/report.json, finds its input files, refuses any whose content has\n" +
			"changed, and runs the same command again. On the simulator the same binary gives the same\n" +
			"report.json, byte for byte. Differences are listed, and the exit status is then 1.",
		Example: "  lightloom rerun lightloom-report\n  lightloom rerun lightloom-report --input FB2010-1Hr-150-0.txt " +
			"--report-dir again",
		Args: one("directory", "lightloom rerun lightloom-report"),
	}
	c.Flags().StringArrayVar(&r.inputs, "input", nil,
		"input file to use, recognised by its content; default: "+
			"the path in run.json, this folder, or DIR")
	c.Flags().StringVar(&r.dir, "report-dir", "", "directory for the new report; default: DIR-again")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.stdout, r.stderr = c.OutOrStdout(), c.ErrOrStderr()
		if err := r.run(c.Context(), reportDir(args[0])); err != nil {
			return fmt.Errorf("rerun: %w", err)
		}
		return nil
	}
	return c
}

// rerun repeats a run.
type rerun struct {
	actions        actions
	inputs         []string // given by the user
	dir            string   // of the new report
	stdout, stderr io.Writer
}

func (r *rerun) run(ctx context.Context, dir string) error {
	rep, err := report.Read(dir)
	if err != nil {
		return hint.Wrong(err)
	}
	m := rep.Manifest
	if err := m.Check(); err != nil {
		return err
	}
	if m.Command == replay.AttachCommand {
		return hint.Wrap(fmt.Errorf("%q was made on switches that ran by themselves (%s), which lightloom cannot start", dir,
			rep.Fabric.On),
			"start that testbed again, or replay the same jobs on netns and hold both against each other: lightloom compare "+
				"--across fabrics")
	}
	old, err := report.ReadRun(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	paths, err := r.find(m, old, dir)
	if err != nil {
		return err
	}
	forget, err := rename(m, paths)
	if err != nil {
		return err
	}
	defer forget()
	args, err := r.args(m, paths)
	if err != nil {
		return err
	}
	if r.dir == "" {
		r.dir = fresh(dir + "-again")
	}
	r.sayBuild(m, old)
	args = append(args, "--report-dir="+r.dir, "--config="+config.Off)
	if err := newRoot(r.actions, args, bytes.NewReader(nil), io.Discard,
		r.stderr).ExecuteContext(ctx); err != nil {
		return err
	}
	return r.verdict(rep, dir)
}

// reportDir returns the directory of a report that is named by it or by its report.json, as compare
// takes both.
func reportDir(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Base(path) == "report.json" {
		return filepath.Dir(path)
	}
	return filepath.Clean(path)
}

// fresh returns an unused name: the one given, or that with a number.
func fresh(name string) string {
	for i, next := 1, name; ; i++ {
		if _, err := os.Lstat(next); errors.Is(err, fs.ErrNotExist) {
			return next
		}
		next = fmt.Sprintf("%s-%d", name, i)
	}
}

// sayBuild prints what has changed since: the binary, and the architecture, which can round differently.
func (r *rerun) sayBuild(m *report.Manifest, old *report.Run) {
	if this := version.This(); m.Version != this {
		fmt.Fprintf(r.stderr, "the report is by version %s, and this is %s: figures may differ\n",
			m.Version, this)
	}
	if old != nil && old.Host.Arch != "" && old.Host.Arch != runtime.GOARCH {
		fmt.Fprintf(r.stderr, "the report is of a machine of %s, and this is one of %s: figures may differ in their last "+
			"digits\n", old.Host.Arch, runtime.GOARCH)
	}
}

// find returns the path of every input, in the order of the manifest: the first file with the content
// that was read.
func (r *rerun) find(m *report.Manifest, old *report.Run, dir string) ([]string, error) {
	paths := make([]string, len(m.Inputs))
	for i, in := range m.Inputs {
		var other string // a file of the name, and of other content
		for _, path := range r.candidates(in, old, dir) {
			sum, _, err := scenario.HashFile(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, err
			case sum == in.SHA256:
				paths[i] = path
			case other == "":
				other = fmt.Sprintf("%q has the SHA-256 %.12s…, and what was replayed had %.12s…", path,
					sum, in.SHA256)
			}
			if paths[i] != "" {
				break
			}
		}
		switch {
		case paths[i] != "":
		case other != "":
			return nil, hint.Wrap(fmt.Errorf("find --%s %q: %s: it is another file", in.Flag, in.Name, other),
				"name the right one with --input FILE")
		default:
			return nil, hint.Wrap(fmt.Errorf("find --%s %q: it is not where it lay, not here, and not in %q", in.Flag, in.Name,
				dir),
				fmt.Sprintf("say where the file of %d bytes with SHA-256 %s is: --input FILE", in.Bytes, in.SHA256))
		}
	}
	return paths, nil
}

// rename restores the old names of inputs that were renamed, by links in a temporary directory, because
// reports contain file names. forget removes the links.
func rename(m *report.Manifest, paths []string) (forget func(), err error) {
	var made []string
	forget = func() {
		for _, dir := range made {
			os.RemoveAll(dir) // a link of ours in the directory for such things: nothing depends on it
		}
	}
	for i, in := range m.Inputs {
		if filepath.Base(paths[i]) == in.Name {
			continue
		}
		path, err := filepath.Abs(paths[i])
		if err == nil {
			var dir string
			if dir, err = os.MkdirTemp("", "lightloom-rerun-"); err == nil {
				made = append(made, dir)
				paths[i] = filepath.Join(dir, in.Name)
				err = os.Symlink(path, paths[i])
			}
		}
		if err != nil {
			forget()
			return nil, fmt.Errorf("name input %q: %w", in.Name, err)
		}
	}
	return forget, nil
}

// candidates lists where an input can be, the likeliest first. Files that the user names come first,
// and match by content only.
func (r *rerun) candidates(in report.Input, old *report.Run, dir string) []string {
	out := slices.Clone(r.inputs)
	if old != nil {
		for _, p := range old.Inputs {
			if p.Name == in.Name {
				out = append(out, p.Path)
			}
		}
	}
	return append(out, in.Name, filepath.Join(dir, in.Name))
}

// args returns the manifest's command line. Flags at their defaults are left out, since some flags
// exclude others only when given.
func (r *rerun) args(m *report.Manifest, paths []string) ([]string, error) {
	c, _, err := newRoot(r.actions, nil, bytes.NewReader(nil), io.Discard,
		io.Discard).Find([]string{m.Command})
	if err != nil || c.Name() != m.Command {
		return nil, fmt.Errorf("the manifest is of the command %q, which this lightloom lacks: take version %q", m.Command,
			m.Version)
	}
	args := []string{m.Command}
	for _, s := range m.Settings {
		flag := c.Flags().Lookup(s.Flag)
		if flag == nil {
			return nil, fmt.Errorf("the manifest sets --%s, which this lightloom lacks: take version %q",
				s.Flag, m.Version)
		}
		value := s.Value
		for i, in := range m.Inputs {
			if in.Flag == s.Flag {
				value = scenario.Substitute(value, in.Name, paths[i])
			}
		}
		if value != flag.DefValue {
			args = append(args, "--"+s.Flag+"="+value)
		}
	}
	return args, nil
}

// verdict compares the new report with the old one.
func (r *rerun) verdict(was *report.Report, dir string) error {
	a, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(r.dir, "report.json"))
	if err != nil {
		return err
	}
	if bytes.Equal(a, b) {
		fmt.Fprintf(r.stdout, "%s: report.json is the same, byte for byte\n", r.dir)
		return nil
	}
	if was.Fabric.On != scenario.OnFlowsim {
		fmt.Fprintf(r.stdout, "%s: real packets never repeat themselves to the byte: lightloom compare %s %s\n", r.dir, dir,
			r.dir)
		return nil
	}
	lines, places, err := report.Differences(a, b, 20)
	if err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintln(r.stdout, l)
	}
	if more := places - len(lines); more > 0 {
		fmt.Fprintf(r.stdout, "… and %d more\n", more)
	}
	return hint.Wrap(fmt.Errorf("%s: report.json differs in %d places", r.dir, places),
		"the first are listed on standard output; take the version that wrote the report")
}
