package workload

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// facebook opens the published trace, or skips with the reason.
func facebook(t testing.TB) *Trace {
	t.Helper()
	dir := cmp.Or(os.Getenv("LIGHTLOOM_DATA"), "../../../shared/data") // beside the repository's root
	path := filepath.Join(dir, "coflow/FB2010-1Hr-150-0.txt")
	f, err := os.Open(path)
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatalf("LIGHTLOOM_MUST names data: %v", err)
		}
		t.Skipf("%v: the trace is not shipped; set LIGHTLOOM_DATA to the folder that holds coflow/", err)
	}
	defer f.Close()
	tr, err := ReadTrace(f, filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestFacebookTotals(t *testing.T) {
	tr := facebook(t)
	if got, want := tr.Totals(), (Totals{Coflows: 526, Flows: 706_397,
		Bytes: 35_533_534 * Megabyte}); got != want ||
		tr.Racks != 150 {
		t.Fatalf("%d racks, totals %+v, want 150 and %+v", tr.Racks, got, want)
	}
	for _, tc := range []struct {
		name string
		opt  FoldOptions
		want Totals
	}{
		{"whole, a host a rack", FoldOptions{Racks: 150, HostsPerRack: 1},
			Totals{526, 706_397, 35_533_534 * Megabyte}},
		{"whole, folded", FoldOptions{Racks: 16, HostsPerRack: 2}, Totals{526, 706_397, 35_533_534 * Megabyte}},
		{"small400", FoldOptions{Racks: 16, HostsPerRack: 2, MaxWidth: 400},
			Totals{439, 10_850, 135_516 * Megabyte}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs, fold, err := tr.Jobs(tc.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := Sum(jobs); got != tc.want || fold.Taken != tc.want {
				t.Errorf("jobs %+v, fold %+v, want %+v", got, fold.Taken, tc.want)
			}
			if tc.opt.MaxWidth == 0 && fold.LocalInTrace.Flows != 4911 { // as data/README.md counts them
				t.Errorf("%d flows are local in the trace, want 4911", fold.LocalInTrace.Flows)
			}
			checkExpanded(t, jobs, fold, tc.opt)
		})
	}
	t.Run("first100", func(t *testing.T) {
		jobs, fold, err := tr.Jobs(FoldOptions{Racks: 16, HostsPerRack: 2, Coflows: 100})
		if err != nil || len(jobs) != 100 || fold.BeyondLimit != 426 || jobs[99].Name != "coflow-100" {
			t.Errorf("%d jobs, %+v, %v", len(jobs), fold, err)
		}
	})
}

// checkExpanded holds what policies will see against the fold: local bytes apart, nothing lost, every
// job acceptable.
func checkExpanded(t *testing.T, jobs []controller.Job, fold Fold, opt FoldOptions) {
	t.Helper()
	var local, sent Totals
	for i := range jobs {
		j := &jobs[i]
		if err := j.Check(opt.Racks*opt.HostsPerRack, 1<<20); err != nil {
			t.Fatal(err)
		}
		c := controller.Expand(j, &j.Edges[0], nil)
		local.Bytes += c.Local
		for k := range c.Size {
			sent.Bytes += c.Size[k]
			sent.Flows += int64(c.Flows[k])
		}
	}
	if want := fold.LocalInTrace.Bytes + fold.LocalByFold.Bytes; local.Bytes != want {
		t.Errorf("expanded: %d bytes local, the fold says %d", local.Bytes, want)
	}
	if sent.Bytes+local.Bytes != fold.Taken.Bytes {
		t.Errorf("expanded: %d + %d bytes, taken %d", sent.Bytes, local.Bytes, fold.Taken.Bytes)
	}
	if want := fold.Taken.Flows - fold.LocalInTrace.Flows - fold.LocalByFold.Flows; sent.Flows != want {
		t.Errorf("expanded: %d flows, want %d", sent.Flows, want)
	}
}

func randomTrace(r *rand.Rand) *Trace {
	t := &Trace{Name: "random", Racks: 1 + r.IntN(30)}
	for id := range 1 + r.IntN(12) {
		c := TraceCoflow{ID: id, Line: id + 2}
		for range 1 + r.IntN(6) {
			c.Mappers = append(c.Mappers, int32(r.IntN(t.Racks)))
		}
		for range 1 + r.IntN(6) {
			c.Reducers = append(c.Reducers, Reducer{Rack: int32(r.IntN(t.Racks)),
				Bytes: Megabyte * pathmap.Bytes(len(c.Mappers)+r.IntN(20))})
		}
		t.Coflows = append(t.Coflows, c)
	}
	return t
}

// TestJobsReference adds up every flow of random traces one by one, the slow way.
func TestJobsReference(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		tr := randomTrace(r)
		opt := FoldOptions{Racks: 1 + r.IntN(8), HostsPerRack: 1 + r.IntN(3)}
		jobs, fold, err := tr.Jobs(opt)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range tr.Coflows {
			want := map[[2]southbound.HostID]controller.Flow{}
			for _, red := range c.Reducers {
				for m, q := range c.Mappers {
					src, dst := opt.host(q, i), opt.host(red.Rack, i)
					if int(src)/opt.HostsPerRack != int(q)%opt.Racks {
						t.Fatalf("seed %d: rack %d of the trace stands in rack %d", seed, q, int(src)/opt.HostsPerRack)
					}
					f := want[[2]southbound.HostID{src, dst}]
					f.Src, f.Dst, f.Count = src, dst, f.Count+1
					base, rest := int64(red.Bytes/Megabyte)/int64(len(c.Mappers)), int64(red.Bytes/Megabyte)%int64(len(c.Mappers))
					for range base {
						f.Bytes += Megabyte
					}
					if int64(m) < rest {
						f.Bytes += Megabyte
					}
					want[[2]southbound.HostID{src, dst}] = f
				}
			}
			got := jobs[i].Edges[0].Flows
			if len(got) != len(want) {
				t.Fatalf("seed %d coflow %d: %d flows, want %d", seed, i, len(got), len(want))
			}
			for _, f := range got {
				if w := want[[2]southbound.HostID{f.Src, f.Dst}]; w != f {
					t.Fatalf("seed %d coflow %d: %+v, want %+v", seed, i, f, w)
				}
			}
		}
		checkExpanded(t, jobs, fold, opt)
	}
}

