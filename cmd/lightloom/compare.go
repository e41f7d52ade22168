package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/report"
	"lightloom/southbound/hint"
)

// maxCompared is how many reports one comparison takes.
const maxCompared = 16

func newCompare() *cobra.Command {
	var output, across, margin string
	var difference, all bool
	c := &cobra.Command{
		Use:   "compare A/report.json B/report.json [C/report.json …]",
		Short: "Compare reports, paired over runs and coflow by coflow",
		Long: "Compares each further report with the first, policy by policy (policies of the same name, or the\n" +
			"only one of each report). Reports with other jobs, another fabric or other seeds are refused with\n" +
			"the reason. With --across fabrics it compares the same jobs and policies on the simulator, on real\n" +
			"packets and on Mininet. \"Lower\" and \"higher\" hold over runs (replay --repeat) at 95 % after Holm's\n" +
			"correction; \"equal\" holds within --margin.\n\n" +
			"With --first-difference it takes two reports, also of the simulator and of packets, and says at which\n" +
			"instant they first decide differently, what each knew then, and what followed. Places, paths and circuits\n" +
			"are compared, and not rates.",
		Example: "  lightloom compare sebf/report.json fifo/report.json\n  lightloom compare --across fabrics " +
			"flowsim/report.json netns/report.json -o json",
	}
	outputFlag(c, &output, report.Comparison{})
	c.Flags().StringVar(&across, "across", "",
		"fabrics: compare the same run on the simulator, on packets and "+
			"on Mininet")
	c.Flags().StringVar(&margin, "margin", "2%",
		"figures are called equal if the whole interval of their ratio "+
			"is within this of 1; 0: never")
	c.Flags().BoolVar(&all, "all", false, "also print percentiles, and single coflows")
	c.Flags().BoolVar(&difference, "first-difference", false,
		"the first instant at which two runs of the same jobs "+
			"decide differently")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt, err := compareOptions(c, output, across, margin)
		if err != nil {
			return err
		}
		if len(args) < 2 || len(args) > maxCompared {
			return usage("lightloom compare A/report.json B/report.json",
				"compare: %d reports are named; take 2 to %d",
				len(args), maxCompared)
		}
		reps := make([]*report.Report, len(args))
		for i, a := range args {
			if reps[i], err = report.Read(a); err != nil {
				return fmt.Errorf("compare: %w", hint.Wrong(err))
			}
		}
		out := c.OutOrStdout()
		if difference {
			err = firstDifferences(out, args, reps, output)
		} else {
			err = compareReports(out, args, reps, opt, output, all)
		}
		if err != nil {
			return fmt.Errorf("compare: %w", err)
		}
		return nil
	}
	return c
}

// compareReports prints how reports compare: one screen, or all.
func compareReports(out io.Writer, paths []string, reps []*report.Report, opt report.CompareOptions,
	output string,
	all bool) error {
	result, err := report.CompareReports(paths, reps, opt)
	switch {
	case err != nil:
		return err
	case output == console.OutputTable && all:
		return result.Everything(out)
	case output == console.OutputTable:
		return result.Table(out)
	}
	b, err := result.JSON()
	if err == nil {
		_, err = out.Write(b)
	}
	return err
}

func compareOptions(c *cobra.Command, output, across, margin string) (report.CompareOptions, error) {
	var opt report.CompareOptions
	if opt.Across = across != ""; opt.Across {
		if err := oneOf(c, "across", across, "fabrics"); err != nil {
			return opt, err
		}
	}
	number, per := strings.CutSuffix(margin, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if per {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return opt, usage("write --margin 2%, or --margin 0.02",
			"compare: --margin %q is no part from 0 to 1", margin)
	}
	opt.Margin = v
	return opt, nil
}

// firstDifferences prints where two runs first decide differently, policy by policy.
func firstDifferences(out io.Writer, paths []string, reps []*report.Report, output string) error {
	if len(reps) != 2 {
		return usage("lightloom compare --first-difference A/report.json B/report.json",
			"--first-difference is for two reports, and %d are named", len(reps))
	}
	result, err := report.FirstDifferences([2]string{paths[0], paths[1]}, [2]*report.Report{reps[0], reps[1]})
	if err != nil {
		return err
	}
	if output == console.OutputTable {
		return result.Table(out)
	}
	b, err := result.JSON()
	if err == nil {
		_, err = out.Write(b)
	}
	return err
}
