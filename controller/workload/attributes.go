package workload

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// Attributes are what a trace in the coflow-benchmark format does not hold: a coflow's weight and its
// deadline.
type Attributes struct {
	Name string // of the file
	ByID map[string]Attribute
}

// Attribute is of one coflow.
type Attribute struct {
	Weight   float64       // 1 where it is left out
	Deadline time.Duration // after its arrival; 0: none
	Line     int
}

// attributesShape is the first line of such a file.
const attributesShape = "id,weight,deadline"

// MaxAttributes bounds the lines of such a file.
const MaxAttributes = MaxCoflows

// ReadAttributes reads a CSV file: the header `id,weight,deadline`, then a line a coflow. The id is the
// trace's, or the name of a job; the weight a number from 0, 1 where it is empty; the deadline seconds
// after the arrival, above 0, none where it is empty. Lines that are empty or begin with # are ignored.
// Anything else is a *SyntaxError.
func ReadAttributes(r io.Reader, name string) (*Attributes, error) {
	a := &Attributes{Name: name, ByID: map[string]Attribute{}}
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, 1<<16)
	line, head := 0, false
	for in.Scan() {
		line++
		text := strings.TrimSuffix(in.Text(), "\r")
		if t := strings.TrimSpace(text); t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		if !head {
			if strings.ReplaceAll(text, " ", "") != attributesShape {
				return nil, a.fail(line, 1, "write "+attributesShape+" in the first line",
					fmt.Sprintf("%q is not the head of such a file", clip(text)))
			}
			head = true
			continue
		}
		if err := a.line(text, line); err != nil {
			return nil, err
		}
		if len(a.ByID) > MaxAttributes {
			return nil, a.fail(line, 1, "keep to fewer", fmt.Sprintf("more than %d coflows", MaxAttributes))
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read attributes %q: line %d: %w", name, line+1, plaintext.LineError(err))
	}
	if !head {
		return nil, a.fail(1, 1, "write "+attributesShape+" in the first line, then a line a coflow",
			"the file is empty")
	}
	return a, nil
}

func (a *Attributes) fail(line, col int, mend, problem string) error {
	return &SyntaxError{File: a.Name, Line: line, Col: col, Problem: problem, Mend: mend, What: "attributes"}
}

// line reads one coflow.
func (a *Attributes) line(text string, line int) error {
	fields := strings.Split(text, ",")
	wrong := func(field int, mend, format string, args ...any) error {
		col := 1
		for _, f := range fields[:field] {
			col += len(f) + 1
		}
		return a.fail(line, col, mend, fmt.Sprintf(format, args...))
	}
	if len(fields) != 3 {
		return a.fail(line, 1, "write "+attributesShape+", such as 17,2,1.5",
			fmt.Sprintf("%d fields where 3 are due", len(fields)))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	id := fields[0]
	if id == "" {
		return wrong(0, "write the id of the trace", "there is no id")
	}
	if old, dup := a.ByID[id]; dup {
		return wrong(0, "give every coflow one line", "coflow %q has a line already, %d", clip(id), old.Line)
	}
	out := Attribute{Weight: 1, Line: line}
	if w := fields[1]; w != "" {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return wrong(1, "write a number from 0, or nothing for 1", "weight %q is no number from 0", clip(w))
		}
		out.Weight = v
	}
	if d := fields[2]; d != "" {
		v, ok := seconds(d)
		if !ok {
			return wrong(2, "write seconds after the arrival, such as 1.5, or nothing for none",
				"deadline %q is no time above zero", clip(d))
		}
		out.Deadline = v
	}
	a.ByID[id] = out
	return nil
}

// seconds reads a decimal number of seconds, rounded to the nanosecond; false for what is not above
// zero or beyond all runs.
func seconds(s string) (time.Duration, bool) {
	// ways to write numbers that no time needs, one of which has no end
	if len(s) > 40 || strings.ContainsAny(s, "/xXpPeE_") {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || r.Sign() <= 0 {
		return 0, false
	}
	r.Mul(r, big.NewRat(int64(time.Second), 1))
	n := new(big.Int).Quo(new(big.Int).Add(new(big.Int).Lsh(r.Num(), 1), r.Denom()),
		new(big.Int).Lsh(r.Denom(), 1))
	if !n.IsInt64() || n.Int64() > int64(southbound.Never/4) {
		return 0, false
	}
	return max(1, time.Duration(n.Int64())), true
}

// Apply sets the attributes of jobs from the file and returns how many jobs it names. It is an error if
// it names none.
func (a *Attributes) Apply(jobs []controller.Job) (int, error) {
	named := 0
	for i := range jobs {
		at, ok := a.ByID[jobs[i].Name]
		if !ok {
			at, ok = a.ByID[strings.TrimPrefix(jobs[i].Name, coflowPrefix)]
		}
		if ok {
			named++
			jobs[i].Weight, jobs[i].Deadline = at.Weight, at.Deadline
		}
	}
	if named == 0 && len(a.ByID) > 0 {
		return 0, fmt.Errorf("read attributes %q: none of its %d coflows is replayed: its ids are those of the trace's "+
			"lines", a.Name, len(a.ByID))
	}
	return named, nil
}
