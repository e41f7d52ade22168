// Package fault describes which parts of a fabric fail and come back: links, ports, switches, hosts and replicas of the
// controller, by the names that users see. It reads files of faults, and keeps what has failed: a cable is whole while
// nothing that it needs has failed.
//
// It changes no fabric itself: the simulator or the emulated network carries out the changes that Damage returns.
// Package device models how one switch misbehaves (circuits that stick, changes that get lost).
package fault

import (
	"fmt"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Kind is what can fail.
type Kind uint8

// The kinds.
const (
	Link       Kind = iota + 1 // a cable: both directions are dark
	Port                       // one end of a cable: no light leaves or comes in, so both directions are dark
	Switch                     // it forwards nothing and answers no call; it comes back by a cold boot
	Host                       // its tasks and transfers are void; its cable is whole
	Controller                 // one replica's process
	Fibre                      // fibres at ports of the optical switch: pulled, or exchanged with another port's
)

// Kinds are the words of files and commands.
func Kinds() []string { return []string{"link", "port", "switch", "host", "controller", "fibre"} }

func (k Kind) String() string {
	if k > 0 && int(k) <= len(Kinds()) {
		return Kinds()[k-1]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText writes the word.
func (k Kind) MarshalText() ([]byte, error) {
	if k == 0 || int(k) > len(Kinds()) {
		return nil, fmt.Errorf("write fault: %v is unknown", k)
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads the word.
func (k *Kind) UnmarshalText(b []byte) (err error) {
	*k, err = KindNamed(string(b))
	return err
}

// KindNamed returns the kind of a word.
func KindNamed(word string) (Kind, error) {
	for i, n := range Kinds() {
		if n == word {
			return Kind(i + 1), nil
		}
	}
	return 0, fmt.Errorf("%q cannot fail: write link, port, switch, host, controller or fibre", word)
}

// Fault names one thing: a link "tor0-spine1", a port "tor0:2", a switch "spine1", a host "h0-1", a replica
// "controller2", or what was done to fibres, "swap:0:2" or "pull:3:in".
type Fault struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

func (f Fault) String() string { return f.Kind.String() + " " + f.Name }

// Event is a fault that comes, or goes.
type Event struct {
	At time.Duration `json:"at_ns"` // since the run began
	Fault
	Heal bool `json:"heal,omitempty"`
}

func (e Event) String() string {
	verb := "fail"
	if e.Heal {
		verb = "heal"
	}
	return fmt.Sprintf("%v %s %v", e.At, verb, e.Fault)
}

// Change is what is to be done to a fabric. Only the field of its kind counts.
type Change struct {
	Kind       Kind           // Link, Switch, Host, Controller or Fibre
	Up         bool           // whole again
	Cable      pathmap.LinkID // the even one of its two directions
	Device     southbound.DeviceID
	Host       southbound.HostID
	Controller int
	In, Out    []southbound.Port // of a Fibre: which fibre sits at each port, by where it belongs; NoPort: none
}
