package pathmap

import (
	"math"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for _, c := range []struct {
		in   string
		want BitsPerSecond
	}{
		{"10Gbps", 10 * Gbps}, {"2.5Gbps", 2500 * Mbps}, {"0.5Kbps", 500}, {"1kbps", 1000}, {"7bps",
			7}, {"0bps", 0},
		{"1Tbps", 1000 * Gbps}, {"9223372036854775807bps", math.MaxInt64}, {"1.500bps", -1}, {"0.0001Kbps", -1},
		{"9223372036854775808bps", -1}, {"10", -1}, {"Gbps", -1}, {"-1Gbps", -1}, {"1e9bps", -1}, {".5Gbps", -1},
		{"1.Gbps", -1},
		{"10MBps", -1}, {"1/2Gbps", -1}, {"", -1}, {" 1Gbps", -1}, {"1_0Gbps", -1},
		{"10G", 10 * Gbps}, {"10Gb", 10 * Gbps}, {"10Gb/s", 10 * Gbps}, {"10gbps",
			10 * Gbps}, {"10Gbit", 10 * Gbps},
		{"10Gbit/s", 10 * Gbps}, {"10 Gb/s", 10 * Gbps}, {"2.5g", 2500 * Mbps}, {"100mbit",
			100 * Mbps}, {"9 bits/s", 9},
		{"10b", -1}, {"10bit", -1}, {"10GB/s", -1}, {"10  G", -1}, {"10G ", -1}, {"10Gibps", -1}, {"10/s", -1},
	} {
		got, err := ParseRate(c.in)
		if (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%q: got %d, %v; want %d", c.in, got, err, c.want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"10Gbps", "2.5Mbps", "bps", "1e9bps", "99999999999999999999Tbps"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if again, err := ParseRate(r.String()); err != nil || again != r || r < 0 {
			t.Errorf("%q: %d, written %v, read as %d, %v", s, r, r, again, err)
		}
	})
}

func TestOverAndIn(t *testing.T) {
	for _, c := range []struct {
		name  string
		b     Bytes
		r     BitsPerSecond
		takes time.Duration
	}{
		{"nothing", 0, Gbps, 0},
		{"a byte at 1 Gb/s is 8 ns", 1, Gbps, 8},
		{"rounded up", 1, 3 * Gbps, 3},
		{"no rate", 1, 0, MaxDuration},
		{"2 GB at 1 Gb/s: more than 64 bits of bit-nanoseconds", 2e9, Gbps, 16 * time.Second},
		{"more than an instant holds", math.MaxInt64, 1, MaxDuration},
	} {
		if got := c.b.Over(c.r); got != c.takes {
			t.Errorf("%s: %v, want %v", c.name, got, c.takes)
		}
	}
	if got := Gbps.In(time.Second); got != 125e6 {
		t.Errorf("a second at 1 Gb/s carries %d bytes, want 125000000", got)
	}
	if got := (math.MaxInt64 * BitsPerSecond(1)).In(MaxDuration); got != math.MaxInt64 {
		t.Errorf("everything carries %d", got)
	}
}

func TestAbout(t *testing.T) {
	for r, want := range map[BitsPerSecond]string{0: "0bps", 7: "7bps", 999: "999bps", 1500: "1.5Kbps",
		10 * Gbps:     "10Gbps",
		5_999_999_994: "6Gbps", 3_333_333_333: "3.33Gbps", 999_999_999: "1Gbps", 48 * Gbps: "48Gbps", 1234 * Gbps: "1230Gbps",
		612_345_678: "612Mbps"} {
		if got := r.About(); got != want {
			t.Errorf("%d b/s are about %q, want %q", int64(r), got, want)
		}
	}
}
