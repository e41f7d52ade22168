package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Limits of a workflow file.
const (
	maxWorkflow      = 48 << 20 // bytes
	maxWorkflowTasks = 1 << 14
	mostRuntime      = math.MaxInt64 / 4 / 1_000_000_000 // seconds

	newestWorkflow = 6 // 1.6: a later schema can mean something else by the same keys
)

// wfFormat is what is read of a workflow in WfFormat 1.4 to 1.6 (wfcommons.org). Up to 1.4, tasks hold their files and
// what they took themselves.
type wfFormat struct {
	Version  json.RawMessage `json:"schemaVersion"`
	Workflow struct {
		Tasks         []wfTask        `json:"tasks"` // to 1.4
		Jobs          json.RawMessage `json:"jobs"`  // to 1.2
		Specification struct {
			Tasks []wfTask `json:"tasks"`
			Files []wfFile `json:"files"`
		} `json:"specification"`
		Execution struct {
			Tasks []wfRan `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

type wfTask struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Parents  []string `json:"parents"`
	Children []string `json:"children"`
	Inputs   []string `json:"inputFiles"`
	Outputs  []string `json:"outputFiles"`

	Files   []wfFile `json:"files"` // to 1.4
	Runtime *float64 `json:"runtimeInSeconds"`
	Old     *float64 `json:"runtime"` // to 1.3
}

type wfFile struct {
	ID   string          `json:"id"`
	Name string          `json:"name"` // to 1.4
	Link string          `json:"link"` // to 1.4: input or output
	Size json.RawMessage `json:"sizeInBytes"`
	Old  json.RawMessage `json:"size"` // to 1.3
}

type wfRan struct {
	ID      string   `json:"id"`
	Runtime *float64 `json:"runtimeInSeconds"`
}

// ReadWorkflow reads a workflow in WfFormat 1.4 to 1.6, compressed by gzip or not: a job of one task for each of its
// tasks, parents first, all of which arrive at 0. A task waits for its parents and for those whose child it is. It
// reads a file from the task before it that wrote the file last, and one that no task before it writes from hosts drawn
// by the seed. Anything else is an error that names file and line.
func ReadWorkflow(r io.Reader, name string, hosts int, seed uint64) ([]controller.Job, error) {
	fail := func(err error) ([]controller.Job, error) {
		return nil, fmt.Errorf("read workflow %q: %w", name, err)
	}
	text, err := unzipped(r)
	if err != nil {
		return fail(err)
	}
	data, err := readObject(text, maxWorkflow)
	if err != nil {
		return fail(err)
	}
	var f wfFormat
	if err := json.Unmarshal(data, &f); err != nil {
		return fail(lined(data, err))
	}
	if err := f.checkVersion(data); err != nil {
		return fail(err)
	}
	w := &workflow{data: data, sizes: map[string]pathmap.Bytes{}, runtime: map[string]time.Duration{},
		at: map[string]int{}, writers: map[string][]int{}, hosts: max(hosts,
			1), rng: rand.New(rand.NewPCG(seed, 0x3f))}
	if err := w.index(&f); err != nil {
		return fail(err)
	}
	jobs := make([]*controller.Job, 0, len(w.tasks))
	for i := range w.tasks {
		j, err := w.job(i)
		if err != nil {
			return fail(err)
		}
		jobs = append(jobs, j)
	}
	out := make([]controller.Job, 0, len(jobs))
	for _, k := range w.order {
		out = append(out, *jobs[k])
	}
	return out, nil
}

// checkVersion refuses a schema that is newer than what is read. One that is not given is taken for any of those.
func (f *wfFormat) checkVersion(data []byte) error {
	var major, minor int
	text := strings.Trim(string(f.Version), `"`)
	if text == "" || text == "null" {
		return nil
	}
	_, err := fmt.Sscanf(text+".0", "%d.%d", &major, &minor)
	if err == nil && (major < 1 || major == 1 && minor <= newestWorkflow) {
		return nil
	}
	line := 1 + bytes.Count(data[:bytes.Index(data, []byte(`"schemaVersion"`))+1], []byte("\n"))
	return fmt.Errorf("line %d: schemaVersion is %s, and WfFormat to 1.%d is read: write it in 1.%[3]d", line,
		clip(string(f.Version)), newestWorkflow)
}

// readObject reads a JSON object of at most most bytes, in parts: of what is none, or too long, little is kept.
func readObject(in *bufio.Reader, most int) ([]byte, error) {
	b, err := firstByte(in)
	if err != nil {
		return nil, errors.New("line 1: the file holds no JSON: write a workflow in WfFormat 1.5")
	}
	if b != '{' {
		return nil, fmt.Errorf("line 1: it begins with %q and not with {: write a workflow in WfFormat 1.5", b)
	}
	var parts [][]byte
	for size := 0; ; {
		part := make([]byte, 1<<20)
		n, err := io.ReadFull(in, part)
		parts = append(parts, part[:n])
		if size += n; size > most {
			return nil, fmt.Errorf("longer than %d bytes: take a smaller workflow", most)
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return bytes.Join(parts, nil), nil
		case err != nil:
			return nil, err
		}
	}
}

// firstByte returns the first byte that is no blank, and leaves it and the blanks to be read.
func firstByte(in *bufio.Reader) (byte, error) {
	for n := 1; ; n++ {
		head, err := in.Peek(n)
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), head[n-1]) < 0 {
			return head[n-1], nil
		}
	}
}

