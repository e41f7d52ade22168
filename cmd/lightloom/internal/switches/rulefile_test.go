package switches

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/hint"
)

// TestRuleFiles: errors name file, line and what to type.
func TestRuleFiles(t *testing.T) {
	for text, says := range map[string]string{
		"\ndst=1":                             "f:2: a rule needs dst and primary",
		"dst=1 primary=2 via=3":               `f:1: "via" is unknown`,
		"dst=x primary=2":                     `dst="x"`,
		"dst=1 primary=2 tag=9":               "tags are 0 to 7",
		"dst=1 dst=2 primary=2":               "given twice",
		"dst=1 primary=1\n#\ndst=1 primary=2": "f:3: the same match as in line 1",
	} {
		if _, err := parseRules("f", strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzRuleFile(f *testing.F) {
	f.Add("dst=2 tag=7 src=any primary=1 backup=0")
	f.Add("dst=2 tag=any src=4 primary=1\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := parseRules("f", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range rules {
			if back, err := parseRule(ruleText(r)); err != nil || back != r {
				t.Fatalf("%+v comes back as %+v, %v", r, back, err)
			}
		}
	})
}

// TestUnreached: what goes wrong most often at a first call gets a hint.
func TestUnreached(t *testing.T) {
	for says, want := range map[string]string{
		"dial tcp 127.0.0.1:9: connect: connection refused":    "nothing listens at here",
		"error reading server preface: EOF":                    "--tls-dir",
		"tls: first record does not look like a TLS handshake": "--plaintext",
		"something else": "",
	} {
		if got := hint.Of(unreached(errors.New(says), gnmi.Config{Addr: "here"}, time.Now())); !strings.Contains(got, want) ||
			want == "" && got != "" {
			t.Errorf("%s: the hint is %q, want %q", says, got, want)
		}
	}
}

func TestOnLoopback(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1:9339": true, "[::1]:1": true, "localhost:1": true,
		"0.0.0.0:9339": false,
		":9339":        false, "192.0.2.1:1": false, "odd": true} {
		if got := onLoopback(addr); got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
}
