package outcome

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/report"
	"lightloom/southbound"
)

// darks is a reference implementation: the dark times of moves that took a port from another circuit, by the OCS's own
// log: from the end of the port's old light to the start of the new. A port that was dark before has none.
func darks(o *Outcome) []time.Duration {
	lit := slices.Clone(o.Lit)
	slices.SortFunc(lit, func(a, b device.LitInterval) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	last := map[[2]southbound.Port]time.Duration{} // (0, input) or (1, output) → when its light last ended
	intent := map[[2]southbound.Port][]time.Duration{}
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		pair := [2]southbound.Port{m.In, m.Out}
		intent[pair] = append(intent[pair], m.Intent)
	}
	var out []time.Duration
	for _, l := range lit {
		in, to := [2]southbound.Port{0, l.In}, [2]southbound.Port{1, l.Out}
		gone := max(last[in], last[to])
		// Only what this very move took away: light that ended before it was intended left the port idle.
		began := time.Duration(-1)
		for _, t := range intent[[2]southbound.Port{l.In, l.Out}] {
			if t <= l.From {
				began = max(began, t)
			}
		}
		if gone > 0 && began >= 0 && gone >= began {
			out = append(out, l.From-gone)
		}
		last[in], last[to] = max(last[in], l.To), max(last[to], l.To)
	}
	return out
}

// TestDarks: of listed moves the sums have the dark times that follow from the switch's whole log.
func TestDarks(t *testing.T) {
	const ports, ms = 4, time.Millisecond
	found := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 21))
		o := &Outcome{State: &state.Data{}, End: time.Second}
		var free [2][ports]time.Duration // when the light of an input and of an output ends
		for at := time.Duration(0); at < time.Second; at += time.Duration(r.IntN(40)) * ms {
			m := state.Move{In: southbound.Port(r.IntN(ports)), Out: southbound.Port(r.IntN(ports)), Intent: at,
				InService: state.Unset, Ended: state.Unset}
			o.State.Moves = append(o.State.Moves, m)
			if r.IntN(5) == 0 {
				continue // it was given up
			}
			from := max(at, free[0][m.In], free[1][m.Out]) + time.Duration(r.IntN(20))*ms
			to := from + time.Duration(r.IntN(60))*ms
			free[0][m.In], free[1][m.Out] = to, to
			o.Lit = append(o.Lit, device.LitInterval{In: m.In, Out: m.Out, From: from, To: to})
		}
		r.Shuffle(len(o.Lit), func(i, k int) { o.Lit[i], o.Lit[k] = o.Lit[k], o.Lit[i] })
		var want report.Times
		for _, d := range darks(o) {
			want.Add(d)
		}
		found += want.Count()
		sums, all := o.moves()
		p := []float64{.01, .25, .5, .75, 1}
		if got := &sums.Darks; got.Count() != want.Count() || len(all) != len(o.State.Moves) ||
			!slices.Equal(got.Percentiles(ms, p...), want.Percentiles(ms, p...)) {
			t.Errorf("seed %d: %d dark times %v, want %d %v", seed, got.Count(), got.Percentiles(ms, p...), want.Count(),
				want.Percentiles(ms, p...))
		}
	}
	if found < 1000 {
		t.Errorf("only %d dark times in all", found)
	}
}
