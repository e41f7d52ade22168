package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

// small is a report of three coflows of 1, 2 and 4 s, times factor, under policies a and b; b takes
// twice as long as a.
func small(factor float64, seeds ...uint64) *Report {
	of := func(name string, by float64) PolicyResult {
		p := PolicyResult{Name: name}
		for i, s := range []float64{1, 2, 4} {
			p.Coflows = append(p.Coflows, CoflowResult{ID: southbound.CoflowID(i),
				Name: "coflow-" + string(rune('x'+i)),
				End:  time.Duration(s * factor * by * float64(time.Second)), Bytes: 1})
		}
		return p
	}
	results := []PolicyResult{of("a", 1), of("b", 2)}
	rep := Summarise(Meta{Version: "v", Seed: seeds[0], Workload: Workload{Digest: "d", Source: "t.txt"},
		Fabric: Fabric{Spec: "crossbar:ports=4", On: "flowsim"},
		Manifest: &Manifest{Format: Format, Seeds: seeds, Settings: []Setting{{Flag: "coflows", Value: "3"},
			{Flag: "seed", Value: "1"}},
			Inputs: []Input{{"trace", "t.txt", 1, strings.Repeat("0", 64)}}}}, results)
	if len(seeds) > 1 {
		r := &Repeat{Seeds: seeds, Shown: seeds[0]}
		for k, seed := range seeds {
			run := SeedRun{Seed: seed, Jobs: "d"}
			for _, by := range []float64{1, 2} {
				wobble := 1 + float64(k%3)/1000
				m := Measured{Name: string(rune('a' + len(run.Policies))),
					CCT: Seconds{Mean: 7. / 3 * factor * by * wobble}}
				for _, s := range []float64{1, 2, 4} {
					m.Each = append(m.Each, s*factor*by*wobble)
				}
				run.Policies = append(run.Policies, m)
			}
			r.Runs = append(r.Runs, run)
		}
		rep.Add(r)
	}
	return rep
}

func TestCompareReports(t *testing.T) {
	c, err := CompareReports([]string{"A", "B"}, []*Report{small(1, 1), small(3, 1)},
		CompareOptions{Margin: .02})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Coflows) != 2 || len(c.Pairs) != 12 {
		t.Fatalf("%d pairs, %d by coflow", len(c.Pairs), len(c.Coflows))
	}
	if p := c.Pairs[1]; p.Policy != "a (B)" || p.Against != "a (A)" || p.Figure != "mean CCT" ||
		math.Abs(p.Ratio.Mean-3) > 1e-9 || p.Verdict != OneRun || p.Equal {
		t.Errorf("%+v", p)
	}
	e := c.Coflows[1]
	if e.Policy != "b (B)" || e.Coflows != 3 || math.Abs(e.P50-3) > 1e-9 || e.Higher != 3 || e.Lower != 0 ||
		e.Beyond != 0 || e.Runs != 1 {
		t.Errorf("%+v", e)
	}
	if text := strings.Join(c.Words, " "); !strings.Contains(text, "Each report is of one run") {
		t.Error(text)
	}
	c, err = CompareReports([]string{"B", "A"}, []*Report{small(3, 1), small(1, 1)},
		CompareOptions{Margin: .02})
	if err != nil || c.Coflows[1].Lower != 3 || c.Coflows[1].Higher != 0 {
		t.Errorf("the other way round: %+v, %v", c.Coflows, err)
	}
}

// TestCompareRepeated: with runs enough a difference is sure, and one within the margin is equal.
func TestCompareRepeated(t *testing.T) {
	var seeds []uint64
	for s := range uint64(14) {
		seeds = append(seeds, s+1)
	}
	c, err := CompareReports([]string{"A", "B", "C"}, []*Report{small(1, seeds...), small(3, seeds...),
		small(1.001, seeds...)}, CompareOptions{Margin: .02})
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Pairs[1]; p.Verdict != Higher || p.Runs != 14 || p.Equal {
		t.Errorf("%+v", p)
	}
	if p := c.Pairs[13]; p.Policy != "a (C)" || p.Verdict != Higher || !p.Equal ||
		p.words(.02) != "higher, equal within 2.0 %" {
		t.Errorf("%+v: %s", p, p.words(.02))
	}
	if e := c.Coflows[0]; e.Runs != 14 || e.Sure != [2]int{0, 3} {
		t.Errorf("%+v", e)
	}
	var b bytes.Buffer
	if err := c.Table(&b); err != nil || !strings.Contains(b.String(), "14 seeds, 1 to 14") ||
		!strings.Contains(b.String(), "equal within 2.0 %") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := c.JSON(); err != nil {
		t.Error(err)
	}
}

