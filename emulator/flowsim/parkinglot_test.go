package flowsim

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// lotHosts is how many hosts a parking lot has, each at a switch of its own: 16 nodes.
const lotHosts = 8

// parkingLot is a row of switches with a host each: 10 Gb/s to hosts, four times that between switches.
func parkingLot() topo.Spec {
	var b strings.Builder
	b.WriteString("kind: topology\ncapacity: 40Gbps\nnodes:\n")
	for i := range lotHosts {
		fmt.Fprintf(&b, "  - {name: s%d, role: tor, rack: %d}\n  - {name: h%d, role: host, rack: %d}\n", i, i, i, i)
	}
	b.WriteString("links:\n")
	for i := range lotHosts {
		fmt.Fprintf(&b, "  - {ends: [h%d, s%d], capacity: 10Gbps}\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "  - {ends: [s%d, s%d]}\n", i-1, i)
		}
	}
	return topo.Spec{Kind: topo.FileKind, File: "lot.yaml", Text: b.String()}
}

// wireLot programs the switches of a parking lot.
func wireLot(t testing.TB, s *Sim) {
	t.Helper()
	f := s.fabric
	toward := func(from, to pathmap.NodeID) southbound.Port {
		for _, l := range f.Topology.Out(from) {
			if link := f.Topology.Link(l); link.To == to {
				return southbound.Port(link.FromPort)
			}
		}
		t.Fatalf("no link from %d to %d", from, to)
		return 0
	}
	for r := range f.Racks {
		c := &southbound.Change{Replace: true}
		for dst := range f.Racks {
			next := r + 1
			if dst < r {
				next = r - 1
			}
			if dst != r {
				m := southbound.Match{Dst: southbound.RackID(dst), Tag: southbound.AnyTag, Src: southbound.AnyRack}
				c.Rules = append(c.Rules, southbound.Rule{Match: m, Primary: toward(f.ToRNode[r], f.ToRNode[next]),
					Backup: southbound.NoPort})
			}
		}
		set(t, s, f.ToRNode[r], c)
	}
	advance(t, s, s.Now())
}

// lotFlows draws flows of a parking lot: sizes of web search, Poisson arrivals at a load of hosts' links.
func lotFlows(seed uint64, n int, load float64) []single {
	rng := rand.New(rand.NewPCG(seed, 16))
	gap := meanSize(webSearch) * 8 / 10 / load / lotHosts // nanoseconds
	all, at := make([]single, n), 0.0
	for i := range all {
		at += rng.ExpFloat64() * gap
		src, dst := rng.IntN(lotHosts), rng.IntN(lotHosts-1)
		if dst >= src {
			dst++
		}
		all[i] = single{at: time.Duration(math.Ceil(at)), src: southbound.HostID(src), dst: southbound.HostID(dst),
			size: drawSize(rng, webSearch)}
	}
	return all
}

// reader returns the flows of a list one after the other, with headers as m3 counts them.
func reader(all []single) func() single {
	return func() (fl single) {
		if len(all) > 0 {
			fl, all = all[0], all[1:]
			fl.size += (fl.size + 999) / 1000 * 48
		}
		return fl
	}
}

// TestParkingLot holds completion times against a simulator that shares links anew for all flows at every
// event. Its instants are not whole: a completion can be a nanosecond off for each event since the network
// was empty.
func TestParkingLot(t *testing.T) {
	for seed := range uint64(3) {
		f, all := fabric(t, parkingLot()), lotFlows(seed, 1000, 0.3+0.3*float64(seed))
		s, took := simulate(t, f, Options{NoHeaders: true}), make([]time.Duration, len(all))
		wireLot(t, s)
		stream(t, s, len(all), reader(all), took)
		for i, want := range lotSlowly(f, all) {
			if late := float64(all[i].at+took[i]) - want.end; math.Abs(late) > float64(want.events) {
				t.Fatalf("seed %d: flow %d ends %v ns after %v, with %d events", seed, i, late, want.end, want.events)
			}
		}
	}
}

// lotEnd is when a flow ends, in nanoseconds, and how many events there were since no flow was live.
type lotEnd struct {
	end    float64
	events int
}

