package gating

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"lightloom/cmd/lightloom-kube/northbound"
)

// newPodOfCubes has cubes of eight hosts, which are all nodes.
func newPodOfCubes(cubes int) *World {
	w := &World{Now: start(), Owner: "kubernetes"}
	for i := range 8 * cubes {
		h := northbound.Host{Name: fmt.Sprintf("h%d-%d", i/8, i%8), Rack: i / 8, Switch: fmt.Sprintf("cube%d", i/8)}
		w.Hosts, w.Nodes = append(w.Hosts, h), append(w.Nodes, newNode(h.Name))
	}
	return w
}

// apply does what marks say, and returns how many nodes changed.
func apply(all []Mark) int {
	for _, m := range all {
		if m.Node.Labels == nil {
			m.Node.Labels = map[string]string{}
		}
		for key, value := range m.Labels {
			if value == nil {
				delete(m.Node.Labels, key)
			} else {
				m.Node.Labels[key] = fmt.Sprint(value)
			}
		}
	}
	return len(all)
}

func labelsOf(n *corev1.Node) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
		out = append(out, k[strings.LastIndex(k, "/")+1:]+"="+n.Labels[k])
	}
	return strings.Join(out, " ")
}

// TestMarks: labels follow circuits by one change of each node whose circuits changed, and of no other.
func TestMarks(t *testing.T) {
	w := newPodOfCubes(4)
	w.Nodes[0].Labels = map[string]string{"team": "a"}
	names := map[string]string{"slice-1": "train"}
	step := func(what string, changed int, node int, want string) {
		t.Helper()
		if n := apply(Marks(w, names)); n != changed {
			t.Errorf("%s: %d nodes change, want %d", what, n, changed)
		}
		if again := Marks(w, names); len(again) > 0 {
			t.Errorf("%s: again, %v", what, again[0].Labels)
		}
		if got := labelsOf(w.Nodes[node]); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	step("at first", 32, 8, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube1 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY domain=cube1 rack=cube1")
	w.Slices = []northbound.Slice{{Name: "slice-1", State: "Activating", Cubes: []int{0, 1}}}
	step("not lit yet", 0, 0, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube0 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY domain=cube0 rack=cube0 team=a")
	w.Slices[0].State = northbound.Ready
	step("lit", 16, 0, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube0 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY gke-tpu-slice=train domain=train rack=cube0 team=a")
	w.Nodes[3].Spec.Unschedulable = true
	step("a node goes away", 8, 0, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube0 "+
		"gke-tpu-partition-4x4x4-state=UNHEALTHY gke-tpu-slice=train domain=train rack=cube0 team=a")
	w.Slices[0].State, w.Slices[0].Cubes = "Incomplete", []int{1, 2}
	step("its cube is swapped", 16, 16, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube2 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY gke-tpu-slice=train domain=train rack=cube2")
	w.Slices = append(w.Slices, northbound.Slice{Name: "half", State: northbound.Ready, Cubes: []int{1}})
	step("two have parts of a cube", 8, 8, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube1 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY domain=cube1 rack=cube1")
	w.Slices = nil
	step("dark", 8, 16, "gce-topology-block=lightloom gke-tpu-partition-4x4x4-id=cube2 "+
		"gke-tpu-partition-4x4x4-state=HEALTHY domain=cube2 rack=cube2")
	w.Hosts = w.Hosts[1:]
	step("a node that is no host any more", 1, 0, "team=a")
}

// TestMarksOfRacks: on racks, a slice of hosts joins them where there are several, and names are made fit for labels.
func TestMarksOfRacks(t *testing.T) {
	w := newWorld(3)
	for i := range w.Hosts {
		w.Hosts[i].Switch = fmt.Sprintf("tor%d", w.Hosts[i].Rack)
	}
	w.Slices = []northbound.Slice{{Name: "one-rack", State: northbound.Ready, Hosts: []string{"h2-0", "h2-1"}},
		{Name: "a." + strings.Repeat("b", 80), State: northbound.Ready, Hosts: []string{"h0-0", "h1-0"}}}
	apply(Marks(w, nil))
	if got := labelsOf(w.Nodes[5]); got != "domain=tor2 rack=tor2" {
		t.Error(got)
	}
	if got := labelsOf(w.Nodes[1]); !strings.HasPrefix(got, "domain=slice-") || !strings.HasSuffix(got, " rack=tor0") {
		t.Error(got)
	}
}

// TestMarksOfUnfitNames: a switch's name is made fit for labels, too.
func TestMarksOfUnfitNames(t *testing.T) {
	w := newWorld(1)
	for i := range w.Hosts {
		w.Hosts[i].Switch = "leaf 1"
	}
	all := Marks(w, nil)
	if len(all) != len(w.Hosts) {
		t.Fatalf("%d of %d nodes are marked", len(all), len(w.Hosts))
	}
	for key, v := range all[0].Labels {
		if bad := validation.IsValidLabelValue(fmt.Sprint(v)); len(bad) > 0 {
			t.Errorf("%s=%v: %v", key, v, bad)
		}
	}
}

// TestMarksOfTwins: of two nodes that say they are one host, the one that pods can use has the labels, in any order.
func TestMarksOfTwins(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}} {
		w := newPodOfCubes(1)
		a, b, c := newNode("a"), newNode("b"), newNode("c")
		for _, n := range []*corev1.Node{a, b, c} {
			n.Labels = map[string]string{HostLabel: "h0-0"}
		}
		a.Spec.Unschedulable = true
		w.Nodes = w.Nodes[1:]
		for _, i := range order {
			w.Nodes = append(w.Nodes, []*corev1.Node{a, b, c}[i])
		}
		apply(Marks(w, nil))
		if a.Labels[CubeLabel] != "" || b.Labels[CubeLabel] != "cube0" || c.Labels[CubeLabel] != "" {
			t.Errorf("%v: %v, %v, %v", order, a.Labels, b.Labels, c.Labels)
		}
		if b.Labels[StateLabel] != "HEALTHY" {
			t.Error(b.Labels)
		}
		b.Spec.Unschedulable = true
		apply(Marks(w, nil))
		if b.Labels[CubeLabel] != "" || c.Labels[CubeLabel] != "cube0" {
			t.Errorf("%v: %v, %v", order, b.Labels, c.Labels)
		}
	}
}
