package cluster

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lightloom/lab/session"
)

// TestStatusExits: status of the whole ends with 0 if all is well and with 10 if not, also as JSON; that
// of a part ends with 0 in any case.
func TestStatusExits(t *testing.T) {
	l := newLab(t)
	status := func(words ...string) (code int, out string) {
		t.Helper()
		args := append([]string{"status", "--keys", filepath.Join(l.dir, "client.pem")}, words...)
		for _, addr := range l.at {
			args = append(args, "--server", addr)
		}
		out, err := l.try(args...)
		var exit *exec.ExitError
		switch {
		case err == nil:
			return 0, out
		case !errors.As(err, &exit):
			t.Fatal(err)
		}
		return exit.ExitCode(), out
	}
	l.until("all is well", func() bool {
		code, out := status()
		return code == 0 && strings.HasPrefix(out, "ok: ")
	})
	st, err := l.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range l.names { // first a follower, then whoever is next: nobody leads then
		if name == st.Leader {
			l.names[i], l.names[2] = l.names[2], name
		}
	}
	for n, verdict := range []string{"degraded: 2 of 3 replicas answer", "no leader: 1 of 3 replicas answer"} {
		_ = l.kill(l.names[n], syscall.SIGKILL)
		l.until(verdict, func() bool {
			code, out := status()
			return code == session.NotWell && strings.HasPrefix(out, verdict)
		})
		if code, out := status("-o", "json"); code != session.NotWell ||
			!strings.Contains(out, `"verdict": "`+verdict) {
			t.Errorf("as JSON it ends with %d: %s", code, out)
		}
		if code, out := status("replicas"); code != 0 || out == "" {
			t.Errorf("that of the replicas ends with %d: %s", code, out)
		}
	}
}
