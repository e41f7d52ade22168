package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// maxSparkTasks bounds the tasks of a Spark event log.
const maxSparkTasks = 1 << 20

// sparkEvent is what is read of a line of a Spark event log (org.apache.spark.util.JsonProtocol): jobs, stages and the
// tasks that ended well.
type sparkEvent struct {
	Event      string       `json:"Event"`
	User       string       `json:"User"`
	Job        *int         `json:"Job ID"`
	Submitted  int64        `json:"Submission Time"` // milliseconds
	StageInfos []sparkStage `json:"Stage Infos"`
	StageIDs   []int        `json:"Stage IDs"`
	Stage      *sparkStage  `json:"Stage Info"`
	StageID    *int         `json:"Stage ID"`
	Reason     struct {
		Reason string `json:"Reason"`
	} `json:"Task End Reason"`
	Task struct {
		Index    int   `json:"Index"`
		Launched int64 `json:"Launch Time"`
		Finished int64 `json:"Finish Time"`
	} `json:"Task Info"`
	Metrics *struct {
		Run   int64 `json:"Executor Run Time"` // milliseconds
		Reads struct {
			Wait   int64 `json:"Fetch Wait Time"` // milliseconds
			Remote int64 `json:"Remote Bytes Read"`
			Local  int64 `json:"Local Bytes Read"`
		} `json:"Shuffle Read Metrics"`
		Writes struct {
			Bytes int64 `json:"Shuffle Bytes Written"`
		} `json:"Shuffle Write Metrics"`
		Input struct {
			Bytes int64 `json:"Bytes Read"`
		} `json:"Input Metrics"`
	} `json:"Task Metrics"`
}

// sparkStage is a stage as jobs and submissions describe it.
type sparkStage struct {
	ID      int    `json:"Stage ID"`
	Name    string `json:"Stage Name"`
	Parents []int  `json:"Parent IDs"`
	// The first is what the stage computes. One that is skipped has that of the stage whose output is read in its place.
	RDDs []struct {
		ID int `json:"RDD ID"`
	} `json:"RDD Info"`
}

// sparkRan is a stage that ran, with what its tasks did.
type sparkRan struct {
	sparkStage
	job           int // the first that lists it
	line          int
	rdd           int                     // that it computes; below zero: not known
	tasks         map[int]controller.Task // by index
	read, written pathmap.Bytes
}

// sparkJob is a job as it was submitted.
type sparkJob struct {
	id     int
	at     int64
	stages []int
}

// Spark is the event log of an application.
type Spark struct {
	Jobs  []controller.Job
	Notes []string // what the log does not hold, for a report
}

// sparkLog is a log being read.
type sparkLog struct {
	line   int
	user   string
	all    []sparkJob
	known  map[int]bool // ids of jobs
	stages map[int]*sparkRan
	byRDD  map[int]*sparkRan // the first that ran
	tasks  int
	notes  []string
	lost   int           // stages that no part of the log has
	unread pathmap.Bytes // that were read from them
}

func newSparkLog() *sparkLog { return &sparkLog{stages: map[int]*sparkRan{}, known: map[int]bool{}} }

// spark turns what was read into jobs.
func (l *sparkLog) spark(name string) (*Spark, error) {
	jobs, err := l.jobs()
	if err != nil {
		return nil, fmt.Errorf("read Spark event log %q: %w", name, err)
	}
	if l.lost > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%d stages read the output of stages that the log does not hold, %d bytes in "+
			"all, which are left out", l.lost, l.unread))
	}
	return &Spark{jobs, l.notes}, nil
}

// read reads one file of a log, of which the last can end in the middle.
func (l *sparkLog) read(r io.Reader, last bool) error {
	text, done, err := sparkText(r)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	defer done()
	for l.line = 0; ; {
		line, whole, err := sparkLine(text)
		switch {
		case err != nil && !(last && errors.Is(err, io.ErrUnexpectedEOF)):
			return fmt.Errorf("line %d: %w", l.line+1, err)
		case err != nil:
			l.cut(l.line + 1)
			return nil
		case len(line) == 0 && !whole:
			return nil
		}
		l.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var e sparkEvent
		if err := json.Unmarshal(line, &e); err != nil {
			if last && !whole && l.line > 1 {
				l.cut(l.line)
				return nil
			}
			if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
				err = fmt.Errorf("%s is a %s", e.Field, e.Value)
			}
			return fmt.Errorf("line %d: %w: each line is a JSON object, as spark.eventLog.enabled writes", l.line, err)
		}
		if err := l.event(&e); err != nil {
			return fmt.Errorf("line %d: %w", l.line, err)
		}
	}
}

