package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"lightloom/lab/console"
)

// ReadyFD is the descriptor that a fabric in the background closes once it is up.
const ReadyFD = 3

// ReadyFlag is the hidden flag of a fabric that Detach has started.
const ReadyFlag = "ready"

// Detach starts this command line again without -d in a session of its own, and returns once its fabric
// is up, or has failed to come up. What it prints goes to a file.
func Detach(argv []string, stdout, stderr io.Writer) error {
	name, err := logFile()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("up: %w", err)
	}
	defer log.Close()
	up, done, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("up: %w", err)
	}
	defer up.Close()
	self, err := os.Executable()
	if err != nil {
		return errors.Join(fmt.Errorf("up: find the program: %w", err), done.Close())
	}
	cmd := exec.Command(self, append(slices.DeleteFunc(slices.Clone(argv), isDetach), "--"+ReadyFlag)...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{done}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), done.Close()); err != nil {
		return fmt.Errorf("up: %w", err)
	}
	word, _ := io.ReadAll(up) // it ends when the fabric is up, and when its process ends
	if len(word) == 0 {
		return failedUp(cmd, log, stderr)
	}
	show(stdout, log)
	_, err = fmt.Fprintf(stdout, "it runs in the background as process %d; lightloom down ends it; it writes to %s\n",
		cmd.Process.Pid, name)
	return errors.Join(err, cmd.Process.Release())
}

// failedUp shows why a fabric did not come up, with its exit status.
func failedUp(cmd *exec.Cmd, log *os.File, stderr io.Writer) error {
	err := cmd.Wait()
	show(stderr, log)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &console.ExitError{Code: max(1, exit.ExitCode())}
	}
	return errors.Join(errors.New("up: the fabric did not come up"), err)
}

// show prints what is in a log now. It reads by position: the fabric, which writes to the same open file, moves the
// offset of that file, and what lies before it would be left out.
func show(to io.Writer, log *os.File) {
	if st, err := log.Stat(); err == nil {
		_, _ = io.Copy(to, io.NewSectionReader(log, 0, st.Size()))
	}
}

// isDetach reports whether a word is the flag that Detach takes away.
func isDetach(word string) bool {
	return word == "-d" || word == "--detach" || strings.HasPrefix(word, "--detach=")
}

// logFile is where a fabric in the background writes to.
func logFile() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = filepath.Join(os.TempDir(), fmt.Sprint("lightloom-", os.Getuid()))
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "lightloom")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("up: %w", err)
	}
	return filepath.Join(dir, "up.log"), nil
}
