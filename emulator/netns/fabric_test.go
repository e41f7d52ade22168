package netns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func build(t testing.TB, text string, opt netns.Options) *netns.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := netns.Build(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// lead sends every rack's packets over the first spine.
func lead(t testing.TB, f *netns.Fabric) {
	t.Helper()
	s := f.Spec()
	var here []southbound.Rule
	for dst := range southbound.RackID(s.Racks) {
		here = append(here, southbound.Rule{Match: southbound.Match{Dst: dst, Tag: southbound.AnyTag,
			Src: southbound.AnyRack},
			Primary: southbound.Port(dst), Backup: southbound.NoPort})
	}
	spine, _ := s.Topology.Named("spine0")
	if err := f.Plane(spine).SetRules(here, nil, true); err != nil {
		t.Fatal(err)
	}
	for rack, tor := range s.ToRNode {
		there := slices.Clone(here)
		there = slices.Delete(there, rack, rack+1)
		for i := range there {
			there[i].Primary = southbound.Port(s.HostsPerRack)
		}
		if err := f.Plane(tor).SetRules(there, nil, true); err != nil {
			t.Fatal(err)
		}
	}
}

// transfer carries n bytes over TCP from one host to another, and returns how long the receiver took
// from its first byte.
func transfer(t *testing.T, f *netns.Fabric, src, dst southbound.HostID, n int64,
	pace pathmap.BitsPerSecond) time.Duration {
	t.Helper()
	at := netip.AddrPortFrom(f.Addr(dst), 5000)
	var l *net.TCPListener
	err := f.InHost(dst, func() (err error) {
		l,
			err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var c *net.TCPConn
	err = f.InHost(src, func() (err error) {
		c,
			err = net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, int(pace/8))
	}); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(c, zeros{}, n)
		_ = c.Close()
		sent <- err
	}()
	in, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := in.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, err := io.Copy(io.Discard, in)
	took := time.Since(began)
	if serr := <-sent; err != nil || serr != nil || got != n {
		t.Fatalf("received %d of %d bytes: %v, %v", got, n, err, serr)
	}
	return took
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestRate: a link of 50 Mb/s carries 50 × 1448/1514 Mb/s of payload, and the counters know every byte
// of it.
func TestRate(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	shared := netnstest.Share(t)
	f := build(t, "hybrid:racks=2,hosts=1,spines=1,nic=500Mbps,eps=50Mbps,ocs=1Gbps", netns.Options{})
	lead(t, f)
	shared.Measure(t, 8, func() error { return rate(t, f) })
}

// rate returns by how much a transfer was too slow, or too fast for a receiver that came late to it,
// which others on the machine can be the cause of.
func rate(t *testing.T, f *netns.Fabric) (off error) {
	t.Helper()
	const n = 6_000_000
	line := 50 * pathmap.Mbps
	before, err := f.Counters()
	if err != nil {
		t.Fatal(err)
	}
	took := transfer(t, f, 0, 1, n, line*1448/1514)
	fluid := (pathmap.Bytes(n) * 1514 / 1448).Over(line)
	t.Logf("took %v, fluid %v (%+.2f %%)", took, fluid, 100*(took.Seconds()/fluid.Seconds()-1))
	if math.Abs(took.Seconds()/fluid.Seconds()-1) > 0.1 { // 0.4 % on a quiet machine
		off = fmt.Errorf("took %v, a fluid takes %v", took, fluid)
	}
	c, err := f.Counters()
	if err != nil {
		t.Fatal(err)
	}
	for l := range c.Links {
		c.Links[l].Bytes -= before.Links[l].Bytes
	}
	s := f.Spec()
	up := s.Topology.OutPort(s.ToRNode[0], int32(s.HostsPerRack))
	wire := float64(c.Links[up].Bytes) / (float64(n) * 1514 / 1448)
	if wire < 1 || wire > 1.01 { // SYN, FIN, short segments, some retransmission
		t.Errorf("the uplink counted %d bytes for %d of payload: × %.4f of the frames",
			c.Links[up].Bytes, n, wire)
	}
	nic := s.Topology.OutPort(s.HostNode[0], 0)
	if c.Links[nic].Bytes < c.Links[up].Bytes {
		t.Errorf("the host sent %d bytes and the uplink carried %d", c.Links[nic].Bytes, c.Links[up].Bytes)
	}
	back := c.Links[pathmap.Reverse(up)]
	if back.Bytes == 0 || back.Bytes > c.Links[up].Bytes/10 {
		t.Errorf("ACKs took %d bytes", back.Bytes)
	}
	return off
}

// TestPriority: with the low class saturated, datagrams of the highest pass at once.
func TestPriority(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	shared := netnstest.Share(t)
	f := build(t, "leafspine:racks=2,hosts=1,spines=1,nic=500Mbps,eps=10Mbps", netns.Options{})
	lead(t, f)
	at := [2]netip.AddrPort{netip.AddrPortFrom(f.Addr(0), 6000), netip.AddrPortFrom(f.Addr(1), 6000)}
	var ends [2]*net.UDPConn
	for h := range ends {
		err := f.InHost(southbound.HostID(h), func() (err error) {
			ends[h], err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at[h]))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer ends[h].Close()
	}
	tos := func(priority uint8) {
		raw, err := ends[0].SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, int(southbound.TOS(priority, 0)))
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send := func(id uint32, size int) {
		b := make([]byte, size)
		binary.BigEndian.PutUint32(b, id)
		if _, err := ends[0].WriteToUDPAddrPort(b, at[1]); err != nil {
			t.Fatal(err)
		}
	}
	shared.Measure(t, 20, func() error {
		// 60 kB of the low class need 48 ms at 10 Mb/s; then one datagram of the highest.
		tos(0)
		const low = 40
		for id := range uint32(low) {
			send(id, 1400)
		}
		tos(7)
		send(low, 100)
		place := -1
		if err := ends[1].SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		for i := range low + 1 {
			b := make([]byte, 2000)
			if _, err := ends[1].Read(b); err != nil {
				t.Fatal(err)
			}
			if binary.BigEndian.Uint32(b) == low {
				place = i
			}
		}
		if place > low/2 { // the low ones can leave first if the sender is kept waiting in between
			return fmt.Errorf("the datagram of the highest priority came as number %d of %d", place+1, low+1)
		}
		return nil
	})
}

// TestNothingLeft: what Build makes, Close takes away, and a second fabric stands where the first did.
func TestNothingLeft(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	before := interfaces(t)
	files := descriptors(t)
	for range 2 {
		f := build(t, "hybrid:racks=4,hosts=2,spines=2", netns.Options{})
		if got := interfaces(t); len(got) <= len(before) {
			t.Errorf("the fabric has interfaces %q", got)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := interfaces(t); !slices.Equal(got, before) {
			t.Errorf("interfaces %q are left, before there were %q", got, before)
		}
	}
	if got := descriptors(t); got > files {
		t.Errorf("%d descriptors are open, before there were %d", got, files)
	}
}

func interfaces(t *testing.T) []string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// TestBig: rack numbers up to 249 find their way, and 250 hosts are built in seconds.
func TestBig(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	began := time.Now()
	f := build(t, "leafspine:racks=250,hosts=1,spines=1", netns.Options{})
	t.Logf("250 hosts built in %v with %+v", time.Since(began), f.Settings())
	lead(t, f)
	transfer(t, f, 0, 249, 10_000, pathmap.Gbps)
	transfer(t, f, 249, 128, 10_000, pathmap.Gbps)
}

// TestFewQueues: ports of a fabric of over a thousand links have the class of the link and those of two priorities,
// and of all eight where asked for, as in a smaller one. Packets of priorities without a queue take the lowest.
func TestFewQueues(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	for _, tc := range []struct {
		fabric  string
		opt     netns.Options
		classes int
	}{
		{"leafspine:racks=251,hosts=1,spines=1", netns.Options{}, 3},
		{"leafspine:racks=251,hosts=1,spines=1", netns.Options{Priorities: true}, 9},
		{"leafspine:racks=2,hosts=1,spines=1", netns.Options{}, 9},
	} {
		f := build(t, tc.fabric, tc.opt)
		port, err := f.Interface(f.Spec().ToRNode[1], 0)
		if err != nil {
			t.Fatal(err)
		}
		all, err := netlink.ClassList(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: port}}, netlink.HANDLE_NONE)
		if err != nil || len(all) != tc.classes {
			t.Errorf("%s, %+v: a port has %d classes, %v; want %d", tc.fabric, tc.opt, len(all), err, tc.classes)
		}
		lead(t, f)
		transfer(t, f, 0, 1, 10_000, pathmap.Gbps)
		if f.FewQueues() != (tc.classes == 3) {
			t.Errorf("%s, %+v: few queues: %t", tc.fabric, tc.opt, f.FewQueues())
		}
		for prio := range uint32(8) {
			want := 0x10 + prio // 1:10 is of priority 0
			if f.FewQueues() && prio < 7 {
				want = 0x10
			}
			before := passed(t, port)
			datagram(t, f, prio)
			after := passed(t, port)
			if after[want] != before[want]+1 {
				t.Errorf("%s, %+v: priority %d: packets by queue %v, then %v; want one more in %x", tc.fabric, tc.opt, prio,
					before, after, want)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// passed returns how many packets each class of HTB has sent, by its minor number.
func passed(t *testing.T, port int) map[uint32]uint32 {
	t.Helper()
	all, err := netlink.ClassList(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: port}}, netlink.HANDLE_NONE)
	if err != nil {
		t.Fatal(err)
	}
	by := map[uint32]uint32{}
	for _, c := range all {
		by[c.Attrs().Handle&0xffff] = c.Attrs().Statistics.Basic.Packets
	}
	return by
}

// datagram sends one packet of a priority from host 0 to host 1.
func datagram(t *testing.T, f *netns.Fabric, prio uint32) {
	t.Helper()
	at := net.UDPAddrFromAddrPort(netip.AddrPortFrom(f.Addr(1), 5000))
	var in, out *net.UDPConn
	err := f.InHost(1, func() (err error) { in, err = net.ListenUDP("udp4", at); return err })
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := f.InHost(0, func() (err error) { out, err = net.DialUDP("udp4", nil, at); return err }); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	raw, err := out.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, int(prio<<5)) })
	if err = errors.Join(err, set, in.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 1)); err != nil {
		t.Fatalf("a packet of priority %d: %v", prio, err)
	}
}

