package share

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// atPorts returns the rate of a row by the rates of ports that its coflow gets.
func atPorts(r *southbound.Rates, c *controller.CoflowView, row int) pathmap.BitsPerSecond {
	at := func(rates []southbound.HostRate, h southbound.HostID) pathmap.BitsPerSecond {
		for _, x := range rates {
			if x.Host == h {
				return x.Rate
			}
		}
		return 0
	}
	for _, s := range r.Spreads() {
		if s.Coflow == c.ID {
			return min(at(s.From, c.Src[row]), at(s.To, c.Dst[row]))
		}
	}
	return 0
}

// goOn lets coflows of a crossbar come, start and lose rows, and returns events on all, some, or none
// of that.
func goOn(r *rand.Rand, v *controller.View, next *southbound.CoflowID) []controller.Event {
	var ev []controller.Event
	if r.IntN(3) == 0 || *next == 0 {
		var flows []flow
		hosts := southbound.HostID(v.Fabric.Hosts())
		for dst := range hosts {
			for src := range hosts {
				if r.IntN(max(4, int(hosts*hosts)/60)) == 0 {
					flows = append(flows, flow{src, dst, 1})
				}
			}
		}
		if len(flows) == 0 {
			flows = []flow{{0, 1, 1}}
		}
		c := coflowOf(0, flows)
		c.ID, c.Started = *next, r.IntN(3) > 0
		c.Remaining.Live = int32(len(flows))
		*next++
		v.Coflows = append(v.Coflows, c)
	}
	quiet := r.IntN(3) == 0
	var kept []controller.CoflowView
	for i := range v.Coflows {
		c := &v.Coflows[i]
		c.Started = c.Started || r.IntN(2) == 0
		for row := range c.Ended {
			if c.Started && !c.Ended[row] && r.IntN(6) == 0 {
				c.Ended[row] = true
				c.Remaining.Live--
				if !quiet {
					ev = append(ev, controller.Event{Kind: controller.HostFlowEnded, Coflow: c.ID, Row: int32(row)})
				}
			}
		}
		if c.LiveRows = c.Remaining.Live; c.LiveRows > 0 {
			kept = append(kept, *c)
		}
	}
	v.Coflows = kept
	return ev
}

// goOnShown is goOn of a view that says what has changed.
func goOnShown(r *rand.Rand, v *controller.View, next *southbound.CoflowID) []controller.Event {
	type look struct {
		started bool
		live    int32
	}
	looks := func() map[southbound.CoflowID]look {
		out := map[southbound.CoflowID]look{}
		for i := range v.Coflows {
			out[v.Coflows[i].ID] = look{v.Coflows[i].Started, v.Coflows[i].LiveRows}
		}
		return out
	}
	before := looks()
	ev := goOn(r, v, next)
	after := looks()
	if v.Showing == nil {
		v.Showing = &controller.Showing{Of: v}
	}
	sh := v.Showing
	sh.Number++
	sh.Changed, sh.Full = sh.Changed[:0], r.IntN(8) == 0
	for id := range *next {
		if before[id] != after[id] {
			sh.Changed = append(sh.Changed, id)
		}
	}
	return ev
}

// fewOfMany is how many seeds are played on many hosts.
const fewOfMany = 6

// TestPortsMaxMin compares rates of ports with the solver, flow by flow, through coflows that come and
// go, and with an instance that sees the last view only: both must be equal to the bit.
func TestPortsMaxMin(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of[uint64](150, 400) {
		r := rand.New(rand.NewPCG(seed, 51))
		v := crossbar(t)
		if seed < fewOfMany {
			v = crossbarOf(t, manyHosts)
		}
		used, next, step := new(MaxMin), southbound.CoflowID(0), goOn
		if seed%2 == 1 {
			step = goOnShown
		}
		for n := range 25 {
			p, q := controller.Plan{Wake: southbound.Never}, controller.Plan{Wake: southbound.Never}
			used.Fill(v, step(r, v, &next), &p)
			new(MaxMin).Fill(v, nil, &q)
			if a, b := fmt.Sprint(p.Share), fmt.Sprint(q.Share); a != b {
				t.Fatalf("seed %d step %d: says\n%s\na new instance\n%s", seed, n, a, b)
			}
			if err := policytest.Check(v, &p); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
			if err := likeSolver(v, p.Share); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
		}
	}
}