func TestFoldSpreadsOverHosts(t *testing.T) {
	// 32 racks onto 4 × 2: each host stands for 4 of them, for every coflow.
	opt := FoldOptions{Racks: 4, HostsPerRack: 2}
	for c := range 5 {
		count := make([]int, 8)
		for q := range int32(32) {
			count[opt.host(q, c)]++
		}
		for h, n := range count {
			if n != 4 {
				t.Errorf("coflow %d: host %d stands for %d racks, want 4", c, h, n)
			}
		}
	}
	if opt.host(3, 0) == opt.host(3, 1) {
		t.Error("the hosts of a rack do not take turns")
	}
}

func TestJobsOrderAndErrors(t *testing.T) {
	tr, err := ReadTrace(strings.NewReader("4 3\n1 50 1 0 1 1:1\n2 20 1 0 1 1:1\n3 20 1 0 1 1:1\n"), "t")
	if err != nil {
		t.Fatal(err)
	}
	jobs, fold, err := tr.Jobs(FoldOptions{Racks: 2, HostsPerRack: 1})
	if err != nil || jobs[0].Name != "coflow-2" || jobs[1].Name != "coflow-3" || jobs[2].Name != "coflow-1" {
		t.Errorf("order: %v %v %v, %v", jobs[0].Name, jobs[1].Name, jobs[2].Name, err)
	}
	if s := fold.String(); !strings.Contains(s, "4 racks are folded onto 2 (rack modulo 2)") {
		t.Errorf("fold says %q", s)
	}
	if _, _, err := tr.Jobs(FoldOptions{}); err == nil {
		t.Error("no racks: no error")
	}
	wide, _ := ReadTrace(strings.NewReader("4 1\n1 0 2 0 1 1 2:2\n"), "t")
	if _, _, err := wide.Jobs(FoldOptions{Racks: 2, HostsPerRack: 1, MaxWidth: 1}); err == nil {
		t.Error("nothing left: no error")
	}
}

// Totals returns the trace's sums.
func (t *Trace) Totals() Totals {
	var sum Totals
	for i := range t.Coflows {
		c := &t.Coflows[i]
		if c.Bytes() > 0 {
			sum.Coflows++
		}
		for _, r := range c.Reducers {
			for m := range c.Mappers {
				if b := r.From(m, len(c.Mappers)); b > 0 {
					sum.add(b)
				}
			}
		}
	}
	return sum
}
