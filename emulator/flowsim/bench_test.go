package flowsim

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// arrival is a coflow that starts at an instant.
type arrival struct {
	at    time.Duration
	start southbound.Start
	flows int
}

// facebookShape generates coflows of the shape of the Facebook trace's first hundred: few large, most
// small; a mapper and a reducer count each log-uniform; megabytes heavy-tailed. Racks are folded onto
// hosts by modulo, and flows within a host are left out.
func facebookShape(seed uint64, coflows, hosts int) []arrival {
	rng := rand.New(rand.NewPCG(seed, 3))
	var all []arrival
	at := time.Duration(0)
	for c := range coflows {
		at += time.Duration(rng.ExpFloat64() * float64(6*time.Second))
		width := func() int { return int(math.Exp(rng.Float64() * math.Log(150))) }
		mappers, reducers := rng.Perm(150)[:width()], rng.Perm(150)[:width()]
		mb := make([]int, len(reducers))
		for i := range mb {
			mb[i] = max(1, int(math.Exp(rng.NormFloat64()*2+2))) * len(mappers)
		}
		all = append(all, fold(southbound.CoflowID(c), at, mappers, reducers, mb, hosts))
	}
	return all
}

// fold makes the host flows of a coflow of the trace.
func fold(id southbound.CoflowID, at time.Duration, mappers, reducers, mb []int, hosts int) arrival {
	a := arrival{at: at, start: southbound.Start{Coflow: id}}
	size := map[[2]int]pathmap.Bytes{}
	for i, r := range reducers {
		for _, m := range mappers {
			if src, dst := m%hosts, r%hosts; src != dst {
				size[[2]int{dst, src}] += pathmap.Bytes(max(mb[i]/len(mappers), 1)) * 1e6
				a.flows++
			}
		}
	}
	ends := make([][2]int, 0, len(size))
	for e := range size {
		ends = append(ends, e)
	}
	slices.SortFunc(ends, func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(x[0], y[0]),
			cmp.Compare(x[1], y[1]))
	})
	for _, e := range ends {
		a.start.Dst, a.start.Src = append(a.start.Dst, southbound.HostID(e[0])), append(a.start.Src,
			southbound.HostID(e[1]))
		a.start.Size, a.start.Tag = append(a.start.Size, size[e]), append(a.start.Tag, 0)
	}
	return a
}

// facebookTrace reads the first coflows of the real trace, if it is at hand.
func facebookTrace(t testing.TB, coflows, hosts int) []arrival {
	dir := cmp.Or(os.Getenv("LIGHTLOOM_DATA"), "../../../shared/data") // beside the repository's root
	file, err := os.Open(filepath.Join(dir, "coflow", "FB2010-1Hr-150-0.txt"))
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatalf("LIGHTLOOM_MUST names data: %v", err)
		}
		t.Skipf("%v: the trace is not shipped; set LIGHTLOOM_DATA to the folder that holds coflow/", err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20)
	in.Scan() // the header
	var all []arrival
	for len(all) < coflows && in.Scan() {
		all = append(all, readCoflow(t, southbound.CoflowID(len(all)), strings.Fields(in.Text()), hosts))
	}
	return all
}

