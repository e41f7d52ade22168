package report

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// decisionsFile has a line a policy and decision: what compare --first-difference holds against another run.
const decisionsFile = "decisions.csv"

// Kinds of decisions.
const (
	DecidedPlace   = "place"   // where the tasks of a job run
	DecidedRoute   = "route"   // which paths a coflow takes
	DecidedCircuit = "circuit" // for which coflow a circuit is set up
)

// Decision is one decision of a run. Instants are of the run; those that did not come are 0.
type Decision struct {
	At   time.Duration
	Kind string
	Job  string // its name, or its number where it has none
	Edge int32  // of the job; of a circuit or a route
	What string // the hosts, a hash of the paths, or the ports

	Circuit CircuitDecision // of DecidedCircuit
}

// CircuitDecision is what a reservation of a circuit was made for, what was known then, and what became of
// it.
type CircuitDecision struct {
	In, Out             southbound.Port
	NotBefore, NotAfter time.Duration
	Delta               time.Duration // reconfiguration delay that it counts with
	Begun               time.Duration // its circuit was asked for
	InService, Ended    time.Duration
	Cause               string // why it ended
	Made, End           Known  // what its host flows had left when it was made, and when it ended
}

// Known is how many bytes host flows had left: as the controller knew it, how old that was, and as it was
// where a testbed can tell.
type Known struct {
	Bytes  pathmap.Bytes
	Age    time.Duration
	Actual pathmap.Bytes
}

func decisionColumns() []string {
	return []string{"policy", "decided_seconds", "kind", "job", "edge", "decision", "in", "out",
		"not_before_seconds",
		"not_after_seconds", "delta_seconds", "begun_seconds", "in_service_seconds", "ended_seconds", "cause",
		"left_bytes", "left_age_seconds", "left_bytes_actual", "end_left_bytes", "end_left_age_seconds",
		"end_left_bytes_actual"}
}

// sorted orders decisions by time, then by all else: ids are those of one run.
func sortedDecisions(all []Decision) []Decision {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.What, b.What))
	})
	return all
}

func (r *Report) decisionsCSV() ([]byte, error) {
	lines := [][]string{decisionColumns()}
	for i := range r.results {
		for _, d := range sortedDecisions(r.results[i].Decided) {
			line := []string{r.results[i].Name, instant(d.At), d.Kind, d.Job, strconv.Itoa(int(d.Edge)), d.What}
			if c := &d.Circuit; d.Kind == DecidedCircuit {
				line = append(line, strconv.Itoa(int(c.In)), strconv.Itoa(int(c.Out)), instant(c.NotBefore),
					instant(c.NotAfter),
					instant(c.Delta), instant(c.Begun), instant(c.InService), instant(c.Ended), c.Cause)
				for _, k := range []Known{c.Made, c.End} {
					line = append(line, strconv.FormatInt(int64(k.Bytes), 10), instant(k.Age),
						strconv.FormatInt(int64(k.Actual), 10))
				}
			}
			for len(line) < len(lines[0]) {
				line = append(line, "")
			}
			lines = append(lines, line)
		}
	}
	return table2CSV(lines)
}

// hasDecisions reports whether decisions were kept.
func (r *Report) hasDecisions() bool {
	return slices.ContainsFunc(r.results, func(p PolicyResult) bool { return p.Decided != nil })
}

// ReadDecisions reads the decisions beside a report, by policy; nil where there is no such file.
func ReadDecisions(dir string) (map[string][]Decision, error) {
	path := filepath.Join(dir, decisionsFile)
	lines, err := readTable(path, decisionColumns())
	if err != nil || lines == nil {
		return nil, err
	}
	all := map[string][]Decision{}
	for i, l := range lines {
		d, err := parseDecision(l)
		if err != nil {
			return nil, fmt.Errorf("read table %q: line %d: %w: run it again, or remove this file", path, i+2, err)
		}
		all[l[0]] = append(all[l[0]], d)
	}
	return all, nil
}

// parseDecision reads the fields of a line, which are as many as there are columns.
func parseDecision(l []string) (Decision, error) {
	f := fields{l: l[1:]}
	d := Decision{At: f.time(), Kind: f.text(), Job: f.text(), Edge: int32(f.number(16)), What: f.text()}
	if d.Kind == DecidedCircuit {
		c := &d.Circuit
		c.In, c.Out = southbound.Port(f.number(32)), southbound.Port(f.number(32))
		c.NotBefore, c.NotAfter, c.Delta, c.Begun = f.time(), f.time(), f.time(), f.time()
		c.InService, c.Ended, c.Cause = f.time(), f.time(), f.text()
		for _, k := range []*Known{&c.Made, &c.End} {
			k.Bytes, k.Age, k.Actual = pathmap.Bytes(f.number(64)), f.time(), pathmap.Bytes(f.number(64))
		}
	} else if !slices.Contains([]string{DecidedPlace, DecidedRoute}, d.Kind) {
		f.err = errors.Join(f.err, fmt.Errorf("%q is no kind of decision", d.Kind))
	}
	return d, f.err
}

// fields reads one field after the other. The first error stays.
type fields struct {
	l   []string
	err error
}

func (f *fields) text() string {
	s := f.l[0]
	f.l = f.l[1:]
	return s
}

func (f *fields) number(bits int) int64 {
	s := f.text()
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%q is no number", s)
	}
	return v
}

// longestRun bounds instants, so that they fit.
const longestRun = 1e9 // seconds

func (f *fields) time() time.Duration {
	s := f.text()
	v, err := strconv.ParseFloat(s, 64)
	if !(err == nil && v >= -longestRun && v <= longestRun) {
		if f.err == nil {
			f.err = fmt.Errorf("%q is no time in seconds", s)
		}
		return 0
	}
	return time.Duration(v * float64(time.Second)).Round(time.Nanosecond)
}
