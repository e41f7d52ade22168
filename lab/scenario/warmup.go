package scenario

import (
	"fmt"
	"time"

	"lightloom/southbound/hint"
)

// Seeds are those of the runs.
func (s *Prepared) Seeds() []uint64 {
	out := make([]uint64, max(1, s.Options.Repeat))
	for i := range out {
		out[i] = s.Options.Seed + uint64(i)
	}
	return out
}

// warm notes what a warm-up leaves out, and refuses one that leaves nothing.
func (s *Prepared) warm() error {
	if s.Options.Warmup == 0 {
		return nil
	}
	early := 0
	for i := range s.Jobs {
		if s.Jobs[i].Arrival < s.Options.Warmup {
			early++
		}
	}
	if early == len(s.Jobs) {
		mend := "leave --warmup away"
		if last := s.Last().Round(time.Millisecond); last > 0 {
			mend = fmt.Sprintf("take a --warmup below %v", last)
		}
		return hint.New(fmt.Sprintf("all %d jobs arrive within the warm-up of %v: nothing would be measured", early,
			s.Options.Warmup), mend)
	}
	s.Notes = append(s.Notes, fmt.Sprintf("warm-up: %d of %d jobs arrive in the first %v and are left out of all "+
		"figures; they ran all the same.", early, len(s.Jobs), s.Options.Warmup))
	return nil
}
