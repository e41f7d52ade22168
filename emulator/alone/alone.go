// Package alone runs one emulated switch by itself: a device, its dataplane in memory and a gNMI target in front of it,
// so that controllers of all kinds can be tried against it, with faults from a file or while it runs.
//
// It moves no packets.
package alone

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// Config says what is run.
type Config struct {
	Name     string
	Profile  string // of Profiles
	Ports    int32
	Racks    int32 // that rules can name
	Delays   device.Delays
	Recovery device.Recovery
	AllStop  bool
	Seed     uint64
	Strict   bool // refuse a Set without an election id

	// OnStage is told what was drawn for a stage of a change; OnLag is told, once a target is made, how to ask how many
	// streams there are and how many leaves they lag behind.
	OnStage func(stage string, took time.Duration)
	OnLag   func(lag func() (streams, leaves int))

	Identity     pki.Identity // the zero value: plaintext, on a loopback address only
	ElectionFile string

	// Backend is an optical switch that stands elsewhere: the target fronts it. It takes no faults.
	Backend southbound.Device

	Steps []device.Step // faults, sorted by instant
	Live  io.Reader     // lines as ParseStep reads them, done when they come; nil: none
	Tell  io.Writer     // what came of them
	Log   *slog.Logger
}

// Profiles are the models that a target speaks. One that speaks sonic-ocs speaks ocp too, on the same store.
func Profiles() []string {
	return slices.Concat(target.Profiles(device.Optical), target.Profiles(device.Packet))
}

// kind is what a device of that profile switches.
func kind(profile string) device.Kind {
	if slices.Contains(target.Profiles(device.Optical), profile) {
		return device.Optical
	}
	return device.Packet
}

// Run serves on l until ctx ends, then returns nil. It closes l. A Live that blocks is left behind to its reader.
func Run(ctx context.Context, l net.Listener, c Config) error {
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	if c.Backend != nil {
		return front(ctx, l, c, start, clock)
	}
	door := device.NewDoor(device.New(device.Config{Name: c.Name, Kind: kind(c.Profile), Ports: c.Ports, Racks: c.Racks,
		Delays: c.Delays, AllStop: c.AllStop, Seed: c.Seed, Recovery: c.Recovery, OnStage: c.OnStage, Plane: mem.New(c.Ports, clock), Clock: clock}), clock, nil)
	t, err := newTarget(c, target.Config{Door: door, Start: start})
	if err != nil {
		return err
	}
	defer t.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return door.Run(ctx) })
	g.Go(func() error { return t.Serve(ctx, l) })
	g.Go(func() error { return play(ctx, clock, door, c.Steps) })
	if c.Live != nil {
		lines := make(chan string)
		go read(ctx, c.Live, lines) // ends with its reader: reading cannot be interrupted
		g.Go(func() error { return obey(ctx, door, lines, c.Tell) })
	}
	return g.Wait()
}

func newTarget(c Config, tc target.Config) (*target.Target, error) {
	tc.Profile, tc.Strict, tc.ElectionFile, tc.Log, tc.Plaintext = c.Profile, c.Strict, c.ElectionFile, c.Log, c.Identity.IsZero()
	if !c.Identity.IsZero() {
		tc.TLS = c.Identity.Server(pki.Controller)
	}
	t, err := target.New(tc)
	if err != nil {
		return nil, fmt.Errorf("run target %q: %w", c.Name, err)
	}
	if c.OnLag != nil {
		c.OnLag(t.Lag)
	}
	return t, nil
}

// front serves a target for a switch elsewhere. It serves also while the switch cannot be
// reached: then it says Unavailable.
func front(ctx context.Context, l net.Listener, c Config, start time.Time, clock func() time.Duration) error {
	remote := target.NewRemote(target.RemoteConfig{Name: c.Name, Ports: c.Ports, Device: c.Backend, Clock: clock, Log: c.Log})
	t, err := newTarget(c, target.Config{Remote: remote, Start: start})
	if err != nil {
		return err
	}
	defer t.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return remote.Run(ctx) })
	g.Go(func() error { return t.Serve(ctx, l) })
	return g.Wait()
}

// play does the steps at their instants.
func play(ctx context.Context, clock func() time.Duration, door *device.Door, steps []device.Step) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, s := range steps {
		timer.Reset(max(s.At-clock(), 0))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			door.Do(s.Do)
		}
	}
	return nil
}

func read(ctx context.Context, r io.Reader, lines chan<- string) {
	defer close(lines)
	for s := bufio.NewScanner(r); s.Scan(); {
		select {
		case lines <- s.Text():
		case <-ctx.Done():
			return
		}
	}
}

// obey does what lines say, at once. "show" prints the circuits or how many rules there are.
func obey(ctx context.Context, door *device.Door, lines <-chan string, tell io.Writer) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := one(door, strings.TrimSpace(line), tell); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

func one(door *device.Door, line string, tell io.Writer) error {
	switch line {
	case "":
		return nil
	case "show":
		var seen southbound.Seen
		door.Do(func(now time.Duration, d *device.Device) { seen = d.Seen(now) })
		for _, c := range seen.Connections {
			if _, err := fmt.Fprintf(tell, "%d -> %d %v\n", c.In, c.Out, c.Status); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(tell, "%d circuits, %d rules, ports down: %v\n", len(seen.Connections), len(seen.Rules), seen.Down)
		return err
	}
	s, err := device.ParseStep(line)
	if err != nil {
		_, err = fmt.Fprintln(tell, err)
		return err
	}
	door.Do(s.Do)
	_, err = fmt.Fprintln(tell, "done")
	return err
}
