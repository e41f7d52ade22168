package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// JobStatus is a job of the running fabric. Instants are seconds since the fabric came up.
type JobStatus struct {
	Job      controller.JobID `json:"job"`
	Name     string           `json:"name"`
	User     string           `json:"user,omitempty"`
	State    string           `json:"state"` // waiting, running, ended or cancelled
	Why      string           `json:"why,omitempty"`
	Hosts    []string         `json:"hosts"` // of its first 16 tasks, in their order; empty before placement
	Tasks    int              `json:"tasks"`
	Coflows  int              `json:"coflows"`
	Sent     int              `json:"coflows_ended"`
	Bytes    pathmap.Bytes    `json:"bytes"` // of its coflows that were laid out
	Arrived  float64          `json:"arrived_seconds"`
	Started  *float64         `json:"started_seconds,omitempty"`
	Ended    *float64         `json:"ended_seconds,omitempty"`
	Takes    float64          `json:"takes_seconds"` // from its arrival to its end, or to now
	Deadline float64          `json:"deadline_seconds,omitempty"`
	WhyHere  []string         `json:"why_here,omitempty"` // what the policy has said of it, if it was asked for

	ArrivedAt *time.Time `json:"arrived,omitempty"`
	EndedAt   *time.Time `json:"ended,omitempty"`
}

// phases are the words for them, in the order of the API's numbers.
var phases = [...]string{"", "waiting", "running", "ended", "cancelled"}

// Phases returns the words for what a job can be.
func Phases() []string { return phases[1:] }

// open is the filter of jobs that have not ended.
func open() *apiv1.JobFilter {
	return &apiv1.JobFilter{Phases: []apiv1.JobPhase{apiv1.JobPhase_JOB_PHASE_WAITING,
		apiv1.JobPhase_JOB_PHASE_RUNNING}}
}

