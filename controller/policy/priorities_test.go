package policy

import (
	"testing"

	"lightloom/controller/policy/share"
)

// TestPriorities: each part that gives priorities says so, since switches of large fabrics have no queues for them
// otherwise.
func TestPriorities(t *testing.T) {
	gave := 0
	for _, e := range list() {
		gives := false
		for _, p := range e.make(Options{}) {
			_, ok := p.(*share.Priority)
			gives = gives || ok
		}
		if gives {
			gave++
		}
		if e.Priorities != gives {
			t.Errorf("%s: Priorities is %t, and it gives some: %t", e.Name, e.Priorities, gives)
		}
	}
	if gave == 0 {
		t.Error("no part gives priorities")
	}
}
