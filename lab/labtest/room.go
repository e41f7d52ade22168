package labtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// room is run by a shell that is the first process of namespaces of its own. The function until polls
// for what no event announces; pids finds a program's processes by what they run, since a replica is
// not called lightloom.
const room = `
mount -t tmpfs tmpfs /run && cp lightloom /run && mount -t tmpfs tmpfs /tmp && cd /run || exit 9
ip link set lo up
until_() { n=0; while ! eval "$1"; do n=$((n+1)); [ $n -lt 1200 ] || { echo "never: $1"; break; }; sleep 0.1; done; }
pids() { for p in /proc/[0-9]*; do case $(readlink $p/exe) in */$1|*/$1' (deleted)') echo ${p#/proc/} ;; esac; done; }
left() { pids "$1" | wc -l; }
# Stopped first: else the last to be killed sees the others go, and may tidy up after them.
killall_() { all=$(pids "$1"); kill -STOP $all; kill -9 $all; }
`

// NewRoom puts the program into a directory of its own, which it returns. Tests with rooms run in parallel.
func NewRoom(t *testing.T) string {
	t.Helper()
	if err := netns.Supported(false); err != nil || os.Getuid() != 0 {
		t.Skipf("needs root and namespaces: %v", err)
	}
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	CopyProgram(t, dir)
	netnstest.Share(t)
	return dir
}

// InRoom runs a script in a room, and returns its output.
func InRoom(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-p", "-f", "-n", "-m", "--mount-proc",
		"--kill-child", "sh", "-c",
		room+script)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}
