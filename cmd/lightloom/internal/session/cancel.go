package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/outcome"
	"lightloom/cmd/lightloom/internal/testbed"
	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// CancelOptions are the options of the command cancel.
type CancelOptions struct {
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

// serveCancel cancels a job in the caller's name, and returns its result.
func (s *keeper) serveCancel(ctx context.Context, name string) reply {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	fail := func(err error) reply { return reply{Error: err.Error(), Exit: api.CodeOf(err).ExitStatus()} }
	d, err := testbed.StateOf(ctx, s.Client)
	if err != nil {
		return fail(err)
	}
	id, ok := jobNamed(d, name)
	if !ok {
		return noJob(name, int(d.Next.Job))
	}
	if _, err := s.Client.Cancel(ctx, id); err != nil {
		return fail(err)
	}
	// The leader has committed it, but the replica that returns the state can be behind.
	for d.Job(id).Ended == state.Unset {
		if d, err = testbed.StateOf(ctx, s.Client); err != nil {
			return fail(err)
		}
	}
	j := d.Job(id)
	out := &CancelledJob{Job: id, Name: j.Name, Cancelled: j.Cancelled, Ended: j.Ended.Seconds(), Delivered: 0}
	if j.Started != state.Unset {
		out.Ran = (j.Ended - j.Started).Seconds()
	}
	out.Delivered, _ = outcome.Delivered(d, j, 0)
	return reply{Cancel: out}
}

// noJob refuses a job that nobody has submitted.
func noJob(name string, jobs int) reply {
	r := reply{Error: fmt.Sprintf("cancel %q: no such job: none was submitted", name), Hint: "lightloom submit FILE"}
	if jobs > 0 {
		r = reply{Error: fmt.Sprintf("cancel %q: no such job", name), Hint: "lightloom jobs lists them"}
	}
	return r
}

// jobNamed finds a job by its number or its name. Of several with one name it takes the last that has not ended, else
// the last.
func jobNamed(d *state.Data, name string) (controller.JobID, bool) {
	if n, err := strconv.ParseInt(name, 10, 32); err == nil {
		return controller.JobID(n), d.Job(controller.JobID(n)) != nil
	}
	found := controller.JobID(-1)
	for _, j := range d.Jobs {
		if j.Name == name && (found < 0 || j.Ended == state.Unset || d.Job(found).Ended != state.Unset) {
			found = j.ID
		}
	}
	return found, found >= 0
}

// CancelJob ends a job of this user's running fabric.
func CancelJob(_ context.Context, opt CancelOptions) error {
	r, err := ask(request{Cancel: opt.Job})
	switch {
	case err != nil:
		return err
	case r.Cancel == nil:
		return errors.New("cancel: the answer holds no job")
	case opt.Output == console.OutputJSON:
		return console.WriteJSON(opt.Stdout, r.Cancel)
	}
	return r.Cancel.print(opt.Stdout)
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
