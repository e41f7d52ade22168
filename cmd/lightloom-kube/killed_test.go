package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestSleeper: what start started ends when the test is killed. Both have the end of a pipe.
func TestSleeper(t *testing.T) {
	const folder = "LIGHTLOOM_KUBE_SLEEPER"
	if dir := os.Getenv(folder); dir != "" {
		_ = start(t, dir, "sh", "-c", "echo begun >&3; exec sleep 60").Wait() // until this is killed
		return
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSleeper$")
	c.Env, c.ExtraFiles, c.SysProcAttr = append(os.Environ(), folder+"="+t.TempDir()), []*os.File{to},
		alone(syscall.SIGKILL)
	err = c.Start()
	_ = to.Close()
	if err != nil {
		t.Fatal(err)
	}
	_ = from.SetReadDeadline(time.Now().Add(20 * time.Second))
	said := bufio.NewReader(from)
	_, begun := said.ReadString('\n')
	_ = c.Process.Kill()
	_ = c.Wait()
	if _, err := io.ReadAll(said); begun != nil || err != nil {
		t.Errorf("the sleeper began: %v; it ended: %v", begun, err)
	}
}
