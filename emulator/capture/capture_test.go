package capture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/capture"
	"lightloom/emulator/netns/netnstest"
)

func TestMain(m *testing.M) { netnstest.Main(m, false) }

// record is a packet as gopacket reads it back.
type record struct {
	ci   gopacket.CaptureInfo
	data []byte
}

// read reads a whole file, and the statistics at its end.
func read(t *testing.T, b []byte) (all []record, stats pcapgo.NgInterfaceStatistics) {
	t.Helper()
	opt := pcapgo.DefaultNgReaderOptions
	opt.WantMixedLinkType = true
	opt.StatisticsCallback = func(i int, s pcapgo.NgInterfaceStatistics) { stats = s }
	r, err := pcapgo.NewNgReader(bytes.NewReader(b), opt)
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, ci, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return all, stats
		}
		if err != nil {
			t.Fatalf("after %d packets: %v", len(all), err)
		}
		all = append(all, record{ci, data})
	}
}

// options returns the options of the n-th packet block, by code: gopacket passes them over.
func options(t *testing.T, b []byte, n int) map[uint16][]byte {
	t.Helper()
	for len(b) >= 12 {
		kind, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if size < 12 || size%4 != 0 || int(size) > len(b) || binary.LittleEndian.Uint32(b[size-4:]) != size {
			t.Fatalf("a block of kind %d says that it has %d bytes", kind, size)
		}
		if kind == 6 {
			if n == 0 {
				return list(b[28+(binary.LittleEndian.Uint32(b[20:])+3)/4*4 : size-4])
			}
			n--
		}
		b = b[size:]
	}
	t.Fatal("there are too few blocks")
	return nil
}

func list(b []byte) map[uint16][]byte {
	out := map[uint16][]byte{}
	for len(b) >= 4 && binary.LittleEndian.Uint16(b) != 0 {
		n := int(binary.LittleEndian.Uint16(b[2:]))
		out[binary.LittleEndian.Uint16(b)] = b[4 : 4+n]
		b = b[4+(n+3)/4*4:]
	}
	return out
}

func TestFile(t *testing.T) {
	var b bytes.Buffer
	f, err := capture.NewFile(&b, &capture.Options{Port: "tor0-3", About: "on the bench",
		Program: "lightloom test",
		SnapLen: 96})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 123_456_789)
	for n := range 5 { // lengths of every remainder
		p := capture.Frame{At: at.Add(time.Duration(n)), Data: bytes.Repeat([]byte{byte(n)}, 60+n),
			Size: 1500 + n,
			Out:  n%2 == 1}
		if err := f.Packet(p); err != nil {
			t.Fatal(err)
		}
		if err := f.Note(capture.Note{At: p.At, Text: "circuit 0→3 CONNECTED"[:21-n]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.End(capture.Result{Packets: 5, Dropped: 2, Began: at,
		Ended: at.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	got, stats := read(t, b.Bytes())
	if len(got) != 10 || stats.PacketsReceived != 7 || stats.PacketsDropped != 2 {
		t.Fatalf("%d records, %+v", len(got), stats)
	}
	for n := range 5 {
		p, note := got[2*n], got[2*n+1]
		if !p.ci.Timestamp.Equal(at.Add(time.Duration(n))) || p.ci.Length != 1500+n || len(p.data) != 60+n ||
			p.ci.InterfaceIndex != 0 {
			t.Errorf("packet %d came back as %+v", n, p.ci)
		}
		if way := options(t, b.Bytes(), 2*n)[2]; len(way) != 4 || way[0] != byte(1+n%2) {
			t.Errorf("the direction of packet %d is %v", n, way)
		}
		text := "circuit 0→3 CONNECTED"[:21-n]
		if note.ci.InterfaceIndex != 1 || !strings.HasSuffix(string(note.data), "lightloom: "+text) ||
			!bytes.Contains(note.data, []byte("syslog")) {
			t.Errorf("note %d came back as %q", n, note.data)
		}
		if c := options(t, b.Bytes(), 2*n+1)[1]; string(c) != text {
			t.Errorf("the comment is %q", c)
		}
	}
}

// TestPacketsOnly: a file without notes has one interface, which readers of one kind of packets need.
func TestPacketsOnly(t *testing.T) {
	for _, only := range []bool{false, true} {
		var b bytes.Buffer
		f, err := capture.NewFile(&b, &capture.Options{Port: "tor0:3", SnapLen: 96, PacketsOnly: only})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.End(capture.Result{}); err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(b.Bytes(), []byte("circuits")); has == only {
			t.Errorf("packets only %v: an interface for circuits: %v", only, has)
		}
	}
}

// wire is a cable between two interfaces that are up.
func wire(t *testing.T) (a, b int) {
	t.Helper()
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: "capb"}
	v.Name = "capa"
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netlink.LinkDel(v); err != nil {
			t.Error(err)
		}
	})
	var at [2]int
	for i, name := range []string{"capa", "capb"} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
		at[i] = l.Attrs().Index
	}
	for _, index := range at {
		running(t, index)
	}
	return at[0], at[1]
}

