package slurm

import (
	"slices"
	"strings"
	"testing"
)

const nodesText = `h0-0 idle 1 REQUEUE low
h0-1 alloc 1 REQUEUE low
h0-0 idle 10 REQUEUE high
h0-1 alloc 10 REQUEUE high
h1-0 idle~ 5 CANCEL,GANG mid
`

func TestParseNodes(t *testing.T) {
	n, err := ParseNodes(nodesText)
	if err != nil || !slices.Equal(n.all, []string{"h0-0", "h0-1", "h1-0"}) || len(n.idle) != 1 || !n.idle["h0-0"] {
		t.Fatalf("%v: %+v", err, n)
	}
	low, high := &Job{Partitions: []string{"low"}}, &Job{Partitions: []string{"low", "high", "none"}}
	if n.tier(low) != 1 || n.tier(high) != 10 || !n.uneven() || n.partitions["mid"].mode != modeCancel {
		t.Errorf("tiers %d and %d, uneven %v, %q", n.tier(low), n.tier(high), n.uneven(), n.partitions["mid"].mode)
	}
	if !n.has(low, "h0-1") || n.has(low, "h1-0") || !n.has(&Job{}, "h1-0") {
		t.Error("nodes of partitions")
	}
	for _, text := range []string{"h0-0 idle 1 OFF\n", "h0-0 idle one OFF all\n"} {
		if _, err := ParseNodes(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzParseNodes(f *testing.F) {
	f.Add(nodesText)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNodes(text)
		for node := range n.idle {
			if _, known := slices.BinarySearch(n.all, node); err == nil && !known {
				t.Errorf("%q is idle, and not there", node)
			}
		}
		n.uneven()
	})
}

// TestPreempted: a job takes idle nodes and free ports where it can, and else those of jobs in lower partitions, as few
// as will do and the youngest first. Jobs without circuits there are left to Slurm.
func TestPreempted(t *testing.T) {
	running := func(id int, partition, nodes string) *Job {
		return &Job{ID: id, State: "RUNNING", Partitions: []string{partition}, Nodes: strings.Fields(nodes)}
	}
	var text strings.Builder
	for _, node := range strings.Fields("h0-0 h0-1 h1-0 h1-1 h2-0 h2-1") {
		text.WriteString(node + " alloc 1 REQUEUE low\n" + node + " alloc 10 REQUEUE high\n")
	}
	for _, tt := range []struct {
		name    string
		running []*Job
		own     map[int][]string
		named   string
		off     bool
		nodes   string // empty: it can have none
		victims []int
	}{
		{"idle nodes are enough", []*Job{running(1, "low", "h0-0 h1-0")}, map[int][]string{1: {"h0-0", "h1-0"}}, "", false,
			"h2-0 h2-1", nil},
		{"one without circuits is Slurm's to end", []*Job{running(1, "low", "h0-0 h1-0 h1-1"),
			running(2, "low", "h2-0 h2-1")}, nil, "", false, "h2-0 h2-1", nil},
		{"the youngest", []*Job{running(1, "low", "h0-0 h0-1 h1-0"), running(2, "low", "h1-1 h2-0 h2-1")},
			map[int][]string{1: {"h0-0", "h0-1", "h1-0"}, 2: {"h1-1", "h2-0", "h2-1"}}, "", false, "h2-0 h2-1", []int{2}},
		{"named nodes", []*Job{running(1, "low", "h0-0 h1-0"), running(2, "low", "h2-0 h2-1")},
			map[int][]string{1: {"h0-0", "h1-0"}, 2: {"h2-0", "h2-1"}}, "h0-0 h1-0", false, "h0-0 h1-0", []int{1}},
		{"ports alone", []*Job{running(1, "low", "h0-0 h1-0 h2-0")}, map[int][]string{1: {"h0-0", "h1-0", "h2-0"}},
			"h1-1 h2-1", false, "h1-1 h2-1", []int{1}},
		{"no weaker one", []*Job{running(1, "high", "h0-0 h0-1 h1-0 h1-1 h2-0 h2-1")}, nil, "", false, "", nil},
		{"Slurm ends none", []*Job{running(1, "low", "h0-0 h0-1 h1-0 h1-1 h2-0 h2-1")}, nil, "", true, "", nil},
		{"a slice of another's", []*Job{running(1, "low", "h0-0 h0-1 h1-0 h1-1 h2-0 h2-1")},
			map[int][]string{-1: {"h0-0", "h0-1", "h1-0", "h1-1", "h2-0"}}, "", false, "", nil},
	} {
		o := offer{network: *network(t, "hybrid:racks=3,hosts=2"), own: tt.own, running: tt.running, preempts: !tt.off}
		o.rack = o.network.rackOf()
		var err error
		if o.nodes, err = ParseNodes(text.String()); err != nil {
			t.Fatal(err)
		}
		for _, node := range o.nodes.all {
			if !slices.ContainsFunc(tt.running, func(j *Job) bool { return slices.Contains(j.Nodes, node) }) {
				o.nodes.idle[node] = true
			}
		}
		j := &Job{ID: 9, Partitions: []string{"high"}, Count: 2}
		var named []string
		if tt.named != "" {
			named = strings.Fields(tt.named)
		}
		nodes, victims := o.choose(j, named, o.weaker(j))
		var ids []int
		for _, v := range victims {
			ids = append(ids, v.ID)
		}
		if strings.Join(nodes, " ") != tt.nodes || !slices.Equal(ids, tt.victims) {
			t.Errorf("%s: %q, ends %v; want %q, %v", tt.name, nodes, ids, tt.nodes, tt.victims)
		}
		if nodes != nil && len(victims) == 0 && !o.ready(j, nodes) {
			t.Errorf("%s: %q are chosen, and not ready", tt.name, nodes)
		}
	}
}
