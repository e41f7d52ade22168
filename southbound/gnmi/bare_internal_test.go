package gnmi

import "testing"

// TestLateAnswer: the answer to an earlier session's change does not say that a later one's has been made.
func TestLateAnswer(t *testing.T) {
	var changes Changes
	before, after := bareness{changes: &changes}, bareness{changes: &changes}
	read := func() bool {
		after.claimed(nil)
		after.reading()()
		return after.bare
	}
	first, _ := before.sent()
	second, _ := after.sent()
	before.accepted(first)
	if read() {
		t.Error("a switch is known to have no rules, though a change is open")
	}
	after.accepted(second)
	if !read() {
		t.Error("a switch without rules is not known to have none, though no change is open")
	}
}