// lined puts the line before an error of the JSON reader.
func lined(data []byte, err error) error {
	at := int64(len(data))
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		if at = e.Offset; at >= int64(len(data)) {
			err = errors.New("the file ends in the middle of the JSON: fetch it again")
		}
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		at = e.Offset
		err = fmt.Errorf("%s is a %s: write what WfFormat 1.5 has there", e.Field, e.Value)
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err)
}

// workflow is a file being turned into jobs.
type workflow struct {
	data    []byte
	tasks   []wfTask
	sizes   map[string]pathmap.Bytes
	runtime map[string]time.Duration
	at      map[string]int   // by id or name of a task: its place
	writers map[string][]int // by file: the tasks
	parents [][]int          // by task, sorted
	order   []int            // parents first
	before  [][]uint64       // by task: a bit for each that it waits for
	hosts   int
	rng     *rand.Rand
}

// line is where the id or name of something stands, or else where the text does first.
func (w *workflow) line(text string) int {
	quoted, err := json.Marshal(text)
	if err != nil {
		return 1
	}
	at := max(bytes.Index(w.data, quoted), 0)
	for from := at; from < len(w.data); from += len(quoted) {
		next := bytes.Index(w.data[from:], quoted)
		if next < 0 {
			break
		}
		from += next
		before := bytes.TrimRight(w.data[max(0, from-64):from], " \t\r\n:")
		if bytes.HasSuffix(before, []byte(`"id"`)) || bytes.HasSuffix(before, []byte(`"name"`)) {
			at = from
			break
		}
	}
	return 1 + bytes.Count(w.data[:at], []byte("\n"))
}

func (w *workflow) fail(text, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", w.line(text), fmt.Errorf(format, args...))
}

// index notes tasks, sizes, run times, writers and who waits for whom.
func (w *workflow) index(f *wfFormat) error {
	if w.tasks = f.Workflow.Specification.Tasks; len(w.tasks) == 0 {
		w.tasks = f.Workflow.Tasks
		w.modern(f)
	}
	if n := len(w.tasks); n == 0 || n > maxWorkflowTasks {
		was := ""
		if f.Workflow.Jobs != nil {
			was = " (jobs were those of 1.2)"
		}
		return fmt.Errorf("line 1: %d tasks under workflow.specification.tasks%s: take 1 to %d, in WfFormat 1.4 to "+
			"1.6", n, was,
			maxWorkflowTasks)
	}
	for _, x := range f.Workflow.Specification.Files {
		if err := w.file(&x); err != nil {
			return err
		}
	}
	if err := w.name(); err != nil {
		return err
	}
	for _, x := range f.Workflow.Execution.Tasks {
		at, known := w.at[x.ID]
		if known {
			x.ID = w.tasks[at].ID
		}
		_, twice := w.runtime[x.ID]
		switch {
		case !known:
			return w.fail(x.ID, "workflow.execution tells what task %q took, and there is no such task", clip(x.ID))
		case twice:
			return w.fail(x.ID, "workflow.execution tells twice what task %q took: leave one out", clip(x.ID))
		}
		if x.Runtime == nil {
			continue
		}
		if !(*x.Runtime >= 0) || *x.Runtime > mostRuntime {
			return w.fail(x.ID, "task %q runs for %v s: take a number from 0 to %d", clip(x.ID), *x.Runtime,
				int64(mostRuntime))
		}
		w.runtime[x.ID] = time.Duration(*x.Runtime * float64(time.Second))
	}
	for _, t := range w.tasks {
		if _, known := w.runtime[t.ID]; !known {
			return w.fail(t.ID, "how long task %q ran is not told: write its runtimeInSeconds under "+
				"workflow.execution.tasks, 0 where it takes no time", clip(t.ID))
		}
	}
	return w.depend()
}

