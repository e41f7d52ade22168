package server

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestBackoff: pauses double with every life that was short, within a cap and never below half of it,
// and begin anew after a long one. They depend on nothing but the seed.
func TestBackoff(t *testing.T) {
	a, b, other := backoff{seed: 1}, backoff{seed: 1}, backoff{seed: 2}
	differ := false
	for n := range 100 {
		most := min(firstPause<<min(n, 20), lastPause)
		p := a.next(longLife - 1)
		if p < most/2 || p > most {
			t.Errorf("pause %d is %v, want within %v to %v", n, p, most/2, most)
		}
		if q := b.next(longLife - 1); p != q {
			t.Errorf("pause %d is %v and %v under one seed", n, p, q)
		}
		differ = differ || other.next(longLife-1) != p
	}
	if !differ {
		t.Error("two seeds draw the same pauses")
	}
	if p := a.next(longLife); p > firstPause {
		t.Errorf("%v after a long life", p)
	}
}

// supervised runs a supervisor over a shell script, and reports every start. Its pauses are those of a
// process that lives long: short ones would make the test wait.
func supervised(t *testing.T, script string) (s *supervisor, starts chan int, end func() error) {
	t.Helper()
	starts = make(chan int, 1000)
	s = newSupervisor("r", 1, slog.New(slog.DiscardHandler), func(restarts int) (*exec.Cmd, error) {
		cmd := exec.Command("sh", "-c", script)
		err := cmd.Start()
		starts <- restarts
		return cmd, err
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	return s, starts, func() error { cancel(); return <-done }
}

// TestSupervisor: what ends by itself or by a stranger's hand is started again; what was killed stays
// dead until it is revived, however often; nothing is left at the end.
func TestSupervisor(t *testing.T) {
	s, starts, end := supervised(t, "exec sleep 1000")
	for want := range 3 {
		if got := <-starts; got != want {
			t.Fatalf("start after %d restarts, want %d", got, want)
		}
		if want < 2 {
			if err := syscall.Kill(s.pid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		gone, err := s.kill()
		if err != nil {
			t.Fatal(err)
		}
		<-gone
		if again, err := s.kill(); err != nil {
			t.Error(err)
		} else {
			<-again
		}
		if !s.isDead() || s.pid() != 0 || len(starts) != 0 {
			t.Errorf("killed: process %d runs, %d starts", s.pid(), len(starts))
		}
		s.revive()
		s.revive()
		if got := <-starts; got != 2 {
			t.Errorf("revived after %d restarts: a kill was counted", got)
		}
	}
	pid := s.pid()
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is left: %v", pid, err)
	}
}

// TestSupervisorOfNothing: a process that ends at once is started again and again, and killed meanwhile
// it stays dead.
func TestSupervisorOfNothing(t *testing.T) {
	s, starts, end := supervised(t, "exit 7")
	for range 3 {
		<-starts
	}
	gone, err := s.kill()
	if err != nil {
		t.Fatal(err)
	}
	<-gone
	if err := end(); err != nil {
		t.Error(err)
	}
	s = newSupervisor("r", 1, slog.New(slog.DiscardHandler), func(int) (*exec.Cmd, error) {
		return nil, errors.New("no such program")
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.run(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("a first start that fails: %v", err)
	}
}
