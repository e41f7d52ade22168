package interop

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs until the test ends, and whose output is read line by line.
type process struct {
	cmd   *exec.Cmd
	lines chan string
}

// start begins a process. It is ended by an interrupt.
func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), lines: make(chan string, 1024)}
	p.cmd.Env = []string{"HOME=" + bins.dir}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	in, err := p.cmd.StdinPipe() // open for as long as the process lives
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(out)
	t.Cleanup(func() { p.end(t, in) })
	return p
}

func (p *process) read(r io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(r); s.Scan(); {
		p.lines <- s.Text()
	}
}

func (p *process) end(t testing.TB, in io.Closer) {
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Log(err)
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	for range p.lines { // until it is closed
	}
	_ = in.Close()
	_ = p.cmd.Wait() // an interrupted program may say so
}

// until reads lines until one matches, and returns its submatches.
func (p *process) until(t testing.TB, want *regexp.Regexp) []string {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	var read []string
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("it ended without a line like %v:\n%s", want, strings.Join(read, "\n"))
			}
			if m := want.FindStringSubmatch(line); m != nil {
				return m
			}
			read = append(read, line)
		case <-late.C:
			t.Fatalf("no line like %v came:\n%s", want, strings.Join(read, "\n"))
		}
	}
}

// targetAt is one of our targets, with TLS.
type targetAt struct{ addr, keys string }

var listening = regexp.MustCompile(` speaks \S+ on (\S+), `)

func startTarget(t testing.TB, profile string, ports int) targetAt {
	t.Helper()
	x := targetAt{keys: filepath.Join(t.TempDir(), "keys")}
	p := start(t, lightloom(t), "target", "run", "--profile", profile, "--ports", strconv.Itoa(ports),
		"--racks", "8",
		"--listen", "127.0.0.1:0", "--tls-dir", x.keys, "--name", "sw", "--dark", "1ms")
	x.addr = p.until(t, listening)[1]
	go func() { // drain and ignore what it prints later
		for range p.lines {
		}
	}()
	return x
}
