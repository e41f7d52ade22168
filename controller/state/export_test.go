package state

// Ledger returns the reservations, sorted by (In, NotBefore). Borrowed.
func (s *State) Ledger() []CircuitReservation {
	s.write()
	return s.d.Ledger
}
