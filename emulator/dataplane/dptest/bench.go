package dptest

import (
	"slices"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound"
)

// KernelBenchmarks measures how long the changes of a dataplane take to be effective, on a ToR of eight
// racks.
func KernelBenchmarks(b *testing.B, dataplane string, needs ...string) {
	netnstest.Need(b, needs...)
	netnstest.Lock(b)
	n := Real(b, "hybrid:racks=8,hosts=2,spines=2", netns.Options{Dataplane: dataplane})
	if err := Program(n); err != nil {
		b.Fatal(err)
	}
	f := n.Spec()
	tor, ocs := n.Plane(f.ToRNode[0]), n.Plane(f.OCSNode)
	one := ToRRules(n, 0)
	// Three tables that differ in every rule: with two, an idle bank would hold the next one already.
	tables := [3][]southbound.Rule{one, slices.Clone(one), slices.Clone(one)}
	for i := range one {
		for k, step := range []southbound.Port{0, 1, 2} {
			tables[k][i].Primary = (one[i].Primary + step) % southbound.Port(f.HostsPerRack+3)
		}
	}
	turn := 0
	set := func(rules int, replace bool) func() error {
		return func() error { turn++; return tor.SetRules(tables[turn%3][:rules], nil, replace) }
	}
	for _, c := range []struct {
		name   string
		change [2]func() error
	}{
		{"one_rule", [2]func() error{set(1, false), set(1, false)}},
		{"whole_tor_8racks", [2]func() error{set(len(one), true), set(len(one), true)}},
		{"light", [2]func() error{
			func() error {
				return tor.SetLight(southbound.Port(f.OCSUplink[0]), false)
			}, func() error { return tor.SetLight(southbound.Port(f.OCSUplink[0]), true) }}},
		{"circuit", [2]func() error{
			func() error { return ocs.Move([]southbound.Port{0}, nil, 0) },
			func() error { return ocs.Move(nil, []southbound.CrossConnect{{In: 0, Out: 1}}, 0) }}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if err := c.change[i%2](); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
}
