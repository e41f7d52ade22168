package workload

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"lightloom/controller"
	"lightloom/controller/torus"
	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// JobSchema is the JSON schema (draft 2020-12) of a job file, for editors and other tools.
//
//go:embed jobs.schema.json
var JobSchema string

// maxJobFile bounds a job file, in bytes.
const maxJobFile = 8 << 20

// FileJob is one job of a file and where it stands there.
type FileJob struct {
	controller.Job
	File string
	Line int
	Col  int
	// Problem is what is wrong within this job, with the place; nil for nothing. Such a job is left out, without effect on
	// others.
	Problem error
}

// At puts the place of the job before what is wrong with it.
func (j *FileJob) At(err error) error { return fmt.Errorf("%s:%d:%d: %w", j.File, j.Line, j.Col, err) }

// mostProblems bounds the problems of a file's jobs that are told one by one.
const mostProblems = 20

// Problems are those of a file's jobs as a user reads them: the first ones, and how many more there are.
func Problems(all []error) []error {
	if len(all) <= mostProblems {
		return all
	}
	return append(all[:mostProblems:mostProblems], fmt.Errorf("and %d further jobs", len(all)-mostProblems))
}

// ReadJobFile reads a job file by its path.
func ReadJobFile(path string) ([]FileJob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxJobFile+1))
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return ReadJobs(path, data)
}

// ReadJobs reads a job file: one mapping with the key jobs, a list. Each job has a name, an arrival, stages, and edges
// (what waits for the stage before) or streams (what flows beside it) between them by name; see JobSchema. Its form is
// all or nothing: an error names file, line and column. An error within a well-formed job is that job's Problem.
// controller.Job.Check decides whether the job fits a fabric.
func ReadJobs(name string, data []byte) ([]FileJob, error) {
	if len(data) > maxJobFile {
		return nil, fmt.Errorf("read jobs: %s: longer than %d bytes: cut it in parts", name, maxJobFile)
	}
	data, err := plaintext.Of(data)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %s: %w", name, err)
	}
	budget := maxFileTasks
	out, err := readJobs(name, data, &budget)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read jobs: %s: no jobs: write jobs: and a list", name)
	}
	if err := circle(out); err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return out, nil
}

// readJobs reads the jobs of a large file some at a time: parsed, a byte takes hundreds.
func readJobs(name string, data []byte, budget *int) (out []FileJob, err error) {
	rest, bodies := plaintext.CutBodies(data, "", "jobs")
	if line := plaintext.LineOfReference(data); line > 0 && len(rest) > plaintext.MaxWhole {
		return nil, fmt.Errorf("%s:%d: the file is longer than %d bytes, and a value begins by &, *, |, > or << here: put "+
			"it in quotes, or write it out, or cut the file in parts", name, line, plaintext.MaxWhole)
	}
	if len(rest) > plaintext.MaxWhole {
		return nil, fmt.Errorf("%s: longer than %d bytes, and its jobs do not stand in lines of their own below jobs: "+
			"write them so, or cut it in parts", name, plaintext.MaxWhole)
	}
	if line, err := plaintext.CheckNesting(data); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	if line, err := plaintext.CheckMapping(data); err != nil {
		return nil, fmt.Errorf("%s:%d: %w, such as jobs: and a list", name, line, err)
	}
	var file jobsYAML
	d := yaml.NewDecoder(bytes.NewReader(rest), yaml.DisallowUnknownField())
	switch err := d.Decode(&file); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: empty: write jobs: and a list", name)
	case err != nil:
		return nil, placed(name, err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one document: one file holds one list of jobs", name)
	}
	take := func(jobs []jobYAML) {
		for i := range jobs {
			out = append(out, jobs[i].job(name, budget))
		}
	}
	take(file.Jobs)
	for piece := range bodies[plaintext.BodyOf{Key: "jobs"}].Pieces() {
		jobs, err := parseJobs(piece)
		if err != nil {
			return nil, placed(name, err)
		}
		take(jobs)
	}
	return out, nil
}

