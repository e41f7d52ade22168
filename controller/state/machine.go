package state

// Machine is a State as a replicated log drives it: entries come encoded, a batch at a time.
type Machine struct{ *State }

// Apply applies one encoded batch.
func (m Machine) Apply(entry []byte) error {
	batch, err := Decode(entry)
	if err != nil {
		return err
	}
	return m.ApplyAll(batch)
}
