package southbound

import "time"

// Relay is what racks have to know to pass on what is not their own: the rotation that their circuits
// keep. A circuit begins at a multiple of Slot or later and is gone at the next one;
// ReconfigurationDelay of a whole slot is dark.
type Relay struct {
	Slot, ReconfigurationDelay time.Duration
}

// Relayer is a Host whose racks can keep bytes for each other. Callers find it by type assertion:
// without it, every byte leaves from its own rack.
type Relayer interface {
	// Relay makes racks balance load as RotorNet's do: bytes whose circuit is more than one turn away go
	// over a third rack, which keeps them until its own circuit leads there. A host flow ends when the
	// last of its bytes has come, whichever way, and Left counts bytes kept on the way. A repeated call
	// has no effect; another rotation is refused.
	Relay(r Relay) error
}
