package southbound

import "time"

// Relay is what racks have to know to pass on what is not their own: the rotation that their circuits keep. A circuit
// begins at a multiple of Slot or later and is gone at the next one; ReconfigurationDelay of a whole slot is dark.
type Relay struct {
	Slot, ReconfigurationDelay time.Duration
}

// Relayer is a Host whose racks can keep bytes for each other. Asked for by type assertion: where it is missing, every
// byte goes from its own rack.
type Relayer interface {
	// Relay has racks balance load as RotorNet's do: what waits for a circuit that will take longer than one turn goes
	// over a third rack, which keeps it until its own circuit leads there. A host flow ends when the last of its bytes has
	// come, whichever way, and Left counts what is kept on its way. The same again is nothing; another rotation is
	// refused.
	Relay(r Relay) error
}