// modern gives tasks of WfFormat 1.4 the form of 1.5.
func (w *workflow) modern(f *wfFormat) {
	for i := range w.tasks {
		t := &w.tasks[i]
		if t.ID == "" {
			t.ID = t.Name
		}
		f.Workflow.Execution.Tasks = append(f.Workflow.Execution.Tasks, wfRan{t.ID, cmp.Or(t.Runtime, t.Old)})
		for _, x := range t.Files {
			x.ID = x.Name
			f.Workflow.Specification.Files = append(f.Workflow.Specification.Files, x)
			if x.Link == "output" {
				t.Outputs = append(t.Outputs, x.ID)
			} else {
				t.Inputs = append(t.Inputs, x.ID)
			}
		}
	}
}

// file notes a file's size: a whole number, in whatever form JSON has for it.
func (w *workflow) file(x *wfFile) error {
	if x.Size == nil && x.Old != nil {
		return w.fail(x.ID, "file %q has a size without unit: it is kilobytes in WfFormat 1.3, and bytes in many "+
			"files of its "+
			"time: write sizeInBytes, as WfFormat 1.4 has it", clip(x.ID))
	}
	size, err := wholeBytes(x.Size)
	if err != nil {
		if x.Size == nil {
			return w.fail(x.ID, "file %q has no sizeInBytes: write a whole number from 0", clip(x.ID))
		}
		return w.fail(x.ID, "file %q has %s bytes: %w", clip(x.ID), clip(string(x.Size)), err)
	}
	if old, twice := w.sizes[x.ID]; twice && old != size {
		return w.fail(x.ID, "file %q has %d bytes and %d bytes: give each file its own id",
			clip(x.ID), old, size)
	}
	w.sizes[x.ID] = size
	return nil
}

// wholeBytes reads a number of bytes: 2000000, 2000000.0 and 2e6 are the same.
func wholeBytes(raw json.RawMessage) (pathmap.Bytes, error) {
	text := string(raw)
	v, err := strconv.ParseFloat(text, 64)
	if n, ierr := strconv.ParseInt(text, 10, 64); ierr == nil {
		if n >= 0 && n <= int64(controller.MaxBytes) {
			return pathmap.Bytes(n), nil
		}
	} else if err == nil && v == math.Trunc(v) && v >= 0 && v <= float64(controller.MaxBytes) {
		return pathmap.Bytes(v), nil
	}
	return 0, fmt.Errorf("write a whole number from 0 to %d", controller.MaxBytes)
}

// name notes where each task is, and who writes what.
func (w *workflow) name() error {
	for i, t := range w.tasks {
		if _, twice := w.at[t.ID]; t.ID == "" || twice {
			return w.fail(t.ID, "task %q has no id of its own", clip(t.ID))
		}
		if len(t.ID) > controller.MaxJobName {
			return w.fail(t.ID, "the id %q of a task is longer than %d bytes: write a shorter one", clip(t.ID),
				controller.MaxJobName)
		}
		w.at[t.ID] = i
		for _, o := range t.Outputs {
			w.writers[o] = append(w.writers[o], i)
		}
	}
	names := map[string]int{}
	for _, t := range w.tasks {
		names[t.Name]++
	}
	for i, t := range w.tasks {
		if _, taken := w.at[t.Name]; !taken && names[t.Name] == 1 && t.Name != "" {
			w.at[t.Name] = i // files up to 1.4 name parents so
		}
	}
	return nil
}

// depend notes whom each task waits for, said by either of the two, and in which order all can run.
func (w *workflow) depend() error {
	w.parents = make([][]int, len(w.tasks))
	for i, t := range w.tasks {
		for _, p := range t.Parents {
			k, ok := w.at[p]
			if !ok {
				return w.fail(t.ID, "task %q has a parent %q that is no task: add it, or leave it out",
					clip(t.ID), clip(p))
			}
			w.parents[i] = append(w.parents[i], k)
		}
		for _, c := range t.Children {
			k, ok := w.at[c]
			if !ok {
				return w.fail(t.ID, "task %q has a child %q that is no task: add it, or leave it out",
					clip(t.ID), clip(c))
			}
			w.parents[k] = append(w.parents[k], i)
		}
	}
	jobs := make([]*controller.Job, len(w.tasks))
	for i, t := range w.tasks {
		slices.Sort(w.parents[i])
		w.parents[i] = slices.Compact(w.parents[i])
		jobs[i] = &controller.Job{Name: t.ID}
		for _, p := range w.parents[i] {
			jobs[i].Edges = append(jobs[i].Edges, controller.Edge{Reads: &controller.Read{Job: w.tasks[p].ID}})
		}
	}
	var err error
	w.order, err = controller.ParentsFirst(jobs)
	if e := (*controller.ParentsError)(nil); errors.As(err, &e) {
		return fmt.Errorf("line %d: %w", w.line(jobs[e.Job].Name), err)
	}
	return err
}

