package emulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lightloom/controller/explain"
	"lightloom/emulator/netns"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/hint"
)

// InsideCommand is the hidden command of this binary that runs Inside in new namespaces.
const InsideCommand = "inside"

// ChildConfig is the configuration of the process inside, one JSON object on descriptor 3.
type ChildConfig struct {
	scenario.Scenario
	Kill     []Killing `json:"kill,omitempty"`
	Profiles Profiles  `json:"profiles"`
	Stay     bool      `json:"stay,omitempty"`  // keep the fabric until told to end, and answer on descriptor 5
	Hold     bool      `json:"hold,omitempty"`  // likewise for a measurement: nothing runs that a run of jobs lacks
	State    string    `json:"state,omitempty"` // directory of the replicas' logs; empty: they end with the run
	// least interval between announcements of LLDP of a fabric that stays up; 0: by its size
	Speak  time.Duration `json:"speak,omitempty"`
	Memory int64         `json:"memory,omitempty"` // that it may take with its replicas, in bytes; filled in
}

// Killing kills the leader once the log has that many entries.
type Killing struct {
	Applied uint64 `json:"applied"`
}

// Event is a report of the process inside, one JSON object a line on descriptor 4.
type Event struct {
	Ready bool `json:"ready,omitempty"`
	Done  int  `json:"done,omitempty"` // jobs that have ended

	Why []explain.Line `json:"why,omitempty"` // before the outcome

	Outcome *outcome.Outcome `json:"outcome,omitempty"`
	Error   string           `json:"error,omitempty"`
	Hint    string           `json:"hint,omitempty"`
}

// Run runs a scenario on real packets, in namespaces of its own, and reads the events of the process inside until it
// ends. why holds the explanations of placements and paths, if the scenario requests them.
func Run(ctx context.Context, s *scenario.Scenario, opt Options,
	progress func(int)) (result *outcome.Outcome,
	why []explain.Line, err error) {
	err = InNamespaces(ctx, ChildConfig{Scenario: *s, Kill: opt.Kill, Profiles: opt.Profiles}, opt,
		nil, func(w *Event) {
			switch {
			case w.Outcome != nil:
				result = w.Outcome
			case w.Why != nil:
				why = append(why, w.Why...)
			case w.Done > 0 && progress != nil:
				progress(w.Done)
			}
		})
	if err == nil && result == nil {
		err = errors.New("the fabric's process ended without a result")
	}
	return result, why, err
}

// Options are the options of a process in namespaces of its own.
type Options struct {
	Rootless bool // run as an ordinary user, even if this one is root
	Kill     []Killing
	Profiles Profiles
	Stderr   io.Writer
}

// Profiles are what switches speak and the controller speaks to them, by kind; empty: our own.
type Profiles struct {
	Packet  string `json:"packet,omitempty"`
	Optical string `json:"optical,omitempty"`
}

// of returns the profile of a switch.
func (p Profiles) of(r pathmap.Role) string {
	if r == pathmap.OCS {
		return p.Optical
	}
	return p.Packet
}

// served is what a target speaks to that profile: one is a driver's alone, for switches of another.
func served(profile string) string {
	if profile == (gnmi.OpenConfigPlain{}).Name() {
		return gnmi.OpenConfig{}.Name()
	}
	return profile
}

// InNamespaces runs the process inside to its end, and passes each of its events to listen. extra is its descriptor 5.
func InNamespaces(ctx context.Context, o ChildConfig, opt Options, extra *os.File,
	listen func(*Event)) error {
	o.Memory = memory()
	orders, ordersW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	wordsR, words, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("make pipe: %w", err), orders.Close(), ordersW.Close())
	}
	go func() {
		// The process can end before it has read all; Enter reports why it did.
		_ = json.NewEncoder(ordersW).Encode(o)
		ordersW.Close()
	}()
	var said error
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		said = hear(wordsR, listen)
	}()
	files := []*os.File{orders, words}
	if extra != nil {
		files = append(files, extra)
	}
	status, err := netns.Enter(ctx, []string{InsideCommand},
		netns.EnterOptions{Stderr: opt.Stderr, ExtraFiles: files,
			Rootless: opt.Rootless, Realtime: !o.Stay, Reap: o.Stay}) // what stays up may run anybody's programs
	orders.Close()
	words.Close()
	<-heard
	wordsR.Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case said != nil:
		return said
	case status != 0:
		return fmt.Errorf("the fabric's process ended with status %d", status)
	}
	return nil
}

// hear reads events until the pipe ends, and returns the error that an event reports.
func hear(r io.Reader, listen func(*Event)) error {
	d := json.NewDecoder(r)
	var first error
	for {
		var w Event
		if err := d.Decode(&w); err != nil {
			if !errors.Is(err, io.EOF) && first == nil {
				first = fmt.Errorf("hear the fabric's process: %w", err)
				_, _ = io.Copy(io.Discard, r)
			}
			return first
		}
		if w.Error != "" {
			first = hint.New(w.Error, w.Hint)
			continue
		}
		listen(&w)
	}
}