func readCoflow(t testing.TB, id southbound.CoflowID, fields []string, hosts int) arrival {
	next := func() int {
		rack, _, _ := strings.Cut(fields[0], ":")
		n, err := strconv.Atoi(rack)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	take := func() int { n := next(); fields = fields[1:]; return n }
	take() // its name
	at := time.Duration(take()) * time.Millisecond
	mappers := make([]int, take())
	for i := range mappers {
		mappers[i] = take()
	}
	reducers := make([]int, take())
	mb := make([]int, len(reducers))
	for i := range reducers {
		_, size, _ := strings.Cut(fields[0], ":")
		v, err := strconv.ParseFloat(size, 64)
		if err != nil {
			t.Fatal(err)
		}
		reducers[i], mb[i] = take(), int(v)
	}
	return fold(id, at, mappers, reducers, mb, hosts)
}

// replay runs arrivals under max-min fair sharing as a runner would, and returns the events.
func replay(t testing.TB, s *Sim, all []arrival) (hostFlows, flows int, last time.Duration) {
	rates(t, s, southbound.Rates{Fair: true})
	var ev []southbound.Event
	for {
		at, ok := s.Next()
		if len(all) > 0 && (!ok || all[0].at < at) {
			at, ok = all[0].at, true
		}
		if !ok {
			return hostFlows, flows, last
		}
		var err error
		if ev, _, err = s.Advance(at, ev[:0], nil); err != nil {
			t.Fatal(err)
		}
		for ; len(all) > 0 && all[0].at <= at; all = all[1:] {
			if err := s.Host().Start([]southbound.Start{all[0].start}); err != nil {
				t.Fatal(err)
			}
			flows += all[0].flows
		}
		if hostFlows += len(ev); len(ev) > 0 {
			last = at
		}
	}
}

var folded = topo.Spec{Kind: topo.Hybrid, Racks: 16, Hosts: 2, Spines: 2, EPS: pathmap.Gbps,
	OCS:  10 * pathmap.Gbps,
	Dark: 10 * ms}

// BenchmarkFair replays traces under max-min fair sharing, every rate anew at every end.
func BenchmarkFair(b *testing.B) {
	traces := []struct {
		name string
		spec topo.Spec
		all  func() []arrival
	}{
		{"generated_100_on_32_hosts", folded, func() []arrival { return facebookShape(1, 100, 32) }},
		{"fb2010_first100_on_32_hosts", folded, func() []arrival { return facebookTrace(b, 100, 32) }},
		{"fb2010_whole_on_32_hosts", folded, func() []arrival { return facebookTrace(b, 1<<20, 32) }},
		{"fb2010_first100_on_150_ports", topo.Spec{Kind: topo.Crossbar}, func() []arrival {
			return facebookTrace(b, 100, 150)
		}},
		{"fb2010_whole_on_150_ports", topo.Spec{Kind: topo.Crossbar}, func() []arrival {
			return facebookTrace(b, 1<<20, 150)
		}},
	}
	for _, tr := range traces {
		b.Run(tr.name, func(b *testing.B) {
			all := tr.all()
			ended, flows, last := 0, 0, time.Duration(0)
			var solves int64
			for b.Loop() {
				s := simulate(b, fabric(b, tr.spec), Options{})
				wire(b, s)
				var n int
				n, flows, last = replay(b, s, all)
				ended += n
				solves = s.Counters().Solves
			}
			b.ReportMetric(float64(ended)/b.Elapsed().Seconds(), "ends/s")
			b.ReportMetric(float64(flows), "flows")
			b.ReportMetric(float64(solves), "solves")
			b.ReportMetric(last.Seconds(), "simulated-s")
		})
	}
}

// TestFacebookTrace replays the first hundred coflows of the real trace: every host flow ends, with
// every byte.
func TestFacebookTrace(t *testing.T) {
	all := facebookTrace(t, 100, 32)
	var rows int
	var sum pathmap.Bytes
	for _, a := range all {
		rows += len(a.start.Size)
		for _, n := range a.start.Size {
			sum += n
		}
	}
	s := simulate(t, fabric(t, folded), Options{})
	wire(t, s)
	ended, _, _ := replay(t, s, all)
	if c := s.Counters(); ended != rows || c.Delivered != sum || c.Ends != int64(rows) || c.Stalls != 0 {
		t.Errorf("%d of %d host flows ended, %d of %d bytes arrived, %d stalls", ended, rows,
			c.Delivered, sum, c.Stalls)
	}
}

// TestReplayDeterministic replays the generated trace twice: counters and the last end must be the same
// to the byte.
func TestReplayDeterministic(t *testing.T) {
	all := facebookShape(2, 20, 32)
	var seen [2]string
	for i := range seen {
		s := simulate(t, fabric(t, folded), Options{})
		wire(t, s)
		hostFlows, _, last := replay(t, s, all)
		seen[i] = fmt.Sprintf("%d %v %+v", hostFlows, last, s.Counters())
	}
	if seen[0] != seen[1] {
		t.Errorf("two runs differ:\n%s\n%s", seen[0], seen[1])
	}
}
