package device

import (
	"strings"
	"testing"

	"lightloom/southbound"
)

// TestOverfull: a table takes as many rules as it holds, and no more, whether they come at once or one
// after the other; what replaces all of them counts by itself.
func TestOverfull(t *testing.T) {
	for _, tt := range []struct {
		rules   int
		replace bool
		held    int
		want    bool
	}{
		{maxRules, false, 0, false},
		{maxRules + 1, false, 0, true},
		{maxRules, true, 0, false},
		{maxRules + 1, true, 0, true},
		{1, false, maxRules - 1, false},
		{1, false, maxRules, true},
		{0, false, maxRules, false}, // drops only
		{maxRules, true, maxRules, false},
		{maxRules + 1, true, maxRules, true},
	} {
		c := &southbound.Change{Replace: tt.replace, Rules: make([]southbound.Rule, tt.rules)}
		if got := overfull(c, tt.held); got != tt.want {
			t.Errorf("%d rules to a table of %d, replace %v: overfull %v", tt.rules, tt.held, tt.replace, got)
		}
	}
	d := New(Config{Kind: Packet, Ports: 2, Racks: 2, Plane: nothing{}})
	err := d.Set(0, &southbound.Change{Rules: make([]southbound.Rule, maxRules+1)})
	if err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("more rules than the table holds: %v", err)
	}
}

// nothing is a plane that is never called.
type nothing struct{ Plane }
