package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminal is a pseudo-terminal between the user's terminal and a command in a host. The command's
// session has its slave as controlling terminal, so that shells have job control and Ctrl-C reaches the
// command alone.
type terminal struct {
	master, slave *os.File
	in            *os.File
	before        *term.State // of the user's terminal
	resized       chan os.Signal
	copied        sync.WaitGroup // of the output
}

func openTerminal(in, out *os.File) (*terminal, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("exec: open a terminal: %w", err)
	}
	t := &terminal{master: master, slave: slave, in: in, resized: make(chan os.Signal, 1)}
	if t.before, err = term.MakeRaw(int(in.Fd())); err != nil {
		return nil, fmt.Errorf("exec: %w", errors.Join(err, master.Close(), slave.Close()))
	}
	t.resize()
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		for range t.resized {
			t.resize()
		}
	}()
	go func() { _, _ = io.Copy(master, in) }() // it ends with this process, which waits for nothing more
	t.copied.Go(func() { _, _ = io.Copy(out, master) })
	return t, nil
}

// resize gives the command's terminal the size of the user's.
func (t *terminal) resize() { _ = pty.InheritSize(t.in, t.master) }

// close gives the user's terminal back, once all output of the command is on it.
func (t *terminal) close() error {
	signal.Stop(t.resized)
	close(t.resized)
	err := t.slave.Close() // the command has ended: the master reads to the end
	t.copied.Wait()
	return errors.Join(err, t.master.Close(), term.Restore(int(t.in.Fd()), t.before))
}
