package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd"
	"lightloom/lab/console"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// FibreOptions are the options of the command fibre, which moves fibres of an emulated optical switch
// to other ports.
type FibreOptions struct {
	Do     string // swap, pull or mend
	Switch string // empty: the only one; to mend, all of them
	Ports  []int  // two to swap, one to pull
	Which  string // in, out or both

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// FibreDone is what was done to fibres.
type FibreDone struct {
	Done   string `json:"done"`
	Switch string `json:"switch,omitempty"` // as named
	Ports  []int  `json:"ports"`
	Which  string `json:"which"`
}

type fibreRequest struct {
	Do     string `json:"do"`
	Switch string `json:"switch"`
	Ports  []int  `json:"ports"`
	Which  string `json:"which"`
}

// serveFibre moves fibres to other ports.
func (s *keeper) serveFibre(r fibreRequest) error {
	if !s.Topo.HasOCS() {
		return emulated.ErrNoOCS
	}
	at, err := fibresOf(s.Topo, r)
	for _, n := range at {
		err = errors.Join(err, moveFibres(s.Packets.Switches[n], r))
	}
	return hint.Wrong(err)
}

// fibresOf returns the optical switches whose fibres a request is about.
func fibresOf(f *topo.Fabric, r fibreRequest) (at []pathmap.NodeID, err error) {
	var names []string
	for k := range f.OCSes() {
		n := f.OCSNode + pathmap.NodeID(k)
		name := f.Topology.Node(n).Name
		names = append(names, name)
		if name == r.Switch || r.Switch == "" && (f.OCSes() == 1 || r.Do == "mend") {
			at = append(at, n)
		}
	}
	switch {
	case len(at) > 0:
		return at, nil
	case r.Switch == "":
		return nil, fmt.Errorf("fibre %s: the fabric has %d optical switches: write the port of one of them, such as %s:0",
			r.Do, len(names), names[0])
	}
	return nil, fmt.Errorf("fibre %s: %q is no optical switch of this fabric, which has %s to %s: write %s:0", r.Do,
		r.Switch, names[0], names[len(names)-1], names[0])
}

// moveFibres moves fibres of one optical switch.
func moveFibres(ocs *switchd.Switch, r fibreRequest) (err error) {
	which := map[string]cabling.Fibre{"in": cabling.In, "out": cabling.Out, "both": cabling.Both}[r.Which]
	ocs.Door.Do(func(time.Duration, *device.Device) {
		switch {
		case which == 0:
			err = fmt.Errorf("fibre %q: write in, out or both", r.Which)
		case r.Do == "swap" && len(r.Ports) == 2:
			err = ocs.Panel.Swap(southbound.Port(r.Ports[0]), southbound.Port(r.Ports[1]), which)
		case r.Do == "pull" && len(r.Ports) == 1:
			err = ocs.Panel.Pull(southbound.Port(r.Ports[0]), which)
		case r.Do == "mend" && len(r.Ports) == 0:
			err = ocs.Panel.Mend()
		default:
			err = fmt.Errorf("%s %d fibres: write swap A B, pull A, or mend", r.Do, len(r.Ports))
		}
	})
	return err
}

// Fibre exchanges, pulls or mends fibres of this user's running fabric.
func Fibre(_ context.Context, opt FibreOptions) error {
	if _, err := ask(request{Fibre: &fibreRequest{opt.Do, opt.Switch, opt.Ports, opt.Which}}); err != nil {
		return err
	}
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, FibreDone{opt.Do, opt.Switch, append([]int{}, opt.Ports...), opt.Which})
	}
	_, err := fmt.Fprintln(opt.Stdout, "done")
	return err
}
