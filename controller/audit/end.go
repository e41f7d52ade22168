package audit

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"lightloom/southbound"
)

// End is one end of a fibre at a switch, as LLDP names it. The zero value is nothing.
type End struct {
	Chassis string
	Port    string
}

// IsZero reports whether e is empty.
func (e End) IsZero() bool { return e == End{} }

func (e End) String() string {
	if e.IsZero() {
		return "nothing"
	}
	if p, err := strconv.ParseUint(strings.TrimPrefix(e.Port, "Ethernet"), 10, 16); err == nil {
		return fmt.Sprintf("%s:%d", e.Chassis, p) // as commands name the ports of our switches
	}
	return e.Chassis + ":" + e.Port
}

func (e End) compare(o End) int {
	return cmp.Or(cmp.Compare(e.Chassis, o.Chassis), cmp.Compare(e.Port, o.Port))
}

// Heard is that one end hears another: light from From arrives at At.
type Heard struct{ At, From End }

// Map is where the fibres of an optical switch lead. Both slices are by port and of equal length.
type Map struct {
	In  []End // who sends into an input
	Out []End // who hears an output
}

// NewMap returns a map of n ports that lead nowhere.
func NewMap(n int) Map { return Map{In: make([]End, n), Out: make([]End, n)} }

// Ports returns how many ports the map has.
func (m Map) Ports() int { return len(m.In) }

func (m Map) check() {
	if len(m.In) != len(m.Out) {
		panic(fmt.Sprintf("audit: a map of %d inputs and %d outputs", len(m.In), len(m.Out)))
	}
}

// Contradiction is something that was observed and cannot be.
type Contradiction struct {
	In, Out southbound.Port // NoPort where it is not about one circuit
	Why     string
}