// TestPortsAgain: a coflow comes between the ports of one that has gone.
func TestPortsAgain(t *testing.T) {
	v := crossbar(t)
	v.Showing = &controller.Showing{Of: v}
	used := new(MaxMin)
	for id := range southbound.CoflowID(3) {
		c := coflowOf(0, []flow{{0, 1, 1}, {0, 2, 1}})
		c.ID, c.Started, v.Showing.Number = id, true, v.Showing.Number+1
		v.Coflows, v.Showing.Changed = []controller.CoflowView{c}, []southbound.CoflowID{id - 1, id}
		var p controller.Plan
		if used.Fill(v, nil, &p); atPorts(p.Share, &c, 0) != pathmap.Gbps/2 || len(p.Share.Even.Coflows) != 1 {
			t.Errorf("coflow %d: %+v", id, p.Share.Even)
		}
	}
}

// TestPortsCopy: what an altered copy of a view has is not taken for what the view has.
func TestPortsCopy(t *testing.T) {
	v := crossbar(t)
	for id := range southbound.CoflowID(2) {
		c := coflowOf(0, []flow{{0, southbound.HostID(id) + 1, 1}})
		c.ID, c.Started = id, true
		v.Coflows = append(v.Coflows, c)
	}
	v.Showing = &controller.Showing{Of: v, Number: 1, Full: true}
	used := new(MaxMin)
	altered := *v
	altered.Coflows = v.Coflows[:1]
	used.Fill(&altered, nil, new(controller.Plan))
	v.Showing.Number, v.Showing.Full = 2, false
	var p controller.Plan
	used.Fill(v, nil, &p)
	for i := range v.Coflows {
		if got := atPorts(p.Share, &v.Coflows[i], 0); got != pathmap.Gbps/2 {
			t.Errorf("coflow %d gets %v of a port that it shares, want %v", i, got, pathmap.Gbps/2)
		}
	}
}

func likeSolver(v *controller.View, rates *southbound.Rates) error {
	hosts := southbound.HostID(v.Fabric.Hosts())
	capacity := make([]float64, 2*hosts)
	for l := range capacity {
		capacity[l] = float64(pathmap.Gbps)
	}
	type row struct{ coflow, row int }
	var classes []maxmin.Class
	var rows []row
	for i := range v.Coflows {
		c := &v.Coflows[i]
		for r := range c.Src {
			if c.Started && !c.Ended[r] {
				classes = append(classes, maxmin.Class{Flows: 1, Links: []pathmap.LinkID{pathmap.LinkID(c.Src[r]),
					pathmap.LinkID(hosts + c.Dst[r])}})
				rows = append(rows, row{i, r})
			}
		}
	}
	want := make([]float64, len(classes))
	new(maxmin.Solver).Solve(capacity, classes, want)
	for i, x := range rows {
		c := &v.Coflows[x.coflow]
		if got := atPorts(rates, c, x.row); float64(got) > want[i]+1e-3 || float64(got) < want[i]-1-1e-3 {
			return fmt.Errorf("row %d of coflow %d has %d, want %f rounded down", x.row, c.ID, got, want[i])
		}
	}
	return nil
}

// TestPortsFair holds equal parts of ports against counting.
func TestPortsFair(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 52))
		v := crossbar(t)
		if seed < fewOfMany {
			v = crossbarOf(t, manyHosts)
		}
		used, next := new(Fair), southbound.CoflowID(0)
		for step := range 25 {
			p := controller.Plan{Wake: southbound.Never}
			used.Fill(v, goOn(r, v, &next), &p)
			if err := policytest.Check(v, &p); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			out, in := [manyHosts]pathmap.BitsPerSecond{}, [manyHosts]pathmap.BitsPerSecond{}
			each := func(f func(c *controller.CoflowView, row int)) {
				for i := range v.Coflows {
					for row := range v.Coflows[i].Src {
						if v.Coflows[i].Started && !v.Coflows[i].Ended[row] {
							f(&v.Coflows[i], row)
						}
					}
				}
			}
			each(func(c *controller.CoflowView, row int) { out[c.Src[row]]++; in[c.Dst[row]]++ })
			each(func(c *controller.CoflowView, row int) {
				if got, want := atPorts(p.Share, c, row), pathmap.Gbps/max(out[c.Src[row]],
					in[c.Dst[row]]); got != want {
					t.Fatalf("seed %d step %d: row %d of coflow %d has %v, want %v", seed, step, row, c.ID, got, want)
				}
			})
		}
	}
}
