package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
)

func TestScheduleFile(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "nights.txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good := write("ports 4\nnight 10ms\nday 90ms 0>1 1>0\nnight 10ms\nday 90ms 0>2 2>3 3>1\n")
	policytest.Run(t, 100, func() controller.Policy {
		p, err := policy.New("random+ecmp+schedule:"+good, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
	for _, tc := range []struct{ name, file, err string }{
		{"a port twice", write("ports 4\nday 90ms 0>1 2>1\n"), "nights.txt:2:14: 2>1 lights output 1 twice"},
		{"absent", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"empty", write(""), "begin with ports N"},
	} {
		if _, err := policy.New("schedule:"+tc.file, policy.Options{}); err == nil ||
			!strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.err)
		}
	}
	if _, err := policy.New("random", policy.Options{Overrides: policy.Overrides{Circuits: "schedule:" +
		good}}); err != nil {
		t.Errorf("as a replacement: %v", err)
	}
}
