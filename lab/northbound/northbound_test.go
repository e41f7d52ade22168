package northbound

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/southbound/hint"
)

// TestContexts keeps contexts in a file, which no other user can read, and finds the one that is meant.
func TestContexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some", "contexts.yaml")
	t.Setenv("LIGHTLOOM_CONTEXTS", path)
	names := func() (out []string) {
		all, err := List()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if out = append(out, c.Name); c.Current {
				out[len(out)-1] += "*"
			}
		}
		return out
	}
	find := func(f Flags) string {
		c, err := f.Find()
		if err != nil {
			return "!" + err.Error()
		}
		return c.Name + " " + strings.Join(c.Servers, ",") + " " + c.Keys
	}
	step := func(what string, err error, want ...string) {
		t.Helper()
		if got := names(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	step("none", nil, "up*")
	step("add", Add(Context{Name: "lab", Servers: []string{"192.0.2.1:7420", "[2001:db8::1]:7420"},
		Keys: "/etc/c.pem"}),
		"up*", "lab")
	step("add another", Add(Context{Name: "here", Socket: "/var/lib/lightloom/api.sock"}), "up*",
		"here", "lab")
	step("use", Use("lab"), "up", "here", "lab*")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	for _, tt := range []struct {
		flags Flags
		want  string
	}{
		{Flags{}, "lab 192.0.2.1:7420,[2001:db8::1]:7420 /etc/c.pem"},
		{Flags{Context: Up}, "up  "},
		{Flags{Context: "here"}, "here  "},
		{Flags{Servers: []string{"a:1"}, Keys: "k"}, "--server a:1 k"},
		{Flags{Servers: []string{"a:1"}}, "!no keys for a:1: the controller asks for a certificate"},
		{Flags{Context: "nowhere"}, "!there is no context \"nowhere\""},
	} {
		if got := find(tt.flags); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.flags, got, tt.want)
		}
	}
	step("remove", Remove("lab"), "up*", "here")
	step("use that of up", Use(Up), "up*", "here")
	for what, err := range map[string]error{
		"use what is not there": Use("lab"), "remove what is not there": Remove("lab"), "up": Add(Context{Name: Up}),
		"no name": Add(Context{Servers: []string{"a:1"}}), "no server": Add(Context{Name: "a"}),
		"no keys": Add(Context{Name: "a", Servers: []string{"a:1"}}),
		"no port": Add(Context{Name: "a", Servers: []string{"a"}, Keys: "k"}),
	} {
		if err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v, hint %q", what, err, hint.Of(err))
		}
	}
}

// TestBadFiles: an error names file, line and column.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"contexts:\n  lab: {server: a}\n":                                     "f:2:9",
		"contexts:\n  lab: {servers: [a]}\n":                                  "f:2:",
		"contexts:\n  up: {servers: [a]}\n":                                   "f:2:",
		"current: lab\n":                                                      "f:1:10",
		"contexts:\n  lab: {servers: ['a:1'], keys: k}\n  lab: {socket: s}\n": "f:3:",
		"contexts: [\n":                                                       "f:1:",
	} {
		if _, err := parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("current: lab\ncontexts:\n  lab: {servers: ['a:1'], keys: k}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := parse("f", b)
		if err != nil {
			return
		}
		for name, c := range x.Contexts {
			if c.Name = name; c.check() != nil {
				t.Errorf("context %q was taken: %v", name, c.check())
			}
		}
	})
}
