package experiment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lightloom/pathmap"
)

// The experiment joint-when asks where deciding together adds something to lighting every pair: one
// thing of the factorial experiment's setting is changed at a time. It is of no document: every row
// makes no claim.

// variations are all variations that were run. They were chosen before the first run, and none was left
// out afterwards.
func variations(b *Bench) []studySetting {
	var all []studySetting
	add := func(name string, change func(g *studySetting)) {
		g := study(b, name, 4*time.Second)
		change(&g)
		all = append(all, g)
	}
	set := func(old, new string) func(g *studySetting) {
		return func(g *studySetting) { g.fabric = strings.Replace(g.fabric, old, new, 1) }
	}
	add("as the factorial, within 4 s", func(*studySetting) {})
	for _, dark := range []string{"1ms", "50ms", "200ms", "1s"} {
		add("dark for "+dark, set("dark=10ms", "dark="+dark))
	}
	for _, rate := range []string{"100Mbps", "200Mbps"} {
		add("circuits of "+rate, set("ocs=1Gbps", "ocs="+rate))
	}
	add("circuits of 200Mbps, dark for 200ms", set("ocs=1Gbps,dark=10ms", "ocs=200Mbps,dark=200ms"))
	add("ports on 4 of 8 racks", set("dark=10ms", "dark=10ms,ports=4"))
	add("ports on 4 of 8 racks, dark for 200ms", set("dark=10ms", "dark=200ms,ports=4"))
	for _, window := range []time.Duration{time.Second, 250 * time.Millisecond} {
		add(fmt.Sprintf("within %v", window), func(g *studySetting) { g.jobs.Window = window })
	}
	add("within 1s, dark for 200ms", func(g *studySetting) {
		set("dark=10ms", "dark=200ms")(g)
		g.jobs.Window = time.Second
	})
	add("long wide coflows three times as large", func(g *studySetting) {
		g.jobs.Long = 15e6 * pathmap.Bytes(g.jobs.Jobs)
	})
	add("long wide coflows of a tenth", func(g *studySetting) {
		g.jobs.Elephant, g.jobs.Long = 1.125e6, 500e3*pathmap.Bytes(g.jobs.Jobs)
	})
	return all
}

// steps are the cells from sunflow to joint.
func steps() []cell {
	return []cell{circuitsElephants, circuitsAll, jointly, jointPlaces, jointCircuits}
}

func runJointWhen(ctx context.Context, b *Bench) (*Result, error) {
	places := variations(b)
	out := b.Result(
		"the setting of the factorial experiment, "+factorialFabric+
			fmt.Sprintf(", %d jobs within 4 s, with what a row names", places[0].jobs.Jobs),
		"the threshold of elephants is 9 times the dark time at the circuits' rate: where circuits are dark for long, "+
			"hardly anything is one",
	)
	return Fill(ctx, b, out, places, steps(), studySetting.run, studySetting.whenRows, Chance)
}

// whenRows are the steps from sunflow to joint in one variation, joint against lighting every pair, and
// what circuits carry.
func (g studySetting) whenRows(out *Result, got Systems) {
	for _, m := range metrics()[1:] {
		e := effects{m, got, g.name + ": ", out}
		e.steps()
		e.joint(circuitsAll)
	}
	for _, c := range steps() {
		g.limits(out, got, c)
	}
}
