package loop

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestMetersAgainstReference: devices count, start anew, name ports that they do not have and send the
// same twice; each link must have the rate that the last two samples of its own port give, or none.
func TestMetersAgainstReference(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=3,hosts=2,spines=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	g := f.Topology
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		m := meters{topology: g}
		type key struct {
			d southbound.DeviceID
			p southbound.Port
		}
		history := map[key][]southbound.PortCounters{} // since a port's device began anew
		came := map[key]time.Duration{}
		for step := range 60 {
			now := time.Duration(step+1) * time.Second
			c := DeviceCounts{Device: southbound.DeviceID(r.IntN(len(g.Nodes()) + 1)), Anew: r.IntN(12) == 0}
			if int(c.Device) == len(g.Nodes()) || g.Node(c.Device).Role == pathmap.Host { // no such switch
				c.Ports = []southbound.PortCounters{{At: now}}
				m.add(now, &c)
				continue
			}
			ports := southbound.Port(g.Ports(c.Device))
			if c.Anew {
				for p := range ports {
					delete(history, key{c.Device, p})
				}
			}
			for p := southbound.Port(-1); p <= ports; p++ {
				if r.IntN(3) == 0 {
					continue
				}
				x := southbound.PortCounters{Port: p, At: now}
				if old := history[key{c.Device, p}]; len(old) > 0 {
					if x = old[len(old)-1]; r.IntN(5) > 0 { // else the same twice
						x.At, x.InOctets, x.OutOctets, x.OutDiscards = now, x.InOctets+uint64(r.IntN(1e9)), x.OutOctets+
							uint64(r.IntN(1e9)), x.OutDiscards+uint64(r.IntN(9))
					}
				}
				c.Ports = append(c.Ports, x)
				k := key{c.Device, p}
				if h := history[k]; len(h) == 0 || h[len(h)-1].At != x.At {
					history[k] = append(h, x)
				}
				came[k] = now
			}
			m.add(now, &c)
		}
		if m.links == nil {
			t.Fatalf("seed %d: nothing is known", seed)
		}
		rate := func(d southbound.DeviceID, p int32) (southbound.PortRate, time.Duration) {
			k := key{d, southbound.Port(p)}
			h := history[k]
			var one southbound.Rater
			if n := len(h); n >= 2 {
				one.Add(h[n-2])
				return one.Add(h[n-1]), came[k]
			}
			return southbound.PortRate{}, 0
		}
		for id, l := range g.Links() {
			x, at := rate(l.From, l.FromPort)
			want := controller.LinkRate{Rate: x.Out, Drops: x.Drops, Span: x.Span, At: at}
			if g.Node(l.From).Role == pathmap.Host {
				x, at = rate(l.To, l.ToPort)
				want = controller.LinkRate{Rate: x.In, Span: x.Span, At: at}
			}
			if got := m.links[id]; !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: link %d: %+v, want %+v", seed, id, got, want)
			}
		}
	}
}
