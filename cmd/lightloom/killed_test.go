package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// room is run by a shell that is the first process of namespaces of its own. until waits for something that nobody
// announces; left says what is there of ours.
const room = `
mount -t tmpfs tmpfs /run && cp lightloom /run && mount -t tmpfs tmpfs /tmp && cd /run || exit 9
ip link set lo up
until_() { n=0; while ! eval "$1"; do n=$((n+1)); [ $n -lt 200 ] || { echo "never: $1"; break; }; sleep 0.1; done; }
left() { cat /proc/[0-9]*/comm 2>/dev/null | grep -c "$1"; }
`

// newRoom builds the program into a directory of its own, which it returns.
func newRoom(t *testing.T) string {
	t.Helper()
	if err := netns.Supported(false); err != nil || os.Getuid() != 0 {
		t.Skipf("needs root and namespaces: %v", err)
	}
	if testing.Short() {
		t.Skip("builds the program")
	}
	netnstest.Lock(t)
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "lightloom"), "lightloom/cmd/lightloom")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

// inRoom runs a script in a room, and returns what it says.
func inRoom(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-p", "-f", "-n", "-m", "--mount-proc", "--kill-child", "sh", "-c", room+script)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}

func wantAll(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w+"\n") {
			t.Errorf("want %q", w)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestUpPartsKilled: whoever captures, runs a command in a host, or keeps the fabric up is killed without warning: the rest
// goes on, and of what was killed nothing is left.
func TestUpPartsKilled(t *testing.T) {
	out := inRoom(t, newRoom(t), `
./lightloom up --fabric hybrid:racks=2,hosts=1,spines=1 > up.log 2>&1 &
up=$!
until_ "grep -q '^up: ' up.log"
./lightloom capture tor0-1 -o c.pcapng > capture.log 2>&1 &
capture=$!
until_ "[ -s c.pcapng ]"
./lightloom exec h0-0 sleep 1000 &
exec=$!
until_ "[ \$(left sleep) -ge 1 ]"
before=$(left lightloom)
kill -9 $capture
wait $capture
until_ "[ \$(left lightloom) -lt $before ]"
./lightloom status > /dev/null && ./lightloom exec h0-0 echo the fabric goes on without its capture
kill -9 $exec
wait $exec
until_ "[ \$(left '^sleep$') = 0 ]"
./lightloom exec h1-0 echo and without its command
kill -9 $up
wait $up
until_ "[ \$(left lightloom) = 0 ]"
echo "left $(left lightloom) processes, $(ip -o link | grep -vc ': lo:') interfaces, $(ls -d /run/lightloom?* /tmp/* 2>/dev/null | wc -l) files"
`)
	wantAll(t, out, "the fabric goes on without its capture", "and without its command", "left 0 processes, 0 interfaces, 0 files")
	if strings.Contains(out, "never: ") {
		t.Error(out)
	}
}

// TestSwitchKilled kills a switch that runs by itself: its guard gives the interfaces back as they were, and ends.
func TestSwitchKilled(t *testing.T) {
	dir := newRoom(t)
	for _, dataplane := range []string{"mirred", "ebpf --dark-queues 1000000"} {
		t.Run(dataplane, func(t *testing.T) {
			if strings.HasPrefix(dataplane, "ebpf") {
				if err := netns.DarkQueuesSupported(); err != nil {
					t.Skip(err)
				}
			}
			out := inRoom(t, dir, `
ip link add a0 type veth peer name a1; ip link add b0 type veth peer name b1
ip link set a1 up; ip link set b1 up
ours() { ip -o link | grep -c 'll[sep]'; }
hooks() { tc qdisc show | grep -c clsact; }
start() {
  ./lightloom switch run --name tor0 --role tor --racks 2 --rack 0 --hosts 1 --ports a0,b0 --fibre b0 --plaintext --listen unix:tor0.sock --dataplane `+dataplane+` > switch.log 2>&1 &
  switch=$!
  until_ "grep -q 'listens at' switch.log"
}
start
[ $(ours) -ge 2 ] && [ $(hooks) = 2 ] && echo it runs
kill -9 $switch
wait $switch
until_ "[ \$(left lightloom) = 0 ]"
echo "left $(ours) interfaces, $(hooks) hooks, IPv6 $(cat /proc/sys/net/ipv6/conf/a0/disable_ipv6 2>/dev/null || echo 0)"
start
kill $switch
wait $switch
echo "the next one ended with $?, left $(ours) interfaces, $(hooks) hooks, $(left lightloom) processes"
`)
			wantAll(t, out, "it runs", "left 0 interfaces, 0 hooks, IPv6 0", "the next one ended with 0, left 0 interfaces, 0 hooks, 0 processes")
		})
	}
}
