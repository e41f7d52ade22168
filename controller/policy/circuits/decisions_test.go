package circuits

import (
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/policytest/decided"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestDecisions: what every part reserves in random views, and by random estimates.
func TestDecisions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("what is left is floating point, which other processors round otherwise")
	}
	fresh := map[string]func() decided.Part{
		"sunflow":          func() decided.Part { return Sunflow{} },
		"sunflow-memory":   func() decided.Part { return Sunflow{}.Remembering() },
		"sunflow-preempt":  func() decided.Part { return Sunflow{Preempt: true}.Remembering() },
		"sunflow-turning":  func() decided.Part { return Sunflow{Order: Turning}.Remembering() },
		"sunflow-every":    func() decided.Part { return Sunflow{Every: true}.Remembering() },
		"sunflow-hold":     func() decided.Part { return Sunflow{Fallback: controller.Hold}.Remembering() },
		"solstice-backlog": func() decided.Part { return Solstice().FromBacklog() },
	}
	fresh["asked"] = func() decided.Part { return &Asked{Ask: all} }
	fresh["scratch"] = func() decided.Part { return tried{} }
	for name := range parts(t) {
		fresh[name] = func() decided.Part { return parts(t)[name] }
	}
	view, estimated := policytest.Remembering(policytest.View), policytest.Remembering(policytest.Estimated)
	var got []string
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		got = append(got, name+": "+decided.Views(view, fresh[name]),
			name+", estimates: "+decided.Views(estimated, fresh[name]))
	}
	decided.Compare(t, "testdata/decisions.golden", *update, got)
}

// all asks for a circuit for each pair in turn, and to be asked again.
func all(v *controller.View, demands []Demand) (*AskedPlan, error) {
	out := &AskedPlan{Wake: v.Now + 1}
	from := v.Now
	for _, d := range demands {
		for _, x := range d.Pairs {
			to := from + time.Duration(x.Left)
			out.Reserve = append(out.Reserve, controller.CircuitReservation{In: x.In, Out: x.Out, Coflow: d.Coflow,
				NotBefore: from, NotAfter: to})
			from = to
		}
		out.Withdraw = append(out.Withdraw, d.Coflow)
	}
	return out, nil
}

// tried lays every coflow of a view in its scratch copy, now and later, and reserves what it finds there.
type tried struct{}

func (tried) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if len(v.Circuits) != v.Fabric.OCSPorts() || !v.Fabric.HasOCS() {
		return
	}
	x := NewScratch(v)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		left := make([]pathmap.Bytes, len(c.Src))
		for row := range left {
			left[row] = c.LeftBytes(row)
		}
		pairs, bound := x.Pairs(c.Src, c.Dst, left)
		mark := x.Mark()
		x.Lay(pairs, v.Now+5*time.Millisecond) // and out again
		x.Undo(mark)
		x.Lay(pairs, v.Now)
		for _, y := range pairs {
			in, out := x.Busy(y.In)
			p.Reserve = append(p.Reserve, controller.CircuitReservation{In: southbound.Port(y.In),
				Out:       southbound.Port(y.Out),
				NotBefore: y.Begin, NotAfter: y.End}, controller.CircuitReservation{NotBefore: in, NotAfter: out},
				controller.CircuitReservation{NotBefore: y.Need, NotAfter: bound,
					Coflow: southbound.CoflowID(y.Bytes)})
		}
	}
}
