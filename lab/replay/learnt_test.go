package replay

import (
	"testing"
	"time"

	"lightloom/controller/policy"
	"lightloom/lab/labtest"
	"lightloom/lab/report"
)

func TestEstimate(t *testing.T) {
	seen := []pace{{"sebf", "f", "", 1000, 2}, {"sebf", "f", "", 1000, 3}, {"sebf", "f", "", 100_000, 300},
		{"sebf", "g", "", 1000, 50}, {"sebf", "f", policy.AtFlows, 1000, 40}}
	for _, tc := range []struct {
		name        string
		row         pace
		least, most time.Duration // 0: nothing is known
	}{
		{"seen", pace{"sebf", "f", "", 1000, 0}, 3 * time.Second, 3 * time.Second},
		{"another fabric", pace{"sebf", "g", "", 1000, 0}, 50 * time.Second, 50 * time.Second},
		{"decided at flows", pace{"sebf", "f", policy.AtFlows, 1000, 0}, 40 * time.Second, 40 * time.Second},
		{"twice as many", pace{"sebf", "f", "", 2000, 0}, 6 * time.Second, 9 * time.Second},
		{"the nearer of two", pace{"sebf", "f", "", 50_000, 0}, 100 * time.Second, 150 * time.Second},
		{"too many", pace{"sebf", "f", "", 10_000, 0}, 0, 0},
		{"another policy", pace{"tcp", "f", "", 1000, 0}, 0, 0},
	} {
		got, ok := estimate(seen, tc.row)
		if ok != (tc.most > 0) || got < tc.least || got > tc.most {
			t.Errorf("%s: %v, %v; want %v to %v", tc.name, got, ok, tc.least, tc.most)
		}
	}
}

// TestDemoEstimate: what a demo is said to take on the simulator includes its comparison over seeds.
func TestDemoEstimate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, tc := range []struct {
		name     string
		policies []string
		times    int
	}{
		{"as it comes", nil, 1 + comparedSeeds},
		{"one policy", []string{"joint"}, 1},
	} {
		s := running(labtest.Demo(t, 1, tc.policies...))
		var runs []report.PolicyRun
		for _, r := range s.Rows {
			runs = append(runs, report.PolicyRun{Name: r.Name, Wall: 2})
		}
		s.learn(pacesFile(), runs)
		got, known, err := s.predict(t.Context())
		if want := 2 * time.Second * time.Duration(tc.times*len(s.Rows)); err != nil || !known || got != want {
			t.Errorf("%s: %v, %v, %v; want %v", tc.name, got, known, err, want)
		}
	}
}
