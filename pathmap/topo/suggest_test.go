package topo

import "testing"

func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"show", "show", 0}, {"shwo", "show", 1}, {"lst", "list",
		1}, {"rnu", "run", 1},
		{"kitten", "sitting", 3}, {"abcd", "badc", 2}, {"ca", "abc", 3}} {
		if got, back := Edits(tc.a, tc.b), Edits(tc.b, tc.a); got != tc.want || back != tc.want {
			t.Errorf("from %q to %q are %d edits, back %d, want %d", tc.a, tc.b, got, back, tc.want)
		}
	}
}
