package switches

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/inventory"
)

// end is the packet switch that sends into an input.
type end struct {
	device string
	port   southbound.Port
	rack   southbound.RackID // behind the input; an output of the same number leads to it
}

// steering makes packet switches of a lab send to circuits. A circuit's rule matches its rack and
// TagCircuit.
type steering struct {
	ends  map[southbound.Port]end
	open  map[string]southbound.Device
	drain time.Duration
}

// steering opens the packet switches that --steer names. Without the flag it changes no switch.
func (f *circuitFlags) steering(c *cobra.Command) (circuit.Steering, func() error, error) {
	nothing := func() error { return nil }
	if f.steer == "" {
		return circuit.Unsteered{}, nothing, nil
	}
	if f.r.file == "" {
		return nil, nothing, cli.Usage("write --devices FILE", "apply: --steer names devices of an inventory")
	}
	s := &steering{ends: map[southbound.Port]end{}, open: map[string]southbound.Device{}, drain: f.drain}
	file, err := os.Open(f.steer)
	if err != nil {
		return nil, nothing, fmt.Errorf("read steering: %w", err)
	}
	err = eachLine(f.steer, file, "input=0 device=tor0 port=5 rack=0",
		[]string{"input", "device", "port", "rack"}, s.add)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nothing, err
	}
	sessions, err := s.dial(c.Context(), f.r.file)
	closeAll := func() error {
		var err error
		for _, d := range sessions {
			err = errors.Join(err, d.Close())
		}
		return err
	}
	if err != nil {
		return nil, nothing, errors.Join(err, closeAll())
	}
	return s, closeAll, nil
}

func (s *steering) add(_ int, v map[string]string) error {
	input, ierr := strconv.ParseUint(v["input"], 10, 16)
	port, perr := strconv.ParseUint(v["port"], 10, 16)
	rack, rerr := strconv.ParseUint(v["rack"], 10, 16)
	if err := errors.Join(ierr, perr, rerr); err != nil {
		return errors.New("input, port and rack are numbers")
	}
	if _, dup := s.ends[southbound.Port(input)]; dup {
		return fmt.Errorf("input %d stands twice", input)
	}
	s.ends[southbound.Port(input)] = end{device: v["device"], port: southbound.Port(port),
		rack: southbound.RackID(rack)}
	return nil
}

func (s *steering) dial(ctx context.Context, file string) ([]gnmi.Line, error) {
	f, err := inventory.Read(file, nil)
	if err != nil {
		return nil, err
	}
	var sessions []gnmi.Line
	for _, in := range slices.Sorted(maps.Keys(s.ends)) {
		e := s.ends[in]
		if s.open[e.device] != nil {
			continue
		}
		d, err := f.Devices.Find(e.device)
		if err != nil {
			return sessions, fmt.Errorf("%s: %w", file, err)
		}
		session, err := d.Dial(ctx, os.Getenv)
		if err != nil {
			return sessions, err
		}
		sessions, s.open[e.device] = append(sessions, session), session
	}
	return sessions, nil
}

// rule returns the switch and the rule that send packets into a circuit; false if no switch is known at
// its input.
func (s *steering) rule(x southbound.CrossConnect) (string, southbound.Rule, bool) {
	e, known := s.ends[x.In]
	rack := southbound.RackID(x.Out)
	if far, ok := s.ends[x.Out]; ok { // what an output leads to sends into the input of the same number
		rack = far.rack
	}
	return e.device, southbound.Rule{Match: southbound.Match{Dst: rack, Tag: southbound.TagCircuit,
		Src: southbound.AnyRack},
		Primary: e.port, Backup: southbound.NoPort}, known
}

// changes groups the rules by device: one change each, and the devices' names.
func (s *steering) changes(all []southbound.CrossConnect,
	add func(*southbound.Change, southbound.Rule)) (map[string]*southbound.Change, []string) {
	by := map[string]*southbound.Change{}
	var names []string
	for _, x := range all {
		name, r, known := s.rule(x)
		if !known {
			continue
		}
		if by[name] == nil {
			by[name] = &southbound.Change{}
			names = append(names, name)
		}
		add(by[name], r)
	}
	slices.Sort(names)
	return by, names
}

// Off implements circuit.Steering.
func (s *steering) Off(ctx context.Context, all []southbound.CrossConnect) error {
	by, names := s.changes(all, func(c *southbound.Change, r southbound.Rule) {
		c.Drop = append(c.Drop, r.Match)
	})
	for _, name := range names {
		if err := s.set(ctx, name, by[name]); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	empty := time.NewTimer(s.drain)
	defer empty.Stop()
	select {
	case <-empty.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// On implements circuit.Steering.
func (s *steering) On(ctx context.Context, all []southbound.CrossConnect) error {
	by, names := s.changes(all, func(c *southbound.Change, r southbound.Rule) { c.Rules = append(c.Rules, r) })
	for _, name := range names {
		if err := s.set(ctx, name, by[name]); err != nil {
			return err
		}
	}
	return nil
}

// set sends a change and waits until the device reports it in effect.
func (s *steering) set(ctx context.Context, name string, c *southbound.Change) error {
	if err := s.open[name].Set(ctx, c); err != nil {
		return err
	}
	return awaitRules(ctx, s.open[name], c)
}
