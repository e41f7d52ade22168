package gating

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

func start() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

// newNode returns a node that is ready, with four processors.
func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"),
			corev1.ResourcePods: resource.MustParse("9")},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

func newJob(name string, pods int32, notes map[string]string) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name),
		CreationTimestamp: metav1.NewTime(start())}}
	j.Spec.Parallelism, j.Spec.Completions = &pods, &pods
	j.Spec.Template.Annotations = notes
	j.Spec.Template.Spec = corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: Gate}},
		Containers: []corev1.Container{{Name: "x", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}}
	return j
}

func newPod(j *batchv1.Job, index int) *corev1.Pod {
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", j.Name, index), Namespace: j.Namespace,
		UID: types.UID(fmt.Sprintf("%s-%d", j.Name, index)), CreationTimestamp: metav1.NewTime(start()),
		Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: j.Name, UID: j.UID, Controller: &yes}}}}
	p.Spec = *j.Spec.Template.Spec.DeepCopy()
	p.Status.Phase = corev1.PodPending
	return p
}

// newWorld has a fabric of racks with two hosts each, which are all nodes, and Jobs with all of their pods.
func newWorld(racks int, jobs ...*batchv1.Job) *World {
	w := &World{Now: start(), Owner: "kubernetes", Patient: 5 * time.Second, Jobs: jobs}
	for i := range 2 * racks {
		h := northbound.Host{Name: fmt.Sprintf("h%d-%d", i/2, i%2), Rack: i / 2}
		w.Hosts, w.Nodes = append(w.Hosts, h), append(w.Nodes, newNode(h.Name))
	}
	for _, j := range jobs {
		for i := range podsOf(j) {
			w.Pods = append(w.Pods, newPod(j, i))
		}
	}
	return w
}

func slice(job, state string, hosts ...string) northbound.Slice {
	return northbound.Slice{Name: prefix + job, Owner: "kubernetes", State: state, Reason: "JustAsked", Hosts: hosts}
}

// show writes a plan as text.
func show(p *Plan) string {
	var out []string
	for _, n := range p.Free {
		out = append(out, "free "+n)
	}
	for _, r := range p.Ask {
		out = append(out, "ask "+r.Name+" "+r.Shape+strings.Join(r.Hosts, ","))
	}
	for _, r := range p.Release {
		out = append(out, "release "+r.Pod.Name+" "+r.Node)
	}
	for _, e := range p.Evict {
		out = append(out, "evict "+e.Name)
	}
	for _, n := range p.Orphans {
		out = append(out, "orphan "+n)
	}
	why := ""
	for _, w := range p.Words {
		if w.Reason != why {
			why = w.Reason
			out = append(out, "say "+why)
		}
	}
	return strings.Join(out, "; ")
}

func notes(of ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(of); i += 2 {
		out[of[i]] = of[i+1]
	}
	return out
}

