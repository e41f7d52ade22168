package policy

import "time"

// Overrides name parts that take the place of those of a policy. Naming one for a question that a joint part answers is
// an error; an empty name keeps the policy's own part. "none" for Circuits takes the circuits away.
type Overrides struct {
	Place, Circuits, Route, Share string

	// Migrate has tasks of running jobs moved where that gains more than so many times its cost; 0: never. An error where
	// no part of the policy can.
	Migrate float64

	// EdmondsSlot is how long a slot of edmonds lasts after its reconfiguration delay; 0: as long as the part has it.
	EdmondsSlot time.Duration
}
