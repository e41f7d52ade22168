package main

import (
	"fmt"
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
	c := &cobra.Command{
		Use:   "compare A/report.json B/report.json [C/report.json …]",
		Short: "Compare reports, paired over runs and coflow by coflow",
		Long: "Compares each further report with the first, policy by policy (policies of the same name, or the\n" +
			"only one of each report). Reports with other jobs, another fabric or other seeds are refused with\n" +
			"the reason. With --across fabrics it compares the same jobs and policies on the simulator, on real\n" +
			"packets and on Mininet. \"Lower\" and \"higher\" hold over runs (replay --repeat) at 95 % after Holm's\n" +
			"correction; \"equal\" holds within --margin.",
		Example: "  lightloom compare sebf/report.json fifo/report.json\n  lightloom compare --across fabrics " +
			"flowsim/report.json netns/report.json -o json",
	}
	outputFlag(c, &output, report.Comparison{})
	c.Flags().StringVar(&across, "across", "", "fabrics: compare the same run on the simulator, on packets and "+
		"on Mininet")
	c.Flags().StringVar(&margin, "margin", "2%", "figures are called equal if the whole interval of their ratio "+
		"is within this of 1; 0: never")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt, err := compareOptions(c, output, across, margin)
		if err != nil {
			return err
		}
		if len(args) < 2 || len(args) > maxCompared {
			return usage("lightloom compare A/report.json B/report.json", "compare: %d reports are named; take 2 to %d",
				len(args), maxCompared)
		}
		reps := make([]*report.Report, len(args))
		for i, a := range args {
			if reps[i], err = report.Read(a); err != nil {
				return fmt.Errorf("compare: %w", hint.Wrong(err))
			}
		}
		result, err := report.CompareReports(args, reps, opt)
		if err != nil {
			return fmt.Errorf("compare: %w", err)
		}
		if output == console.OutputTable {
			return result.Table(c.OutOrStdout())
		}
		b, err := result.JSON()
		if err == nil {
			_, err = c.OutOrStdout().Write(b)
		}
		return err
	}
	return c
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
		return opt, usage("write --margin 2%, or --margin 0.02", "compare: --margin %q is no part from 0 to 1", margin)
	}
	opt.Margin = v
	return opt, nil
}