// parseJobs parses a piece of the list of jobs.
func parseJobs(piece plaintext.Body) (jobs []jobYAML, err error) {
	file, err := piece.Parse()
	if err != nil {
		return nil, err
	}
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		var some []jobYAML
		decoder := yaml.NewDecoder(bytes.NewReader(nil), yaml.DisallowUnknownField())
		if err := decoder.DecodeFromNode(d.Body, &some); err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// circle refuses a file whose jobs read from each other in a circle, or from a name that two have.
func circle(all []FileJob) error {
	jobs := make([]*controller.Job, len(all))
	for i := range all {
		jobs[i] = &all[i].Job
	}
	_, err := controller.ParentsFirst(jobs)
	if e := (*controller.ParentsError)(nil); errors.As(err, &e) {
		return all[e.Job].At(err)
	}
	return err
}

// placed gives an error of the YAML reader the form that all others have.
func placed(name string, err error) error {
	var ye yaml.Error
	if !errors.As(err, &ye) || ye.GetToken() == nil || ye.GetToken().Position == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at := ye.GetToken().Position
	queue := ""
	if ye.GetToken().Value == "queue" {
		queue = ": a job is in the queue of its user: write user:"
	}
	err = fmt.Errorf("%s:%d:%d: %s%s", name, at.Line, at.Column, ye.GetMessage(), queue)
	if !errors.As(ye, new(*yaml.UnknownFieldError)) {
		return err
	}
	return hint.Wrap(err, "a job is such as {name: sort, stages: [{name: map, tasks: 4, compute: 500ms}, {name: reduce, "+
		"tasks: 2}], edges: [{from: map, to: reduce, bytes: 100MB}]}")
}

// maxFileTasks bounds the tasks of a whole file: it takes a few bytes to ask for many.
const maxFileTasks = 1 << 22

// jobsYAML and what follows are the file as it is written.
type jobsYAML struct {
	Jobs []jobYAML `yaml:"jobs"`
}

type jobYAML struct {
	Name     scalar      `yaml:"name"`
	User     scalar      `yaml:"user"`
	Arrival  scalar      `yaml:"arrival"`
	Deadline scalar      `yaml:"deadline"`
	Lifetime scalar      `yaml:"lifetime"`
	Weight   scalar      `yaml:"weight"`
	Limits   *limitsYAML `yaml:"limits"`
	Stages   []stageYAML `yaml:"stages"`
	Edges    []edgeYAML  `yaml:"edges"`
	Streams  []edgeYAML  `yaml:"streams"`
	Reads    []readYAML  `yaml:"reads"`

	Incremental scalar `yaml:"incremental"`
	Slice       scalar `yaml:"slice"`
}

type stageYAML struct {
	Name    scalar `yaml:"name"`
	Tasks   scalar `yaml:"tasks"`
	Compute scalar `yaml:"compute"`
	Slots   scalar `yaml:"slots"`

	Input    scalar     `yaml:"input"`
	Replicas [][]scalar `yaml:"replicas"`

	Load       scalar   `yaml:"load"`
	Efficiency []scalar `yaml:"efficiency"`
}

// limitsYAML are the limits of the tasks with loads.
type limitsYAML struct {
	Host   scalar `yaml:"host"`
	Rack   scalar `yaml:"rack"`
	Pod    scalar `yaml:"pod"`
	Center scalar `yaml:"center"`
	Energy scalar `yaml:"energy"`
}

type edgeYAML struct {
	From     scalar `yaml:"from"`
	To       scalar `yaml:"to"`
	Grouping scalar `yaml:"grouping"`
	Bytes    scalar `yaml:"bytes"`
	Rate     scalar `yaml:"rate"`
	Keys     scalar `yaml:"keys"`
	// Reducers are parts, or sizes that bytes: may leave out.
	Reducers []scalar `yaml:"reducers"`
}

type readYAML struct {
	Job      scalar   `yaml:"job"`
	Hosts    []scalar `yaml:"hosts"`
	To       scalar   `yaml:"to"`
	Grouping scalar   `yaml:"grouping"`
	Bytes    scalar   `yaml:"bytes"`
}

// scalar is a plain word or number and where it stands.
type scalar struct {
	text string
	at   *token.Token
}

// UnmarshalYAML takes the text as it was written.
func (s *scalar) UnmarshalYAML(n ast.Node) error {
	v, ok := n.(ast.ScalarNode)
	if !ok || n.Type() == ast.NullType {
		return &yaml.SyntaxError{Message: "is no word or number", Token: n.GetToken()}
	}
	s.at, s.text = n.GetToken(), n.GetToken().Value
	if l, ok := v.(*ast.LiteralNode); ok {
		s.text = l.Value.Value
	}
	return nil
}

// wrong is what is wrong about a scalar.
type wrong struct {
	at  *token.Token
	err error
}

func (w *wrong) Error() string { return w.err.Error() }

func (s scalar) wrong(format string, args ...any) error {
	return &wrong{s.at, fmt.Errorf(format, args...)}
}

// job turns what was written into a job. Its place is its name's.
func (y *jobYAML) job(file string, budget *int) FileJob {
	out := FileJob{File: file}
	if y.Name.at != nil {
		out.Line, out.Col = y.Name.at.Position.Line, y.Name.at.Position.Column
	}
	err := y.fill(&out.Job, budget)
	w := (*wrong)(nil)
	switch {
	case err == nil:
	case errors.As(err, &w) && w.at != nil:
		out.Problem = fmt.Errorf("%s:%d:%d: job %q: %w", file, w.at.Position.Line, w.at.Position.Column, y.Name.text, err)
	default:
		out.Problem = fmt.Errorf("%s:%d:%d: job %q: %w", file, out.Line, out.Col, y.Name.text, err)
	}
	return out
}

// placing reads where and how the job's tasks are placed.
func (y *jobYAML) placing(j *controller.Job) error {
	switch y.Incremental.text {
	case "", "false":
	case "true":
		j.Incremental = true
	default:
		return y.Incremental.wrong("incremental %q: write true or false", clip(y.Incremental.text))
	}
	if j.Slice = y.Slice.text; j.Slice != "" {
		if _, err := torus.ParseShape(j.Slice); err != nil {
			return y.Slice.wrong("slice: %v", err)
		}
	}
	return nil
}

func (y *jobYAML) fill(j *controller.Job, budget *int) (err error) {
	if y.Name.text == "" {
		return errors.New("a job needs a name: write name: and a word")
	}
	j.Name, j.User, j.Weight = y.Name.text, y.User.text, 1
	if j.Arrival, err = y.Arrival.length("arrival"); err != nil {
		return err
	}
	if j.Deadline, err = y.Deadline.length("deadline"); err != nil {
		return err
	}
	if j.Lifetime, err = y.Lifetime.length("lifetime"); err != nil {
		return err
	}
	if y.Weight.at != nil {
		if j.Weight, err = strconv.ParseFloat(y.Weight.text, 64); err != nil || !(j.Weight >= 0) || math.IsInf(j.Weight, 0) {
			return y.Weight.wrong("weight %q is no number from 0", y.Weight.text)
		}
	}
	if err := y.placing(j); err != nil {
		return err
	}
	if j.Limits, err = y.Limits.limits(); err != nil {
		return err
	}
	by := map[string]int{}
	for i := range y.Stages {
		s, err := y.Stages[i].stage(budget)
		if err != nil {
			return err
		}
		if _, twice := by[s.Name]; twice {
			return y.Stages[i].Name.wrong("two stages are called %q", s.Name)
		}
		by[s.Name] = i
		j.Stages = append(j.Stages, s)
	}
	for k, list := range [2][]edgeYAML{y.Edges, y.Streams} {
		for i := range list {
			e, err := list[i].edge(by)
			if err != nil {
				return err
			}
			e.Stream = k == 1
			j.Edges = append(j.Edges, e)
		}
	}
	for i := range y.Reads {
		e, err := y.Reads[i].edge(by)
		if err != nil {
			return err
		}
		j.Edges = append(j.Edges, e)
	}
	return nil
}

func (s scalar) length(what string) (time.Duration, error) {
	if s.at == nil {
		return 0, nil
	}
	d, err := time.ParseDuration(s.text)
	if err != nil || d < 0 {
		return 0, s.wrong("%s %q is no time such as 10s or 1.5ms", what, s.text)
	}
	return d, nil
}

func (y *stageYAML) stage(budget *int) (controller.Stage, error) {
	s := controller.Stage{Name: y.Name.text}
	if y.Name.text == "" {
		return s, errors.New("a stage needs a name: write name: and a word")
	}
	n := 1
	if y.Tasks.at != nil {
		var err error
		if n, err = strconv.Atoi(y.Tasks.text); err != nil || n < 1 || n > controller.MaxTasks {
			return s, y.Tasks.wrong("stage %q has %s tasks: take a whole number from 1 to %d", s.Name, clip(y.Tasks.text),
				controller.MaxTasks)
		}
	}
	compute, err := y.Compute.length("compute")
	if err != nil {
		return s, err
	}
	load, err := y.Load.length("load")
	if err != nil {
		return s, err
	}
	if s.Efficiency, err = efficiencies(y.Efficiency); err != nil {
		return s, err
	}
	if *budget -= n; *budget < 0 {
		return s, y.Tasks.wrong("stage %q has %d tasks, and all jobs of the file together more than %d", s.Name, n,
			maxFileTasks)
	}
	s.Tasks = make([]controller.Task, n)
	slots := 0
	if y.Slots.at != nil {
		if slots, err = strconv.Atoi(y.Slots.text); err != nil || slots < 1 || slots > math.MaxInt32 {
			return s, y.Slots.wrong("stage %q has tasks of %s slots: take a whole number from 1 up", s.Name, clip(y.Slots.text))
		}
	}
	for i := range s.Tasks {
		s.Tasks[i].Compute, s.Tasks[i].Slots, s.Tasks[i].Load = compute, int32(slots), load
	}
	return s, y.blocks(s.Tasks)
}

// blocks has each task read a block; lists of racks are those of the tasks in turn.
func (y *stageYAML) blocks(tasks []controller.Task) error {
	if y.Input.at == nil {
		if y.Replicas != nil {
			return fmt.Errorf("stage %q has replicas of blocks, and reads none: write input: and the size of a block",
				y.Name.text)
		}
		return nil
	}
	input, err := pathmap.ParseBytes(y.Input.text)
	if err != nil || input == 0 {
		return y.Input.wrong("input %q of stage %q is no size of a block, such as 256MB", clip(y.Input.text), y.Name.text)
	}
	racks := make([][]southbound.RackID, len(y.Replicas))
	for i, words := range y.Replicas {
		if len(words) == 0 {
			return y.Input.wrong("stage %q has a block that has no replica: name 1 to %d racks, or leave replicas away",
				y.Name.text, controller.Replicas)
		}
		for _, w := range words {
			n, err := strconv.ParseInt(w.text, 10, 32)
			if err != nil || n < 0 {
				return w.wrong("rack %q is no whole number from 0", clip(w.text))
			}
			racks[i] = append(racks[i], southbound.RackID(n))
		}
	}
	for i := range tasks {
		if tasks[i].Input = input; len(racks) > 0 {
			tasks[i].Replicas = racks[i%len(racks)]
		}
	}
	return nil
}

// limits reads the limits; nil where there are none.
func (y *limitsYAML) limits() (*controller.Limits, error) {
	if y == nil {
		return nil, nil
	}
	l := &controller.Limits{}
	for _, one := range []struct {
		word scalar
		name string
		most float64
		to   *float64
	}{{y.Host, "host", 1, &l.Host}, {y.Rack, "rack", 1, &l.Rack}, {y.Pod, "pod", 1, &l.Pod},
		{y.Center, "center", 1, &l.Center}, {y.Energy, "energy", math.MaxFloat64, &l.Energy}} {
		if one.word.at == nil {
			continue
		}
		v, err := strconv.ParseFloat(one.word.text, 64)
		if err != nil || !(v > 0 && v <= one.most) {
			return nil, one.word.wrong("limit of %s %q: write a part of the vCPUs above 0 and up to 1, and of energy a "+
				"multiple of the loads", one.name, clip(one.word.text))
		}
		*one.to = v
	}
	return l, nil
}

// efficiencies reads those of hosts in turn.
func efficiencies(words []scalar) (out []float64, err error) {
	if len(words) > controller.MaxEfficiencies {
		return nil, words[0].wrong("efficiencies of %d hosts: at most %d are taken", len(words), controller.MaxEfficiencies)
	}
	for _, w := range words {
		v, err := strconv.ParseFloat(w.text, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return nil, w.wrong("efficiency %q: write a number above 0 and up to 1", clip(w.text))
		}
		out = append(out, v)
	}
	return out, nil
}

func (y *edgeYAML) edge(by map[string]int) (controller.Edge, error) {
	e := controller.Edge{Kind: controller.ScatterGather}
	for _, end := range []struct {
		word scalar
		what string
		to   *int
	}{{y.From, "from", &e.From}, {y.To, "to", &e.To}} {
		i, ok := by[end.word.text]
		switch {
		case end.word.at == nil:
			return e, errors.New("an edge needs from and to, each the name of a stage")
		case !ok:
			return e, end.word.wrong("%s: no stage is called %q", end.what, end.word.text)
		}
		*end.to = i
	}
	if y.Grouping.at != nil {
		kind, ok := kindOf(y.Grouping.text)
		if !ok {
			return e, y.Grouping.wrong("grouping %q is unknown: write shuffle, fields, all, global or one-to-one",
				clip(y.Grouping.text))
		}
		e.Kind = kind
	}
	if y.Bytes.at != nil {
		b, err := pathmap.ParseBytes(y.Bytes.text)
		if err != nil {
			return e, y.Bytes.wrong("bytes: %w", err)
		}
		e.Bytes = b
	}
	if y.Rate.at != nil {
		r, err := pathmap.ParseRate(y.Rate.text)
		if err != nil || r <= 0 {
			return e, y.Rate.wrong("rate %q: write bits of payload a second above zero, such as 20Mbps", clip(y.Rate.text))
		}
		e.Rate = r
	}
	if y.Keys.at != nil {
		n, err := strconv.Atoi(y.Keys.text)
		if err != nil || n < 1 || n > controller.MaxKeys || e.Kind != controller.Fields {
			return e, y.Keys.wrong("keys %q: write a whole number from 1 to %d, and grouping: fields", clip(y.Keys.text),
				controller.MaxKeys)
		}
		e.Keys = int32(n)
	}
	return e, y.reducers(&e)
}

// partUnit is what parts of reducers are rounded to.
const partUnit = 1e6

// reducers reads what each task of a stage receives: numbers, which are parts, or sizes.
func (y *edgeYAML) reducers(e *controller.Edge) error {
	sizes, sum := 0, pathmap.Bytes(0)
	for i, w := range y.Reducers {
		part, err := strconv.ParseFloat(w.text, 64)
		switch size, sizeErr := pathmap.ParseBytes(w.text); {
		case i >= controller.MaxTasks:
			return w.wrong("reducers: more than %d", controller.MaxTasks)
		case err == nil && part >= 0 && part <= 1e9:
			e.Reducers = append(e.Reducers, int64(math.Round(part*partUnit)))
		case err == nil || sizeErr != nil || size < 0 || size > controller.MaxBytes-sum:
			return w.wrong("reducer %q: write a part such as 2 or 0.25, up to 1e9, or a size such as 100MB", clip(w.text))
		default:
			sizes, sum = sizes+1, sum+size
			e.Reducers = append(e.Reducers, int64(size))
		}
	}
	switch {
	case sizes > 0 && sizes < len(y.Reducers):
		return y.Reducers[0].wrong("reducers: some are parts and some sizes: write all as one")
	case sizes > 0 && y.Bytes.at != nil && e.Bytes != sum:
		return y.Bytes.wrong("bytes: %s, and the reducers receive %d bytes: leave bytes out", y.Bytes.text, sum)
	case sizes > 0:
		e.Bytes = sum
	}
	return nil
}

// edge is what a stage reads, the first one where none is named.
func (y *readYAML) edge(by map[string]int) (controller.Edge, error) {
	r := &controller.Read{Job: y.Job.text, Kind: controller.OneToOne}
	e := controller.Edge{Kind: controller.Fixed, Reads: r}
	if (y.Job.text == "") == (len(y.Hosts) == 0) {
		return e, errors.New("a read needs job: and the name of another job, or hosts: and a list of numbers")
	}
	for _, h := range y.Hosts {
		n, err := strconv.ParseInt(h.text, 10, 32)
		if err != nil || n < 0 {
			return e, h.wrong("host %q is no whole number from 0", clip(h.text))
		}
		r.Hosts = append(r.Hosts, southbound.HostID(n))
	}
	if y.To.at != nil {
		to, ok := by[y.To.text]
		if !ok {
			return e, y.To.wrong("to: no stage is called %q", y.To.text)
		}
		e.To = to
	}
	if y.Grouping.at != nil {
		kind, ok := kindOf(y.Grouping.text)
		if !ok || kind == controller.Fields || kind == controller.Global {
			return e, y.Grouping.wrong("grouping %q: write one-to-one, shuffle or all", clip(y.Grouping.text))
		}
		r.Kind = kind
	}
	if y.Bytes.at != nil {
		b, err := pathmap.ParseBytes(y.Bytes.text)
		if err != nil {
			return e, y.Bytes.wrong("bytes: %w", err)
		}
		e.Bytes = b
	}
	return e, nil
}

func kindOf(word string) (controller.EdgeKind, bool) {
	for _, k := range []controller.EdgeKind{controller.ScatterGather, controller.OneToOne, controller.Broadcast,
		controller.Fields, controller.Global} {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}
