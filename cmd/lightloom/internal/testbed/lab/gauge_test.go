package lab

import (
	"slices"
	"testing"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller/server"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi/probe"
)

// TestGaugeDepth: of the maxima that switches report, only those that grew during a run count for it. If none grew, or
// no switch reports any, a note says so.
func TestGaugeDepth(t *testing.T) {
	f := oneHostEach(t) // a ToR's ports: its host, the spine, the OCS
	g := &gauge{a: &server.Daemon{Fabric: f}, names: []string{"tor0", "tor1"}, nodes: f.ToRNode}
	told := func(most ...uint64) (c probe.Counters) {
		c.Ports = map[southbound.Port]probe.PortCounters{}
		for p, m := range most {
			c.Ports[southbound.Port(p)] = probe.PortCounters{Queue: &probe.Queue{Most: m, Mean: m / 10}}
		}
		return c
	}
	for _, tt := range []struct {
		name       string
		since, now []probe.Counters
		want       *report.QueueDepth
		note       []string
	}{
		{"no reports", []probe.Counters{{}, {}}, []probe.Counters{{}, {}}, nil,
			[]string{"queue depth: not told by these switches"}},
		{"longest before the run", []probe.Counters{told(0, 900, 0), told(0, 50)},
			[]probe.Counters{told(0, 900, 0), told(0, 300)},
			&report.QueueDepth{Port: "tor1:1 to spine0", Most: 300, Mean: 30}, nil},
		{"grown", []probe.Counters{told(0, 900, 0), told()}, []probe.Counters{told(0, 1000, 40), told(700, 1000)},
			&report.QueueDepth{Port: "tor0:1 to spine0", Most: 1000, Mean: 100}, nil},
		{"as before", []probe.Counters{told(0, 900, 0), {}}, []probe.Counters{told(0, 900, 0), {}}, nil,
			[]string{"queue depth: no queue was seen fuller than before the run"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g.since = tt.since
			d, note := g.depth(tt.now)
			if (d == nil) != (tt.want == nil) || d != nil && *d != *tt.want || !slices.Equal(note, tt.note) {
				t.Errorf("%+v, %q; want %+v, %q", d, note, tt.want, tt.note)
			}
		})
	}
}

func oneHostEach(t *testing.T) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
