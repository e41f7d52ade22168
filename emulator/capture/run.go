package capture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Limits of what is kept of a packet, in bytes. A segment that the kernel carries whole has up to 64 kB.
const (
	MinSnap = 14 // the Ethernet header
	MaxSnap = 256 << 10
)

// Options bound a capture.
type Options struct {
	Port     string        // as the file calls it
	About    string        // comment on the whole file
	Program  string        // the program that wrote it
	SnapLen  int           // bytes kept of a packet
	Count    uint64        // end after this number of packets; 0: no bound
	Duration time.Duration // end after so long; 0: no bound
	Began    func()        // called once nothing more is missed; nil: not

	PacketsOnly bool // the file has no interface for notes: some readers take one kind of packets only
}

// Check returns an error if a configuration is invalid.
func (o *Options) Check() error {
	switch {
	case o.SnapLen < MinSnap || o.SnapLen > MaxSnap:
		return fmt.Errorf("snap length of %d bytes: take %d to %d", o.SnapLen, MinSnap, MaxSnap)
	case o.Duration < 0:
		return fmt.Errorf("duration %v is below zero", o.Duration)
	}
	return nil
}

// Result is what a capture came to.
type Result struct {
	Packets uint64 // in the file
	Notes   uint64 // in the file
	Bytes   uint64 // of the packets, whole
	Dropped uint64 // packets that came while the kernel's buffer was full
	Lost    uint64 // notes lost because they came faster than they were written
	Began   time.Time
	Ended   time.Time
}

// Run writes what src sees and notebook takes to w, until ctx ends, a bound is reached, or writing
// fails. What was written before is a whole file in all cases but the last.
func Run(ctx context.Context, src *Source, notebook *Notebook, w io.Writer, opt Options) (Result, error) {
	if err := opt.Check(); err != nil {
		return Result{}, fmt.Errorf("capture at %q: %w", opt.Port, err)
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	f, err := NewFile(buffered, &opt)
	if err != nil {
		return Result{}, err
	}
	r := &recorder{file: f, out: buffered, src: src, opt: opt, result: Result{Began: time.Now()}}
	if err := r.run(ctx, notebook); err != nil {
		return r.result, errors.Join(err, buffered.Flush())
	}
	r.result.Ended, r.result.Lost = time.Now(), notebook.lost()
	if err := f.End(r.result); err != nil {
		return r.result, err
	}
	if err := buffered.Flush(); err != nil {
		return r.result, fmt.Errorf("write capture: %w", err)
	}
	return r.result, nil
}

// recorder writes from two sources into one file.
type recorder struct {
	src *Source
	opt Options

	mu     sync.Mutex
	file   *File
	out    *bufio.Writer // of the file
	result Result
}

func (r *recorder) run(ctx context.Context, notebook *Notebook) error {
	if r.opt.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.opt.Duration)
		defer cancel()
	}
	life, end := context.WithCancel(ctx)
	stop := context.AfterFunc(life, func() { _ = r.src.Stop() })
	defer stop()
	defer end()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	var noteErr, flushErr error
	wg.Go(func() {
		if noteErr = notebook.follow(life, r.note); noteErr != nil {
			end()
		}
	})
	if err := r.flush(); err != nil {
		return err
	}
	wg.Go(func() {
		if flushErr = r.keepFlushed(life); flushErr != nil {
			end()
		}
	})
	if r.opt.Began != nil {
		r.opt.Began()
	}
	err := r.packets(ctx)
	end()
	wg.Wait()
	return errors.Join(err, noteErr, flushErr)
}

// flushEvery is how old a packet gets at most before it is in the file: a reader follows it, and a kill
// loses no more.
const flushEvery = time.Second

func (r *recorder) keepFlushed(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
}

func (r *recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Flush(); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// drainWithin bounds how long is read what came before the end.
const drainWithin = 200 * time.Millisecond

// packets reads until the source is stopped or the bound is reached.
func (r *recorder) packets(ctx context.Context) error {
	var over time.Time // the end, after which only what the kernel still keeps is read
	for r.opt.Count == 0 || r.result.Packets < r.opt.Count {
		f, err := r.src.Read()
		if errors.Is(err, errStopped) || err != nil && ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil && over.IsZero() {
			over = time.Now()
		}
		if !over.IsZero() && time.Since(over) > drainWithin {
			break // a port that never rests would be read for ever
		}
		if err := r.packet(f); err != nil {
			return err
		}
	}
	dropped, err := r.src.Dropped()
	r.result.Dropped += dropped
	return err
}

func (r *recorder) packet(f Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Packets++
	r.result.Bytes += uint64(f.Size)
	return r.file.Packet(f)
}

func (r *recorder) note(n Note) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Notes++
	return r.file.Note(n)
}
