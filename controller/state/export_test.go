package state

// NoteColumns has a coflow that a test has made know where its rows are.
func (c *Coflow) NoteColumns() { c.noteColumns() }
