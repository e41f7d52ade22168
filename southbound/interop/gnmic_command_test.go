package interop

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// commandLine is gnmic's command line, and the target that it talks to.
type commandLine struct {
	program string
	target  []string // the flags that lead there
}

func (x targetAt) commandLine(program string) commandLine {
	client := filepath.Join(x.keys, "client.pem")
	return commandLine{program, []string{"--address", x.addr, "--tls-ca",
		filepath.Join(x.keys, "ca.pem"), "--tls-cert",
		client, "--tls-key", client,
		"--tls-server-name", "localhost", "--encoding", "json_ietf", "--timeout", patience.String()}}
}

func (c commandLine) ask(t testing.TB, args ...string) (string, error) {
	t.Helper()
	return run(t, c.program, append(args, c.target...)...)
}

// must fails where gnmic does, or where it does not print a piece.
func (c commandLine) must(t testing.TB, piece string, args ...string) {
	t.Helper()
	out, err := c.ask(t, args...)
	if err != nil || !strings.Contains(out, piece) {
		t.Errorf("gnmic %s: %v, and %q was expected in:\n%s", strings.Join(args, " "), err, piece, out)
	}
}

// stream begins a subscription, whose output ends with the test.
func (c commandLine) stream(t *testing.T, path string, mode ...string) *process {
	t.Helper()
	args := append([]string{"subscribe", "--mode", "stream", "--path", path, "--format", "protojson"}, mode...)
	return start(t, c.program, append(args, c.target...)...)
}

// What gnmic prints of a stream, a line of each.
var (
	syncLine = regexp.MustCompile(`"syncResponse": *true`)
	newsLine = regexp.MustCompile(`"timestamp":`)
)

// TestGnmicCommand: what TestGnmic does with gnmic's library, its command line does, with every model.
func TestGnmicCommand(t *testing.T) {
	program := gnmicCommand(t)
	lightloom(t) // built before any clock runs
	for _, tt := range conversations {
		t.Run(tt.profile, func(t *testing.T) {
			c := startTarget(t, tt.profile, 4).commandLine(program)
			c.must(t, `"supported-models"`, "capabilities", "--format", "json")
			changes := c.stream(t, tt.watch, "--stream-mode", "on-change")
			changes.until(t, syncLine)

			for _, s := range tt.sets {
				c.must(t, "UPDATE", "set", "--update", s[0]+":::json_ietf:::"+s[1])
			}
			changes.until(t, newsLine)
			c.must(t, tt.holds, "get", "--path", tt.get)
			c.must(t, tt.holds, "subscribe", "--mode", "once", "--path", tt.get)
			samples := c.stream(t, tt.sample, "--stream-mode", "sample", "--sample-interval", "50ms")
			for range 4 {
				samples.until(t, newsLine)
			}
			if out, err := c.ask(t, "set", "--update", tt.wrong[0]+":::json_ietf:::"+tt.wrong[1]); err == nil {
				t.Errorf("%v was taken:\n%s", tt.wrong, out)
			}
			c.must(t, tt.holds, "get", "--path", tt.get)
			for _, p := range tt.remove {
				c.must(t, "DELETE", "set", "--delete", p)
			}
			changes.until(t, newsLine)
			if out, err := c.ask(t, "get", "--path", tt.get); err == nil && strings.Contains(out, tt.holds) {
				t.Errorf("after its deletion, get %s:\n%s", tt.get, out)
			}
		})
	}
}