func TestStart(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	f := build(t, "hybrid:racks=2,hosts=1,spines=1",
		netns.Options{Congestion: "reno", MTU: 4000, QueueBytes: 30_000})
	if s := f.Settings(); s.Congestion != "reno" || s.MTU != 4000 || s.MinQueueBytes != 30_000 ||
		s.MaxQueueBytes != 30_000 {
		t.Errorf("settings are %+v", s)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"=host")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := f.Start(1, cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := "[10.0.1.1/32] 4000 reno false\n"; out.String() != want {
		t.Errorf("a command in host 1 says %q, want %q", out.String(), want)
	}
	if err := f.InHost(2, func() error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "0 to 1") {
		t.Errorf("entered host 2 of 2: %v", err)
	}
}

// describeHost is what TestStart's command prints: addresses, MTU, congestion control, and whether it
// thinks it is inside namespaces of its own.
func describeHost() int {
	nic, err := net.InterfaceByName("eth0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	addrs, _ := nic.Addrs()
	cc, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	fmt.Println(addrs, nic.MTU, strings.TrimSpace(string(cc)), netns.Inside())
	return 0
}

// TestStartNamed: commands in hosts and at the switches see the name that they are given, and only
// they, also for an ordinary user, who may not return to a name that is not his.
func TestStartNamed(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	f := build(t, "hybrid:racks=2,hosts=1,spines=1", netns.Options{})
	before, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, has string
		start     func(string, *exec.Cmd) error
	}{
		{"h1-0", "eth0", func(name string, cmd *exec.Cmd) error { return f.StartNamed(1, name, cmd) }},
		{"tor0", "tor0-0", f.StartAtSwitches},
		{"ocs", "ocs-1", f.StartAtSwitches},
	} {
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", "uname -n; cat /proc/net/dev")
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := tc.start(tc.name, cmd); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if err := cmd.Wait(); err != nil || !strings.HasPrefix(out.String(), tc.name+"\n") ||
			!strings.Contains(out.String(), tc.has+":") {
			t.Errorf("%s: %v, %s", tc.name, err, &out)
		}
	}
	if after, err := os.Hostname(); after != before || err != nil {
		t.Errorf("the machine is called %q, and was called %q: %v", after, before, err)
	}
}

// TestThreads: whatever InHost's function does, no other goroutine ends up in a host.
func TestThreads(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	f := build(t, "hybrid:racks=2,hosts=1,spines=1", netns.Options{})
	home, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 8 {
		go func() {
			for range 200 {
				err := f.InHost(1, func() error {
					if at, err := os.Readlink("/proc/thread-self/ns/net"); err != nil || at == home {
						return fmt.Errorf("at home: %w", err)
					}
					return nil
				})
				if at, rerr := os.Readlink("/proc/thread-self/ns/net"); err == nil && (rerr != nil || at != home) {
					err = fmt.Errorf("in %s: %w", at, rerr)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestOptions(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	for _, c := range []struct {
		name string
		opt  netns.Options
		want string
	}{
		{"unknown congestion control", netns.Options{Congestion: "warp"}, `"warp"`},
		{"unknown dataplane", netns.Options{Dataplane: "xdp"}, `"xdp" is unknown: take auto, ebpf or mirred`},
		{"MTU too small", netns.Options{MTU: 10}, "take 576 to 65535"},
		{"queue too small", netns.Options{QueueBytes: 10}, "two packets"},
		{"ebpf without root", netns.Options{Dataplane: netns.EBPF}, "run as root"},
	} {
		if c.opt.Dataplane == netns.EBPF && netns.Supported(false) == nil && os.Getenv("NETNS_TEST_ROOT") != "" {
			continue
		}
		s, err := topo.New(topo.Spec{Kind: topo.LeafSpine})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := netns.Build(s, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
