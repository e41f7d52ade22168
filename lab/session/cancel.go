package session

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/lab/outcome"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// CancelOptions are the options of the command cancel.
type CancelOptions struct {
	To     northbound.Flags
	Job    string // its number or its name; of several of one name the one that was accepted last and has not ended
	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// CancelledJob is the result of a cancelled job at its end.
type CancelledJob struct {
	Job       controller.JobID `json:"job"`
	Name      string           `json:"name"`
	Cancelled bool             `json:"cancelled"` // false: it had ended by itself
	Ended     float64          `json:"ended_seconds"`
	Ran       float64          `json:"ran_seconds"`
	Delivered pathmap.Bytes    `json:"bytes_delivered"` // at its sinks
}

// jobNamed finds a job by its number or its name. Of several with one name it takes the last that has not ended, else
// the last.
func jobNamed(ctx context.Context, client *api.Client, name string) (found *apiv1.JobInfo, err error) {
	filters := []*apiv1.JobFilter{open(), {}}
	if n, err := strconv.ParseInt(name, 10, 32); err == nil {
		filters = []*apiv1.JobFilter{{Ids: []int32{int32(n)}}}
	} else {
		filters[0].Name, filters[1].Name = name, name
	}
	read := acknowledged(ctx, client)
	for _, f := range filters {
		q := &apiv1.ListJobsRequest{Filter: f, NewestFirst: true, PageSize: 1, Read: read}
		if err := client.Jobs(ctx, q, func(j *apiv1.JobInfo) bool { found = j; return false }); err != nil || found != nil {
			return found, err
		}
	}
	st, err := client.Status(ctx)
	switch {
	case err != nil:
		return nil, err
	case st.Jobs == 0:
		err = hint.New(fmt.Sprintf("job %q: no such job: none was submitted", name), "lightloom submit FILE")
	default:
		err = hint.New(fmt.Sprintf("job %q: no such job", name), "lightloom jobs lists them")
	}
	return nil, &api.Error{Code: api.Unknown, Err: err}
}

// CancelJob ends a job of a controller.
func CancelJob(ctx context.Context, opt CancelOptions) error {
	client, err := Dial(opt.To)
	if err != nil {
		return err
	}
	defer client.Close()
	out, err := cancelJob(ctx, client, opt.Job)
	switch {
	case err != nil:
		return northbound.WithStatus(fmt.Errorf("cancel: %w", err))
	case opt.Output == console.OutputJSON:
		return console.WriteJSON(opt.Stdout, out)
	}
	return out.print(opt.Stdout)
}

func cancelJob(ctx context.Context, client *api.Client, name string) (*CancelledJob, error) {
	j, err := jobNamed(ctx, client, name)
	if err != nil {
		return nil, err
	}
	if err := needLeader(ctx, client, "end it", electsWithin); err != nil {
		return nil, err
	}
	if _, err := client.Cancel(ctx, controller.JobID(j.Id)); err != nil {
		return nil, err
	}
	now, err := client.Job(ctx, controller.JobID(j.Id), client.Written())
	if err != nil {
		return nil, err
	}
	j = now.Job
	out := &CancelledJob{Job: controller.JobID(j.Id), Name: j.Name, Ended: seconds(j.GetEndedNs()),
		Cancelled: j.Phase == apiv1.JobPhase_JOB_PHASE_CANCELLED, Delivered: pathmap.Bytes(j.GetDelivered())}
	if j.StartedNs != nil {
		out.Ran = out.Ended - seconds(*j.StartedNs)
	}
	return out, nil
}

func (j *CancelledJob) print(w io.Writer) error {
	verb := "cancelled"
	if !j.Cancelled {
		verb = "had ended by itself"
	}
	rate := 0.0
	if j.Ran > 0 {
		rate = 8 * float64(j.Delivered) / j.Ran / 1e6
	}
	_, err := fmt.Fprintf(w, "job %d (%s) %s at %.3f s of the run, after %.3f s; its sinks received %d bytes, %.4g "+
		"Mb/s\n", j.Job, j.Name, verb, j.Ended, j.Ran, j.Delivered, rate)
	return err
}

// StreamStatus is a job that runs until it is cancelled or its lifetime ends.
type StreamStatus struct {
	Job       controller.JobID `json:"job"`
	Name      string           `json:"name"`
	Running   float64          `json:"running_seconds"`
	Left      float64          `json:"left_seconds,omitempty"` // of its lifetime; 0: it has none
	Delivered pathmap.Bytes    `json:"bytes_delivered"`        // at its sinks so far
}

// streams lists the jobs without an end of their own. left returns what a coflow still has to send.
func streams(d *state.Data, now time.Duration, left func(southbound.CoflowID) (southbound.Remaining,
	bool)) []StreamStatus {
	out := []StreamStatus{}
	for _, j := range d.Jobs {
		if j.Ended != state.Unset || !j.GoesOn() || j.Started == state.Unset {
			continue
		}
		st := StreamStatus{Job: j.ID, Name: j.Name, Running: (now - j.Started).Seconds()}
		if j.Lifetime > 0 {
			st.Left = max(0, (j.Lifetime - (now - j.Started)).Seconds())
		}
		st.Delivered = soFar(d, j, now, left)
		out = append(out, st)
	}
	return out
}

// soFar returns the bytes that the sinks of a running job have received.
func soFar(d *state.Data, j *state.Job, now time.Duration,
	left func(southbound.CoflowID) (southbound.Remaining, bool)) (sum pathmap.Bytes) {
	for i := range j.Edges {
		e := &j.Edges[i]
		id := j.FirstCoflow + southbound.CoflowID(i)
		c := d.Coflow(id)
		if !outcome.ToSink(j, e) || c.Started == state.Unset {
			continue
		}
		l, ok := left(id)
		if !ok || len(l.Base) != len(c.Done) {
			continue
		}
		sum += c.Bytes + min(c.Local, j.Made(e, c.Local).In(now-c.Started))
		for r, done := range c.Done {
			if !done {
				sum -= pathmap.Bytes(l.Row(int32(r)))
			}
		}
	}
	return sum
}