// lotSlowly runs flows on a parking lot, all of whose rates are found anew at each event.
func lotSlowly(f *topo.Fabric, all []single) []lotEnd {
	var solver maxmin.Solver
	var capacity []float64
	for _, l := range f.Topology.Links() {
		capacity = append(capacity, float64(l.Capacity)/8e9) // bytes a nanosecond
	}
	ends := make([]lotEnd, len(all))
	var live []int
	var left []float64
	var classes []maxmin.Class
	next, now, events, read := 0, 0.0, 0, reader(all)
	for next < len(all) || len(live) > 0 {
		rate := make([]float64, len(live))
		solver.Solve(capacity, classes, rate)
		first, at := -1, math.Inf(1)
		for k := range live {
			if end := now + left[k]/rate[k]; end < at {
				first, at = k, end
			}
		}
		if len(live) == 0 {
			events = 0
		}
		events++
		arrives := next < len(all) && float64(all[next].at) < at
		if arrives {
			at = float64(all[next].at)
		}
		for k := range live {
			left[k] -= rate[k] * (at - now)
		}
		now = at
		if arrives {
			fl := read()
			live, left = append(live, next), append(left, float64(fl.size))
			classes = append(classes, maxmin.Class{Links: lotPath(f, fl), Flows: 1})
			next++
			continue
		}
		ends[live[first]] = lotEnd{now, events}
		live, left = slices.Delete(live, first, first+1), slices.Delete(left, first, first+1)
		classes = slices.Delete(classes, first, first+1)
	}
	return ends
}

// lotPath returns the links of a flow of a parking lot.
func lotPath(f *topo.Fabric, fl single) (path []pathmap.LinkID) {
	at := f.HostNode[fl.src]
	step := func(to pathmap.NodeID) {
		for _, l := range f.Topology.Out(at) {
			if f.Topology.Link(l).To == to {
				path = append(path, l)
			}
		}
		at = to
	}
	step(f.ToRNode[fl.src])
	for r := fl.src; r != fl.dst; {
		if r < fl.dst {
			r++
		} else {
			r--
		}
		step(f.ToRNode[r])
	}
	step(f.HostNode[fl.dst])
	return path
}

// BenchmarkParkingLot runs flows on a parking lot of 16 nodes, as m3's flowSim does. With
// LIGHTLOOM_LOT=DIR it writes them there as that reads them, and the completion times.
func BenchmarkParkingLot(b *testing.B) {
	const flows = 50_000
	for _, load := range []float64{0.15, 0.3, 0.8} {
		b.Run(fmt.Sprintf("load=%v", load), func(b *testing.B) {
			f, all := fabric(b, parkingLot()), lotFlows(1, flows, load)
			busy, live, took := time.Duration(0), 0, make([]time.Duration, flows)
			for b.Loop() {
				s := simulate(b, f, Options{NoHeaders: true})
				wireLot(b, s)
				busy -= processor()
				out := stream(b, s, flows, reader(all), took)
				busy += processor()
				live = out.most
			}
			b.ReportMetric(float64(live), "live")
			b.ReportMetric(flows*float64(b.N)/busy.Seconds(), "flows/CPU-s")
			if dir := os.Getenv("LIGHTLOOM_LOT"); dir != "" {
				writeLot(b, fmt.Sprintf("%s/lot-%v", dir, load), all, took)
			}
		})
	}
}

// writeLot writes flows as a number, instants and sizes as float64, sources and destinations as int32,
// and beside them their completion times in nanoseconds.
func writeLot(t testing.TB, name string, all []single, took []time.Duration) {
	var in, out []byte
	in = binary.LittleEndian.AppendUint32(in, uint32(len(all)))
	for _, fl := range all {
		in = binary.LittleEndian.AppendUint64(in, math.Float64bits(float64(fl.at)))
	}
	for _, fl := range all {
		in = binary.LittleEndian.AppendUint64(in, math.Float64bits(float64(fl.size)))
	}
	for _, fl := range all {
		in = binary.LittleEndian.AppendUint32(in, uint32(fl.src))
	}
	for _, fl := range all {
		in = binary.LittleEndian.AppendUint32(in, uint32(fl.dst))
	}
	for _, d := range took {
		out = binary.LittleEndian.AppendUint64(out, uint64(d))
	}
	for name, data := range map[string][]byte{name + ".flows": in, name + ".took": out} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
