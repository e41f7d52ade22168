package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// supervisor keeps one process running: it restarts it after a pause whenever it exits. A process
// stopped by kill stays dead until revive. All methods can be called by several goroutines.
type supervisor struct {
	name  string
	start func(restarts int) (*exec.Cmd, error) // starts the process
	log   *slog.Logger

	mu       sync.Mutex
	cmd      *exec.Cmd     // nil while it does not run
	gone     chan struct{} // closed once cmd has ended
	dead     bool          // killed, and to stay so
	over     bool          // nothing begins any more
	revived  chan struct{} // holds one token once dead is over
	restarts int
	pauses   backoff
}

func newSupervisor(name string, seed uint64, log *slog.Logger,
	start func(restarts int) (*exec.Cmd, error)) *supervisor {
	return &supervisor{name: name, start: start, log: log, revived: make(chan struct{}, 1),
		pauses: backoff{seed: seed}}
}

// run keeps the process running until ctx ends, then kills it. Only a first start that fails is an
// error: it would fail for ever.
func (s *supervisor) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.end)()
	for first := true; ctx.Err() == nil; first = false {
		began := time.Now()
		cmd, gone, err := s.begin()
		killed := false
		switch {
		case err != nil && first:
			return err
		case cmd != nil:
			err = cmd.Wait()
			killed = s.ended(gone)
		}
		tried := cmd != nil || err != nil
		if !s.again(ctx, tried && !killed, killed, time.Since(began), err) {
			return nil
		}
	}
	return nil
}

// begin starts the process, unless it is to be dead.
func (s *supervisor) begin() (*exec.Cmd, chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead || s.over {
		return nil, nil, nil
	}
	cmd, err := s.start(s.restarts)
	if err != nil {
		return nil, nil, err
	}
	s.cmd, s.gone = cmd, make(chan struct{})
	return cmd, s.gone, nil
}

// ended notes the end of the process, and reports whether it was killed by kill.
func (s *supervisor) ended(gone chan struct{}) (killed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd = nil
	close(gone)
	return s.dead
}

// again waits until it is time for the next start; false when there is none. failed reports whether the
// process has ended by itself after a time, and why; killed, that it was killed, and perhaps revived
// since.
func (s *supervisor) again(ctx context.Context, failed, killed bool, lived time.Duration, why error) bool {
	s.mu.Lock()
	dead := s.dead || killed
	var pause time.Duration
	if failed && !dead && !s.over {
		s.restarts++
		pause = s.pauses.next(lived)
		s.log.Warn("replica has ended: it is started again", "replica", s.name, "error", why, "lived",
			lived.Round(time.Millisecond), "pause", pause.Round(time.Millisecond), "restarts", s.restarts)
	}
	s.mu.Unlock()
	if dead {
		select {
		case <-ctx.Done():
			return false
		case <-s.revived:
			return true
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// end kills the process for good.
func (s *supervisor) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // its log is whole after any end
	}
}

// kill kills the process, which stays dead until revive. The channel is closed once it is gone.
func (s *supervisor) kill() (gone <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	select {
	case <-s.revived: // an earlier one is void
	default:
	}
	if s.cmd == nil {
		none := make(chan struct{})
		close(none)
		return none, nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("kill %s: %w", s.name, err)
	}
	return s.gone, nil
}

// revive has a process that was killed start again, at once.
func (s *supervisor) revive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		return
	}
	s.dead = false
	s.pauses.short = 0
	s.revived <- struct{}{} // kill has emptied it
}

// isDead reports whether the process was killed by kill.
func (s *supervisor) isDead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// count is how often the process has ended by itself.
func (s *supervisor) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarts
}

// pid is the process that runs; 0: none does.
func (s *supervisor) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}
