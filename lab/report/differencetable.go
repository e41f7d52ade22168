package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Table writes the difference to read.
func (d *FirstDifference) Table(w io.Writer) error {
	var b strings.Builder
	a, z := &d.Sides[0], &d.Sides[1]
	if d.Same {
		fmt.Fprintf(&b, "%s: none. %s and %s decide alike: %s and %s circuits.\n", d.Policy, a.Run, z.Run,
			thousands(int64(a.Moves)), thousands(int64(z.Moves)))
	} else {
		at := time.Duration(min(a.At, z.At)).Seconds()
		fmt.Fprintf(&b, "%s: the first difference is at %s s, on %s.\n", d.Policy, sig(at), d.Of)
	}
	if _, err := io.WriteString(w, b.String()); err != nil || d.Same {
		return err
	}
	t := plainTable(w, []any{"", a.Run, z.Run})
	for _, l := range d.lines() {
		t.Row(l.name, l.of(a), l.of(z))
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// sideLine is a line of the table of a difference.
type sideLine struct {
	name string
	of   func(*Side) string
}

func (d *FirstDifference) lines() []sideLine {
	short := func(t Time) string { return micros(1e6 * time.Duration(t).Seconds()) }
	seconds := func(t Time) string { return sig(time.Duration(t).Seconds()) + " s" }
	out := []sideLine{
		{"decides", func(s *Side) string { return s.Decision }},
		{"at", func(s *Side) string { return seconds(s.At) }},
		{"coflows in the queue then", func(s *Side) string { return strconv.Itoa(s.Active) }},
	}
	circuit := func(name string, of func(c *CircuitSide) string) {
		out = append(out, sideLine{name, func(s *Side) string {
			if s.Circuit == nil {
				return "–"
			}
			return of(s.Circuit)
		}})
	}
	if d.Kind == DecidedCircuit {
		before := func(name string, of func(c *CircuitSide) string) {
			circuit(name, func(c *CircuitSide) string {
				if c.Before == nil {
					return "–"
				}
				return of(c.Before)
			})
		}
		before("before it, on this port", func(c *CircuitSide) string { return c.what })
		before("  ended", func(c *CircuitSide) string { return seconds(c.Ended) + ", " + c.Cause })
		before("  with left", func(c *CircuitSide) string { return megabytes(c.Remained) })
		circuit("knew left", func(c *CircuitSide) string {
			return megabytes(c.Left) + ", " + short(c.Age) + " old"
		})
		circuit("was left", func(c *CircuitSide) string {
			if c.Actual == 0 {
				return "–"
			}
			return megabytes(c.Actual)
		})
		circuit("counted with a delay of", func(c *CircuitSide) string { return short(c.Delta) })
		circuit("reserved", func(c *CircuitSide) string { return seconds(c.Begins) + " to " + seconds(c.Ends) })
		circuit("was in service after", func(c *CircuitSide) string {
			if c.InService == 0 {
				return "never"
			}
			return short(c.InService - c.Begun)
		})
		circuit("ended", func(c *CircuitSide) string {
			return seconds(c.Ended) + ", " + c.Cause + ", " + megabytes(c.Remained) + " left"
		})
		circuit("the coflow took", func(c *CircuitSide) string {
			if c.Took == 0 {
				return "–"
			}
			return seconds(c.Took)
		})
	}
	return append(out,
		sideLine{"mean CCT of what had ended", func(s *Side) string { return sig(s.CCT[0]) + " s" }},
		sideLine{"and of what followed", func(s *Side) string { return sig(s.CCT[1]) + " s" }},
		sideLine{"circuits in all", func(s *Side) string { return strconv.Itoa(s.Moves) }})
}
