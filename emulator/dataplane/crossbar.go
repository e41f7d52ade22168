package dataplane

import (
	"fmt"
	"slices"

	"lightloom/southbound"
)

// Crossbar maps each output of an OCS to its wanted input: a circuit is in it from the call that
// requests it, dark or not.
type Crossbar []southbound.Port // output by input; NoPort where there is none

// NewCrossbar returns a crossbar of n ports without circuits.
func NewCrossbar(n int) Crossbar {
	c := make(Crossbar, n)
	for i := range c {
		c[i] = southbound.NoPort
	}
	return c
}

// Move returns the crossbar after a move, the inputs whose standing circuit goes dark (ascending) and
// the circuits that are made (by input). Circuits in on displace what holds either port; one that
// stands already, and is not in off, is left out: it loses no light. c is not changed.
func (c Crossbar) Move(off []southbound.Port, on []southbound.CrossConnect) (next Crossbar,
	dark []southbound.Port,
	made []southbound.CrossConnect, err error) {
	next = slices.Clone(c)
	for _, in := range off {
		if err := c.port(in); err != nil {
			return nil, nil, nil, err
		}
		next[in] = southbound.NoPort
	}
	inputs, outputs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, x := range on {
		if err := c.check(x, inputs, outputs); err != nil {
			return nil, nil, nil, err
		}
		if x.Off {
			next[x.In] = southbound.NoPort
			continue
		}
		if next[x.In] == x.Out {
			continue
		}
		if held := slices.Index(next, x.Out); held >= 0 {
			next[held] = southbound.NoPort
		}
		next[x.In] = x.Out
	}
	for in := range c {
		gone := southbound.Port(in)
		again := slices.Contains(off, gone)
		if c[in] != southbound.NoPort && (next[in] != c[in] || again) {
			dark = append(dark, gone)
		}
		if next[in] != southbound.NoPort && (next[in] != c[in] || again) {
			made = append(made, southbound.CrossConnect{In: gone, Out: next[in]})
		}
	}
	return next, dark, made, nil
}

func (c Crossbar) check(x southbound.CrossConnect, inputs, outputs map[southbound.Port]bool) error {
	if err := c.port(x.In); err != nil {
		return err
	}
	if inputs[x.In] {
		return fmt.Errorf("circuit %d→%d: input %d is named twice: %w", x.In, x.Out, x.In, southbound.ErrRefused)
	}
	inputs[x.In] = true
	if x.Off {
		return nil
	}
	if err := c.port(x.Out); err != nil {
		return err
	}
	if outputs[x.Out] {
		return fmt.Errorf("circuit %d→%d: output %d is named twice: %w", x.In, x.Out, x.Out,
			southbound.ErrRefused)
	}
	outputs[x.Out] = true
	return nil
}

func (c Crossbar) port(p southbound.Port) error {
	if p < 0 || int(p) >= len(c) {
		return fmt.Errorf("port %d: the switch has ports 0 to %d: %w", p, len(c)-1, southbound.ErrRefused)
	}
	return nil
}
