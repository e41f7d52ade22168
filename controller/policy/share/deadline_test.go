package share

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/southbound"
)

// TestDeadlines shows how Varys with deadlines differs from SEBF: admitted coflows keep their minimum
// rates, though others would end sooner, and rejected ones are served after them.
func TestDeadlines(t *testing.T) {
	two := [][]flow{{{0, 1, 10}}, {{0, 2, 5}}} // 80 ms and 40 ms of port 0
	ms := func(n int) time.Duration { return time.Second + time.Duration(n)*time.Millisecond }
	sure := []controller.AdmissionDecision{{Coflow: 0, Admitted: true}}
	for _, tc := range []struct {
		name      string
		flows     [][]flow
		due       [2]time.Duration // 0: none
		admission [2]controller.Admission
		want      [2]string
		decided   []controller.AdmissionDecision
	}{
		{"no deadlines are sebf", two, [2]time.Duration{}, [2]controller.Admission{},
			[2]string{"holds", "40 ms"}, nil},
		// 80 of 160 ms are half of port 0; the rest is the other's, for whom 40 ms become 80; then nothing is
		// left.
		{"the least rate, and no more", two, [2]time.Duration{ms(160), 0}, [2]controller.Admission{},
			[2]string{"160 ms", "80 ms"},
			[]controller.AdmissionDecision{{Coflow: 0, Admitted: true}}},
		{"what is left goes to who was promised, too", two[:1], [2]time.Duration{ms(160)},
			[2]controller.Admission{},
			[2]string{"160 ms +0:500"},
			[]controller.AdmissionDecision{{Coflow: 0, Admitted: true}}},
		{"not to be had", two, [2]time.Duration{ms(79), 0}, [2]controller.Admission{},
			[2]string{"holds", "40 ms"},
			[]controller.AdmissionDecision{{Coflow: 0}}},
		{"to the very instant, which rounding may miss", two[:1], [2]time.Duration{ms(80)},
			[2]controller.Admission{},
			[2]string{"80 ms"}, []controller.AdmissionDecision{{Coflow: 0}}},
		{"a microsecond to spare", two[:1], [2]time.Duration{ms(80) + early}, [2]controller.Admission{},
			[2]string{"80 ms"}, sure},
		// Both want 80 of 100 ms and 40 of 100 ms.
		{"the first comes first", two, [2]time.Duration{ms(100), ms(100)}, [2]controller.Admission{},
			[2]string{"100 ms", "200 ms"},
			[]controller.AdmissionDecision{{Coflow: 0, Admitted: true}, {Coflow: 1}}},
		{"a promise is kept, though it would be rejected now", two, [2]time.Duration{ms(100), ms(100)},
			[2]controller.Admission{0, controller.Admitted},
			[2]string{"133 ms", "100 ms"}, []controller.AdmissionDecision{{Coflow: 0}}},
		{"once rejected", two, [2]time.Duration{ms(100), 0}, [2]controller.Admission{controller.Rejected, 0},
			[2]string{"holds", "40 ms"}, nil},
		{"a promise that is broken already", two[:1], [2]time.Duration{ms(-1)},
			[2]controller.Admission{controller.Admitted},
			[2]string{"80 ms"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := crossbar(t, tc.flows...)
			for i := range v.Coflows {
				v.Coflows[i].Deadline, v.Coflows[i].Admission = tc.due[i], tc.admission[i]
			}
			got := say(t, NewDeadline(), v)
			if !slices.Equal(got, tc.want[:len(got)]) {
				t.Errorf("says %q, want %q", got, tc.want)
			}
			var plan controller.Plan
			NewDeadline().Fill(v, nil, &plan)
			if !slices.Equal(plan.Admissions, tc.decided) {
				t.Errorf("decides %+v, want %+v", plan.Admissions, tc.decided)
			}
		})
	}
}

// TestPromisesHold: on random views, after all admission decisions, all admitted coflows are paced to
// their deadlines, and no link is given away twice (say checks this).
func TestPromisesHold(t *testing.T) {
	admitted, rejected := 0, 0
	for seed := range uint64(1000) {
		v := policytest.View(seed)
		v.Circuits, v.Reserved, v.Down = nil, nil, nil
		var plan controller.Plan
		NewDeadline().Fill(v, nil, &plan)
		for _, j := range plan.Admissions {
			i := slices.IndexFunc(v.Coflows, func(c controller.CoflowView) bool { return c.ID == j.Coflow })
			c := &v.Coflows[i]
			if c.Deadline == 0 || !c.Started || c.Admission != controller.Undecided {
				t.Fatalf("view %d: coflow %d is decided", seed, c.ID)
			}
			if c.Admission = controller.Rejected; j.Admitted {
				c.Admission = controller.Admitted
			}
		}
		again := controller.Plan{Wake: southbound.Never}
		NewDeadline().Fill(v, nil, &again)
		if len(again.Admissions) > 0 {
			t.Fatalf("view %d: decided twice: %+v", seed, again.Admissions)
		}
		if err := policytest.Check(&controller.View{Fabric: v.Fabric, Paths: v.Paths, Now: v.Now,
			Coflows: routed(v)},
			&controller.Plan{Share: again.Share, Wake: southbound.Never}); err != nil {
			t.Fatalf("view %d: %v", seed, err)
		}
		for _, x := range again.Share.Pace {
			i := slices.IndexFunc(v.Coflows, func(c controller.CoflowView) bool { return c.ID == x.Coflow })
			switch c := &v.Coflows[i]; {
			case c.Admission == controller.Rejected:
				rejected++
			case c.Admission == controller.Admitted && (x.Until == 0 || x.Until > c.Deadline):
				t.Errorf("view %d: coflow %d ends at %v, its deadline is %v", seed, c.ID, x.Until, c.Deadline)
			case c.Admission == controller.Admitted:
				admitted++
			}
		}
	}
	if admitted < 50 || rejected < 50 {
		t.Errorf("%d were admitted and %d rejected: too few to tell", admitted, rejected)
	}
}

// routed are the coflows of a view that have tags, so that a plan without routes is whole.
func routed(v *controller.View) (all []controller.CoflowView) {
	for i := range v.Coflows {
		if v.Coflows[i].Routed {
			all = append(all, v.Coflows[i])
		}
	}
	return all
}
