package flowsim

import (
	"testing"
	"unsafe"
)

// checkHostFlows compares the values that host flows cache with their sources.
func checkHostFlows(t testing.TB, f *fluid) {
	t.Helper()
	for _, i := range f.live {
		co := &f.coflows[i]
		for b := co.first; b < co.end; b++ {
			bu := &f.hostFlows[b]
			if got := f.routes[bu.route].pair; got != bu.pair {
				t.Fatalf("host flow %d of %v is on the route of %v", b, bu.pair, got)
			}
			if away, ok := f.awayOf(bu, bu.awayTag); ok && away != f.routeAt(pair{bu.src, bu.dst, bu.awayTag}) {
				t.Fatalf("host flow %d of %v: it was away on route %d of %v", b, bu.pair, away, f.routes[away].pair)
			}
			if bu.class != onPace && bu.class != onIndividual && bu.class != onBackfilled && f.parts[b] != 0 {
				t.Fatalf("host flow %d of %v has part %v of a pace that it does not follow", b, bu.pair, f.parts[b])
			}
		}
	}
}

// TestHostFlowSize: a host flow fits one cache line. A larger one costs speed.
func TestHostFlowSize(t *testing.T) {
	if n := unsafe.Sizeof(hostFlow{}); n != 64 {
		t.Errorf("a host flow takes %d bytes, want 64", n)
	}
}
