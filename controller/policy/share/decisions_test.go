package share

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/policytest/decided"
	"lightloom/southbound"
)

var update = flag.Bool("update", false, "write down what all parts decide")

func allParts() map[string]func() decided.Part {
	parts := map[string]func() decided.Part{
		"tcp": func() decided.Part { return new(TCP) }, "maxmin": func() decided.Part { return new(MaxMin) },
		"fairport": func() decided.Part { return new(Fair) }, "fifo": func() decided.Part { return NewFIFO() },
		"scf": func() decided.Part { return NewSCF() }, "ncf": func() decided.Part { return NewNCF() },
		"lcf": func() decided.Part { return NewLCF() }, "sebf": func() decided.Part { return NewSEBF() },
		"rapier": func() decided.Part { return NewRapier() }, "bssi": func() decided.Part { return NewBSSI() },
		"deadline": func() decided.Part { return NewDeadline() }, "dclas": func() decided.Part { return NewDCLAS() },
		"sincronia":   func() decided.Part { return NewSincronia() },
		"pfp":         func() decided.Part { return NewCoflowsimPFP() },
		"dark":        func() decided.Part { return new(CoflowsimDark) },
		"optba":       func() decided.Part { return &OptBA{} },
		"optba-total": func() decided.Part { return &OptBA{Total: true} },
		"asked": func() decided.Part { // the last first, and one in three left out
			return NewAsked(func(_ *controller.View, started []*controller.CoflowView) (out []southbound.CoflowID, _ error) {
				for i := len(started) - 1; i >= 0; i-- {
					if started[i].ID%3 > 0 {
						out = append(out, started[i].ID)
					}
				}
				return out, nil
			})
		},
	}
	for _, rule := range []string{"fifo", "scf", "ncf", "lcf", "sebf"} {
		parts["coflowsim-"+rule] = func() decided.Part { return NewCoflowsim(rule) }
	}
	for i := range 4 {
		parts[fmt.Sprint("priority-", i)] = func() decided.Part { return &Priority{Intent: Intent(i)} }
	}
	return parts
}

// onCrossbars has one part decide again and again while coflows come and go.
func onCrossbars(t *testing.T, fresh func() decided.Part) string {
	d := decided.New()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 71))
		v, used, next := crossbarOf(t, 6), fresh(), southbound.CoflowID(0)
		for range 12 {
			ev := goOn(r, v, &next)
			for i := range v.Coflows {
				c := &v.Coflows[i]
				c.Job, c.Weight, c.Deadline = controller.JobID(c.ID), float64(1+c.ID%3), v.Now*2
				for row := range c.Remaining.Base {
					c.Remaining.Base[row] = float64(1+row%5) * 4e5
				}
			}
			p := controller.Plan{Wake: southbound.Never}
			used.Fill(v, ev, &p)
			d.Add(&p)
			v.Now += 1e7
		}
	}
	return d.String()
}

// TestDecisions: what every part says of random views, of random estimates, and of crossbars in time.
func TestDecisions(t *testing.T) {
	view := policytest.Remembering(policytest.View)
	if runtime.GOARCH != "amd64" {
		t.Skip("rates are floating point, which other processors round otherwise")
	}
	parts := allParts()
	var got []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		got = append(got, name+": "+decided.Views(view, parts[name])+", "+onCrossbars(t, parts[name]))
	}
	decided.Compare(t, "testdata/decisions.golden", *update, got)
}

// TestAskedOrderIsChecked: an order that names a coflow twice, or one that does not send, is an error
// of the plan.
func TestAskedOrderIsChecked(t *testing.T) {
	for _, tc := range []struct {
		order []southbound.CoflowID
		want  string
	}{{[]southbound.CoflowID{1, 0}, ""}, {nil, ""}, {[]southbound.CoflowID{1, 1}, "coflow 1 is named twice"},
		{[]southbound.CoflowID{0, 2}, "coflow 2 is named twice, or does not send"}} {
		a := NewAsked(func(*controller.View, []*controller.CoflowView) ([]southbound.CoflowID, error) {
			return tc.order, nil
		})
		p := controller.Plan{Wake: southbound.Never}
		a.Fill(crossbar(t, []flow{{0, 1, 1}}, []flow{{0, 1, 1}}), nil, &p)
		if tc.want == "" && (p.Err != nil || p.Share == nil) ||
			tc.want != "" && (p.Err == nil || !strings.Contains(p.Err.Error(), tc.want) || p.Share != nil) {
			t.Errorf("order %v: rates %v, error %v, want %q", tc.order, p.Share, p.Err, tc.want)
		}
	}
}
