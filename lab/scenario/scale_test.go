package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestPacketScale: auto takes the least scale of its series at which the fabric's ports fit the machine,
// also where rates cannot be divided without a rest.
func TestPacketScale(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if err := os.MkdirAll(filepath.Dir(CapacityFile()), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, capacity := range []pathmap.BitsPerSecond{10 * pathmap.Gbps, 7_770 * pathmap.Mbps,
		70 * pathmap.Mbps} {
		if err := KeepCapacity(capacity); err != nil {
			t.Fatal(err)
		}
		for _, fabric := range []string{
			"hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
			"hybrid:racks=9,hosts=2,spines=2,eps=333333333bps,ocs=999999999bps,dark=10ms",
			"hybrid:racks=4,hosts=2,spines=1,eps=1Mbps,ocs=7Mbps,dark=1ms",
			"leafspine:racks=4,hosts=4,spines=2,eps=100Gbps", "fattree:k=4,hosts=16,rate=40Gbps",
			"jellyfish:switches=10,degree=3,hosts=20,rate=1234567bps",
		} {
			opt := Options{Fabric: fabric, Seed: 1, Speedup: 1}
			scale, note, err := PacketScale(t.Context(), opt)
			if err != nil {
				t.Fatalf("%s: %v", fabric, err)
			}
			s, err := Prepare(withoutJobs(opt), scale)
			if err != nil {
				t.Fatalf("%s at scale %g: %v", fabric, scale, err)
			}
			if sum := PortRates(s); sum*LoadShare > capacity {
				t.Errorf("%s on %v: scale %g leaves ports that sum to %v, more than a quarter", fabric,
					capacity, scale, sum)
			}
			if strings.Contains(note, "9999") || scale > 1 && note == "" {
				t.Errorf("%s: the note says %q", fabric, note)
			}
			if scale == 1 {
				continue
			}
			opt.Scale = scale / 2.5 // at or below the next lesser one
			if _, _, err := PacketScale(t.Context(), opt); err == nil {
				t.Errorf("%s on %v: scale %g would do as well as %g", fabric, capacity, opt.Scale, scale)
			}
			opt.Scale = scale
			if got, _, err := PacketScale(t.Context(), opt); err != nil || got != scale {
				t.Errorf("%s: --scale %g, which auto takes, gives %g, %v", fabric, scale, got, err)
			}
		}
	}
}
