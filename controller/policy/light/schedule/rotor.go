package schedule

import (
	"time"

	"lightloom/southbound"
)

// Rotor is one turn of the matchings that join every input to every output but its own, in an order that no demand
// changes: input i leads to i+1 in the first slot, to i+2 in the second (Mellette, McGuinness, Roy, Forencich, Papen,
// Snoeren, Porter: RotorNet: a scalable, low-complexity, optical datacenter network, SIGCOMM 2017). slot is the whole
// length of each, outage included. Bytes go straight to their rack, unless racks keep some for each other (Valiant's
// detours): RotorLB reckons that.
func Rotor(ports int, slot time.Duration) Schedule {
	var s Schedule
	for by := 1; by < ports; by++ {
		out := make([]southbound.Port, ports)
		for i := range out {
			out[i] = southbound.Port((i + by) % ports)
		}
		s.Slots = append(s.Slots, Slot{slot, out})
	}
	return s
}