// cut notes that a log ends in the middle.
func (l *sparkLog) cut(line int) {
	l.notes = append(l.notes, fmt.Sprintf("the event log ends in the middle of line %d: what ran then is as far as "+
		"it had "+
		"come", line))
}

func (l *sparkLog) event(e *sparkEvent) error {
	switch e.Event {
	case "":
		return errors.New("no Event: this is no Spark event log")
	case "SparkListenerApplicationStart":
		l.user = clip(e.User)
	case "SparkListenerJobStart":
		return l.start(e)
	case "SparkListenerStageSubmitted", "SparkListenerStageCompleted":
		if e.Stage == nil {
			return fmt.Errorf("%s without a Stage Info", e.Event)
		}
		return l.describe(e.Stage, -1)
	case "SparkListenerTaskEnd":
		return l.ended(e)
	}
	return nil
}

// start notes a job. A job lists stages that ran for an earlier one, too.
func (l *sparkLog) start(e *sparkEvent) error {
	if e.Job == nil || l.known[*e.Job] {
		return errors.New("a job start without a Job ID of its own")
	}
	l.known[*e.Job] = true
	j := sparkJob{id: *e.Job, at: e.Submitted, stages: e.StageIDs}
	if n := len(l.all); n > 0 && j.at < l.all[n-1].at {
		return fmt.Errorf("job %d was submitted at %d, before the job above it", j.id, j.at)
	}
	for i := range e.StageInfos {
		if err := l.describe(&e.StageInfos[i], j.id); err != nil {
			return err
		}
		j.stages = append(j.stages, e.StageInfos[i].ID)
	}
	l.all = append(l.all, j)
	return nil
}

// describe notes a stage; job below zero: the one that it is known for.
func (l *sparkLog) describe(s *sparkStage, job int) error {
	for _, p := range s.Parents {
		if p >= s.ID || p < 0 {
			return fmt.Errorf("stage %d has a parent %d, which is not before it", s.ID, p)
		}
	}
	ran := l.stages[s.ID]
	if ran == nil {
		ran = &sparkRan{job: job, rdd: -1, tasks: map[int]controller.Task{}}
		l.stages[s.ID] = ran
	}
	if ran.job < 0 {
		ran.job = job
	}
	if len(s.RDDs) > 0 {
		ran.rdd = s.RDDs[0].ID
	}
	if ran.line = l.line; ran.Name == "" || len(s.Parents) > 0 {
		ran.sparkStage = *s
		ran.RDDs = nil
	}
	return nil
}

// ended notes a task that ended well: the first of its index, since others are copies.
func (l *sparkLog) ended(e *sparkEvent) error {
	if e.StageID == nil || l.stages[*e.StageID] == nil {
		return errors.New("a task ended of a stage that no job lists")
	}
	s := l.stages[*e.StageID]
	if _, twice := s.tasks[e.Task.Index]; twice || e.Reason.Reason != "Success" {
		return nil
	}
	took, m := e.Task.Finished-e.Task.Launched, e.Metrics
	var input, read, written int64
	if m != nil {
		took, input = m.Run-m.Reads.Wait, m.Input.Bytes
		read, written = m.Reads.Remote+m.Reads.Local, m.Writes.Bytes
	}
	const most = int64(controller.MaxBytes) / maxSparkTasks
	const year = int64(365 * 24 * time.Hour / time.Millisecond)
	if took > year || m != nil && m.Run < 0 || min(input, read, written) < 0 || max(input, read, written) > most {
		return fmt.Errorf("task %d of stage %d took %d ms, and read and wrote %d, %d and %d bytes: take numbers from 0 "+
			"up to a year and %d bytes", e.Task.Index, *e.StageID, took, input, read, written, most)
	}
	if l.tasks++; l.tasks > maxSparkTasks {
		return fmt.Errorf("more than %d tasks", maxSparkTasks)
	}
	s.tasks[e.Task.Index] = controller.Task{Compute: time.Duration(max(took, 0)) * time.Millisecond,
		Input: pathmap.Bytes(input)}
	s.read, s.written = s.read+pathmap.Bytes(read), s.written+pathmap.Bytes(written)
	return nil
}