// waits reports whether a task waits for another, directly or not.
func (w *workflow) waits(task, other int) bool {
	if w.before == nil {
		words := (len(w.tasks) + 63) / 64
		w.before = make([][]uint64, len(w.tasks))
		for _, i := range w.order {
			w.before[i] = make([]uint64, words)
			for _, p := range w.parents[i] {
				for k, b := range w.before[p] {
					w.before[i][k] |= b
				}
				w.before[i][p/64] |= 1 << (p % 64)
			}
		}
	}
	return w.before[task][other/64]&(1<<(other%64)) != 0
}

// writer returns who wrote the file that a task reads, -1 for nobody: the last before it, of its parents if one of them
// did. Writers that come after it or are the task itself found the file there.
func (w *workflow) writer(task int, file string) (int, error) {
	all := w.writers[file]
	if len(all) == 0 {
		return -1, nil
	}
	var parents, before, beside []int
	for _, k := range all {
		switch {
		case k == task:
		case slices.Contains(w.parents[task], k):
			parents = append(parents, k)
		case w.waits(task, k):
			before = append(before, k)
		case !w.waits(k, task):
			beside = append(beside, k)
		}
	}
	if len(parents) > 0 {
		before = parents
	}
	last := w.last(before)
	t := &w.tasks[task]
	switch {
	case len(last) == 1:
		return last[0], nil
	case len(last) > 1:
		return 0, w.fail(t.ID, "task %q reads file %q, which tasks %q and %q write beside each other: give each its own file",
			clip(t.ID), clip(file), clip(w.tasks[last[0]].ID), clip(w.tasks[last[1]].ID))
	case len(beside) > 0:
		return 0, w.fail(t.ID, "task %q reads file %q, which task %q writes, and does not wait for it: name it under parents",
			clip(t.ID), clip(file), clip(w.tasks[beside[0]].ID))
	}
	return -1, nil
}

// last returns those that no other waits for.
func (w *workflow) last(all []int) (out []int) {
	if len(all) == 1 {
		return all
	}
	for _, k := range all {
		if !slices.ContainsFunc(all, func(o int) bool { return w.waits(o, k) }) && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// job turns a task into a job.
func (w *workflow) job(i int) (*controller.Job, error) {
	t := &w.tasks[i]
	j := &controller.Job{Name: t.ID, Weight: 1, Stages: []controller.Stage{{Name: "task",
		Tasks: []controller.Task{{Compute: w.runtime[t.ID]}}}}}
	from := map[int]pathmap.Bytes{}
	for _, in := range slices.Compact(slices.Sorted(slices.Values(t.Inputs))) {
		size, known := w.sizes[in]
		if !known {
			return nil, w.fail(t.ID, "task %q reads file %q, of which workflow.specification.files says no size: add it",
				clip(t.ID), clip(in))
		}
		by, err := w.writer(i, in)
		if err != nil {
			return nil, err
		}
		if from[by] += size; from[by] > controller.MaxBytes {
			return nil, w.fail(t.ID, "task %q reads more than %d bytes", clip(t.ID), controller.MaxBytes)
		}
	}
	for _, p := range w.sources(i, from) {
		j.Edges = append(j.Edges, controller.Edge{Bytes: from[p], Reads: &controller.Read{Job: w.tasks[p].ID,
			Kind: controller.OneToOne}})
	}
	if from[-1] > 0 {
		j.Edges = append(j.Edges, controller.Edge{Bytes: from[-1],
			Reads: &controller.Read{Kind: controller.OneToOne,
				Hosts: []southbound.HostID{southbound.HostID(w.rng.IntN(w.hosts))}}})
	}
	return j, nil
}

// sources returns whom a task reads from or waits for, by name.
func (w *workflow) sources(task int, from map[int]pathmap.Bytes) []int {
	all := slices.Clone(w.parents[task])
	for k, b := range from {
		if k >= 0 && b > 0 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(w.tasks[a].ID, w.tasks[b].ID) })
	return slices.Compact(all)
}
