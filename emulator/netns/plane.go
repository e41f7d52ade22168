package netns

import (
	"errors"
	"fmt"
	"io"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/dataplane/mirred"
	"lightloom/emulator/device"
)

// The dataplanes.
const (
	Auto   = "auto" // eBPF where it is allowed, else mirred
	EBPF   = "ebpf"
	Mirred = "mirred"
)

// Plane is what both dataplanes are.
type Plane interface {
	device.Plane
	io.Closer
}

// ChooseDataplane returns the dataplane that a name means on this machine, or an error if there is
// none; empty means Auto.
func ChooseDataplane(name string) (string, error) {
	switch name {
	case EBPF:
		return name, ebpf.Supported()
	case Mirred:
		return name, mirred.Supported()
	case Auto, "":
		e := ebpf.Supported()
		if e == nil {
			return EBPF, nil
		}
		if m := mirred.Supported(); m != nil {
			return "", errors.Join(e, m)
		}
		return Mirred, nil
	}
	return "", fmt.Errorf("dataplane %q is unknown: take %s, %s or %s", name, Auto, EBPF, Mirred)
}

// NewPlane makes the dataplane of that name, EBPF or Mirred, for a switch.
func NewPlane(nl *netlink.Handle, sw dataplane.Switch, name string) (Plane, error) {
	if name == EBPF {
		p, err := ebpf.New(nl, sw)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	p, err := mirred.New(nl, sw)
	if err != nil {
		return nil, err
	}
	return p, nil
}
