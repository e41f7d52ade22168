package physical

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/server"
	"lightloom/lab/report"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/inventory"
)

// TestGaugeDepth: of the maxima that switches report, only those that grew during a run count for it.
// If none grew, or no switch reports any, a note says so.
func TestGaugeDepth(t *testing.T) {
	f := oneHostEach(t) // a ToR's ports: its host, the spine, the OCS
	g := &meter{a: &server.Daemon{Fabric: f}, names: []string{"tor0", "tor1"}, nodes: f.ToRNode}
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
		{"grown", []probe.Counters{told(0, 900, 0), told()},
			[]probe.Counters{told(0, 1000, 40), told(700, 1000)},
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

// TestGaugeWithoutSpine: a spine that cannot be read is left out of the measurement with a note.
// Without a ToR there is none.
func TestGaugeWithoutSpine(t *testing.T) {
	t.Setenv("LAB_USER", "ada")
	dir := filepath.Join(t.TempDir(), "keys")
	path := mixedLab(t, dir)
	spec, err := topo.ParseSpec(smallFabric)
	f, ferr := topo.New(must(t, spec, err))
	must(t, f, ferr)
	named, err := inventory.Read(path, f)
	must(t, named, err)
	without := func(name string) (*meter, error) {
		d, err := named.Devices.Find(name)
		moved := *must(t, d, err)
		moved.Credentials.Username = "env:NOT_SET" // fails at once, where an address would be tried for seconds
		moved.Credentials.Password = "env:NOT_SET"
		all, err := named.Devices.Replace(f, moved)
		a := &server.Daemon{Fabric: f, Inventory: &inventory.Inventory{Devices: must(t, all, err)}}
		a.Options.Keys = dir
		return measure(t.Context(), a)
	}
	g, err := without("spine0")
	must(t, g, err)
	if len(g.names) != f.Racks || len(g.notes) != 1 || !strings.Contains(g.notes[0], "spine0") {
		t.Errorf("%q are measured; notes %q", g.names, g.notes)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if _, err := without("tor1"); err == nil || !strings.Contains(err.Error(), "tor1") {
		t.Errorf("without a ToR: %v", err)
	}
}