// jobStatus is a job as commands print it, at an instant of the run.
func jobStatus(j *apiv1.JobInfo, now time.Duration) JobStatus {
	st := JobStatus{Job: controller.JobID(j.Id), Name: j.Name, User: j.User, Why: j.Why, State: "unknown",
		Hosts: append([]string{}, j.Hosts...), Tasks: int(j.Tasks), Coflows: int(j.Coflows), Sent: int(j.CoflowsEnded),
		Bytes: pathmap.Bytes(j.Bytes), Arrived: seconds(j.ArrivalNs), Started: instant(j.StartedNs),
		Ended: instant(j.EndedNs), Deadline: seconds(j.DeadlineNs), EndedAt: wall(j.Ended), ArrivedAt: wall(j.Arrival)}
	if p := int(j.Phase); p > 0 && p < len(phases) {
		st.State = phases[p]
	}
	if st.Takes = now.Seconds() - st.Arrived; st.Ended != nil {
		st.Takes = *st.Ended - st.Arrived
	}
	return st
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

// instant is nil before it comes.
func instant(ns *int64) *float64 {
	if ns == nil {
		return nil
	}
	s := seconds(*ns)
	return &s
}

func wall(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

// leaderWithin is for how long a command waits for a leader that says how far the log is.
const leaderWithin = 2 * time.Second

// acknowledged is a read of all that anybody was told is done: jobs that another process has just
// submitted are in it. Without a leader it is a read of what the replica that is asked knows.
func acknowledged(ctx context.Context, client *api.Client) *apiv1.Read {
	ctx, cancel := context.WithTimeout(ctx, leaderWithin)
	defer cancel()
	st, err := client.StatusAt(ctx, api.Read{Linearizable: true})
	if err != nil {
		return nil
	}
	return &apiv1.Read{MinIndex: st.Read.Index}
}

// listJobs lists the jobs that match, at most that many; 0: all.
func listJobs(ctx context.Context, client *api.Client, q *apiv1.ListJobsRequest,
	most int) ([]JobStatus, error) {
	st, err := client.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := []JobStatus{}
	q.PageSize = api.MaxPage
	if most > 0 {
		q.PageSize = int32(min(most, api.MaxPage))
	}
	err = client.Jobs(ctx, q, func(j *apiv1.JobInfo) bool {
		out = append(out, jobStatus(j, st.Now))
		return len(out) != most
	})
	return out, err
}

// JobsOptions are the options of the command jobs.
type JobsOptions struct {
	To     northbound.Flags
	Job    string   // a number or name; empty: all
	Open   bool     // only those that have not ended
	States []string // only those in one of Phases
	User   string
	Name   string
	Why    bool   // of Job, what the policy has said of it
	Last   int    // only so many, the newest first; 0: all, the oldest first
	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ShowJobs lists the jobs of a controller.
func ShowJobs(ctx context.Context, opt JobsOptions) error {
	client, err := Dial(opt.To)
	if err != nil {
		return err
	}
	defer client.Close()
	f := &apiv1.JobFilter{User: opt.User, Name: opt.Name}
	for _, s := range opt.States {
		f.Phases = append(f.Phases, apiv1.JobPhase(slices.Index(phases[:], s)))
	}
	if opt.Open {
		f.Phases = open().Phases
	}
	if opt.Job != "" {
		j, err := jobNamed(ctx, client, opt.Job)
		if err != nil {
			return northbound.WithStatus(err)
		}
		f.Ids = []int32{j.Id}
	}
	shown, err := listJobs(ctx, client, &apiv1.ListJobsRequest{Filter: f, NewestFirst: opt.Last > 0,
		Read: acknowledged(ctx, client)}, opt.Last)
	if err == nil && opt.Why && len(shown) == 1 {
		shown[0].WhyHere, err = client.WhyHere(ctx, shown[0].Job)
	}
	switch {
	case err != nil:
		return northbound.WithStatus(err)
	case opt.Output == console.OutputJSON:
		return console.WriteJSON(opt.Stdout, shown)
	case len(shown) == 0:
		_, err := fmt.Fprintf(opt.Stdout, "no jobs; submit some: lightloom submit FILE\n")
		return err
	}
	if err := printJobs(opt.Stdout, shown); err != nil || !opt.Why {
		return err
	}
	return printWhy(opt.Stdout, shown)
}

// printWhy prints what the policy has said of a job.
func printWhy(w io.Writer, shown []JobStatus) error {
	lines := []string{"the policy has given no reasons to this leader: parts such as random and ecmp have none"}
	for _, j := range shown {
		if len(j.WhyHere) > 0 {
			lines = nil
			for _, l := range j.WhyHere {
				lines = append(lines, console.Line(l))
			}
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func printJobs(w io.Writer, jobs []JobStatus) error {
	t := console.NewTable(w, "job", "name", "state", "takes, s", "coflows", "bytes", "hosts", "why")
	t.Right(1, 4, 5, 6)
	for _, j := range jobs {
		t.Row(j.Job, j.Name, j.State, fmt.Sprintf("%.2f", j.Takes),
			fmt.Sprintf("%d of %d", j.Sent, j.Coflows), j.Bytes,
			shortList(j.Hosts, j.Tasks), j.Why)
	}
	return t.Print()
}

// shortList joins the first of that many names.
func shortList(names []string, all int) string {
	const most = 8
	text := strings.Join(names[:min(len(names), most)], " ")
	if more := all - most; more > 0 && len(names) > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// errCancelled is the result of waiting for a job that somebody has cancelled.
var errCancelled = errors.New("was cancelled")

var errAllEnded = errors.New("all have ended")

// waitFor calls ended with each of the jobs as it ends. Ctrl-C ends the waiting and no job.
func waitFor(ctx context.Context, client *api.Client, ids []controller.JobID,
	ended func(JobStatus) error) error {
	left, ask := map[int32]bool{}, &apiv1.WatchJobsRequest{Filter: &apiv1.JobFilter{}}
	for _, id := range ids {
		left[int32(id)], ask.Filter.Ids = true, append(ask.Filter.Ids, int32(id))
	}
	if len(left) == 0 {
		return nil
	}
	var wrong error
	note := func(j *apiv1.JobInfo) {
		if !left[j.Id] || j.EndedNs == nil {
			return
		}
		delete(left, j.Id)
		wrong = errors.Join(wrong, ended(jobStatus(j, 0)))
		if j.Phase == apiv1.JobPhase_JOB_PHASE_CANCELLED {
			wrong = errors.Join(wrong, fmt.Errorf("job %d (%s) %w", j.Id, j.Name, errCancelled))
		}
	}
	err := client.WatchJobs(ctx, ask, func(m *apiv1.JobsChanged) error {
		for _, j := range m.Jobs {
			note(j)
		}
		if m.Reset_ { // what ended long ago is not among them
			q := &apiv1.ListJobsRequest{Filter: ask.Filter}
			if err := client.Jobs(ctx, q, func(j *apiv1.JobInfo) bool { note(j); return true }); err != nil {
				return err
			}
		}
		if len(left) == 0 {
			return errAllEnded
		}
		return nil
	})
	switch {
	case errors.Is(err, errAllEnded):
		return wrong
	case err != nil:
		return errors.Join(wrong, northbound.WithStatus(err))
	}
	return errors.Join(wrong, hint.New("wait for "+console.Count(len(left), "job")+": interrupted: they go on",
		"lightloom jobs shows them"))
}
