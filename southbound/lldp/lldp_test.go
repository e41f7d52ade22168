package lldp_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"lightloom/southbound/lldp"
)

func mac() net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, 9} }

func sample() lldp.Announcement {
	return lldp.Announcement{Chassis: "tor3", ChassisKind: lldp.Local, Port: "Ethernet4",
		PortKind: lldp.InterfaceName,
		System:   "tor3", Description: "to the light", TTL: 4 * time.Second}
}

func TestFrame(t *testing.T) {
	for _, a := range []lldp.Announcement{sample(), {Chassis: "x", ChassisKind: lldp.Local, Port: "p",
		PortKind: lldp.InterfaceName}} {
		b, err := a.Marshal(mac())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := lldp.Unmarshal(b); err != nil || got != a || len(b) < 60 ||
			binary.BigEndian.Uint16(b[12:]) != lldp.EtherType {
			t.Errorf("%+v came back as %+v, %v", a, got, err)
		}
	}
	for _, bad := range []lldp.Announcement{{}, {Chassis: "x"}, {Chassis: strings.Repeat("x", 256), Port: "p"},
		{Chassis: "x", Port: "p", TTL: 24 * time.Hour}} {
		if _, err := bad.Marshal(mac()); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
}

// frame writes TLVs as they are.
func frame(tlvs ...string) []byte {
	b := append(append(append([]byte(nil), lldp.Group()...), mac()...), 0x88, 0xcc)
	for _, v := range tlvs {
		b = append(append(b, v[0]<<1, byte(len(v)-1)), v[1:]...)
	}
	return append(b, 0, 0)
}

func TestStrangers(t *testing.T) {
	const ttl = "\x03\x00\x78"
	for _, c := range []struct {
		name  string
		frame []byte
		want  string // chassis and port, or part of the error after "!"
	}{
		{"hardware addresses", frame("\x01\x04\x00\x1b\x21\x0a\x0b\x0c",
			"\x02\x03\x00\x1b\x21\x0a\x0b\x0d", ttl),
			"00:1b:21:0a:0b:0c 00:1b:21:0a:0b:0d"},
		{"no text", frame("\x01\x07\x00\x01", "\x02\x07\xff", ttl), "0001 ff"},
		{"reserved kinds", frame("\x01\x09xx", "\x02\x05yy", ttl), "!reserved"},
		{"no port", frame("\x01\x07xx", ttl, ttl), "!mandatory"},
		{"empty", frame(), "!mandatory"},
		{"cut", frame("\x01\x07xx", "\x02\x05yy", ttl)[:22], "!LLDP"},
		// What is not read is not judged (IEEE 802.1AB, clause 9.2.7.7: an optional TLV with an error is
		// passed over).
		{"a management address that lies about its length",
			frame("\x01\x07xx", "\x02\x05yy", ttl, "\x08\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01"), "xx yy"},
		{"a value that ends after the frame", frame("\x01\x07xx", "\x02\x05yy", ttl, "\x05s")[:30], "!"},
		{"a short time to live", frame("\x01\x07xx", "\x02\x05yy", "\x03\x00"), "!mandatory"},
		{"no end", frame("\x01\x07xx", "\x02\x05yy", ttl)[:28], "!no end"},
		{"another protocol", append(make([]byte, 12), 8, 0, 0x45, 0, 0, 0), "!"},
	} {
		a, err := lldp.Unmarshal(c.frame)
		want, bad := strings.CutPrefix(c.want, "!")
		switch {
		case bad && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %+v, %v; want an error with %q", c.name, a, err, want)
		case !bad && (err != nil || a.Chassis+" "+a.Port != want):
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
}

// TestReference: gopacket reads in our frames what we wrote.
func TestReference(t *testing.T) {
	b, err := sample().Marshal(mac())
	if err != nil {
		t.Fatal(err)
	}
	chassis, port, ok := reference(b)
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	info, is := p.Layer(layers.LayerTypeLinkLayerDiscoveryInfo).(*layers.LinkLayerDiscoveryInfo)
	if !ok || string(chassis) != "tor3" || string(port) != "Ethernet4" || !is || info.SysName != "tor3" ||
		info.PortDescription != "to the light" {
		t.Errorf("gopacket reads chassis %q, port %q, %+v", chassis, port, info)
	}
}

// reference returns the identifiers that gopacket reads, if it takes the frame.
func reference(b []byte) (chassis, port []byte, ok bool) {
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	l, ok := p.Layer(layers.LayerTypeLinkLayerDiscovery).(*layers.LinkLayerDiscovery)
	if !ok || p.ErrorLayer() != nil {
		return nil, nil, false
	}
	return l.ChassisID.ID, l.PortID.ID, true
}

func FuzzUnmarshal(f *testing.F) {
	b, err := sample().Marshal(mac())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(frame("\x01\x07xx", "\x02\x05yy", "\x03\x00\x78", "\x08\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := lldp.Unmarshal(b)
		if err != nil {
			return
		}
		if chassis, port, ok := reference(b); ok && (!means(a.Chassis, a.ChassisKind, chassis) ||
			!means(a.Port, a.PortKind, port)) {
			t.Errorf("%+v; gopacket reads chassis %x and port %x", a, chassis, port)
		}
		if a.Chassis == "" || a.Port == "" || len(a.Chassis) > 510 || len(a.Port) > 510 {
			t.Errorf("%+v", a)
		}
		a.ChassisKind, a.PortKind = lldp.Local, lldp.InterfaceName
		again, err := a.Marshal(mac())
		if err != nil {
			return // hexadecimal digits may be too many to be sent on
		}
		if got, err := lldp.Unmarshal(again); err != nil || got != a {
			t.Errorf("%+v came back as %+v, %v", a, got, err)
		}
	})
}

// means: a name stands for an identifier's bytes.
func means(name, kind string, b []byte) bool {
	return name == string(b) || name == hex.EncodeToString(b) ||
		kind == "MAC_ADDRESS" && name == net.HardwareAddr(b).String()
}

// TestTable holds the table against one that keeps everything that was ever heard.
func TestTable(t *testing.T) {
	type ear struct {
		port int
		who  string
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		table := lldp.NewTable(3)
		last := map[ear][2]time.Duration{} // when, for how long
		now := time.Duration(0)
		for range 200 {
			now += time.Duration(r.IntN(900)) * time.Millisecond
			e := ear{r.IntN(3), fmt.Sprintf("s%d", r.IntN(6))}
			ttl := time.Duration(r.IntN(4)) * time.Second
			table.Hear(now, e.port, lldp.Announcement{Chassis: e.who, Port: "p", TTL: ttl})
			last[e] = [2]time.Duration{now, ttl}
			table.Expire(now)
			for p := range 3 {
				want := 0
				for k, v := range last {
					if k.port == p && now < v[0]+v[1] {
						want++
					}
				}
				if got := table.At(p); len(got) != want {
					t.Fatalf("seed %d: port %d hears %+v, want %d", seed, p, got, want)
				}
			}
		}
	}
	table := lldp.NewTable(1)
	for i := range 100 {
		table.Hear(0, 0, lldp.Announcement{Chassis: fmt.Sprint(i), Port: "p", TTL: time.Second})
	}
	if n := len(table.At(0)); n != 16 {
		t.Errorf("%d neighbours of one port are kept", n)
	}
	if table.Hear(0, 7, sample()) {
		t.Error("a port that is not there has heard something")
	}
}
