package mixed

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// cgroups is where cgroups of version 2 are: beside those of version 1, or alone.
func cgroups(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC {
			return dir
		}
	}
	t.Skip("needs cgroups of version 2")
	return ""
}

// received prints the DSCP of each datagram that comes, to files named after their text.
const received = `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.bind(("", 9))
print("listens", flush=True)
while True:
    text, more, _, _ = s.recvmsg(64, 64)
    print(text.decode().strip(), more[0][2][0] >> 2, flush=True)
`

// TestTagsByCgroup: with --tags an agent marks what programs of a cgroup send from its host to an
// address, and nothing else; a rule that comes into the file later counts too. In a fabric that is up,
// exec leaves a command in the cgroup of its caller.
func TestTagsByCgroup(t *testing.T) {
	root := cgroups(t)
	l := newMixedLab(t)
	name := fmt.Sprintf("lightloom-tags-%d", os.Getpid())
	at := root + "/" + name
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Skipf("needs to make a cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(at); err != nil {
			t.Error(err)
		}
	})
	write := func(file, text string) {
		t.Helper()
		l.must("cat >" + file + " <<'end'\n" + text + "end")
	}
	rule := func(to string, dscp int) string {
		return fmt.Sprintf("- {cgroup: %s, to: %s, dscp: %d}\n", name, to, dscp)
	}
	write("tags.yaml", "tags:\n"+rule("10.0.3.1", 2))
	write("received.py", received)
	write("send.sh", "ip netns exec h3-0 bash -c \"echo $1 >/dev/udp/$2/9\"\n")
	write("member.sh", "echo $$ >"+at+"/cgroup.procs && exec sh send.sh $*\n")
	started := func(file, command string) {
		t.Helper()
		l.must("ip netns exec h3-0 " + command + " >" + file + " 2>&1 & until grep -q 'listens' " + file +
			"; do kill -0 $! || { cat " + file + "; exit 1; }; sleep 0.05; done")
	}
	started("got", "python3 received.py")
	l.must("lightloom keys issue keys agent h3-0; ip -n h3-0 addr add 10.0.3.2/32 dev lo")
	started("h3-0.log", "lightloom agent run --host h3-0 --listen unix:h3-0.sock --tls-dir keys --tags tags.yaml")
	l.must("sh member.sh in 10.0.3.1; sh member.sh elsewhere 10.0.3.2; sh send.sh out 10.0.3.1")
	l.must("timeout 20 sh -c 'until grep -q ^out got; do sleep 0.05; done'")
	if got := l.file("got"); got != "listens\nin 2\nelsewhere 0\nout 0\n" {
		t.Errorf("datagrams and their DSCPs:\n%s", got)
	}
	write("tags.yaml", "tags:\n"+rule("10.0.3.1", 2)+rule("10.0.3.2", 3))
	out, failed := l.do("timeout 20 sh -c 'until sh member.sh later 10.0.3.2; grep \"later 3\" got; do sleep 0.1; done'")
	if failed {
		t.Errorf("the later rule does not count: %s\n%s\n%s", out, l.file("got"), l.file("h3-0.log"))
	}
	l.must("lightloom up -d --fabric hybrid:racks=2,hosts=1,spines=1 --replicas 1")
	out = l.must("sh -c 'echo $$ >" + at + "/cgroup.procs && exec lightloom exec h0-0 -- cat /proc/self/cgroup'")
	if !strings.Contains(out, "/"+name+"\n") {
		t.Errorf("exec does not leave a command in its caller's cgroup:\n%s", out)
	}
	l.must("lightloom down")
}
