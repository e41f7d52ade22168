package run

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lightloom/cmd/lightloom/internal/report"
)

// coflowLine is a line of the file of --per-coflow. Times are seconds of the run.
type coflowLine struct {
	ID         string  `json:"id"`         // the trace's, or the run's where it has none
	Arrival    float64 `json:"arrival"`    // from which its time counts
	Start      float64 `json:"start"`      // when it was admitted
	End        float64 `json:"end"`        // when its last byte arrived
	Bytes      int64   `json:"bytes"`      // payload, local bytes too
	Width      int64   `json:"width"`      // flows
	Bottleneck float64 `json:"bottleneck"` // the time that it takes with the fabric to itself
	Policy     string  `json:"policy"`
	Weight     float64 `json:"weight"`
	Deadline   float64 `json:"deadline,omitempty"` // by which it was to end; none where it has none
}

func (l *coflowLine) fields() []string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	deadline := ""
	if l.Deadline > 0 {
		deadline = f(l.Deadline)
	}
	return []string{l.ID, f(l.Arrival), f(l.Start), f(l.End), strconv.FormatInt(l.Bytes, 10), strconv.FormatInt(l.Width, 10), f(l.Bottleneck), l.Policy, f(l.Weight), deadline}
}

func coflowHeader() []string {
	return []string{"id", "arrival", "start", "end", "bytes", "width", "bottleneck", "policy", "weight", "deadline"}
}

// writePerCoflow writes a line for every coflow of every policy, in the order of the report.
func writePerCoflow(name string, results []report.PolicyResult) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write per-coflow file: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = fmt.Errorf("write per-coflow file: %w", e)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	w := bufio.NewWriter(f)
	write := writeJSON
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		write = writeCSV
	}
	if err := write(w, results); err != nil {
		return fmt.Errorf("write per-coflow file: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write per-coflow file: %w", err)
	}
	return nil
}

func writeCSV(w io.Writer, results []report.PolicyResult) error {
	c := csv.NewWriter(w)
	if err := c.Write(coflowHeader()); err != nil {
		return err
	}
	err := eachLine(results, func(l *coflowLine) error { return c.Write(l.fields()) })
	c.Flush()
	return errors.Join(err, c.Error())
}

func writeJSON(w io.Writer, results []report.PolicyResult) error {
	e := json.NewEncoder(w)
	return eachLine(results, func(l *coflowLine) error { return e.Encode(l) })
}

func eachLine(results []report.PolicyResult, f func(*coflowLine) error) error {
	seconds := func(d time.Duration) float64 { return float64(d) / 1e9 }
	for i := range results {
		for k := range results[i].Coflows {
			c := &results[i].Coflows[k]
			id, ok := strings.CutPrefix(c.Name, "coflow-")
			if !ok {
				id = strconv.Itoa(int(c.ID))
			}
			l := coflowLine{ID: id, Arrival: seconds(c.Arrival), Start: seconds(c.Start), End: seconds(c.End), Bytes: int64(c.Bytes),
				Width: c.Width, Bottleneck: seconds(c.Bound), Policy: results[i].Name, Weight: c.Weight, Deadline: seconds(c.Deadline)}
			if err := f(&l); err != nil {
				return err
			}
		}
	}
	return nil
}
