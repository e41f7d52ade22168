package gating

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"lightloom/cmd/lightloom-kube/northbound"
)

// Labels of nodes, as Kueue's topologies name them. Those of cloud.google.com are for users of Slices: they stand on
// nodes of a pod of cubes alone, whatever size a cube has.
const (
	RackLabel   = "lightloom/rack"   // its switch
	DomainLabel = "lightloom/domain" // racks that circuits join: the slice that has these, or else the switch
	BlockLabel  = "cloud.google.com/gce-topology-block"
	CubeLabel   = "cloud.google.com/gke-tpu-partition-4x4x4-id"
	StateLabel  = "cloud.google.com/gke-tpu-partition-4x4x4-state"
	SliceLabel  = "cloud.google.com/gke-tpu-slice" // a slice that has the whole cube
)

// Mark is how a node's labels are to change. A label whose value is nil goes.
type Mark struct {
	Node   *corev1.Node
	Labels map[string]any
}

// Marks returns the labels that are not as circuits are: at most one change for each node. Slices are called by other
// names where these are given.
func Marks(w *World, names map[string]string) (out []Mark) {
	lit, whole, nodes := domains(w, names), map[int]bool{}, nodesOf(w)
	for _, h := range w.Hosts {
		if _, seen := whole[h.Rack]; !seen {
			whole[h.Rack] = true
		}
		if n := nodes[h.Name]; n == nil || !usable(n) {
			whole[h.Rack] = false
		}
	}
	out = former(w, nodes)
	for _, h := range w.Hosts {
		n := nodes[h.Name]
		if n == nil || h.Switch == "" {
			continue
		}
		own := value("switch", h.Switch)
		want := map[string]string{RackLabel: own, DomainLabel: own}
		if lit[h.Rack] != "" {
			want[DomainLabel] = lit[h.Rack]
		}
		if h.Cube() {
			want[BlockLabel], want[CubeLabel], want[StateLabel] = ourBlock, h.Switch, "UNHEALTHY"
			want[SliceLabel] = lit[h.Rack]
			if whole[h.Rack] {
				want[StateLabel] = "HEALTHY"
			}
		}
		if change := differ(n.Labels, want); len(change) > 0 {
			out = append(out, Mark{n, change})
		}
	}
	return out
}

// nodesOf returns the node of each host. Of several that say they are one, it is the first by name that pods can use.
func nodesOf(w *World) map[string]*corev1.Node {
	out := map[string]*corev1.Node{}
	for _, n := range slices.SortedFunc(slices.Values(w.Nodes), func(a, b *corev1.Node) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		if had := out[hostOf(n)]; had == nil || !usable(had) && usable(n) {
			out[hostOf(n)] = n
		}
	}
	return out
}

// former returns what takes the labels off nodes that are no hosts any more.
func former(w *World, nodes map[string]*corev1.Node) (out []Mark) {
	hosts := map[string]bool{}
	for _, h := range w.Hosts {
		hosts[h.Name] = true
	}
	for _, n := range w.Nodes {
		if n.Labels[RackLabel] == "" || hosts[hostOf(n)] && nodes[hostOf(n)] == n {
			continue
		}
		none := map[string]string{RackLabel: "", DomainLabel: ""}
		if n.Labels[BlockLabel] == ourBlock {
			for _, key := range []string{BlockLabel, CubeLabel, StateLabel, SliceLabel} {
				none[key] = ""
			}
		}
		out = append(out, Mark{n, differ(n.Labels, none)})
	}
	return out
}

// ourBlock is the block of all cubes.
const ourBlock = "lightloom"

// differ returns what has to change so that labels have those values; "" means that there is none.
func differ(had, want map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range want {
		switch now, is := had[key]; {
		case value == "" && is:
			out[key] = nil
		case value != "" && now != value:
			out[key] = value
		}
	}
	return out
}

// domains returns the slice that joins each rack to others. It keeps its racks while it lacks circuits: pods that start
// again meanwhile are to find it.
func domains(w *World, names map[string]string) map[int]string {
	racks, out, shared := map[string]int{}, map[int]string{}, map[int]bool{}
	for _, h := range w.Hosts {
		racks[h.Name] = h.Rack
	}
	for _, x := range w.Slices {
		if x.State != northbound.Ready && x.State != "Incomplete" {
			continue
		}
		name, of := names[x.Name], map[int]bool{}
		if name == "" {
			name = x.Name
		}
		for _, c := range x.Cubes {
			of[c] = true
		}
		for _, h := range x.Hosts {
			if r, known := racks[h]; known {
				of[r] = true
			}
		}
		if len(x.Cubes) == 0 && len(of) < 2 {
			continue // no circuits
		}
		for r := range of {
			shared[r] = out[r] != ""
			out[r] = value("slice", name)
		}
	}
	for r := range shared {
		if shared[r] {
			delete(out, r) // two slices have parts of a cube
		}
	}
	return out
}

// value returns the name of something of a kind as labels can have it.
func value(kind, name string) string {
	if len(validation.IsValidLabelValue(name)) == 0 {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return fmt.Sprintf("%s-%016x", kind, h.Sum64())
}

// Cubes returns the cube of each node of a pod, and how many hosts a cube has.
func Cubes(w *World) (of map[string]string, size int) {
	of, hosts := map[string]string{}, map[string]northbound.Host{}
	for _, h := range w.Hosts {
		if h.Cube() {
			hosts[h.Name] = h
			if h.Rack == 0 {
				size++
			}
		}
	}
	for _, n := range w.Nodes {
		if h, is := hosts[hostOf(n)]; is {
			of[n.Name] = h.Switch
		}
	}
	return of, size
}