// starving has a large Job that finds no room beside a slice, and a small one behind it.
func starving(starve time.Duration) func() *World {
	return func() *World {
		w := newWorld(2, newJob("a", 4, nil), newJob("b", 1, nil))
		w.Slices = []northbound.Slice{{Name: "other", State: northbound.Ready, Hosts: []string{"h0-0"}}}
		w.Starve, w.Now = starve, start().Add(11*time.Minute)
		return w
	}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name, want string
		world      func() *World
	}{
		{"one rack has room for two: it needs no ports", "ask kube-a h0-0,h0-1; say SettingCircuits",
			func() *World { return newWorld(3, newJob("a", 2, nil)) }},
		{"three nodes take two racks", "ask kube-a h1-0,h2-0,h2-1; say SettingCircuits",
			func() *World { return newWorld(3, newJob("a", 3, nil)) }},
		{"nobody tells of slices: who needs none starts", "release a-0 ; say WithoutCircuits", func() *World {
			w := newWorld(2, newJob("a", 1, notes(Gate, None)))
			w.Away, w.Hosts = true, nil
			return w
		}},
		{"and who only wants some, after a while", "release a-0 ; say WithoutCircuits", func() *World {
			w := newWorld(2, newJob("a", 1, notes(Gate, Wanted)))
			w.Away, w.Hosts, w.Now = true, nil, start().Add(time.Minute)
			return w
		}},
		{"others wait, and are told", "say ControllerAway", func() *World {
			w := newWorld(2, newJob("a", 1, notes(Gate, Wanted)), newJob("b", 2, nil))
			w.Away, w.Hosts = true, nil
			return w
		}},
		{"small ones go ahead of a large one", "ask kube-b h0-1; say NoRoom; say SettingCircuits", starving(0)},
		{"until that has waited for long enough", "say NoRoom", starving(10 * time.Minute)},
		{"a slice that is not Ready is waited for", "say JustAsked", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Slices = []northbound.Slice{slice("a", "Activating", "h0-0", "h1-0")}
			return w
		}},
		{"ranks follow racks", "release a-0 h0-0; release a-1 h1-0; say CircuitsLit", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h1-0", "h0-0")}
			return w
		}},
		{"an index that is none", "release a-0 h0-0; release a-1 h1-0; say CircuitsLit", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Pods[0].Annotations[batchv1.JobCompletionIndexAnnotation] = "-1"
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h1-0", "h0-0")}
			return w
		}},
		{"a node that has not said yet what it has", "ask kube-a h1-0,h1-1; say SettingCircuits", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Nodes[0].Status.Allocatable = nil
			return w
		}},
		{"and runs a pod all the same", "ask kube-a h1-0,h1-1; say SettingCircuits", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Nodes[0].Status.Allocatable = nil
			other := newPod(newJob("other", 1, nil), 0)
			other.OwnerReferences, other.Spec.NodeName = nil, w.Nodes[0].Name
			w.Pods = append(w.Pods, other)
			return w
		}},
		{"two pods a node", "release a-0 h0-0; release a-1 h0-0; release a-2 h1-0; release a-3 h1-0; say CircuitsLit",
			func() *World {
				w := newWorld(2, newJob("a", 4, notes(NodesKey, "2")))
				w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h1-0", "h0-0")}
				return w
			}},
		{"three pods do not fit on a node of four processors", "say NoRoom", func() *World {
			w := newWorld(2, newJob("a", 3, notes(NodesKey, "1")))
			return w
		}},
		{"hosts of any other slice are not free, whatever its owner", "ask kube-a h1-0,h1-1; say SettingCircuits",
			func() *World {
				w := newWorld(2, newJob("a", 2, nil))
				w.Slices = []northbound.Slice{{Name: "mine", Hosts: []string{"h0-1"}}}
				return w
			}},
		{"ports of a rack are one slice's", "say NoRoom", func() *World {
			w := newWorld(3, newJob("a", 3, nil))
			w.Slices = []northbound.Slice{{Name: "mine", Hosts: []string{"h0-0", "h1-0"}}}
			return w
		}},
		{"the second of two finds less", "ask kube-a h0-0,h1-0,h1-1; say SettingCircuits; say NoRoom", func() *World {
			return newWorld(2, newJob("a", 3, nil), newJob("b", 2, nil))
		}},
		{"circuits that are only wanted are waited for", "say NoRoom", func() *World {
			w := newWorld(1, newJob("a", 2, notes(Gate, Wanted)))
			w.Slices = []northbound.Slice{{Name: "mine", Hosts: []string{"h0-0"}}}
			return w
		}},
		{"but not for ever", "release a-0 ; release a-1 ; say WithoutCircuits", func() *World {
			w := newWorld(1, newJob("a", 2, notes(Gate, Wanted)))
			w.Slices = []northbound.Slice{{Name: "mine", Hosts: []string{"h0-0"}}}
			w.Now = w.Now.Add(5 * time.Second)
			return w
		}},
		{"nor with a slice", "free kube-a; release a-0 ; release a-1 ; say WithoutCircuits", func() *World {
			w := newWorld(1, newJob("a", 2, notes(Gate, Wanted)))
			w.Slices = []northbound.Slice{slice("a", "Pending", "h0-0", "h0-1")}
			w.Now = w.Now.Add(5 * time.Second)
			return w
		}},
		{"nor with a request that is refused each time", "release a-0 ; release a-1 ; say WithoutCircuits", func() *World {
			w := newWorld(1, newJob("a", 2, notes(Gate, Wanted)))
			w.Now = w.Now.Add(5 * time.Second)
			return w
		}},
		{"nor with one of a shape", "release a-0 ; release a-1 ; say WithoutCircuits", func() *World {
			w := newWorld(1, newJob("a", 2, notes(Gate, Wanted, ShapeKey, "1x1x2")))
			w.Now = w.Now.Add(5 * time.Second)
			return w
		}},
		{"nor for other hosts", "free kube-a; release a-0 ; release a-1 ; say WithoutCircuits", func() *World {
			w := newWorld(2, newJob("a", 2, notes(Gate, Wanted)))
			w.Nodes[0].Status.Conditions = nil
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h0-0", "h0-1")}
			w.Now = w.Now.Add(5 * time.Second)
			return w
		}},
		{"circuits that are required are asked for again and again", "ask kube-a h0-0,h0-1; say SettingCircuits",
			func() *World {
				w := newWorld(1, newJob("a", 2, nil))
				w.Now = w.Now.Add(time.Hour)
				return w
			}},
		{"none", "release a-0 ; say WithoutCircuits",
			func() *World { return newWorld(1, newJob("a", 1, notes(Gate, None))) }},
		{"a word that is none", "say Impossible",
			func() *World { return newWorld(1, newJob("a", 1, notes(Gate, "maybe"))) }},
		{"more nodes than pods", "say Impossible",
			func() *World { return newWorld(1, newJob("a", 1, notes(NodesKey, "2"))) }},
		{"more nodes than there are", "say Impossible", func() *World { return newWorld(1, newJob("a", 3, nil)) }},
		{"a slice without a Job", "orphan kube-z", func() *World {
			w := newWorld(1)
			w.Slices = []northbound.Slice{slice("z", northbound.Ready, "h0-0"), {Name: "kube-y", Owner: "somebody"}}
			return w
		}},
		{"a slice of a Job that is over", "free kube-a", func() *World {
			w := newWorld(1, newJob("a", 1, nil))
			w.Pods[0].Status.Phase = corev1.PodSucceeded
			w.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h0-0")}
			return w
		}},
		{"a name that others have taken", "say SliceOfOthers", func() *World {
			w := newWorld(1, newJob("a", 1, nil))
			w.Slices = []northbound.Slice{{Name: "kube-a", Owner: "somebody", Hosts: []string{"h0-0"}}}
			return w
		}},
		{"a host that is away is replaced before pods run", "free kube-a; ask kube-a h1-0,h1-1; say SettingCircuits",
			func() *World {
				w := newWorld(2, newJob("a", 2, nil))
				w.Nodes[0].Status.Conditions = nil
				w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h0-0", "h0-1")}
				return w
			}},
		{"and beside those that run", "free kube-a; ask kube-a h0-1,h1-0; say SettingCircuits", func() *World {
			w := newWorld(2, newJob("a", 2, nil))
			w.Nodes[0].Status.Conditions = nil
			w.Pods[1].Spec.SchedulingGates, w.Pods[1].Spec.NodeName = nil, "h0-1"
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h0-0", "h0-1")}
			return w
		}},
		{"a pod that waits for a node which is away", "evict a-0", func() *World {
			w := newWorld(1, newJob("a", 1, nil))
			w.Nodes[0].Status.Conditions = nil
			w.Slices = []northbound.Slice{slice("a", northbound.Ready, "h0-0")}
			set(w.Pods[0], "h0-0", "kube-a")
			return w
		}},
		{"a Job that runs without its slice gets it again", "ask kube-a h0-0", func() *World {
			w := newWorld(1, newJob("a", 1, nil))
			set(w.Pods[0], "h0-0", "kube-a")
			return w
		}},
		{"the more urgent goes first", "ask kube-b h0-0,h0-1; say NoRoom; say SettingCircuits", func() *World {
			w := newWorld(1, newJob("a", 2, nil), newJob("b", 2, nil))
			urgent := int32(7)
			for _, p := range w.Pods[2:] {
				p.Spec.Priority = &urgent
			}
			return w
		}},
		{"a shape", "ask kube-a 2x2x2; say SettingCircuits",
			func() *World { return newWorld(1, newJob("a", 2, notes(ShapeKey, "2X2x2"))) }},
		{"a shape's hosts are its cubes'", "release a-0 h1-0; release a-1 h1-1; say CircuitsLit", func() *World {
			w := newWorld(2, newJob("a", 2, notes(ShapeKey, "1x1x2")))
			w.Slices = []northbound.Slice{{Name: "kube-a", Owner: "kubernetes", State: northbound.Ready, Shape: "1x1x2",
				Cubes: []int{1}}}
			return w
		}},
		{"a slice that is Ready before its cubes are known", "say JustAsked", func() *World {
			w := newWorld(2, newJob("a", 2, notes(ShapeKey, "1x1x2")))
			w.Slices = []northbound.Slice{slice("a", northbound.Ready)}
			return w
		}},
		{"a shape that is none, of cubes without hosts", "say JustAsked", func() *World {
			w := newWorld(2, newJob("a", 2, notes(ShapeKey, "none")))
			w.Slices = []northbound.Slice{slice("a", northbound.Ready)}
			w.Slices[0].Cubes = []int{7}
			return w
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.world()
			before := fmt.Sprint(w.Jobs, w.Pods, w.Nodes, w.Slices)
			p := Decide(w)
			if c.name == "the more urgent goes first" {
				slices.SortStableFunc(p.Words, func(a, b Word) int { return strings.Compare(a.Pod.Name, b.Pod.Name) })
			}
			if got := show(p); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if again := show(Decide(w)); c.name != "the more urgent goes first" && again != show(p) {
				t.Errorf("again: %s", again)
			}
			if fmt.Sprint(w.Jobs, w.Pods, w.Nodes, w.Slices) != before {
				t.Error("what was handed in has changed")
			}
		})
	}
}