func sparkName(job int) string { return fmt.Sprint("spark-", job) }

// jobs turns the log into jobs, in order of submission.
func (l *sparkLog) jobs() ([]controller.Job, error) {
	l.byRDD = map[int]*sparkRan{}
	for _, id := range slices.Sorted(maps.Keys(l.stages)) {
		if ran := l.stages[id]; ran.rdd >= 0 && len(ran.tasks) > 0 && l.byRDD[ran.rdd] == nil {
			l.byRDD[ran.rdd] = ran
		}
	}
	var out []controller.Job
	for i := range l.all {
		j, err := l.job(&l.all[i])
		if err != nil {
			return nil, err
		}
		if len(j.Stages) > 0 {
			out = append(out, j)
		}
	}
	if l.line == 0 {
		return nil, errors.New("line 1: the file holds no text: each line is a JSON object, as spark.eventLog.enabled writes")
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("line %d: no job of which a task has ended: is the log complete?", l.line)
	}
	return out, nil
}

// job is one job with the stages that ran for it.
func (l *sparkLog) job(s *sparkJob) (controller.Job, error) {
	j := controller.Job{Name: sparkName(s.id), User: l.user, Weight: 1, Incremental: true,
		Arrival: time.Duration(s.at-l.all[0].at) * time.Millisecond}
	ids := slices.Clone(s.stages)
	slices.Sort(ids)
	at := map[int]int{} // by id of a stage: which of the job
	for _, id := range slices.Compact(ids) {
		ran := l.stages[id]
		if ran == nil || ran.job != s.id || len(ran.tasks) == 0 {
			continue // skipped: an earlier job has its output
		}
		at[id] = len(j.Stages)
		if err := l.stage(&j, ran, at); err != nil {
			return j, err
		}
	}
	return j, nil
}

// stage adds a stage and the edges into it.
func (l *sparkLog) stage(j *controller.Job, ran *sparkRan, at map[int]int) error {
	stage := controller.Stage{Name: fmt.Sprintf("%d %s", ran.ID, clip(ran.Name))}
	indexes := make([]int, 0, len(ran.tasks))
	for i := range ran.tasks {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	for _, i := range indexes {
		stage.Tasks = append(stage.Tasks, ran.tasks[i])
	}
	if len(stage.Tasks) > controller.MaxTasks {
		return fmt.Errorf("line %d: stage %d has %d tasks: at most %d are taken", ran.line, ran.ID,
			len(stage.Tasks),
			controller.MaxTasks)
	}
	to := len(j.Stages)
	j.Stages = append(j.Stages, stage)
	parents, all := l.parents(ran), pathmap.Bytes(0)
	for _, parent := range parents {
		all += parent.written
	}
	if all == 0 && ran.read > 0 {
		l.lost, l.unread = l.lost+1, l.unread+ran.read
	}
	for _, parent := range parents {
		e := controller.Edge{Kind: controller.ScatterGather, To: to}
		if all > 0 {
			e.Bytes = pathmap.Bytes(float64(ran.read) * float64(parent.written) / float64(all))
		}
		if from, here := at[parent.ID]; here {
			e.From = from
		} else {
			e.Kind = controller.Fixed
			e.Reads = &controller.Read{Job: sparkName(parent.job), Kind: controller.ScatterGather}
		}
		j.Edges = append(j.Edges, e)
	}
	return nil
}

// parents are the stages that ran whose output a stage reads, by id. A parent that was skipped is the stage that
// computed the same RDD.
func (l *sparkLog) parents(of *sparkRan) (all []*sparkRan) {
	for _, p := range of.Parents {
		ran := l.stages[p]
		if ran != nil && len(ran.tasks) == 0 && ran.rdd >= 0 {
			ran = l.byRDD[ran.rdd]
		}
		if ran != nil && len(ran.tasks) > 0 && ran.ID < of.ID && !slices.Contains(all, ran) {
			all = append(all, ran)
		}
	}
	slices.SortFunc(all, func(a, b *sparkRan) int { return a.ID - b.ID })
	return all
}
