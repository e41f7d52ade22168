package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/testbed"
	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// JobStatus is a job of the running fabric. Instants are seconds since the fabric came up.
type JobStatus struct {
	Job      controller.JobID `json:"job"`
	Name     string           `json:"name"`
	State    string           `json:"state"` // waiting, running, ended or cancelled
	Why      string           `json:"why,omitempty"`
	Hosts    []string         `json:"hosts"` // of its tasks, in their order; empty before placement
	Coflows  int              `json:"coflows"`
	Sent     int              `json:"coflows_ended"`
	Bytes    pathmap.Bytes    `json:"bytes"` // of its coflows that were laid out
	Arrived  float64          `json:"arrived_seconds"`
	Started  *float64         `json:"started_seconds,omitempty"`
	Ended    *float64         `json:"ended_seconds,omitempty"`
	Takes    float64          `json:"takes_seconds"` // from its arrival to its end, or to now
	Deadline float64          `json:"deadline_seconds,omitempty"`
}

// jobs lists all jobs of a state, by id.
func (s *keeper) jobs(d *state.Data) []JobStatus {
	out := []JobStatus{}
	why, now := s.reasons(d), s.Clock()
	for _, j := range d.Jobs {
		out = append(out, s.job(d, j, why[j.ID], now))
	}
	return out
}

func (s *keeper) job(d *state.Data, j *state.Job, why string, now time.Duration) JobStatus {
	st := JobStatus{Job: j.ID, Name: j.Name, Why: why, State: "waiting", Hosts: []string{}, Coflows: len(j.Edges),
		Arrived: j.Arrival.Seconds(), Started: instant(j.Started), Ended: instant(j.Ended),
		Takes:    (now - j.Arrival).Seconds(),
		Deadline: j.Deadline.Seconds()}
	for _, h := range j.Hosts {
		if h >= 0 && int(h) < s.Topo.Hosts() {
			st.Hosts = append(st.Hosts, s.hostName(h))
		}
	}
	for i := range j.Edges {
		c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i))
		st.Bytes += c.Bytes + c.Local
		if c.Ended != state.Unset {
			st.Sent++
		}
	}
	switch {
	case j.Cancelled:
		st.State = "cancelled"
	case j.Ended != state.Unset:
		st.State = "ended"
	case j.Started != state.Unset:
		st.State = "running"
	}
	if j.Ended != state.Unset {
		st.Takes = (j.Ended - j.Arrival).Seconds()
	}
	return st
}

func (s *keeper) hostName(h southbound.HostID) string {
	return s.Topo.Topology.Node(s.Topo.HostNode[h]).Name
}

// instant is nil before it comes.
func instant(t time.Duration) *float64 {
	if t == state.Unset {
		return nil
	}
	seconds := t.Seconds()
	return &seconds
}

// reasons returns why jobs cannot continue.
func (s *keeper) reasons(d *state.Data) map[controller.JobID]string {
	whole := state.New(s.Topo)
	snap, err := json.Marshal(d)
	if err != nil || whole.Restore(snap) != nil {
		return nil // of another fabric, which cannot be
	}
	return whole.Reasons()
}

// serveJobs lists the jobs.
func (s *keeper) serveJobs(ctx context.Context) reply {
	d, err := testbed.StateOf(ctx, s.Client)
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{Jobs: s.jobs(d)}
}

// JobsOptions are the options of the command jobs.
type JobsOptions struct {
	Open   bool   // only those that have not ended
	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ShowJobs lists the jobs of this user's running fabric.
func ShowJobs(_ context.Context, opt JobsOptions) error {
	jobs, err := askJobs()
	if err != nil {
		return err
	}
	shown := []JobStatus{}
	for _, j := range jobs {
		if !opt.Open || j.Ended == nil {
			shown = append(shown, j)
		}
	}
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, shown)
	}
	if len(shown) == 0 {
		_, err := fmt.Fprintf(opt.Stdout, "no jobs; submit some: lightloom submit FILE\n")
		return err
	}
	return printJobs(opt.Stdout, shown)
}

func askJobs() ([]JobStatus, error) {
	r, err := ask(request{Jobs: true})
	if err != nil {
		return nil, err
	}
	return r.Jobs, nil
}

func printJobs(w io.Writer, jobs []JobStatus) error {
	t := console.NewTable(w, "job", "name", "state", "takes, s", "coflows", "bytes", "hosts", "why")
	t.Right(1, 4, 5, 6)
	for _, j := range jobs {
		t.Row(j.Job, j.Name, j.State, fmt.Sprintf("%.2f", j.Takes), fmt.Sprintf("%d of %d", j.Sent, j.Coflows), j.Bytes,
			shortList(j.Hosts), j.Why)
	}
	return t.Print()
}

// shortList joins names, leaving out all but the first.
func shortList(names []string) string {
	const most = 8
	text := ""
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			text += " "
		}
		text += n
	}
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// waitEvery is how often submit --wait asks.
const waitEvery = 200 * time.Millisecond

// errCancelled is the result of waiting for a job that somebody has cancelled.
var errCancelled = errors.New("was cancelled")

// waitFor prints each of the jobs as it ends. Ctrl-C ends the waiting and no job.
func waitFor(ctx context.Context, ids []controller.JobID, ended func(JobStatus) error) error {
	left := map[controller.JobID]bool{}
	for _, id := range ids {
		left[id] = true
	}
	var wrong error
	for len(left) > 0 {
		jobs, err := askJobs()
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if !left[j.Job] || j.Ended == nil {
				continue
			}
			delete(left, j.Job)
			wrong = errors.Join(wrong, ended(j))
			if j.State == "cancelled" {
				wrong = errors.Join(wrong, fmt.Errorf("job %d (%s) %w", j.Job, j.Name, errCancelled))
			}
		}
		select {
		case <-ctx.Done():
			return hint.New(fmt.Sprintf("wait for %d jobs: interrupted: they go on", len(left)), "lightloom jobs shows them")
		case <-time.After(waitEvery):
		}
	}
	return wrong
}