// TestOutliers: coflows far from the median are named, the farthest first.
func TestOutliers(t *testing.T) {
	a, b := small(1, 1), small(1, 1)
	b.Policies[0].Coflows[2].Took *= 1.5
	b.Policies[0].Coflows[0].Took *= 1.05
	b.Policies[0].Coflows[1].Took = 0
	c, err := CompareReports([]string{"A", "B"}, []*Report{a, b}, CompareOptions{Margin: .02})
	if err != nil {
		t.Fatal(err)
	}
	// Two have a ratio: 1.05 and 1.5. The median by nearest rank is the first, and the second is 43 %
	// beyond it.
	e := c.Coflows[0]
	if e.Without != 1 || e.Coflows != 2 || e.Beyond != 1 || e.Outliers[0].Name != "coflow-z" ||
		math.Abs(e.Outliers[0].Ratio.Mean-1.5) > 1e-9 {
		t.Errorf("%+v", e)
	}
	var out bytes.Buffer
	const named = "coflow-z: 6.00 s, against 4.00 s, ratio 1.50"
	if err := c.Everything(&out); err != nil || !strings.Contains(out.String(), named) {
		t.Errorf("%v\n%s", err, out.String())
	}

	// One screen begins with the verdict, and says where the rest is.
	out.Reset()
	if err := c.Table(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	_, after, _ := strings.Cut(text, "╰")
	if !strings.HasPrefix(text, "a (B) has 1.00 times the mean CCT of a (A) (same); ") ||
		strings.Contains(text, named) ||
		!strings.Contains(text, "coflow by coflow 1 that are farther") || strings.Count(after, "\n") > 6 {
		t.Errorf("the screen is\n%s", text)
	}
}

func TestUnlikeReports(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Report)
		opt    CompareOptions
		want   string
	}{
		{"traces", func(r *Report) {
			r.Manifest.Inputs[0].SHA256 = strings.Repeat("f", 64)
		}, CompareOptions{}, `unlike traces: "t.txt" (SHA-256 000000000000…) and "t.txt" (ffffffffffff…)`},
		{"seeds", func(r *Report) { r.Manifest.Seeds = []uint64{2} }, CompareOptions{},
			"unlike seeds: [1] and [2]"},
		{"jobs", func(r *Report) {
			r.Workload.Digest = "e"
			r.Manifest.Settings[0].Value = "9"
		}, CompareOptions{}, "unlike jobs: d of t.txt and e of t.txt; what differs: --coflows 3 and 9"},
		{"jobs, without manifests", func(r *Report) {
			r.Workload.Digest, r.Manifest = "e", nil
		}, CompareOptions{}, "unlike jobs"},
		{"fabrics", func(r *Report) {
			r.Fabric.Spec = "crossbar:ports=8"
		}, CompareOptions{}, "unlike fabrics: crossbar:ports=4 and crossbar:ports=8"},
		{"worlds", func(r *Report) { r.Fabric.On = "netns" }, CompareOptions{},
			"unlike worlds: flowsim and netns"},
		{"one world", func(*Report) {}, CompareOptions{Across: true}, "both ran on flowsim"},
		{"no policy in common", func(r *Report) {
			r.Policies[0].Name, r.Policies[1].Name = "c", "d"
		}, CompareOptions{}, "no policy in common: a, b, and c, d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := small(1, 1)
			tc.change(b)
			_, err := CompareReports([]string{"A", "B"}, []*Report{small(1, 1), b}, tc.opt)
			var unlike *UnlikeError
			if !errors.As(err, &unlike) || !strings.Contains(err.Error(), tc.want) || unlike.Hint() == "" {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := CompareReports([]string{"A"}, []*Report{small(1, 1)}, CompareOptions{}); err == nil {
		t.Error("one report was compared")
	}
}

// TestCompareAcross: the same run on another fabric is compared by what it ran on.
func TestCompareAcross(t *testing.T) {
	b := small(1.1, 1)
	b.Fabric.On = "netns"
	c, err := CompareReports([]string{"A", "B"}, []*Report{small(1, 1), b}, CompareOptions{Across: true})
	if err != nil || c.Pairs[0].Policy != "a (netns)" || c.Pairs[0].Against != "a (flowsim)" {
		t.Errorf("%v, %+v", err, c)
	}
	// One policy in the one, two in the other, of no common name: the one with each.
	one := small(1, 1)
	one.Policies = one.Policies[:1]
	one.Policies[0].Name = "z"
	if c, err = CompareReports([]string{"A", "B"}, []*Report{one, small(2, 1)},
		CompareOptions{}); err != nil ||
		len(c.Coflows) != 2 || c.Coflows[1].Policy != "b (B)" {
		t.Errorf("%v, %+v", err, c)
	}
}
