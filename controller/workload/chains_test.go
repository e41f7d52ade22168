package workload

import (
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestChains: jobs of all kinds can run, name parents of their own chain that come before them, and
// read no more of a job than it could have written.
func TestChains(t *testing.T) {
	for _, kind := range ChainKinds() {
		for seed := range uint64(20) {
			jobs, err := Chains(ChainOptions{Kind: kind, Seed: seed, Hosts: 12, Poisson: true,
				Blocks: seed%4 == 3})
			if err != nil {
				t.Fatal(kind, err)
			}
			again, err := Chains(ChainOptions{Kind: kind, Seed: seed, Hosts: 12, Poisson: true,
				Blocks: seed%4 == 3})
			if err != nil || len(again) != len(jobs) || again[len(again)-1].Arrival != jobs[len(jobs)-1].Arrival {
				t.Fatalf("%s: the same seed draws other jobs: %v", kind, err)
			}
			seen := map[string]bool{}
			for i := range jobs {
				j := &jobs[i]
				if err := j.Check(12, 288); err != nil || seen[j.Name] {
					t.Fatalf("%s, seed %d, job %s: %v", kind, seed, j.Name, err)
				}
				for _, p := range j.ParentNames() {
					if !seen[p] || p[:4] != j.Name[:4] {
						t.Fatalf("%s: %s reads from %s", kind, j.Name, p)
					}
				}
				seen[j.Name] = true
			}
		}
	}
}

// TestChainShapes counts jobs, and holds Table I's inputs.
func TestChainShapes(t *testing.T) {
	for kind, want := range map[string]int{"kmeans": 9 * 11, "bayes": 9 * 11, "pagerank": 9 * 11, "ml": 9 * 11,
		"tpch": 140, "tpch-tez": 22, "dag": 12} {
		jobs, err := Chains(ChainOptions{Kind: kind, Hosts: 4})
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) != want {
			t.Errorf("%s: %d jobs, want %d", kind, len(jobs), want)
		}
	}
	jobs, err := Chains(ChainOptions{Kind: "ml", Hosts: 4})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(jobs, func(j controller.Job) bool { return strings.HasPrefix(j.Name, "001-") })
	if jobs[0].Edges[0].Bytes != 18_500e6 || jobs[i].Edges[0].Bytes != 34_800e6 {
		t.Errorf("inputs of %d and %d bytes", jobs[0].Edges[0].Bytes, jobs[i].Edges[0].Bytes)
	}
	for _, h := range jobs[0].Edges[0].Reads.Hosts {
		if h < 0 || h >= southbound.HostID(4) {
			t.Errorf("input on host %d", h)
		}
	}
}

func TestChainProblems(t *testing.T) {
	if _, err := Chains(ChainOptions{Kind: "spark"}); err == nil ||
		!strings.Contains(err.Error(), "write kmeans, bayes") {
		t.Error(err)
	}
}
