package dawn

import (
	"math"
	"testing"

	"lightloom/lab/experiment"
)

// TestAssigners runs every scheduler of the Dawn experiment once on few chains of each kind, and holds
// its figures to be of all jobs and bytes.
func TestAssigners(t *testing.T) {
	b := &experiment.Bench{Quick: true}
	for _, blocks := range []bool{true, false} {
		for _, o := range []office{{"dag", blocks, 0, caseFabric, divided{}},
			{"ml", blocks, steady / 4, dawnFabric, divided{}},
			{"tpch", blocks, 0, dawnFabric, divided{}}, {"tpch-tez", blocks, 0, dawnFabric, divided{}}} {
			for _, s := range assigners() {
				a, err := o.run(t.Context(), b, s, 3)
				if err != nil {
					t.Fatalf("%v, %s: %v", o, s.name, err)
				}
				if a[throughput] <= 0 || a[meanJCT] <= 0 || a[inputs] < 0 || a[shuffles] < 0 ||
					a[bound] < 0 || a[bound] > 100 ||
					math.IsNaN(a[traffic]) {
					t.Errorf("%v, %s: %+v", o, s.name, a)
				}
			}
		}
	}
}

// TestDivided: the twin of packets at flow level, with rates, sizes and times divided, has the document's
// throughput and traffic nearly: what is left is computing and sending in the same proportion.
func TestDivided(t *testing.T) {
	b := &experiment.Bench{Quick: true}
	o := office{"ml", true, steady / 4, dawnFabric, divided{}}
	whole, err := o.run(t.Context(), b, assigners()[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	o.divided = divided{experiment.OnFlowsim, packetsScale, packetsFaster}
	part, err := o.run(t.Context(), b, assigners()[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		by   float64
	}{{throughput, 1}, {meanJCT, packetsFaster}, {traffic, packetsScale * packetsFaster}} {
		if got := part[x.name] * x.by / whole[x.name]; got < 0.8 || got > 1.2 {
			t.Errorf("%s: %.3f times that of the whole", x.name, got)
		}
	}
}
