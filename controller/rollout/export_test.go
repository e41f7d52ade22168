package rollout

// Wanted returns the tables of the last CheckWanted.
func (c *Checker) Wanted() *Fabric { return c.wanted }
