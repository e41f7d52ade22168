package emulated

import (
	"fmt"
	"testing"

	"lightloom/pathmap/topo"
)

// TestGarbage: before it is collected, garbage of a large fabric that is kept up takes memory as its tables do, on a
// small machine less, and none where the user says how much.
func TestGarbage(t *testing.T) {
	const gib = 1 << 30
	for _, tt := range []struct {
		racks, hosts, spines int
		machine              int64
		most                 [2]int64 // of the fabric and the leader, in MB
	}{
		{32, 15, 2, 24 * gib, [2]int64{60, 40}},    // HWM with GOGC=50: 99 and 87 MB, of which 45 hold no heap
		{128, 8, 16, 24 * gib, [2]int64{375, 145}}, // HWM with GOGC=50: 480 and 336 MB
		{128, 8, 16, gib, [2]int64{135, 135}},      // an eighth of the machine's
		{128, 8, 16, gib / 2, [2]int64{68, 68}},    // likewise
		{8, 4, 2, 24 * gib, [2]int64{0, 0}},        // a small one
	} {
		spec, err := topo.ParseSpec(fmt.Sprintf("hybrid:racks=%d,hosts=%d,spines=%d", tt.racks, tt.hosts, tt.spines))
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []string{"", "GOGC", "GOMEMLIMIT"} {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			if set != "" {
				t.Setenv(set, "100")
			}
			for i, n := range []need{ofFabric, ofLeader} {
				most := tt.most[i] * 1_000_000
				if set != "" {
					most = 0
				}
				g := garbage(&ChildConfig{Stay: true, Memory: tt.machine}, f, n)
				if g.Memory > most || g.Memory < most*3/4 || (g.Percent == 0) != (most == 0) {
					t.Errorf("%v, %s set, process %d of 2: %+v, want at most %d bytes and not much less", spec, set, i+1, g, most)
				}
			}
		}
	}
}
