// Package targetd is the target daemon: one emulated switch with its dataplane in memory and a gNMI
// target in front of it, so that controllers of all kinds can be tried against it, with faults from a
// file or while it runs.
//
// It moves no packets.
package targetd

import (
	"bufio"
	"cmp"
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
	"lightloom/emulator/switchd"
	"lightloom/emulator/target"
	"lightloom/emulator/target/rib"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// Config configures a target daemon.
type Config struct {
	device.Config               // its kind is the profile's; Plane and Clock are filled in
	Profile       string        // of Profiles
	Strict        bool          // refuse a Set without an election id
	Like          string        // see target.Config
	Boot          time.Duration // how long a reboot by gNOI takes; 0 means 1 s
	GRIBI         bool          // a packet switch also serves gRIBI
	Images        []string      // see target.Config
	// Validate is how long a Set is validated, with Like.
	Validate func() time.Duration

	// OnLag is called once a target is made, with a function that returns the number of streams and of
	// leaves that they lag behind.
	OnLag func(lag func() (streams, leaves int))

	Identity     pki.Identity // the zero value: plaintext, on a loopback address only
	Keys         *pki.Source  // in the place of Identity, and read again when they change; can be nil
	ElectionFile string

	// Backend is a remote optical switch, for which the target is a front. It takes no faults.
	Backend southbound.Device
	Settle  time.Duration // from a circuit's acceptance there to its failure; 0 means 5 s

	Steps []device.Step // faults, sorted by instant
	Live  io.Reader     // lines as ParseStep reads them, done when they come; nil: none
	Tell  io.Writer     // their results
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

// Run serves on l until ctx ends, then returns nil. It closes l. A Live that blocks is left behind to
// its reader. A Backend that cannot be reached is Unavailable, and the target serves on.
func Run(ctx context.Context, l net.Listener, c Config) error {
	start := time.Now()
	c.Kind, c.Clock = kind(c.Profile), func() time.Duration { return time.Since(start) }
	c.Plane = mem.New(c.Ports, c.Clock)
	s := switchd.New(switchd.Config{Device: c.Config, Backend: c.Backend, Settle: c.Settle, Log: c.Log})
	tc := target.Config{Start: start, Profile: c.Profile, Strict: c.Strict, ElectionFile: c.ElectionFile,
		Like: c.Like, Validate: c.Validate, Boot: c.Boot, Images: c.Images}
	if c.GRIBI {
		tc.RIB = rib.New(switchd.GRIBINames(c.Profile, c.Ports, c.Racks))
	}
	if c.Keys != nil {
		tc.TLS, tc.Keys = c.Keys.Server(pki.Controller), c.Keys
	}
	if err := s.Open(l, c.Identity, tc); err != nil {
		return fmt.Errorf("run target %q: %w", c.Name, err)
	}
	defer s.Close()
	if c.OnLag != nil {
		c.OnLag(s.Lag)
	}
	later := c.Steps
	for s.Door != nil && len(later) > 0 && later[0].At <= 0 {
		s.Door.Do(later[0].Do) // before the first request is answered: what is wrong from the start is never right
		later = later[1:]
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Run(ctx) })
	if c.Keys != nil {
		g.Go(func() error {
			c.Keys.Watch(ctx, pki.DefaultEvery, cmp.Or(c.Log, slog.New(slog.DiscardHandler)))
			return nil
		})
	}
	if c.Backend != nil {
		return g.Wait()
	}
	g.Go(func() error { return play(ctx, c.Clock, s.Door, later) })
	if c.Live != nil {
		lines := make(chan string)
		go read(ctx, c.Live, lines) // ends with its reader: reading cannot be interrupted
		g.Go(func() error { return obey(ctx, s.Door, lines, c.Tell) })
	}
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
		_, err := fmt.Fprintf(tell, "%d circuits, %d rules, dark ports: %v\n", len(seen.Connections),
			len(seen.Rules),
			seen.Down)
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
