package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller"
	"lightloom/pathmap/topo"
)

// Limits on what a program may do.
const (
	Patience  = 10 * time.Second // for one answer
	MaxAnswer = 64 << 20         // bytes of one answer
	grace     = time.Second      // to end once its standard input has
)

// process is a program under way. The zero value with argv is one that has not been started.
type process struct {
	argv     []string
	question string
	patience time.Duration

	fabric *topo.Fabric // that it has been told of, with a seed
	seed   uint64
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  *bufio.Reader
	failed error // why it is not asked any more
	buf    bytes.Buffer

	closing sync.Mutex // of Close, which another goroutine can call
}

func newProcess(command, question string) *process {
	return &process{argv: strings.Fields(command), question: question, patience: Patience}
}

// know has a program run that knows the fabric and the seed of a view, and reports whether it knows
// nothing else yet. An error is for ask to return.
func (p *process) know(v *controller.View) (fresh bool) {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.failed != nil || p.cmd != nil && p.fabric == v.Fabric && p.seed == v.Seed {
		return false
	}
	if p.failed = p.end(); p.failed == nil {
		p.fabric, p.seed = v.Fabric, v.Seed
		p.failed = p.begin(v)
	}
	return true
}

// ask returns the answer to q. The first failure is final: what the program knows is no longer what it
// was told.
func (p *process) ask(q *Question) (*Answer, error) {
	p.closing.Lock()
	defer p.closing.Unlock()
	a := new(Answer)
	if p.failed == nil {
		p.failed = p.exchange(q, a)
	}
	if p.failed != nil {
		return nil, fmt.Errorf("ask %q: %w", strings.Join(p.argv, " "), p.failed)
	}
	return a, nil
}

func (p *process) begin(v *controller.View) error {
	if len(p.argv) == 0 {
		return errors.New("name a program behind exec:, such as exec:./policy.py")
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe() // whose reads take a deadline
	if err != nil {
		return err
	}
	cmd.Stdout = w
	err = cmd.Start()
	if w.Close(); err != nil {
		return errors.Join(err, r.Close())
	}
	p.cmd, p.in, p.out, p.lines = cmd, in, r, bufio.NewReaderSize(r, 64<<10)
	var e Echo
	err = p.exchange(Hello{Version, p.question, v.Seed, describe(v.Fabric)}, &e)
	if err == nil && e.Version != Version {
		err = fmt.Errorf(`it answers version %d, want {"lightloom":%d}`, e.Version, Version)
	}
	return err
}

// exchange writes a line and reads one.
func (p *process) exchange(say, hear any) error {
	p.buf.Reset()
	if err := json.NewEncoder(&p.buf).Encode(say); err != nil {
		return err
	}
	if err := p.out.SetReadDeadline(time.Now().Add(p.patience)); err != nil {
		return err
	}
	wrote := make(chan error, 1) // a program that reads nothing must not hold us
	go func() { _, err := p.in.Write(p.buf.Bytes()); wrote <- err }()
	line, err := p.line()
	if err != nil {
		_ = p.in.Close() // ends the write
		return errors.Join(err, broken(<-wrote))
	}
	if err := <-wrote; err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(hear); err != nil {
		return fmt.Errorf("its answer %.200q: %w", line, err)
	}
	return nil
}

// broken drops the error of a write that was cut short because no answer came.
func broken(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, unix.EPIPE) {
		return nil
	}
	return err
}

// line reads one line of bounded length.
func (p *process) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxAnswer:
			return nil, fmt.Errorf("its answer is longer than %d bytes", MaxAnswer)
		case err == nil:
			return line, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("no whole line came within %v", p.patience)
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("it has closed its standard output after %.200q", line)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close ends the program.
func (p *process) Close() error {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.failed == nil {
		p.failed = errors.New("it has been closed")
	}
	return p.end()
}

func (p *process) end() error {
	if p.cmd == nil {
		return nil
	}
	err := broken(p.in.Close())
	ended := make(chan struct{})
	timer := time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() }) // it may have ended by itself
	go func() { defer close(ended); _ = p.cmd.Wait() }()                // its status means nothing any more
	<-ended
	timer.Stop()
	p.cmd = nil
	return errors.Join(err, p.out.Close())
}
