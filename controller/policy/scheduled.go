package policy

import (
	"fmt"
	"os"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/circuits/schedule"
)

// scheduled is the entry of "schedule:FILE": the circuits of a file of nights and days, over and over. Its name holds
// neither "+" nor a comma, which would end it.
func scheduled(name, file string) (*entry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	defer f.Close()
	s, err := schedule.Parse(f, file)
	if err != nil {
		return nil, err
	}
	return &entry{PartInfo{name, []Question{Circuits}, "the circuits of " + file, controller.Capabilities{Circuits: true}},
		func(Options) []Part { return []Part{circuits.FromFile(s)} }}, nil
}
