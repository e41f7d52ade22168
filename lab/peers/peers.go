// Package peers runs what other simulators have given figures for, in the modes that have their rules, and holds ours
// against theirs. Figures only: no code of theirs is here.
package peers

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"lightloom/controller/training/astrasim"
	"lightloom/lab/console"
	"lightloom/lab/experiment/pods"
	"lightloom/southbound/hint"
)

// Row is one figure of a peer, and ours.
type Row struct {
	Peer    string   `json:"peer"`
	Figure  string   `json:"figure"`
	Unit    string   `json:"unit"`
	Theirs  float64  `json:"theirs"`
	Ours    *float64 `json:"ours"`       // null: not run
	Differs *float64 `json:"difference"` // ours ÷ theirs − 1
	Reason  string   `json:"reason"`     // for the difference, or why it was not run
	Margin  float64  `json:"margin"`     // part by which a figure may differ, for what was noted in few digits
}

// Options are what is run.
type Options struct {
	Data     string // folder of public traces; empty: figures on them are not run
	Progress func(string)
}

// facebook is the trace of coflows that figures are about.
var facebook = filepath.Join("coflow", "FB2010-1Hr-150-0.txt")

// Run returns the rows of all peers.
func Run(ctx context.Context, o Options) ([]Row, error) {
	trace := filepath.Join(o.Data, facebook)
	if _, err := os.Stat(trace); o.Data != "" && err != nil {
		return nil, hint.Wrong(hint.Wrap(fmt.Errorf("--data %q: %w", o.Data, err),
			"name the folder that has "+filepath.ToSlash(facebook)+", or leave --data away"))
	}
	rows, err := astraSim(ctx)
	if err != nil {
		return nil, err
	}
	more, err := rfold()
	if err != nil {
		return nil, err
	}
	rows = append(rows, more...)
	for _, c := range coflowFigures() {
		if o.Data == "" {
			rows = append(rows, c.row(nil, "not run: it needs --data, the folder of "+filepath.ToSlash(facebook)))
			continue
		}
		if o.Progress != nil {
			o.Progress(c.peer + ": " + c.figure)
		}
		ours, err := c.run(ctx, trace)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.peer, c.figure, err)
		}
		rows = append(rows, c.row(&ours, c.reason))
	}
	return rows, nil
}

// newRow compares two figures. reason is dropped where they are the same.
func newRow(peer, figure, unit string, theirs float64, ours *float64, margin float64, reason string) Row {
	r := Row{Peer: peer, Figure: figure, Unit: unit, Theirs: theirs, Ours: ours, Margin: margin, Reason: reason}
	if ours != nil {
		d := *ours/theirs - 1
		r.Differs = &d
		if math.Abs(d) <= margin {
			r.Reason = "the same"
			if d != 0 {
				r.Reason = "the same in the digits that were noted"
			}
		}
	}
	return r
}

// astraSim runs ASTRA-sim's own examples and variations of them by its rules.
func astraSim(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, f := range astrasim.Reference() {
		out, err := astrasim.Run(ctx, f.Workload(), f.Options)
		if err != nil {
			return nil, err
		}
		ours := float64(out.End())
		rows = append(rows, newRow("ASTRA-sim, analytical", f.String(), "ns", float64(f.Nanoseconds), &ours, 0,
			"a rule that differs: this is a fault of ours"))
	}
	return rows, nil
}

// rfold runs the trace of slices.
func rfold() ([]Row, error) {
	figures, err := pods.T1b()
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, f := range figures {
		margin := .00005 / *f.Paper
		if f.Unit == "s" {
			margin = .5 / *f.Paper
		}
		rows = append(rows, newRow("RFold", f.Figure+", "+f.Setting+", "+f.Metric, f.Unit, *f.Paper, f.Measured,
			margin, f.Note))
	}
	return rows, nil
}

// Print prints rows as a table.
func Print(out io.Writer, rows []Row) error {
	t := console.NewTable(out, "peer", "figure", "unit", "ours", "theirs", "difference", "reason")
	t.Right(4, 5, 6)
	for _, r := range rows {
		ours, differs := "–", "–"
		if r.Ours != nil {
			ours, differs = number(*r.Ours), fmt.Sprintf("%+.3f %%", 100**r.Differs)
			if *r.Differs == 0 {
				differs = "0"
			}
		}
		t.Row(r.Peer, r.Figure, r.Unit, ours, number(r.Theirs), differs, r.Reason)
	}
	return t.Print()
}

// number prints a figure with at most seven digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }
