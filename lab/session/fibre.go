package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/emulator/device"
	"lightloom/lab/console"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// FibreOptions are the options of the command fibre, which moves fibres of the emulated optical switch
// to other ports.
type FibreOptions struct {
	Do    string // swap, pull or mend
	Ports []int  // two to swap, one to pull
	Which string // in, out or both

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// FibreDone is what was done to fibres.
type FibreDone struct {
	Done  string `json:"done"`
	Ports []int  `json:"ports"`
	Which string `json:"which"`
}

type fibreRequest struct {
	Do    string `json:"do"`
	Ports []int  `json:"ports"`
	Which string `json:"which"`
}

// serveFibre moves fibres to other ports.
func (s *keeper) serveFibre(r fibreRequest) error {
	if !s.Topo.HasOCS() {
		return emulated.ErrNoOCS
	}
	if n := s.Topo.OCSes(); n > 1 {
		return hint.Wrong(fmt.Errorf("fibre: the fabric has %d optical switches, and fibres are moved at a single one: "+
			"start it without ocses", n))
	}
	ocs := s.Packets.Switches[s.Topo.OCSNode]
	which := map[string]cabling.Fibre{"in": cabling.In, "out": cabling.Out, "both": cabling.Both}[r.Which]
	var err error
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
	return hint.Wrong(err)
}

// Fibre exchanges, pulls or mends fibres of this user's running fabric.
func Fibre(_ context.Context, opt FibreOptions) error {
	if _, err := ask(request{Fibre: &fibreRequest{opt.Do, opt.Ports, opt.Which}}); err != nil {
		return err
	}
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, FibreDone{opt.Do, append([]int{}, opt.Ports...), opt.Which})
	}
	_, err := fmt.Fprintln(opt.Stdout, "done")
	return err
}
