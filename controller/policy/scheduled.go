package policy

import (
	"fmt"
	"os"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/circuits/schedule"
)

// fileParts are the parts of a policy's name that end in the name of a file, each with what makes its entry.
func fileParts() map[string]func(name, file string) (*entry, error) {
	return map[string]func(name, file string) (*entry, error){schedulePart: scheduled, recordedPart: replayed}
}

// replayed is the entry of "recorded:FILE": the reservations of an earlier run.
func replayed(name, file string) (*entry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read reservations: %w", err)
	}
	defer f.Close()
	r, err := circuits.ParseRecorded(f, file)
	if err != nil {
		return nil, err
	}
	return &entry{PartInfo{name, []Question{Circuits}, "the reservations of " + file,
		controller.Capabilities{Circuits: true}}, func(Options) []Part { return []Part{r} }}, nil
}

// scheduled is the entry of "schedule:FILE": the circuits of a file of nights and days, over and over.
// Its name holds neither "+" nor a comma, which would end it.
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
	return &entry{PartInfo{name, []Question{Circuits}, "the circuits of " + file,
		controller.Capabilities{Circuits: true, Wavelengths: true}},
		func(Options) []Part { return []Part{circuits.FromFile(s)} }}, nil
}
