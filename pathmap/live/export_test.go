package live

// SetWorth changes how much more than lists the sets of an index can take, and returns what that was.
func SetWorth(times int64) int64 {
	before := setWorth
	setWorth = times
	return before
}
