package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"lightloom/controller/page"
	"lightloom/lab/console"
	"lightloom/lab/report"
	"lightloom/lab/report/playback"
	"lightloom/lab/session"
)

func newReport() *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Show a report on the page, or write its figures as tables",
		Args:  unknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newReportExport(), newReportShow())
	return c
}

func newReportShow() *cobra.Command {
	var listen, fabric string
	c := &cobra.Command{
		Use:   "show DIR|report.json",
		Short: "Replay a report on the page of a running fabric",
		Long: "Serves the page that up and controller run serve, with the run of a report in their place: a slider goes\n" +
			"through its time and a list through its policies. It needs circuits.csv and links.csv beside report.json.",
		Example: "  lightloom report show lightloom-report",
		Args:    one("report", "lightloom report show lightloom-report"),
	}
	c.Flags().StringVar(&listen, "listen", "", "loopback address (default a free port of 127.0.0.1)")
	c.Flags().StringVar(&fabric, "fabric", "", "file of the run's fabric, where it does not lie where it lay")
	c.RunE = func(c *cobra.Command, args []string) error {
		run, err := playback.Read(args[0], fabric)
		if err != nil {
			return fmt.Errorf("report show: %w", err)
		}
		ln, err := session.ListenLoopback("report", "--listen", listen)
		if err != nil {
			return err
		}
		defer ln.Close()
		p, err := page.New(page.Config{Recording: run, Address: ln.Addr().String()})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "page: %s\nIt is good once. Ctrl-C ends it.\n",
			p.URL()); err != nil {
			return err
		}
		return p.Serve(c.Context(), ln)
	}
	return c
}

func newReportExport() *cobra.Command {
	var output, to, figures string
	c := &cobra.Command{
		Use:   "export DIR|report.json",
		Short: "Write all that a report holds as CSV, or draw its figures",
		Long: "Writes a table for each list of a report (policies, jobs, coflows, circuits, faults …), what the ports\n" +
			"of the optical switch did (ports.csv) and how much was under way over time (series.csv). Names of\n" +
			"columns carry their units. docs/examples/report.ipynb reads them in Jupyter. With --figures it draws\n" +
			"instead: the distributions of CCT and JCT, coflows and circuits over time, and the mean CCT of each run,\n" +
			"each as SVG and PDF.",
		Example: "  lightloom demo --report-dir demo\n  lightloom report export demo --to tables\n" +
			"  lightloom report export demo --figures figures",
	}
	c.Args = one("report", "lightloom report export lightloom-report")
	outputFlag(c, &output, report.Exported{})
	c.Flags().StringVar(&to, "to", "", "write to this directory (default csv beside the report)")
	c.Flags().StringVar(&figures, "figures", "",
		"draw figures into this directory, as SVG and PDF, and write no tables")
	c.RunE = func(c *cobra.Command, args []string) error {
		if figures != "" {
			return drawFigures(c, args[0], figures, output)
		}
		x, err := report.Export(args[0], to)
		if err != nil {
			return fmt.Errorf("report export: %w", err)
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), x)
		}
		for _, t := range x.Tables {
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%s/%s: %s\n", x.Dir, t.File,
				console.Count(t.Rows, "row")); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// drawFigures draws a report's figures and prints the files' names.
func drawFigures(c *cobra.Command, path, dir, output string) error {
	files, err := report.Figures(path, dir)
	if err != nil {
		return fmt.Errorf("report export: %w", err)
	}
	if output == console.OutputJSON {
		x := report.Exported{Dir: dir, Tables: []report.ExportedTable{}}
		for _, f := range files {
			x.Figures = append(x.Figures, filepath.Base(f))
		}
		return console.WriteJSON(c.OutOrStdout(), x)
	}
	for _, f := range files {
		if _, err := fmt.Fprintln(c.OutOrStdout(), f); err != nil {
			return err
		}
	}
	return nil
}
