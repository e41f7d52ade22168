package state

// keptMoves is the default number of moves whose records are kept: those of minutes of a busy fabric.
// If all were kept, a snapshot would grow for as long as a controller runs.
const keptMoves = 1 << 16

// KeepMoves has the records of at least half as many moves kept, and of those whose circuits stand; 0
// keeps all. forgotten, which can be nil, is shown those that go, in the order of their intents,
// borrowed for the call. It is called before the first entry, and alike on every replica: what is kept
// is part of the state.
func (s *State) KeepMoves(n int, forgotten func([]Move)) { s.keep, s.onForget = n, forgotten }

// forget drops the older half of the moves, but for those whose circuits have not ended.
func (s *State) forget() {
	old := len(s.d.Moves) / 2
	gone, left := s.spare[0][:0], s.spare[1][:0]
	for i := range s.d.Moves[:old] {
		if m := &s.d.Moves[i]; m.Ended == Unset {
			s.d.Circuits[m.In].Move = int32(len(left))
			left = append(left, *m)
		} else {
			gone = append(gone, *m)
		}
	}
	for in := range s.d.Circuits {
		if c := &s.d.Circuits[in]; int(c.Move) >= old {
			c.Move -= int32(len(gone))
		}
	}
	if s.onForget != nil {
		s.onForget(gone)
	}
	s.d.Forgot += int64(len(gone))
	n := copy(s.d.Moves, left)
	n += copy(s.d.Moves[n:], s.d.Moves[old:])
	s.d.Moves = s.d.Moves[:n]
	s.spare = [2][]Move{gone, left}
}
