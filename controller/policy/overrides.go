package policy

import "time"

// Overrides name parts that take the place of those of a policy. Naming one for a question that a joint
// part answers is an error; an empty name keeps the policy's own part. "none" for Circuits takes the
// circuits away.
type Overrides struct {
	Place, Circuits, Route, Share string

	// Migrate moves tasks of running jobs if the gain is more than Migrate times the cost; 0 disables
	// migration. An error if no part of the policy supports it.
	Migrate float64

	// EdmondsSlot is how long a slot of edmonds lasts after its reconfiguration delay; 0: as long as the
	// part has it.
	EdmondsSlot time.Duration

	// ReadsBeside has tasks read blocks of other racks beside the network, in the time that their job says for that.
	ReadsBeside bool
}
