package state

import "errors"

// Machine is a State as a replicated log drives it: entries come encoded, a batch at a time.
type Machine struct{ *State }

// Apply applies one encoded batch. After an error that wraps ErrNewer the state is not used again.
func (m Machine) Apply(entry []byte) error {
	batch, err := Decode(entry)
	if batch == nil && err != nil {
		return err
	}
	return errors.Join(err, m.ApplyAll(batch))
}
