package scenario

import (
	"fmt"
	"os"
	"strings"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound/hint"
)

// checkSchedules refuses schedules that name an optical switch which the fabric does not have, or, of several, a port
// which they do not have: its circuits would never be lit, and nothing would say so.
func (s *Prepared) checkSchedules() error {
	have := s.Spec.ParallelOCSes()
	for _, file := range s.schedules() {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read schedule: %w", err)
		}
		x, err := schedule.Parse(f, file)
		f.Close()
		if err != nil {
			return err
		}
		if n := x.Switches(); n > have && s.Spec.HasOCS() {
			return hint.New(fmt.Sprintf("schedule %q names ocs%d, and this fabric has %d: ocs0 to ocs%d", file, n-1, have,
				have-1), fmt.Sprintf("name one of these, or write ocses=%d in --fabric", n))
		}
		if ocs, port := x.BeyondPorts(s.Spec.Racks); have > 1 && ocs >= 0 {
			return hint.New(fmt.Sprintf("schedule %q names port %d of ocs%d, and each optical switch of this fabric has "+
				"ports 0 to %d", file, port, ocs, s.Spec.Racks-1), fmt.Sprintf("name one of these, or write racks=%d in "+
				"--fabric", port+1))
		}
	}
	return nil
}

// schedules are the files of schedules that policies name.
func (s *Prepared) schedules() (files []string) {
	names := []string{s.Options.Parts.Circuits}
	for _, r := range s.Rows {
		names = append(names, strings.Split(r.Policy, "+")...)
	}
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, schedulePart); ok {
			files = append(files, file)
		}
	}
	return files
}