// running waits until an interface has its queue: what is sent before is sent nowhere.
func running(t *testing.T, index int) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		l, err := netlink.LinkByIndex(index)
		if err != nil {
			t.Fatal(err)
		}
		if l.Attrs().OperState == netlink.OperUp {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("interface %q is %v", l.Attrs().Name, l.Attrs().OperState)
		}
	}
}

// sender sends frames of one kind from an interface.
func sender(t *testing.T, link int) func(n, size int) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return func(n, size int) {
		b := make([]byte, size)
		binary.BigEndian.PutUint16(b[12:], 0x88b6)
		for i := range n {
			binary.BigEndian.PutUint32(b[14:], uint32(i))
			if err := unix.Sendto(fd, b, 0, &unix.SockaddrLinklayer{Ifindex: link}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRun(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	a, b := wire(t)
	fromA, fromB := sender(t, a), sender(t, b)
	open := func(buffer int) *capture.Source {
		s, err := capture.Open(a, "capa", 64, buffer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	t.Run("count", func(t *testing.T) {
		var file bytes.Buffer
		book := capture.NewNotebook()
		opt := capture.Options{Port: "capa", SnapLen: 64, Count: 20, Began: func() {
			book.Add(capture.Note{At: time.Now(), Text: "between\nthe lines"})
			fromA(10, 100)
			fromB(30, 1000)
		}}
		r, err := capture.Run(t.Context(), open(0), book, &file, opt)
		if err != nil || r.Packets != 20 || r.Notes != 1 || r.Dropped != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		got, _ := read(t, file.Bytes())
		out, in := 0, 0
		for i, p := range got {
			if p.ci.InterfaceIndex == 1 {
				if !strings.HasSuffix(string(p.data), "between the lines") {
					t.Errorf("note %q", p.data)
				}
				continue
			}
			eth := gopacket.NewPacket(p.data, layers.LayerTypeEthernet,
				gopacket.Default).Layer(layers.LayerTypeEthernet)
			if eth == nil || eth.(*layers.Ethernet).EthernetType != 0x88b6 {
				continue // the kernel's own greetings
			}
			if len(p.data) != 64 {
				t.Errorf("%d bytes were kept", len(p.data))
			}
			switch way := options(t, file.Bytes(), i)[2][0]; {
			case way == 2 && p.ci.Length == 100:
				out++
			case way == 1 && p.ci.Length == 1000:
				in++
			default:
				t.Errorf("a packet of %d bytes went way %d", p.ci.Length, way)
			}
		}
		if out < 5 || in < 5 {
			t.Errorf("%d packets went out and %d came in", out, in)
		}
	})
	t.Run("drops are counted", func(t *testing.T) {
		src := open(4096)
		fromB(2000, 1000) // sent while no reader reads
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var file bytes.Buffer
		r, err := capture.Run(ctx, src, capture.NewNotebook(), &file, capture.Options{Port: "capa", SnapLen: 64})
		if err != nil || r.Dropped == 0 || r.Packets == 0 || r.Packets+r.Dropped < 2000 {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, stats := read(t, file.Bytes()); stats.PacketsDropped != r.Dropped {
			t.Errorf("the file says %+v", stats)
		}
	})
	t.Run("duration", func(t *testing.T) {
		r, err := capture.Run(t.Context(), open(0), capture.NewNotebook(), io.Discard,
			capture.Options{Port: "capa", SnapLen: 64, Duration: 20 * time.Millisecond})
		if err != nil || r.Ended.Sub(r.Began) > 5*time.Second {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("in the file at once", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		wrote := 0
		r, err := capture.Run(ctx, open(0), capture.NewNotebook(), writer(func() {
			if wrote++; wrote == 2 { // the head, and then what came
				cancel()
			}
		}), capture.Options{Port: "capa", SnapLen: 64, Duration: time.Minute, Began: func() { fromA(1, 100) }})
		if err != nil || r.Packets == 0 || r.Ended.Sub(r.Began) > 30*time.Second {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		_, err := capture.Run(t.Context(), open(0), capture.NewNotebook(), &full{},
			capture.Options{Port: "capa", SnapLen: 64, Count: 200, Began: func() { fromA(200, 1000) }})
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%v", err)
		}
	})
	if _, err := capture.Open(1<<20, "nowhere", 64, 0); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf("an interface that is not there: %v", err)
	}
	if _, err := capture.Run(t.Context(), nil, nil, nil, capture.Options{SnapLen: 1}); err == nil ||
		!strings.Contains(err.Error(), "take 14 to") {
		t.Errorf("a snap length of 1: %v", err)
	}
}

// writer is told of each write.
type writer func()

func (w writer) Write(b []byte) (int, error) { w(); return len(b), nil }

// full has room for one write, which is the head.
type full struct{ wrote bool }

func (f *full) Write(b []byte) (int, error) {
	if f.wrote {
		return 0, unix.ENOSPC
	}
	f.wrote = true
	return len(b), nil
}
