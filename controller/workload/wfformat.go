package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Limits of a workflow file.
const (
	maxWorkflow      = 64 << 20 // bytes
	maxWorkflowTasks = 1 << 14
)

// wfFormat is what is read of a workflow in WfFormat 1.5 (wfcommons.org).
type wfFormat struct {
	Workflow struct {
		Specification struct {
			Tasks []wfTask `json:"tasks"`
			Files []struct {
				ID   string `json:"id"`
				Size int64  `json:"sizeInBytes"`
			} `json:"files"`
		} `json:"specification"`
		Execution struct {
			Tasks []struct {
				ID      string  `json:"id"`
				Runtime float64 `json:"runtimeInSeconds"`
			} `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

type wfTask struct {
	ID      string   `json:"id"`
	Parents []string `json:"parents"`
	Inputs  []string `json:"inputFiles"`
	Outputs []string `json:"outputFiles"`
}

// ReadWorkflow reads a workflow in WfFormat 1.5, compressed by gzip or not: a job of one task for each of its tasks,
// parents first, all of which arrive at 0. A job reads from each parent the files that this one wrote and it takes in,
// and files that no task writes from hosts drawn by the seed. Anything else is an error that names file and line.
func ReadWorkflow(r io.Reader, name string, hosts int, seed uint64) ([]controller.Job, error) {
	fail := func(err error) ([]controller.Job, error) { return nil, fmt.Errorf("read workflow %q: %w", name, err) }
	text, err := unzipped(r)
	if err != nil {
		return fail(err)
	}
	data, err := io.ReadAll(io.LimitReader(text, maxWorkflow+1))
	switch {
	case err != nil:
		return fail(err)
	case len(data) > maxWorkflow:
		return fail(fmt.Errorf("longer than %d bytes", maxWorkflow))
	}
	var f wfFormat
	if err := json.Unmarshal(data, &f); err != nil {
		return fail(lined(data, err))
	}
	w := &workflow{data: data, sizes: map[string]int64{}, writer: map[string]string{}, runtime: map[string]time.Duration{},
		hosts: max(hosts, 1), rng: rand.New(rand.NewPCG(seed, 0x3f))}
	if err := w.index(&f); err != nil {
		return fail(err)
	}
	var jobs []*controller.Job
	for i := range f.Workflow.Specification.Tasks {
		j, err := w.job(&f.Workflow.Specification.Tasks[i])
		if err != nil {
			return fail(err)
		}
		jobs = append(jobs, j)
	}
	order, err := controller.ParentsFirst(jobs)
	if e := (*controller.ParentsError)(nil); errors.As(err, &e) {
		return fail(fmt.Errorf("line %d: %w", w.line(jobs[e.Job].Name), err))
	}
	out := make([]controller.Job, 0, len(order))
	for _, k := range order {
		out = append(out, *jobs[k])
	}
	return out, nil
}

// lined puts the line before an error of the JSON reader.
func lined(data []byte, err error) error {
	at := int64(len(data))
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		at = e.Offset
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		at = e.Offset
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err)
}

// workflow is a file being turned into jobs.
type workflow struct {
	data    []byte
	sizes   map[string]int64
	writer  map[string]string // by file: the task
	runtime map[string]time.Duration
	hosts   int
	rng     *rand.Rand
}

// line is where a text stands first.
func (w *workflow) line(text string) int {
	quoted, err := json.Marshal(text)
	if err != nil {
		return 1
	}
	return 1 + bytes.Count(w.data[:max(bytes.Index(w.data, quoted), 0)], []byte("\n"))
}

// index notes sizes, run times and writers.
func (w *workflow) index(f *wfFormat) error {
	s := &f.Workflow.Specification
	if n := len(s.Tasks); n == 0 || n > maxWorkflowTasks {
		return fmt.Errorf("line 1: %d tasks under workflow.specification.tasks: take 1 to %d, in WfFormat 1.5", n,
			maxWorkflowTasks)
	}
	for _, x := range s.Files {
		if x.Size < 0 || x.Size > int64(controller.MaxBytes) {
			return fmt.Errorf("line %d: file %q has %d bytes: take 0 to %d", w.line(x.ID), clip(x.ID), x.Size,
				controller.MaxBytes)
		}
		w.sizes[x.ID] = x.Size
	}
	for _, x := range f.Workflow.Execution.Tasks {
		if !(x.Runtime >= 0) || x.Runtime > float64(math.MaxInt64/4)/1e9 {
			return fmt.Errorf("line %d: task %q runs for %v s: take a number from 0", w.line(x.ID), clip(x.ID), x.Runtime)
		}
		w.runtime[x.ID] = time.Duration(x.Runtime * float64(time.Second))
	}
	seen := map[string]bool{}
	for _, t := range s.Tasks {
		if t.ID == "" || len(t.ID) > controller.MaxJobName || seen[t.ID] {
			return fmt.Errorf("line %d: task %q has no id of its own", w.line(t.ID), clip(t.ID))
		}
		seen[t.ID] = true
		for _, o := range t.Outputs {
			w.writer[o] = t.ID
		}
	}
	for _, t := range s.Tasks {
		for _, p := range t.Parents {
			if !seen[p] {
				return fmt.Errorf("line %d: task %q has a parent %q that is no task: add it, or leave it out", w.line(t.ID),
					clip(t.ID), clip(p))
			}
		}
	}
	return nil
}

// job turns a task into a job.
func (w *workflow) job(t *wfTask) (*controller.Job, error) {
	j := &controller.Job{Name: t.ID, Weight: 1, Stages: []controller.Stage{{Name: "task",
		Tasks: []controller.Task{{Compute: w.runtime[t.ID]}}}}}
	parents := slices.Compact(slices.Sorted(slices.Values(t.Parents)))
	from := map[string]pathmap.Bytes{}
	for _, in := range slices.Compact(slices.Sorted(slices.Values(t.Inputs))) {
		by := w.writer[in]
		if !slices.Contains(parents, by) {
			by = "" // nobody that it waits for writes it: it was there before
		}
		if from[by] += pathmap.Bytes(w.sizes[in]); from[by] > controller.MaxBytes {
			return nil, fmt.Errorf("line %d: task %q reads more than %d bytes", w.line(t.ID), clip(t.ID), controller.MaxBytes)
		}
	}
	for _, p := range parents {
		j.Edges = append(j.Edges, controller.Edge{Bytes: from[p], Reads: &controller.Read{Job: p, Kind: controller.OneToOne}})
	}
	if from[""] > 0 {
		j.Edges = append(j.Edges, controller.Edge{Bytes: from[""], Reads: &controller.Read{Kind: controller.OneToOne,
			Hosts: []southbound.HostID{southbound.HostID(w.rng.IntN(w.hosts))}}})
	}
	return j, nil
}
