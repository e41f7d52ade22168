package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/report"
)

func newReport() *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a report's figures as tables",
		Args:  unknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newReportExport())
	return c
}

func newReportExport() *cobra.Command {
	var output, to string
	c := &cobra.Command{
		Use:   "export DIR|report.json",
		Short: "Write all that a report holds as CSV",
		Long: "Writes a table for each list of a report (policies, jobs, coflows, circuits, faults …), what the ports\n" +
			"of the optical switch did (ports.csv) and how much was under way over time (series.csv). Names of\n" +
			"columns carry their units. docs/examples/report.ipynb reads them in Jupyter.",
		Example: "  lightloom demo --report-dir demo\n  lightloom report export demo --to tables",
	}
	outputFlag(c, &output, report.Exported{})
	c.Flags().StringVar(&to, "to", "", "write to this directory (default csv beside the report)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("lightloom report export lightloom-report", "report export: %d reports are named; take one", len(args))
		}
		x, err := report.Export(args[0], to)
		if err != nil {
			return fmt.Errorf("report export: %w", err)
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), x)
		}
		for _, t := range x.Tables {
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%s/%s: %s\n", x.Dir, t.File, console.Count(t.Rows, "row")); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
