package scenario

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"lightloom/emulator/fault"
	"lightloom/southbound/hint"
)

// readFaults reads the file of faults. Its instants are divided as arrivals are.
func (s *Prepared) readFaults() error {
	if s.Options.Faults == "" {
		return nil
	}
	f, err := os.Open(s.Options.Faults)
	if err != nil {
		return fmt.Errorf("read faults: %w", err)
	}
	defer f.Close()
	s.Faults, err = fault.Read(s.Options.Faults, f, fault.NewNames(s.Fabric, s.Options.Replicas))
	if err != nil {
		return hint.Wrap(err, cmp.Or(hint.Of(err), "lightloom replay -h says what a file of faults is"))
	}
	for i := range s.Faults {
		s.Faults[i].At = time.Duration(float64(s.Faults[i].At) / s.Options.Speedup)
	}
	return nil
}
