package pki

import (
	"strings"
	"testing"
)

// TestNameOf: what a certificate can hold stays as it is, and other names become different ones that it
// can hold.
func TestNameOf(t *testing.T) {
	for _, name := range []string{"tor0", "h0-0", "r1.example.org"} {
		if got := NameOf(name); got != name {
			t.Errorf("%q is called %q", name, got)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"", "New York", "New-York-", "new york", "St. Louis", "St Louis",
		"Herndon/Ashburn",
		"São Paulo", "東京", "a..b", "-", strings.Repeat("x", 64), strings.Repeat("x",
			65), strings.Repeat("é", 500)} {
		got := NameOf(name)
		if err := checkName(got); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if NameOf(got) != got {
			t.Errorf("%q, called %q, is called %q again", name, got, NameOf(got))
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%q and %q are both called %q", name, other, got)
		}
		seen[got] = name
	}
}
