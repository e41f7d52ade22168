package policytest

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// adds is a policy that claims to do with brief reports, and decides by what sum of a coflow returns.
type adds struct {
	sum func(*controller.View, *controller.CoflowView) float64
}

func (adds) Wants() controller.KindSet { return 0 }

func (adds) Capabilities() controller.Capabilities { return controller.Capabilities{Brief: true} }

func (a adds) Decide(v *controller.View, _ []controller.Event) *controller.Plan {
	sum := 0.0
	for i := range v.Coflows {
		c := v.Coflows[i]
		sum += a.sum(v, &c)
	}
	return &controller.Plan{Wake: v.Now + time.Duration(sum)}
}

func rowsOf(c *controller.CoflowView) (sum float64) {
	for row := range c.Src {
		sum += c.Remaining.Row(int32(row))
	}
	return sum
}

// remembers adds up a coflow anew only where again says so.
func remembers(again func(was, now southbound.Remaining) bool) func() controller.Policy {
	type known struct {
		left southbound.Remaining
		sum  float64
	}
	return func() controller.Policy {
		of := map[southbound.CoflowID]known{}
		return adds{func(v *controller.View, c *controller.CoflowView) float64 {
			if was, ok := of[c.ID]; ok && !again(was.left, c.Remaining) {
				return was.sum
			}
			v.Complete(c)
			of[c.ID] = known{c.Remaining, rowsOf(c)}
			return of[c.ID].sum
		}}
	}
}

type failed string

type lastWord struct{}

func (lastWord) Helper() {}

func (lastWord) Fatalf(format string, args ...any) { panic(failed(fmt.Sprintf(format, args...))) }

// TestBriefly: a policy is caught that reads what brief reports leave out, or goes by what it has read too long.
func TestBriefly(t *testing.T) {
	of := func(sum func(*controller.View, *controller.CoflowView) float64) func() controller.Policy {
		return func() controller.Policy { return adds{sum} }
	}
	for _, c := range []struct {
		name  string
		fresh func() controller.Policy
		right bool
	}{
		{"completes all", of(func(v *controller.View, c *controller.CoflowView) float64 {
			v.Complete(c)
			return rowsOf(c)
		}), true},
		{"reads sums alone", of(func(_ *controller.View, c *controller.CoflowView) float64 {
			return float64(c.Remaining.Live) + float64(len(c.Remaining.Load))
		}), true},
		{"remembers while nothing was carried", remembers(func(was, now southbound.Remaining) bool {
			return now.Steady == 0 || was.Steady != now.Steady || was.Carried != now.Carried
		}), true},
		{"reads all rows", of(func(_ *controller.View, c *controller.CoflowView) float64 { return rowsOf(c) }), false},
		{"reads the first row", of(func(_ *controller.View, c *controller.CoflowView) float64 { return c.Remaining.Row(0) }),
			false},
		{"reads the rows off the pace", of(func(_ *controller.View, c *controller.CoflowView) float64 {
			return float64(len(c.Remaining.Off))
		}), false},
		{"remembers for ever", remembers(func(_, now southbound.Remaining) bool { return now.Steady == 0 }), false},
		{"remembers whatever was carried", remembers(func(was, now southbound.Remaining) bool {
			return now.Steady == 0 || was.Steady != now.Steady
		}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				switch caught := recover().(type) {
				case nil:
					if !c.right {
						t.Error("it is not caught")
					}
				case failed:
					if c.right {
						t.Error(caught)
					}
				default:
					panic(caught)
				}
			}()
			for seed := range uint64(10) {
				briefly(lastWord{}, seed, c.fresh)
			}
		})
	}
}
