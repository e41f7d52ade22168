package guideline

// Class is how much a task deserves an empty slot on a rack, in the order of Algorithm 2: the smaller, the sooner.
type Class uint8

const (
	ScheduledReduce Class = iota // a reduce of a shuffle-heavy job whose best schedule holds this rack (line 4)
	GuidedMap                    // a map of a shuffle-heavy job with data here, its maps on fewer than R_map racks or here (line 5)
	LightReduce                  // a reduce of another job (line 6)
	LightMap                     // a map of another job (line 7)
	AnyReduce                    // (line 8)
	AnyMap                       // (line 9)
)

// Task is what Algorithm 2 asks of a waiting task and a rack with an empty slot.
type Task struct {
	Reduce    bool
	Heavy     bool // its job is shuffle-heavy; not known yet counts as no
	Scheduled bool // a reduce: the job's best schedule has a task left for this rack
	Guided    bool // a map: its data are on this rack, and the guideline has room for it here
}

// Of returns a task's class on the rack.
func Of(t Task) Class {
	switch {
	case t.Reduce && t.Heavy && t.Scheduled:
		return ScheduledReduce
	case !t.Reduce && t.Heavy && t.Guided:
		return GuidedMap
	case t.Reduce && !t.Heavy:
		return LightReduce
	case !t.Reduce && !t.Heavy:
		return LightMap
	case t.Reduce:
		return AnyReduce
	}
	return AnyMap
}
