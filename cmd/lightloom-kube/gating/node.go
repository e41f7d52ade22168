package gating

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resources "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// site is a host of the fabric that is a node of the cluster.
type site struct {
	host string
	rack int
	node *corev1.Node
	free corev1.ResourceList // what its pods leave
}

// hostOf returns the name of the host that a node is, as it says.
func hostOf(n *corev1.Node) string { return cmp.Or(n.Labels[HostLabel], n.Name) }

// usable reports whether pods can run on a node at all.
func usable(n *corev1.Node) bool {
	return !n.Spec.Unschedulable && n.DeletionTimestamp == nil &&
		slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
}

// done reports whether a pod takes nothing any more.
func done(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// requests returns what a pod takes of its node, itself included.
func requests(p *corev1.Pod) corev1.ResourceList {
	r := resources.PodRequests(p, resources.PodResourcesOptions{UseStatusResources: true})
	r[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return r
}

// allocatable returns what a node has for pods. One that has just joined has not said so yet.
func allocatable(n *corev1.Node) corev1.ResourceList {
	if n.Status.Allocatable == nil {
		return corev1.ResourceList{}
	}
	return n.Status.Allocatable.DeepCopy()
}

// take lessens what is free by n times what is asked for, and reports whether it was enough.
func take(free, ask corev1.ResourceList, n int) bool {
	enough := true
	for name, q := range ask {
		if q.IsZero() {
			continue
		}
		left, all := free[name].DeepCopy(), q.DeepCopy()
		all.Mul(int64(n)) // what int64 does not hold is exact, too
		left.Sub(all)
		free[name] = left
		enough = enough && left.Sign() >= 0
	}
	return enough
}

// admits reports whether a node takes a pod, as far as its taints and the pod's selectors go.
func admits(p *corev1.Pod, n *corev1.Node) bool {
	match, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	_, tainted := scheduling.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations,
		func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }, false)
	return err == nil && match && !tainted && usable(n)
}

// pinned returns the node that a pod was released onto, or runs on.
func pinned(p *corev1.Pod) (node string) {
	if p.Spec.NodeName != "" || p.Annotations[SliceKey] == "" || p.Spec.Affinity == nil ||
		p.Spec.Affinity.NodeAffinity == nil ||
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return p.Spec.NodeName
	}
	for _, t := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == "metadata.name" && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				node = f.Values[0] // ours is the last one
			}
		}
	}
	return node
}

// Pin returns a pod's affinity with one more demand: that it runs on this node.
func Pin(a *corev1.Affinity, node string) *corev1.Affinity {
	here := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	if a = a.DeepCopy(); a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{}
	}
	if len((*required).NodeSelectorTerms) == 0 {
		(*required).NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range (*required).NodeSelectorTerms {
		t := &(*required).NodeSelectorTerms[i]
		t.MatchFields = append(t.MatchFields, here)
	}
	return a
}

// Strangers returns the nodes that are no hosts of the fabric, and the hosts that are no nodes.
func Strangers(w *World) (nodes, hosts []string) {
	is := map[string]bool{}
	for _, h := range w.Hosts {
		is[h.Name] = false
	}
	for _, n := range w.Nodes {
		if _, known := is[hostOf(n)]; known {
			is[hostOf(n)] = true
		} else {
			nodes = append(nodes, n.Name)
		}
	}
	for _, h := range w.Hosts {
		if !is[h.Name] {
			hosts = append(hosts, h.Name)
		}
	}
	slices.Sort(nodes)
	return nodes, hosts
}
