package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/wiring"
)

// LabWiring wires testbeds through optical switches of the lab. Its files are read at each call, so that what people
// change in them counts, and commands beside the controller share the leases.
type LabWiring struct {
	Switches string `json:"switches,omitempty" yaml:"switches"` // inventory; empty: nothing is wired
	Book     string `json:"leases,omitempty" yaml:"leases"`     // file of leases; its audit log is beside it
}

var _ api.Wirer = LabWiring{}

// wirer is what the API has of the lab; nil: nothing.
func (p *replicaProcess) wirer() api.Wirer {
	if p.config.Lab.Switches == "" {
		return nil
	}
	return p.config.Lab
}

// newLease is how long a lease lasts of which nothing is said.
const newLease = 24 * time.Hour

// Wiring implements api.Wirer.
func (l LabWiring) Wiring(ctx context.Context, user string, r *apiv1.WiringRequest) (*apiv1.WiringResponse, error) {
	w := &wiring.Wiring{Testbed: r.GetTestbed(), Switch: r.GetSwitch()}
	if r.GetLinks() != "" {
		var err error
		if w, err = wiring.ParseFile("links", []byte(r.GetLinks())); err != nil {
			return nil, wiringError(err)
		}
		if r.GetTestbed() != "" {
			w.Testbed = r.GetTestbed()
		}
		if r.GetSwitch() != "" {
			w.Switch = r.GetSwitch()
		}
	}
	links := map[string]bool{api.WirePlan: true, api.WireVerify: true, api.WireApply: true}[r.GetWhat()]
	switch {
	case w.Testbed == "" || w.Switch == "":
		return nil, &api.Error{Code: api.Invalid, Err: errors.New("which testbed and switch? name both")}
	case links && r.GetLinks() == "":
		return nil, &api.Error{Code: api.Invalid, Err: errors.New("no links say what is wanted")}
	}
	out := &apiv1.WiringResponse{Testbed: w.Testbed, Switch: w.Switch}
	if r.GetWhat() == api.WireExtend || r.GetWhat() == api.WireHandOver {
		return out, wiringError(l.change(user, w, r))
	}
	d, err := l.dial(ctx, w.Switch)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return out, wiringError(l.do(ctx, user, w, d, r, out))
}

// closer is a device that is hung up.
type closer interface {
	southbound.Device
	Close() error
}

func (l LabWiring) dial(ctx context.Context, name string) (closer, error) {
	all, err := inventory.Read(l.Switches, nil)
	if err != nil {
		return nil, fmt.Errorf("read the lab's switches: %w", err)
	}
	d, err := all.Devices.Find(name)
	if err != nil {
		return nil, &api.Error{Code: api.Unknown, Err: err}
	}
	return d.Dial(ctx, os.Getenv)
}

// change changes a lease that stands.
func (l LabWiring) change(user string, w *wiring.Wiring, r *apiv1.WiringRequest) error {
	now := time.Now()
	if r.GetWhat() == api.WireHandOver && r.GetTo() == "" {
		return hint.Wrong(errors.New("hand over lease: nobody is named"))
	}
	if r.GetWhat() == api.WireExtend && r.GetLifeNs() == 0 {
		return hint.Wrong(errors.New("extend lease: for how long?"))
	}
	return circuit.ChangeLeases(l.Book, user, now, func(b *circuit.LeaseTable) error {
		if r.GetWhat() == api.WireHandOver {
			return b.HandOver(w.Switch, w.Testbed, r.GetHolder(), r.GetTo(), now)
		}
		until := now.Add(time.Duration(r.GetLifeNs())).UTC().Truncate(time.Second)
		return b.Extend(w.Switch, w.Testbed, r.GetHolder(), until, now)
	})
}

// do does what needs the switch.
func (l LabWiring) do(ctx context.Context, user string, w *wiring.Wiring, d southbound.Device, r *apiv1.WiringRequest,
	out *apiv1.WiringResponse) error {
	k := &wiring.Desk{Leases: l.Book, User: user, Holder: r.GetHolder(), Life: time.Duration(r.GetLifeNs()),
		Keep: r.GetLifeNs() == 0, Queue: r.GetQueue(), Now: time.Now, Options: wiring.Options{TakeOver: r.GetTakeOver()}}
	if k.Life == 0 {
		k.Life = newLease
	}
	var done *wiring.Done
	var err error
	switch r.GetWhat() {
	case api.WirePlan:
		done, err = k.Plan(ctx, w, d, w.Switch)
	case api.WireVerify:
		v, sides, lerr := wiring.Look(ctx, d)
		done, err = &wiring.Done{Findings: w.Verify(v, sides)}, lerr
	case api.WireApply:
		done, err = k.Apply(ctx, w, d, w.Switch)
	case api.WireRelease:
		done, err = k.Release(ctx, w.Testbed, d, w.Switch, false)
	}
	if done != nil {
		say(out, w, done)
	}
	return err
}

// say writes what was done into an answer.
func say(out *apiv1.WiringResponse, w *wiring.Wiring, done *wiring.Done) {
	if done.Until != nil {
		out.Until = timestamppb.New(*done.Until)
	}
	for _, s := range done.Strays {
		out.Strays = append(out.Strays, w.Describe(s))
	}
	for _, s := range done.Steps {
		step := &apiv1.WiringStep{Action: string(s.Action)}
		for _, x := range s.Change.Connect {
			c := &apiv1.WiringCircuit{In: int32(x.In)}
			if x.Off {
				step.Remove = append(step.Remove, c)
				continue
			}
			c.Out = int32(x.Out)
			step.Connect = append(step.Connect, c)
		}
		out.Steps = append(out.Steps, step)
	}
	for _, f := range done.Findings {
		out.Findings = append(out.Findings, &apiv1.WiringFinding{Link: f.Link, Problem: f.Problem,
			Circuit: &apiv1.WiringCircuit{In: int32(f.In), Out: int32(f.Out)}})
	}
}

// wiringError gives an error its code: whose fault it is.
func wiringError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, circuit.ErrLeased), errors.Is(err, wiring.ErrForeign):
		return &api.Error{Code: api.NoRoom, Err: err}
	case errors.Is(err, circuit.ErrNoLease):
		return &api.Error{Code: api.Unknown, Err: err}
	case errors.Is(err, fs.ErrExist): // the lock of the leases
		return &api.Error{Code: api.Busy, Err: err}
	case hint.IsWrong(err):
		return &api.Error{Code: api.Invalid, Err: err}
	}
	return err
}

// Leases implements api.Wirer.
func (l LabWiring) Leases() (*apiv1.ListLeasesResponse, error) {
	b, err := circuit.ReadLeases(l.Book)
	if err != nil {
		return nil, err
	}
	wire := func(all []circuit.Lease) (out []*apiv1.WiringLease) {
		for _, x := range all {
			m := &apiv1.WiringLease{Switch: x.Device, Testbed: x.Group, Holder: x.Holder, Until: timestamppb.New(x.Until)}
			for _, p := range x.Inputs {
				m.Inputs = append(m.Inputs, int32(p))
			}
			for _, p := range x.Outputs {
				m.Outputs = append(m.Outputs, int32(p))
			}
			out = append(out, m)
		}
		return out
	}
	return &apiv1.ListLeasesResponse{Leases: wire(b.Leases), Waiting: wire(b.Waiting)}, nil
}
