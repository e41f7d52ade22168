package main

import (
	"strings"
	"testing"
)

// TestFailRefuses: fail and heal refuse impossible requests, and print what to type instead.
func TestFailRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"fail":                      "fail: want a kind and a name, got 0",
		"heal link":                 "heal: want a kind and a name, got 1",
		"fail fiber tor0-spine0":    `fail: "fiber" cannot fail: write link, port, switch, host, controller or fibre`,
		"fail link tor0 spine0":     "fail: want a kind and a name, got 3",
		"replay --trace t --faults": "flag needs an argument",
	} {
		r := &recorder{}
		status, _, stderr := r.run(strings.Fields(line)...)
		if status == 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "hint:") {
			t.Errorf("%q: status %d: %s", line, status, stderr)
		}
	}
	r := &recorder{}
	if _, help, _ := r.run("replay", "-h"); !strings.Contains(help, "A file of faults has a line an event") {
		t.Errorf("replay -h does not say what a file of faults is:\n%s", help)
	}
}
