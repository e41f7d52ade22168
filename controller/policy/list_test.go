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

// TestParseListsOnce: parsing a policy of several parts builds the list of parts once.
func TestParseListsOnce(t *testing.T) {
	once := testing.AllocsPerRun(10, func() { list() })
	got := testing.AllocsPerRun(10, func() {
		if _, err := Parse("random+sunflow+ecmp+tcp", Overrides{Share: "maxmin"}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 1.5*once {
		t.Errorf("%.0f allocations, the list alone has %.0f", got, once)
	}
}
