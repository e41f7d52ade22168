package server

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/southbound"
)

// comer is a switch that answers its questions in turn; the last answer stays.
type comer struct {
	southbound.Device
	mu      sync.Mutex
	answers []any // an error, or southbound.Seen; nil blocks until the question ends
}

func (c *comer) Read(ctx context.Context) (southbound.Seen, error) {
	c.mu.Lock()
	next := c.answers[0]
	if len(c.answers) > 1 {
		c.answers = c.answers[1:]
	}
	c.mu.Unlock()
	switch x := next.(type) {
	case error:
		return southbound.Seen{}, x
	case southbound.Seen:
		return x, nil
	}
	<-ctx.Done()
	return southbound.Seen{}, ctx.Err()
}

// TestArrivals: every switch is named, one that is dead or unfit with the reason, and the rest goes on.
func TestArrivals(t *testing.T) {
	programmed := southbound.Seen{Rules: []southbound.Rule{{}}}
	misfit := errors.New(`the device has no model "ocp-ocs-optical-switch"`)
	for _, tt := range []struct {
		name     string
		switches map[string][]any
		rules    string // names of those that are to have rules
		missing  string
		says     []string
		replaced string
	}{
		{"all", map[string][]any{"tor0": {southbound.Seen{}, programmed},
			"ocs": {southbound.Seen{}}}, "tor0", "",
			[]string{"switch tor0 is ready\n", "switch ocs is ready\n"}, ""},
		{"a misfit", map[string][]any{"tor0": {programmed}, "ocs": {misfit}}, "tor0", "ocs",
			[]string{"switch tor0 is ready\n", "switch ocs is not ready: " + misfit.Error() + "\n"}, ""},
		{"a dead one", map[string][]any{"tor0": {programmed}, "tor1": {nil}}, "tor0 tor1", "tor1",
			[]string{"switch tor1 is not ready: context deadline exceeded\n"}, ""},
		{"none at first", map[string][]any{"tor0": {misfit, misfit, programmed}}, "tor0", "",
			[]string{"switch tor0 is not ready: " + misfit.Error() + "\nswitch tor0 is ready\n"}, ""},
		{"one that was replaced", map[string][]any{"tor0": {programmed}, "ocs": {misfit}}, "tor0", "",
			[]string{"switch ocs is not ready: " + misfit.Error() + "\n", "switch ocs is ready\n"}, "ocs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			var all []arriving
			for name, answers := range tt.switches {
				all = append(all, arriving{name, &comer{answers: answers},
					slices.Contains(strings.Fields(tt.rules), name)})
			}
			a := newArrivals(all, func(_ context.Context, name string) bool { return name == tt.replaced }, &out)
			a.within, a.again = 50*time.Millisecond, time.Millisecond
			if tt.replaced != "" {
				a.remind = time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var wg sync.WaitGroup
			wg.Go(func() { a.follow(ctx) })
			missing, ok := a.settled(ctx)
			cancel()
			wg.Wait()
			if !ok || strings.Join(missing, " ") != tt.missing {
				t.Errorf("missing are %v, %v", missing, ok)
			}
			for _, line := range tt.says {
				if strings.Count(out.String(), line) != 1 {
					t.Errorf("%q stands not once in:\n%s", line, out.String())
				}
			}
		})
	}
	if got := without([]string{"tor1", "ocs"}); got != ", without tor1, ocs" || without(nil) != "" {
		t.Error(got)
	}
}
