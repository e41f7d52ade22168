package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// Status is how far a sweep has come.
type Status struct {
	File    string  `json:"file"`
	Engine  string  `json:"engine"`
	Job     string  `json:"job_name,omitempty"` // of Slurm
	Runs    int     `json:"runs"`
	Made    int     `json:"made"`
	Running bool    `json:"running"`
	Host    string  `json:"host"`
	Process int     `json:"pid"`
	Rate    float64 `json:"runs_per_second"` // since it began; 0 where it does not run
	Left    float64 `json:"seconds_left"`    // at that rate; 0 where that is not known

	folder Folder
	again  string // the command that goes on, where it is no sweep
}

// Status reads how far the sweep of a folder has come.
func (f Folder) Status(now time.Time) (Status, error) {
	st, err := f.readState()
	if err != nil {
		return Status{}, err
	}
	s := Status{File: st.File, Engine: st.Engine, Runs: len(st.Points), Running: f.isRunning(), Host: st.Host,
		Process: st.Process, folder: f, again: st.Again}
	if s.Engine == OnSlurm {
		s.Job = f.JobName()
	}
	for _, k := range st.Points {
		if f.has(k) {
			s.Made++
		}
	}
	if since := now.Sub(st.Began).Seconds(); s.Running && since > 0 {
		if s.Rate = float64(s.Made-st.Held) / since; s.Rate > 0 {
			s.Left = float64(s.Runs-s.Made) / s.Rate
		}
	}
	return s, nil
}

// String is a status in a line.
func (s Status) String() string {
	goesOn := CommandLine("lightloom", "sweep", s.File, "--results", string(s.folder))
	if s.Engine == OnSlurm {
		goesOn += " --engine " + OnSlurm
	}
	if s.again != "" {
		goesOn = s.again
	}
	text := fmt.Sprintf("%d of %s made", s.Made, console.Count(s.Runs, "run"))
	switch {
	case !s.Running && s.Made == s.Runs:
		return text + ": it is done"
	case !s.Running:
		return text + "; no process is at work: " + goesOn + " goes on"
	case s.Rate == 0:
		return fmt.Sprintf("%s; process %d on %s is at it", text, s.Process, s.Host)
	}
	left := time.Duration(s.Left * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %.3g a second, about %v left; process %d on %s is at it", text, s.Rate, left, s.Process,
		s.Host)
}

// started says when a process began, in the kernel's words; "" where there is none.
func started(process int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // from the third on
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// Cancel ends the sweep that has a folder and waits for its end. What was made stays. call runs Slurm's commands, for
// what a sweep that was killed has left there.
func (f Folder) Cancel(ctx context.Context, call func(ctx context.Context, argv ...string) ([]byte, error)) error {
	st, err := f.readState()
	if err != nil {
		return err
	}
	if !f.isRunning() {
		if st.Engine == OnSlurm {
			return f.CancelJobs(ctx, call)
		}
		return hint.Wrong(hint.New(fmt.Sprintf("no sweep runs in %q", string(f)), CommandLine("lightloom", "sweep", "status",
			string(f))+" says how far it has come"))
	}
	if host, err := os.Hostname(); err != nil || host != st.Host {
		return hint.New(fmt.Sprintf("the sweep runs on %s, and this is %s", st.Host, host), "cancel it there")
	}
	if st.Start == "" || started(st.Process) != st.Start { // another process may have its number by now
		return errors.New("cancel sweep: it has only just begun or ended: try again")
	}
	if err := unix.Kill(st.Process, unix.SIGINT); err != nil {
		return fmt.Errorf("cancel sweep: process %d: %w", st.Process, err)
	}
	_, err = console.Until(ctx, func() (struct{}, error) {
		lock, err := os.Open(filepath.Join(string(f), "lock"))
		if err != nil {
			return struct{}{}, fmt.Errorf("cancel sweep: %w", err)
		}
		return struct{}{}, errors.Join(unix.Flock(int(lock.Fd()), unix.LOCK_SH), lock.Close())
	})
	return err
}