// TestTake: as many pods as fit, do, and a Job may ask for any number.
func TestTake(t *testing.T) {
	for _, c := range []struct {
		free, ask, left string // left is empty where it is more than can be written
		n               int
		want            bool
	}{
		{"4", "250m", "0", 16, true},
		{"4", "250m", "-250m", 17, false},
		{"1", "100m", "700m", 3, true},
		{"8Gi", "3Gi", "2Gi", 2, true},
		{"4", "0", "4", math.MaxInt32, true},
		{"4", "2", "-4294967290", math.MaxInt32, false},
		{"4", "1Ei", "", math.MaxInt32, false},
	} {
		free := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(c.free)}
		ask := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(c.ask)}
		ok := take(free, ask, c.n)
		left, asked := free[corev1.ResourceCPU], ask[corev1.ResourceCPU]
		if ok != c.want || c.left != "" && left.Cmp(resource.MustParse(c.left)) != 0 ||
			asked.Cmp(resource.MustParse(c.ask)) != 0 {
			t.Errorf("%d times %s of %s: %v, %s is left, %s asked for", c.n, c.ask, c.free, ok, &left, &asked)
		}
	}
}

// set makes a pod one that was released.
func set(p *corev1.Pod, node, slice string) {
	p.Spec.SchedulingGates = nil
	p.Spec.Affinity = Pin(p.Spec.Affinity, node)
	p.Annotations[SliceKey] = slice
}

// TestPin: what a pod demanded already, it still demands.
func TestPin(t *testing.T) {
	terms := []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}},
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "b", Operator: corev1.NodeSelectorOpExists}}}}
	a := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	had := a.DeepCopy()
	got := Pin(a, "n1").NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(got) != 2 || len(got[0].MatchExpressions) != 1 || got[1].MatchFields[0].Values[0] != "n1" {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(a, had) {
		t.Error("the affinity that was handed in has changed")
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{SliceKey: "x"}},
		Spec: corev1.PodSpec{Affinity: Pin(a, "n1")}}
	if pinned(p) != "n1" {
		t.Errorf("pinned to %q", pinned(p))
	}
}

// TestStrangers: labels say which host a node is.
func TestStrangers(t *testing.T) {
	w := newWorld(1)
	w.Nodes[0].Name, w.Nodes[1].Name = "n7", "n8"
	w.Nodes[1].Labels = map[string]string{HostLabel: "h0-1"}
	if nodes, hosts := Strangers(w); !slices.Equal(nodes, []string{"n7"}) || !slices.Equal(hosts, []string{"h0-0"}) {
		t.Errorf("%q, %q", nodes, hosts)
	}
}
