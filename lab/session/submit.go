package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/workload"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/southbound/hint"
)

// SubmitOptions are the options of the command submit.
type SubmitOptions struct {
	To     northbound.Flags
	File   string // of jobs
	Wait   bool   // until all have ended
	Output string // OutputTable or OutputJSON

	Stdout, Stderr io.Writer
}

// Submitted is the result of submitting one job.
type Submitted struct {
	Job   controller.JobID `json:"job"` // -1 where it was refused
	Name  string           `json:"name"`
	Error string           `json:"error,omitempty"`

	err error
}

// submit submits jobs as of now, one by one: a refused job does not stop the others.
//
// Without a leader it refuses soon: none comes back by itself while too few replicas run, and its user
// would wait in silence.
func submit(ctx context.Context, client *api.Client, jobs []controller.Job) ([]Submitted, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := needLeader(ctx, client, "submit jobs", electsWithin); err != nil {
		return nil, err
	}
	out := make([]Submitted, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		out[i] = Submitted{Job: -1, Name: j.Name}
		st, err := client.Status(ctx)
		if err != nil {
			return nil, northbound.WithStatus(err)
		}
		j.Arrival = st.Now
		ids, err := client.Submit(ctx, api.NewRequestID(), []*controller.Job{j})
		if err != nil {
			out[i].Error, out[i].err = err.Error(), northbound.WithStatus(err)
			continue
		}
		out[i].Job = ids[0]
	}
	return out, nil
}

// electsWithin is how long an election can last.
const electsWithin = 5 * time.Second

// needLeader waits for a leader that a majority follows.
func needLeader(ctx context.Context, client *api.Client, verb string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := client.StatusAt(ctx, api.Read{Linearizable: true})
	switch api.CodeOf(err) {
	case api.NotLeader, api.NoLeader, api.Uncertain, api.Late:
		return &console.ExitError{Code: api.NoLeader.ExitStatus(),
			Err: hint.New(verb+": no leader is known: too few "+
				"replicas of the controller answer", "lightloom status replicas shows them; lightloom heal all starts those that "+
				"were made to fail")}
	}
	return nil // what else is wrong is said by the call itself
}

// Submit submits the jobs of a file to a controller. They arrive now, whatever the file
// says. After all have been submitted, it returns the first refusal as the error.
func Submit(ctx context.Context, opt SubmitOptions) error {
	all, err := workload.ReadJobFile(opt.File)
	if err != nil {
		return hint.Wrong(err)
	}
	var jobs []controller.Job
	var problems []error
	for i := range all {
		if p := all[i].Problem; p != nil {
			problems = append(problems, p)
			continue
		}
		jobs = append(jobs, all[i].Job)
	}
	wrong := errors.Join(workload.Problems(problems)...)
	if len(jobs) == 0 {
		return fmt.Errorf("submit jobs: none can be run: %w", wrong)
	}
	client, err := Dial(opt.To)
	if err != nil {
		return err
	}
	defer client.Close()
	done, err := submit(ctx, client, jobs)
	if err != nil {
		return err
	}
	var ids []controller.JobID
	for _, j := range done {
		if j.Error != "" {
			wrong = errors.Join(wrong, j.err)
			continue
		}
		ids = append(ids, j.Job)
	}
	if !opt.Wait {
		return errors.Join(printSubmitted(opt, done), wrong)
	}
	return errors.Join(waitSubmitted(ctx, client, opt, ids), wrong)
}

// waitSubmitted prints the jobs as they end.
func waitSubmitted(ctx context.Context, client *api.Client, opt SubmitOptions,
	ids []controller.JobID) error {
	all := []JobStatus{}
	err := waitFor(ctx, client, ids, func(j JobStatus) error {
		all = append(all, j)
		if opt.Output == console.OutputJSON {
			return nil
		}
		_, err := fmt.Fprintf(opt.Stdout, "job %d (%s) %s after %.3f s\n", j.Job, j.Name, j.State, j.Takes)
		return err
	})
	if opt.Output == console.OutputJSON {
		return errors.Join(console.WriteJSON(opt.Stdout, all), err)
	}
	return err
}

func printSubmitted(opt SubmitOptions, jobs []Submitted) error {
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, jobs)
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
