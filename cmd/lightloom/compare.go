package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/report"
)

// maxCompared is how many reports one comparison takes.
const maxCompared = 16

func newCompare() *cobra.Command {
	var output, across, margin string
	c := &cobra.Command{
		Use:   "compare A/report.json B/report.json [C/report.json …]",
		Short: "Hold reports against each other: paired over runs, and coflow by coflow",
		Long: "Compares every further report with the first, policy by policy of the same name (or the only one of a " +
			"report with each). Reports\n" +
			"of other jobs, another fabric or other seeds are refused, with the reason. With --across fabrics the same jobs " +
			"and\n" +
			"policies on the simulator, on real packets and on Mininet are held against each other. What is said to be lower " +
			"or\n" +
			"higher is so over runs (replay --repeat), at 95 % after Holm's correction; equal is said within --margin alone.",
		Example: "  lightloom compare sebf/report.json fifo/report.json\n  lightloom compare --across fabrics " +
			"flowsim/report.json netns/report.json -o json",
	}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "what to print: table or json")
	c.Flags().StringVar(&across, "across", "", "fabrics: the same run on the simulator, on packets and on Mininet")
	c.Flags().StringVar(&margin, "margin", "2%", "two figures are equal where the whole interval of their ratio is "+
		"within this of 1; 0: nothing is called equal")
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
				return fmt.Errorf("compare: %w", err)
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
	if err := oneOf(c, "output", output, console.OutputTable, console.OutputJSON); err != nil {
		return opt, err
	}
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
