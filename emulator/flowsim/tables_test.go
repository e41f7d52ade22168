package flowsim

import (
	"testing"
	"time"

	"lightloom/southbound"
)

// BenchmarkTables measures what a change of a table costs while 992 pairs of hosts send: all routes are
// walked again.
func BenchmarkTables(b *testing.B) {
	f := fabric(b, folded)
	s := simulate(b, f, Options{})
	wire(b, s)
	rates(b, s, southbound.Rates{Fair: true})
	var rows []row
	for dst := range southbound.HostID(32) {
		for src := range southbound.HostID(32) {
			if src != dst {
				rows = append(rows, row{src, dst, 1e15, southbound.Tag(src % 3)})
			}
		}
	}
	start(b, s, 0, rows...)
	on := false
	for b.Loop() {
		on = !on
		connect(b, s, southbound.CrossConnect{In: 0, Out: 1, Off: !on})
		advance(b, s, s.Now()+20*time.Millisecond)
	}
}

// BenchmarkPace replays coflows one after the other, each at the pace of its bottleneck while all
// others hold: what a policy costs that says finish instants.
func BenchmarkPace(b *testing.B) {
	all := facebookShape(1, 100, 32)
	for b.Loop() {
		s := simulate(b, fabric(b, folded), Options{NoHeaders: true})
		wire(b, s)
		for i := range all {
			if err := s.Host().Start([]southbound.Start{all[i].start}); err != nil {
				b.Fatal(err)
			}
		}
		for i := range all {
			until := s.Now() + 100*time.Second
			pace := []southbound.Pace{{Coflow: southbound.CoflowID(i), Until: until}}
			for k := i + 1; k < len(all); k++ {
				pace = append(pace, southbound.Pace{Coflow: southbound.CoflowID(k)})
			}
			rates(b, s, southbound.Rates{Pace: pace})
			advance(b, s, until)
		}
	}
}
