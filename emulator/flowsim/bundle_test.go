package flowsim

import (
	"testing"
	"unsafe"
)

// checkBundles holds what bundles keep for themselves against what it is told from.
func checkBundles(t testing.TB, f *fluid) {
	t.Helper()
	for _, i := range f.live {
		co := &f.coflows[i]
		for b := co.first; b < co.end; b++ {
			bu := &f.bundles[b]
			if got := f.routes[bu.route].pair; got != bu.pair {
				t.Fatalf("bundle %d of %v is on the route of %v", b, bu.pair, got)
			}
			if away, ok := f.awayOf(bu, bu.awayTag); ok && away != f.byPair.find(pair{bu.src, bu.dst, bu.awayTag}) {
				t.Fatalf("bundle %d of %v: it was away on route %d of %v", b, bu.pair, away, f.routes[away].pair)
			}
			if bu.class != onPace && bu.class != onLane && f.parts[b] != 0 {
				t.Fatalf("bundle %d of %v has part %v of a pace that it does not follow", b, bu.pair, f.parts[b])
			}
		}
	}
}

// TestBundleSize: a bundle is in one line of a cache, which whoever changes it must weigh.
func TestBundleSize(t *testing.T) {
	if n := unsafe.Sizeof(bundle{}); n != 64 {
		t.Errorf("a bundle takes %d bytes, want 64", n)
	}
}
