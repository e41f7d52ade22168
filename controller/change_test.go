package controller_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/pathmap"
)

// TestBar: the first policy that has not failed decides next, and the reason is kept short.
func TestBar(t *testing.T) {
	c, left := controller.FabricChange{Policy: "new", Previous: "old"}, true
	for _, want := range []string{"old", "", "fair", "!"} {
		failed := c.Policy
		if failed == "" {
			failed = "founded"
		}
		if c, left = c.Bar(failed, "founded", strings.Repeat("ü", 300), c.Previous, "", "fair"); !left {
			c.Policy = "!"
		}
		if c.Policy != want || c.Check(0) != nil {
			t.Errorf("after %s: %q, want %q, %v", failed, c.Policy, want, c.Check(0))
		}
	}
	if want := []string{"fair", "founded", "new", "old"}; !cmp.Equal(c.Barred, want) || c.Generation != 4 {
		t.Errorf("generation %d: %v barred, want %v", c.Generation, c.Barred, want)
	}
}

// TestAddedBound: a log cannot be filled with nodes.
func TestAddedBound(t *testing.T) {
	c := controller.FabricChange{Cabling: pathmap.Cabling{Added: make([]pathmap.Node, 4097)}}
	if err := c.Check(0); err == nil || !strings.Contains(err.Error(),
		"4097 switches and hosts have been added") {
		t.Error(err)
	}
}
