package policy

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"lightloom/controller"
	"lightloom/controller/policy/program"
)

// execPart begins a part that is a program: exec:COMMAND. It is named by an override, which says what
// it answers.
const execPart = "exec:"

// executed is the entry of a program that answers q.
func executed(name string, q Question) (*entry, error) {
	command := strings.TrimPrefix(name, execPart)
	if strings.TrimSpace(command) == "" {
		return nil, fmt.Errorf("name a program behind %s, such as exec:./policy.py", execPart)
	}
	start := [questions]func(string) program.Part{program.Place, program.Circuits, program.Route,
		program.Share}[q]
	return &entry{PartInfo{name, []Question{q}, "what " + command + " answers",
		controller.Capabilities{Circuits: q == Circuits}},
		func(Options) []Part { return []Part{start(command)} }}, nil
}

// Close ends the programs of a policy. Policies without programs need no Close.
func Close(p controller.Policy) error {
	c, ok := p.(*composed)
	if !ok {
		return nil
	}
	var all []error
	for _, part := range c.parts {
		if p, ok := part.(io.Closer); ok {
			all = append(all, p.Close())
		}
	}
	return errors.Join(all...)
}
