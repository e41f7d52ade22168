package testbed

import (
	"errors"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// counted is a testbed whose links carry a byte each in every microsecond.
type counted struct {
	Testbed
	fabric *topo.Fabric
	now    time.Duration
	reads  int
	err    error
}

func (c *counted) Fabric() *topo.Fabric { return c.fabric }
func (c *counted) Apart() time.Duration { return time.Millisecond }

func (c *counted) Carried() ([]pathmap.Bytes, error) {
	c.reads++
	all := make([]pathmap.Bytes, len(c.fabric.Topology.Links()))
	for i := range all {
		all[i] = pathmap.Bytes(c.now.Microseconds())
	}
	return all, c.err
}

// TestLinkLog: however long a run is, readings are bounded, even and in order, and the first and the
// last are there.
func TestLinkLog(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []time.Duration{0, 5 * time.Millisecond, time.Second, 100 * time.Second} {
		tb := &counted{fabric: f}
		l := newLinkLog(tb, 0)
		if err := l.read(0); err != nil {
			t.Fatal(err)
		}
		for step := max(end/1_000_000, 100*time.Microsecond); tb.now < end; tb.now += step {
			if err := l.due(tb.now); err != nil {
				t.Fatal(err)
			}
		}
		tb.now = end
		if err := l.read(end); err != nil {
			t.Fatal(err)
		}
		x := &l.loads
		if n := len(x.Links); n != 2*4*2 {
			t.Fatalf("%d links between packet switches", n)
		}
		last := len(x.At) - 1
		if x.At[0] != 0 || x.At[last] != end || last > mostReadings || tb.reads > 20*mostReadings {
			t.Errorf("run of %v: readings from %v to %v, %d of %d kept", end, x.At[0], x.At[last],
				last+1, tb.reads)
		}
		for i := range x.At {
			if x.Bytes[i][3] != pathmap.Bytes(x.At[i].Microseconds()) || i > 0 && x.At[i] <= x.At[i-1] {
				t.Errorf("run of %v: reading %d at %v has %d bytes", end, i, x.At[i], x.Bytes[i][3])
			}
		}
	}
	tb := &counted{fabric: f, err: errors.New("no counters")}
	if err := newLinkLog(tb, 0).read(0); !errors.Is(err, tb.err) {
		t.Errorf("a reading that fails: %v", err)
	}
	if l := newLinkLog(struct{ Testbed }{}, 0); l != nil || l.due(0) != nil || l.read(0) != nil {
		t.Error("a testbed without counters has a log")
	}
}
