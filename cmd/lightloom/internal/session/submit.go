package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/workload"
	"lightloom/southbound/hint"
)

// SubmitOptions are the options of the command submit.
type SubmitOptions struct {
	File   string // of jobs
	Output string // OutputTable or OutputJSON

	Stdout, Stderr io.Writer
}

// Submitted is the result of submitting one job.
type Submitted struct {
	Job   controller.JobID `json:"job"` // -1 where it was refused
	Name  string           `json:"name"`
	Error string           `json:"error,omitempty"`
}

// serveSubmit submits jobs to the controller as of now, one by one: a refused job does not stop the others.
func (s *keeper) serveSubmit(ctx context.Context, jobs []controller.Job) []Submitted {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out := make([]Submitted, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		j.Arrival = s.Clock()
		out[i] = Submitted{Job: -1, Name: j.Name}
		ids, err := s.Client.Submit(ctx, api.NewRequestID(), []*controller.Job{j})
		if err != nil {
			out[i].Error = err.Error()
			continue
		}
		out[i].Job = ids[0]
	}
	return out
}

// Submit submits the jobs of a file to the controller of this user's running fabric. They arrive now, whatever the file
// says. After all have been submitted, it returns the first refusal as the error.
func Submit(_ context.Context, opt SubmitOptions) error {
	all, err := workload.ReadJobFile(opt.File)
	if err != nil {
		return err
	}
	var jobs []controller.Job
	var wrong error
	for i := range all {
		if p := all[i].Problem; p != nil {
			wrong = errors.Join(wrong, p)
			continue
		}
		jobs = append(jobs, all[i].Job)
	}
	if len(jobs) == 0 {
		return fmt.Errorf("submit jobs: none can be run: %w", wrong)
	}
	c, err := dialControl()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sendRequest(c, request{Submit: jobs}); err != nil {
		return err
	}
	var r reply
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return fmt.Errorf("submit jobs: the fabric went down: %w", err)
	}
	if r.Error != "" {
		return hint.New(r.Error, r.Hint)
	}
	for _, j := range r.Submit {
		if j.Error != "" {
			wrong = errors.Join(wrong, errors.New(j.Error))
		}
	}
	return errors.Join(printSubmitted(opt, r.Submit), wrong)
}

func printSubmitted(opt SubmitOptions, jobs []Submitted) error {
	if opt.Output == console.OutputJSON {
		e := json.NewEncoder(opt.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(jobs)
	}
	var errs []error
	for _, j := range jobs {
		if j.Error == "" {
			_, err := fmt.Fprintf(opt.Stdout, "job %d (%s)\n", j.Job, j.Name)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
