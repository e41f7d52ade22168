package target

import (
	"fmt"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// shownPort is what a port's state shows, and where: a replacement of all circuits reports every port
// four times.
type shownPort struct {
	status, power       string
	peer                southbound.Port
	statusAt, powerAt   schema.Path
	peerAt, connectedAt schema.Path
}

func (f *opticalFront) portState(t *tree, p southbound.Port, input bool) {
	at, group, received, side := portPath(gnmi.InputName(p)), "inputs", powerIn, 1
	if !input {
		at, group, received, side = portPath(gnmi.OutputName(p)), "outputs", powerNone, 0
	}
	t.put(at.With("config", "enabled"), true)
	t.put(at.With("state", "enabled"), true)
	for _, of := range []schema.Path{at.With("state", "counters"),
		at.With("state", "connection", "counters")} {
		t.put(of.With("correctable-error-count"), uint64(0)) // the switch cannot detect errors
		t.put(of.With("total-error-count"), uint64(0))
	}
	t.put(at.With("state", "group"), group)
	t.put(at.With("state", "index"), uint64(p))
	t.put(at.With("state", "input-optical-power"), received)
	f.ports[side][p] = &shownPort{peer: southbound.NoPort, statusAt: at.With("state", "status"),
		powerAt: at.With("state", "output-optical-power"),
		peerAt:  at.With("state", "connection", "peer"), connectedAt: at.With("state",
			"connection", "connected")}
	f.showPort(t, p, southbound.NoPort, input, southbound.Disconnected)
}

// portStatus is what a port says of itself while its circuit has that status.
func portStatus(s southbound.Status) string {
	switch s {
	case southbound.PendingConnection:
		return "TUNING"
	case southbound.Connected, southbound.PendingDeletion:
		return "TUNED"
	case southbound.Failed:
		return "FAILED"
	}
	return "BLOCKED"
}

func lit(s southbound.Status) bool {
	return s == southbound.Connected || s == southbound.PendingDeletion
}

// showPort writes what a port says of its circuit; peer is NoPort where it has none.
func (f *opticalFront) showPort(t *tree, p, peer southbound.Port, input bool, s southbound.Status) {
	side, power := 1, powerNone
	if !input {
		side = 0
		if lit(s) {
			power = f.powerOut(peer)
		}
	}
	port, status := f.ports[side][p], portStatus(s)
	if port.status == status && port.power == power && port.peer == peer {
		return
	}
	port.status, port.power, port.peer = status, power, peer
	f.sonic.port(t, input, p, peer, s)
	t.put(port.statusAt, status)
	t.put(port.powerAt, power)
	switch {
	case peer == southbound.NoPort:
		t.put(port.peerAt, nil)
		t.put(port.connectedAt, nil)
		return
	case input:
		t.put(port.peerAt, gnmi.OutputName(peer))
	default:
		t.put(port.peerAt, gnmi.InputName(peer))
	}
	t.put(port.connectedAt, lit(s))
}

// powerOut is what leaves the switch of the light that came in at an input.
func (f *opticalFront) powerOut(input southbound.Port) string {
	return decibels(-f.lossOf(input))
}

func (f *opticalFront) lossOf(input southbound.Port) device.CentiBel {
	return lossAlways + f.losses[input]
}

// decibels writes hundredths with two digits.
func decibels(c device.CentiBel) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}
