package guideline

// Class is how much a task deserves an empty slot on a rack, in the order of Algorithm 2: the smaller,
// the sooner.
type Class uint8

// The classes, the soonest first.
const (
	ScheduledReduce Class = iota // a reduce of a shuffle-heavy job whose best schedule holds this rack (line 4)
	// a map of a shuffle-heavy job with data here, its maps on fewer than R_map racks or here (line 5)
	GuidedMap
	LightReduce // a reduce of another job (line 6)
	LightMap    // a map of another job (line 7)
	AnyReduce   // (line 8)
	AnyMap      // (line 9)
)
