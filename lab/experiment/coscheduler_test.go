package experiment

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/controller/workload/swim"
)

// TestOffers: every figure over load has each of the bench's loads with the largest job, then without;
// the first is as published, and no two pictures have one name.
func TestOffers(t *testing.T) {
	var got []string
	seen := map[string]bool{}
	for _, o := range offers(new(Bench)) {
		got = append(got, o.String())
		if seen[o.suffix()] {
			t.Errorf("two pictures are called %q", o.suffix())
		}
		seen[o.suffix()] = true
		c := sectionVA()
		if c.offer(o); c.published() != (o == offer{1, false}) || c.Model.Load != o.load ||
			c.Without != o.without {
			t.Errorf("%v: %+v", o, c)
		}
	}
	const want = "load ×1|load ×3|load ×10|load ×30|load ×1, without the largest job|load ×3, without the largest " +
		"job|load ×10, without the largest job|load ×30, without the largest job"
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	if n := len(offers(&Bench{Loads: []float64{3}})); n != 2 {
		t.Errorf("one load makes %d offers", n)
	}
}

// TestEstimationRows: rows of Figure 10 name the offered load, and only those at the published load
// have the document's figures.
func TestEstimationRows(t *testing.T) {
	all := func(v float64) Runs {
		f := Figures{}
		for _, m := range metrics() {
			f[m], f[bounded(m)] = v, 50
		}
		return Runs{f}
	}
	got := Systems{"Fair": all(10), "Corral": all(8), estimation(0).name: all(5), estimation(50).name: all(6)}
	c := sectionVA()
	c.Name = "load ×1"
	found := map[string]string{}
	rows := func() []Row {
		out := (&Bench{First: 1}).Result()
		estimationRows(&c, []float64{0, 50}, got, out)
		return out.Rows
	}
	for _, r := range rows() {
		at := "none"
		if r.Paper != nil {
			at = fmt.Sprint(*r.Paper)
		}
		found[r.Setting+", "+r.Metric] = fmt.Sprintf("%.4g of %s", *r.Measured, at)
	}
	for setting, want := range map[string]string{
		"load ×1, error up to 0 %, Co-scheduler against Fair, makespan smaller by":      "50 of none",
		"load ×1, error up to 50 %, Co-scheduler against Fair, makespan smaller by":     "40 of 43",
		"load ×1, error up to 50 %, Co-scheduler against Corral, mean JCT smaller by":   "25 of 21",
		"load ×1, error up to 50 %, Co-scheduler against no error, mean CCT smaller by": "-20 of none",
	} {
		if found[setting] != want {
			t.Errorf("%s: %s, want %s", setting, found[setting], want)
		}
	}
	c.offer(offer{30, false})
	for _, r := range rows() {
		if r.Paper != nil {
			t.Errorf("%s: the document has no figure of it", r.Setting)
		}
	}
}

// TestFactorialPlaces: with circuits, Co-scheduler places the factorial experiment's jobs, each as a
// whole, differently from Fair; without circuits it places like Fair.
func TestFactorialPlaces(t *testing.T) {
	differs := [len(factorCircuits)]bool{}
	for seed := range uint64(3) {
		for l := range factorCircuits {
			var cct [2]float64
			for i, place := range []int{0, 2} {
				f, err := study(new(Bench), "", 4e9).run(t.Context(), nil, cell{place, 0, l}, seed+1)
				if err != nil {
					t.Fatal(err)
				}
				cct[i] = f[meanCCT]
			}
			differs[l] = differs[l] || cct[0] != cct[1]
		}
	}
	for l, name := range factorCircuits {
		if want := name != "packets"; differs[l] != want {
			t.Errorf("%s: Co-scheduler differs from Fair: %v, want %v", name, differs[l], want)
		}
	}
}

// TestPacketsModel: only computing is sped up for packets.
func TestPacketsModel(t *testing.T) {
	m, v1 := packetsModel(), swim.V1(packetsSlots)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if m.Block != v1.Block || m.ReduceBytes != v1.ReduceBytes || m.Users != v1.Users ||
		m.Recurring != v1.Recurring ||
		m.Error != v1.Error {
		t.Errorf("%+v", m)
	}
	if m.MapRate != 60*v1.MapRate || m.ReduceRate != 60*v1.ReduceRate || m.FarRate != 60*v1.FarRate ||
		m.Start*60 > v1.Start || m.Name == v1.Name {
		t.Errorf("%+v", m)
	}
}
