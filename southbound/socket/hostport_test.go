package socket

import (
	"strings"
	"testing"

	"lightloom/southbound/hint"
)

func TestHostPort(t *testing.T) {
	for _, c := range []struct {
		at, host string
		port     uint16
		hint     string
	}{
		{"192.0.2.11", "192.0.2.11", 7400, ""},
		{"192.0.2.11:8000", "192.0.2.11", 8000, ""},
		{"300.1.2.3", "", 0, "write four numbers from 0 to 255"},
		{"10.1:7400", "", 0, "write four numbers from 0 to 255"},
		{"c1.example", "c1.example", 7400, ""},
		{"c1.example:1", "c1.example", 1, ""},
		{"[2001:db8::1]", "2001:db8::1", 7400, ""},
		{"[2001:db8::1]:8000", "2001:db8::1", 8000, ""},
		{"2001:db8::1", "2001:db8::1", 7400, ""},
		{"::1", "::1", 7400, ""},
		{"2001:db8::ab", "2001:db8::ab", 7400, ""},
		{"2001:db8:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:1", 7400, ""},
		{"[fe80::1%eth0]:8000", "fe80::1%eth0", 8000, ""},

		{"2001:db8::1:7400", "", 0, "write [2001:db8::1:7400], or [2001:db8::1]:7400"},
		{"::1:80", "", 0, "write [::1:80], or [::1]:80"},
		{"2001:db8:0:0:0:0:0:1:7400", "", 0, "write [2001:db8:0:0:0:0:0:1]:7400"},
		{"[192.0.2.1]", "", 0, "write such as [2001:db8::1]"},
		{"[c1]", "", 0, "write such as [2001:db8::1]"},
		{"[2001:db8::1", "", 0, "write such as"},
		{"a:b:c", "", 0, "write such as [2001:db8::1]:7400"},
		{"c1:", "", 0, "write such as"}, {"c1:http", "", 0, "write such as"}, {":7400", "", 0, "write such as"},
		{"", "", 0, "write such as"}, {"c1:65536", "", 0, "write such as"},
	} {
		host, port, err := HostPort(c.at, 7400)
		if host != c.host || port != c.port || (err == nil) != (c.hint == "") ||
			!strings.HasPrefix(hint.Of(err), c.hint) {
			t.Errorf("%q: %q %d, %v (%s)", c.at, host, port, err, hint.Of(err))
		}
	}
}

func FuzzHostPort(f *testing.F) {
	f.Add("[2001:db8::1]:7400")
	f.Add("2001:db8::1:7400")
	f.Fuzz(func(t *testing.T, at string) {
		if host, _, err := HostPort(at, 7400); err == nil && (host == "" || strings.ContainsAny(host, "[]")) {
			t.Errorf("%q is at host %q", at, host)
		}
	})
}
