package onwire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/marking"
)

// talk is a program that nobody here wrote: it holds a TCP connection and a UDP socket, and says what
// it reads on both.
const talk = `exec 3<>/dev/tcp/10.0.1.1/7000; exec 4>/dev/udp/10.0.1.1/7001
while read -r line; do for i in 1 2 3 4 5; do echo $line >&3; echo $line >&4; done; read -r back <&3; echo $back; done`

// cgroup makes a cgroup for a test, and returns its path. Namespaces may hide the mount of the machine.
func cgroup(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	must(t, unix.Mount("none", root, "cgroup2", 0, ""))
	t.Cleanup(func() { must(t, unix.Unmount(root, 0)) })
	dir, err := os.MkdirTemp(root, "lightloom-test-*")
	must(t, err)
	t.Cleanup(func() { must(t, os.Remove(dir)) })
	return dir
}

// talker starts the program in host 0 and in a cgroup; say has it send five lines each way and waits
// for their answer.
func (w *world) talker(t *testing.T, dir string) (say func(string)) {
	t.Helper()
	cmd := exec.Command("bash", "-c", talk)
	group, err := os.Open(dir)
	must(t, err)
	defer group.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd()),
		Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = writer{t}
	must(t, w.net.Start(0, cmd))
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	said := bufio.NewReader(out)
	return func(line string) {
		t.Helper()
		fmt.Fprintln(in, line)
		if got, err := said.ReadString('\n'); err != nil || strings.TrimSpace(got) != line {
			t.Fatalf("%q, %v in the place of %q", got, err, line)
		}
	}
}

// echo answers every fifth line of TCP in host h, and takes UDP.
func (w *world) echo(t *testing.T, h southbound.HostID) {
	t.Helper()
	var ln net.Listener
	var udp net.PacketConn
	must(t, w.net.InHost(h, func() (err error) {
		if ln, err = net.Listen("tcp4", ":7000"); err == nil {
			udp, err = net.ListenPacket("udp4", ":7001")
		}
		return err
	}))
	done := make(chan struct{})
	t.Cleanup(func() { ln.Close(); udp.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			for n := 1; ; n++ {
				line, err := in.ReadString('\n')
				if err != nil {
					c.Close()
					break
				}
				if n%5 == 0 {
					_, _ = io.WriteString(c, line)
				}
			}
		}
	}()
}

// up returns how many packets have left rack 0 for each spine.
func (w *world) up(t *testing.T) (n [2]uint64) {
	t.Helper()
	c, err := w.net.Counters()
	must(t, err)
	for l, link := range w.spec.Topology.Links() {
		from, to := w.spec.Topology.Node(link.From), w.spec.Topology.Node(link.To)
		if from.Role == pathmap.ToR && from.Rack == 0 && to.Role == pathmap.Switch {
			n[link.FromPort-int32(w.spec.HostsPerRack)] += c.Links[l].Packets
		}
	}
	return n
}

// TestMarking: packets of a program that runs already, TCP in mid-connection and UDP, take the path
// whose tag a rule gives its cgroup, and the default path again without the rule. A program beside that
// cgroup never leaves its path.
func TestMarking(t *testing.T) {
	netnstest.Need(t, netnstest.Netns, netnstest.BPF)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	w := newWorld(t, "hybrid:racks=2,hosts=1,spines=2,nic=200Mbps,eps=100Mbps,ocs=200Mbps")
	if err := marking.Supported(); err != nil {
		t.Skip(err)
	}
	w.echo(t, 1)
	dir := cgroup(t)
	inner := filepath.Join(dir, "inner")
	must(t, os.Mkdir(inner, 0o755))
	t.Cleanup(func() { must(t, waitEmpty(inner)) })
	say := w.talker(t, inner)
	var m *marking.Marker
	must(t, w.net.InHost(0, func() (err error) { m, err = marking.Open(); return err }))
	t.Cleanup(func() { must(t, m.Close()) })
	set := func(rules ...marking.Rule) {
		t.Helper()
		must(t, w.net.InHost(0, func() error { return m.Set(rules) }))
	}
	step := func(line string, spine int) {
		t.Helper()
		before := w.up(t)
		say(line)
		after := w.up(t)
		if n := after[spine] - before[spine]; n < 6 || after[1-spine] != before[1-spine] {
			t.Errorf("%s: %d packets over spine %d, %d over the other", line, n, spine,
				after[1-spine]-before[1-spine])
		}
	}
	to := netip.MustParsePrefix("10.0.1.1/32")
	second := marking.Rule{Cgroup: dir, To: to, DSCP: uint8(southbound.PathTag(1))}
	step("no rule", 0)
	set(second)
	step("the cgroup above", 1)
	set(second, marking.Rule{Cgroup: inner, To: netip.MustParsePrefix("10.0.1.0/24"),
		DSCP: uint8(southbound.PathTag(0))})
	step("its own cgroup first", 0)
	set(marking.Rule{Cgroup: dir, To: netip.MustParsePrefix("10.0.9.0/24"),
		DSCP: uint8(southbound.PathTag(1))})
	step("another destination", 0)
	set(second)
	step("again", 1)
	if n, err := m.Marked([]marking.Rule{second}); err != nil || n[0] < 6 {
		t.Errorf("%d packets are counted: %v", n, err)
	}
	set(marking.Rule{Cgroup: sibling(t, dir), To: to, DSCP: uint8(southbound.PathTag(1))})
	step("another program's rule", 0)
	set(second)
	must(t, m.Close())
	step("closed", 0)
}

func sibling(t *testing.T, dir string) string {
	t.Helper()
	other := filepath.Join(dir, "other")
	must(t, os.Mkdir(other, 0o755))
	t.Cleanup(func() { must(t, os.Remove(other)) })
	return other
}

// waitEmpty removes a cgroup, which is busy for a moment after its last process has ended.
func waitEmpty(dir string) error {
	tick, late := time.NewTicker(time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		err := os.Remove(dir)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return err
		}
	}
}
