package slurm

import (
	"slices"
	"testing"
)

const nodesText = `h0-0 idle up 1 GANG,REQUEUE low
h0-1 alloc up 1 GANG,REQUEUE low
h0-0 idle up 10 OFF high
h0-1 alloc up 10 OFF high
h1-0 idle~ drain 5 WITHIN,CANCEL mid
h1-0 idle~ inact 20 OFF never
`

func TestParseNodes(t *testing.T) {
	n, err := ParseNodes(nodesText)
	if err != nil || !slices.Equal(n.all, []string{"h0-0", "h0-1", "h1-0"}) || n.state["h0-0"] != idle ||
		n.state["h0-1"] != allocated || n.state["h1-0"] != 0 {
		t.Fatalf("%v: %+v", err, n)
	}
	low, high := &Job{Partitions: []string{"low"}}, &Job{Partitions: []string{"low", "high", "none"}}
	if n.tier(low) != 1 || n.tier(high) != 10 || n.tier(&Job{Partitions: []string{"never", "mid"}}) != 5 {
		t.Errorf("tiers %d and %d", n.tier(low), n.tier(high))
	}
	if !n.mayPreempt() || n.partitions["low"].mode != modeRequeue || n.partitions["mid"].mode != modeCancel {
		t.Errorf("%v, %+v, %+v", n.mayPreempt(), n.partitions["low"], n.partitions["mid"])
	}
	if !n.has(low, "h0-1") || n.has(low, "h1-0") || !n.has(&Job{}, "h1-0") {
		t.Error("nodes of partitions")
	}
	for _, text := range []string{"h0-0 idle 1 OFF all\n", "h0-0 idle up one OFF all\n"} {
		if _, err := ParseNodes(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// FuzzParseNodes: what is chosen are as many nodes of one of the job's partitions, each once, of a state in which a job
// can have them; and where nothing must end, the job is ready there.
func FuzzParseNodes(f *testing.F) {
	f.Add(nodesText)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNodes(text)
		if err != nil {
			return
		}
		n.mayPreempt()
		o := &offer{nodes: n, own: map[int][]string{1: {"h0-0"}}, leaving: map[int]bool{}, preempts: true,
			running: []*Job{{ID: 1, Partitions: []string{"low"}, Nodes: []string{"h0-1"}}},
			network: Network{Racks: []Rack{{"tor0", n.all}}}}
		o.rack = o.network.rackOf()
		j := &Job{ID: 2, Partitions: []string{"high", "mid"}, Count: 2}
		nodes, _, now := o.choose(j, nil, true)
		for i, node := range nodes {
			if !n.has(j, node) || n.state[node]&(idle|completing|allocated) == 0 || slices.Contains(nodes[:i], node) {
				t.Errorf("%q is chosen: %q", node, nodes)
			}
		}
		if nodes != nil && len(nodes) != 2 || now && !o.ready(j, nodes) {
			t.Errorf("%q are chosen, now %v", nodes, now)
		}
	})
}
