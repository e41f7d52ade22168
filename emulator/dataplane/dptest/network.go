package dptest

import (
	"time"

	"lightloom/emulator/device"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Network is a fabric whose planes are tested.
type Network interface {
	Spec() *topo.Fabric
	Plane(d southbound.DeviceID) device.Plane
	// Send sends n packets and returns how many arrived, once each has arrived or been counted as dropped.
	Send(src, dst southbound.HostID, tag southbound.Tag, n int) (arrived int, err error)
	// Load sends packets from src to dst while it calls change over and over, and returns their outcome.
	// Once it has sent enough packets, it ends with a call of change.
	Load(src, dst southbound.HostID, tag southbound.Tag, change func() error) (Flow, error)
	// Carried returns the packets that each link has carried so far, by LinkID.
	Carried() ([]uint64, error)
	// Pass lets that much time pass.
	Pass(d time.Duration)
}

// Flow is the outcome of a stream of packets.
type Flow struct {
	Sent, Arrived, Reordered int
}

// enough packets for Load: hundreds of changes meet some of them.
const enough = 3000

// repeat calls change until stop is closed, at least once.
func repeat(change func() error, stop <-chan struct{}) <-chan error {
	done := make(chan error, 1)
	go func() {
		for {
			if err := change(); err != nil {
				done <- err
				return
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	return done
}
