package phases

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/topoeng"
	"lightloom/southbound"
)

// lockstep is a job of two ranks: two phases alike between them, then another one, then one between other hosts of the
// same racks.
func lockstep() (*controller.Job, []southbound.HostID) {
	j := &controller.Job{}
	hosts := []southbound.HostID{0, 1, 2}
	for _, name := range []string{"1 TP", "2 TP", "PP", "DP", "end"} {
		s := controller.Stage{Name: name, Tasks: make([]controller.Task, 3), Hosts: hosts}
		s.Tasks[1].Compute = time.Second
		j.Stages = append(j.Stages, s)
	}
	for i, flows := range [][]controller.Flow{{{Src: 0, Dst: 1, Bytes: 1448}}, {{Src: 0, Dst: 1, Bytes: 1448}},
		{{Src: 1, Dst: 2, Bytes: 1448}, {Src: 0, Dst: 1, Bytes: 1448}}, {{Src: 0, Dst: 1, Bytes: 2896}}} {
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.Pairs, From: i, To: i + 1, Flows: flows})
	}
	return j, j.PinnedHosts()
}

// TestOfJob: phases have the computing before them and what is sent between racks; equal ones share their form.
func TestOfJob(t *testing.T) {
	j, hosts := lockstep()
	got, level := OfJob(j, hosts, 2, func(h southbound.HostID) int { return min(int(h), 1) }) // 1 and 2 share a rack
	if len(got) != 5 || fmt.Sprint(level) != "[0 1 2 3]" {
		t.Fatalf("%d phases, levels %v", len(got), level)
	}
	var says []string
	for _, p := range got {
		s := fmt.Sprint(p.Kind, " ", p.Compute)
		if len(p.Forms) > 0 {
			s += fmt.Sprint(" ", p.Forms[0].Demand)
		}
		says = append(says, s)
	}
	if want := "[TP 1s [[0 1514] [0 0]] TP 1s [[0 1514] [0 0]] PP 1s [[0 1514] [0 0]] DP 1s [[0 3028] [0 0]] end 1s]"; fmt.
		Sprint(says) != want {
		t.Errorf("%v, want %s", says, want)
	}
	if &got[0].Forms[0] != &got[1].Forms[0] || &got[0].Forms[0] == &got[3].Forms[0] {
		t.Error("phases share a form exactly where they send alike")
	}
	r := Representative(got)
	if &r[0].Forms[0] != &r[3].Forms[0] || r[0].Forms[0].Demand[0][1] != (3*1514+3028)/4. || len(r[4].Forms) != 0 {
		t.Errorf("%+v: all four are one way to send", r)
	}
}

// TestSteered: two racks have no second circuit, and send over that or over packets. Of 1,000 bytes each to two racks,
// over a circuit of 8 kbit/s to one of them and packets of 4, the second take 2 s; if the first come from a move that
// lasts 1.5 s, they take 2.5.
func TestSteered(t *testing.T) {
	f := Fabric{Racks: 2, Switches: 3, Steered: true}
	if got := fmt.Sprint(f.counts(between(2, 0, 1, 100))); got != "[[0 1] [0 0]]" {
		t.Error(got)
	}
	f = Fabric{Racks: 3, Switches: 1, Circuit: 8000, Packets: 4000, Steered: true}
	d := between(3, 0, 1, 1000)
	d[0][2] = 1000
	one := topoeng.NewCounts(3)
	one[0][1] = 1
	for dark, want := range map[float64]float64{0: 2, 1.5: 2.5} {
		if got := f.sending(d, topoeng.NewCounts(3), one, dark); got != want {
			t.Errorf("dark for %g s: %g s, want %g", dark, got, want)
		}
	}
	f.Packets = 0
	if got := f.sending(d, one, one, 0); !math.IsInf(got, 1) {
		t.Errorf("without packets: %g s", got)
	}
}

// chain is a job of stages of one task each, one after the other on racks of their own, that sends in so many ways.
func chain(stages, ways int) (*controller.Job, []southbound.HostID) {
	j := &controller.Job{}
	for i := range stages {
		h := southbound.HostID(i % ways)
		j.Stages = append(j.Stages, controller.Stage{Tasks: make([]controller.Task, 1), Hosts: []southbound.HostID{h}})
		if i > 0 {
			j.Edges = append(j.Edges, controller.Edge{Kind: controller.Pairs, From: i - 1, To: i,
				Flows: []controller.Flow{{Bytes: 1448}}})
		}
	}
	return j, j.PinnedHosts()
}

// TestLongChain: a job of 4,096 stages on 256 racks costs what its ways to send do, two here, and one that sends in
// more than 64 ways has no forms.
func TestLongChain(t *testing.T) {
	const racks = 256
	rack := func(h southbound.HostID) int { return int(h) }
	j, hosts := chain(4096, 2)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _ := OfJob(j, hosts, racks, rack)
	r := Representative(got)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
		t.Errorf("%d MB for two ways to send", mb)
	}
	if len(r) != 4096 || &r[0].Forms[0] != &r[2].Forms[0] || &r[0].Forms[0] == &r[1].Forms[0] {
		t.Error("stages that send alike share a form, others do not")
	}
	for ways, want := range map[int]int{64: 1, 65: 0} {
		j, hosts := chain(66, ways)
		if got, level := OfJob(j, hosts, racks, rack); len(got) != 66 || len(level) != 65 || len(got[0].Forms) != want {
			t.Errorf("%d ways to send: %d phases, %d forms of the first; want %d", ways, len(got), len(got[0].Forms), want)
		}
	}
}

// TestFewerWays: on many racks fewer ways to send are told apart, since all pairs of their topologies are compared.
func TestFewerWays(t *testing.T) {
	for racks, want := range map[int]int{8: 6, 32: 6, 64: 5, 256: 3, 4096: 1} {
		if got := mostWays(racks); got != want {
			t.Errorf("%d racks: %d ways, want %d", racks, got, want)
		}
	}
	j, hosts := chain(66, 8)
	got, _ := OfJob(j, hosts, 256, func(h southbound.HostID) int { return int(h) })
	sends := 0
	for _, p := range Representative(got)[:8] {
		sends += len(p.Forms)
	}
	if sends != 3 {
		t.Errorf("%d of 8 ways stay, want 3", sends)
	}
}
