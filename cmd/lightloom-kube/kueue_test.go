package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/admission"
	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

// definitions installs those of Kueue 0.19.0, which are read from its module. Nothing else of it is used.
func (s *servers) definitions() {
	s.Helper()
	get := exec.Command("go", "mod", "download", "-json", "sigs.k8s.io/kueue@v0.19.0")
	get.Dir = s.T.TempDir() // outside of this module, which does not depend on it
	out, err := get.Output()
	var m struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		s.Fatalf("download Kueue's definitions: %v", err)
	}
	for _, kind := range []string{"admissionchecks", "workloads"} {
		s.kubectl("apply", "--server-side", "-f",
			filepath.Join(m.Dir, "config", "components", "crd", "bases", "kueue.x-k8s.io_"+kind+".yaml"))
	}
	await(s.T, "Kueue's resources to be served", func() bool {
		_, err1 := s.admin.others.Resource(workloadResource).List(s.Context(), metav1.ListOptions{})
		_, err2 := s.admin.others.Resource(checkResource).List(s.Context(), metav1.ListOptions{})
		return err1 == nil && err2 == nil
	})
	s.kubectl("apply", "-f", filepath.Join("deploy-kueue", "rbac.yaml"), "-f", filepath.Join("deploy-kueue", "check.yaml"))
}

// workload puts one of the contract into the cluster, with a status as Kueue writes it.
func (s *servers) workload(t *testing.T, contract string, change func(map[string]any)) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("contract", "kueue", "Workload-"+contract+".json"))
	u := &unstructured.Unstructured{}
	if err == nil {
		err = u.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(u.Object)
	}
	all := s.admin.others.Resource(workloadResource).Namespace("default")
	if _, err := all.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.status(t, u.GetName(), u.Object["status"].(map[string]any))
	return u.GetName()
}

// status changes a workload's status as Kueue does.
func (s *servers) status(t *testing.T, name string, status map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = s.admin.others.Resource(workloadResource).Namespace("default").Patch(t.Context(), name,
			types.MergePatchType, text, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check returns what our check says of a workload.
func (s *servers) check(t *testing.T, name string) (out admission.State) {
	t.Helper()
	all := s.checksOf(t, name)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

func (s *servers) checksOf(t *testing.T, name string) []admission.State {
	t.Helper()
	u, err := s.admin.others.Resource(workloadResource).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
	w := &admission.Workload{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.Status.Checks
}

// relabelled counts how often labels of each node change, until the context ends.
func (s *servers) relabelled(ctx context.Context) func() map[string]int {
	var mu sync.Mutex
	counts, last := map[string]int{}, map[string]map[string]string{}
	w, err := s.admin.core.Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	go func() {
		for e := range w.ResultChan() {
			if n, ok := e.Object.(*corev1.Node); ok {
				mu.Lock()
				if had, seen := last[n.Name]; seen && !maps.Equal(had, n.Labels) {
					counts[n.Name]++
				}
				last[n.Name] = n.Labels
				mu.Unlock()
			}
		}
	}()
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(counts)
	}
}

// TestKueue: workloads as Kueue has them get Slices of a real controller, on a real API server that has Kueue's
// definitions. The test does Kueue's part.
func TestKueue(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, cubes), startServers(t), build(t)
	s.apply()
	s.definitions()
	s.nodes(8, 8)
	start(t, t.TempDir(), ours, "--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--lease", "2s",
		"--settle", "2s", "--kueue", "--kueue-patience", "20s")
	north := northbound.DialSocket(f.socket)
	is := func(t *testing.T, name, state string) admission.State {
		t.Helper()
		await(t, "the check of "+name+" to be "+state, func() bool { return s.check(t, name).State == state })
		return s.check(t, name)
	}
	gone := func(t *testing.T) {
		t.Helper()
		await(t, "all Slices to go", func() bool { return len(s.controllers(north)) == 0 })
	}
	t.Run("Kueue is told that the check is served", func(t *testing.T) {
		await(t, "it to be Active", func() bool {
			u, err := s.admin.others.Resource(checkResource).Get(t.Context(), "lightloom-slice", metav1.GetOptions{})
			all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			return err == nil && len(all) == 1 && all[0].(map[string]any)["status"] == "True"
		})
		await(t, "nodes to have their cubes", func() bool {
			l, err := s.admin.core.Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: gating.CubeLabel + "=cube7," +
				gating.DomainLabel + "=cube7," + gating.StateLabel + "=HEALTHY"})
			return err == nil && len(l.Items) == 8
		})
	})
	t.Run("a JobSet's workers start on the nodes of their Slice", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		counts := s.relabelled(ctx)
		began := time.Now()
		name := s.workload(t, "jobset", now)
		got := is(t, name, admission.Ready)
		t.Logf("Ready after %v", time.Since(began).Round(time.Millisecond))
		if len(got.Selected) != 1 || got.Selected[0].Name != "workers" || len(got.Selected[0].NodeSelector) != 1 {
			t.Fatalf("%+v", got)
		}
		slice := got.Selected[0].NodeSelector[gating.SliceLabel]
		await(t, "16 nodes to be of the Slice, each after one change", func() bool {
			n := counts()
			return len(n) == 16 && !slices.ContainsFunc(slices.Collect(maps.Values(n)), func(k int) bool { return k != 1 })
		})
		on := s.runOn(t, "workers", 16, got.Selected[0].NodeSelector)
		x := s.controllers(north)[slice]
		for _, node := range on {
			if !slices.ContainsFunc(x.Cubes, func(c int) bool {
				return strings.HasPrefix(node, "h"+strings.TrimPrefix(slicing.Partition(c), "cube")+"-")
			}) {
				t.Errorf("a pod runs on %s, and the slice has cubes %v", node, x.Cubes)
			}
		}
		s.status(t, name, map[string]any{"conditions": []any{condition("QuotaReserved"), condition("Finished")}})
		gone(t)
		await(t, "its labels to go", func() bool {
			l, err := s.admin.core.Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: gating.SliceLabel})
			return err == nil && len(l.Items) == 0
		})
		if n := counts(); len(n) != 16 || slices.Max(slices.Collect(maps.Values(n))) != 2 {
			t.Errorf("labels changed as often as %v, want 16 nodes twice", n)
		}
	})
	t.Run("cubes are those of topology-aware scheduling", func(t *testing.T) {
		name := s.workload(t, "placed", now)
		slice := is(t, name, admission.Ready).Selected[0].NodeSelector[gating.SliceLabel]
		if x := s.controllers(north)[slice]; !slices.Equal(x.Cubes, []int{3, 6}) {
			t.Errorf("%+v", x)
		}
		s.end(slice)
		is(t, name, admission.Retry)
		gone(t)
		s.status(t, name, map[string]any{"admissionChecks": []any{pending()}})
		is(t, name, admission.Ready)
		all := s.admin.others.Resource(workloadResource).Namespace("default")
		err := all.Delete(t.Context(), name, metav1.DeleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		gone(t)
	})
	t.Run("two checks of ours say the same, and a Slice stays until evicted pods are gone", func(t *testing.T) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2",
			"kind": "AdmissionCheck", "metadata": map[string]any{"name": "another"},
			"spec": map[string]any{"controllerName": admission.Controller}}}
		_, err := s.admin.others.Resource(checkResource).Create(t.Context(), u, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		another := pending()
		another["name"] = "another"
		name := s.workload(t, "jobset", func(o map[string]any) {
			now(o)
			rename(o, "evicted")
			_ = unstructured.SetNestedSlice(o, []any{pending(), another}, "status", "admissionChecks")
		})
		await(t, "both checks to be Ready", func() bool {
			all := s.checksOf(t, name)
			return len(all) == 2 && all[0].State == admission.Ready && all[1].State == admission.Ready &&
				len(all[0].Selected) == 1 && len(all[1].Selected) == 1
		})
		slice := s.checksOf(t, name)[0].Selected[0].NodeSelector[gating.SliceLabel]
		s.status(t, name, map[string]any{"conditions": []any{condition("QuotaReserved"), condition("Evicted")},
			"admissionChecks": []any{pending(), another}})
		later := s.workload(t, "placed", func(o map[string]any) { now(o); rename(o, "later") })
		is(t, later, admission.Ready) // so that the eviction was seen
		if x := s.readSlice(slice); x == nil || x.DeletionTimestamp != nil {
			t.Errorf("its Slice is gone: %+v", x)
		}
		s.status(t, name, map[string]any{"conditions": []any{condition("Evicted")}, "admission": nil})
		await(t, "its Slice to go", func() bool { return s.readSlice(slice) == nil })
		s.status(t, later, map[string]any{"conditions": []any{condition("QuotaReserved"), condition("Finished")}})
		gone(t)
	})
	t.Run("a shape that can never be", func(t *testing.T) {
		name := s.workload(t, "jobset", func(o map[string]any) {
			now(o)
			rename(o, "impossible")
			shape(o, "64x64x64")
		})
		if got := is(t, name, admission.Rejected); !strings.Contains(got.Message, "64x64x64") {
			t.Errorf("%+v", got)
		}
		gone(t)
	})
	t.Run("quota is given back where circuits do not come", func(t *testing.T) {
		if err := s.slice("all", "4x4x4"); err != nil {
			t.Fatal(err)
		}
		s.is("all", slicing.Active)
		name := s.workload(t, "jobset", func(o map[string]any) {
			now(o)
			rename(o, "late")
		})
		await(t, "it to say why it waits", func() bool {
			return strings.Contains(s.check(t, name).Message, "SliceNotCreated")
		})
		if got := is(t, name, admission.Retry); got.After == nil || *got.After < 1 {
			t.Errorf("%+v", got)
		}
		s.end("all")
		gone(t)
	})
}

func condition(kind string) map[string]any {
	return map[string]any{"type": kind, "status": "True", "reason": "Test", "message": "",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

func pending() map[string]any {
	return map[string]any{"name": "lightloom-slice", "state": admission.Pending, "message": "",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

// now has quota be reserved now.
func now(o map[string]any) {
	_ = unstructured.SetNestedSlice(o, []any{condition("QuotaReserved")}, "status", "conditions")
}

func rename(o map[string]any, name string) {
	_ = unstructured.SetNestedField(o, name, "metadata", "name")
}

// shape has the workers of a JobSet ask for another one.
func shape(o map[string]any, topology string) {
	sets, _, _ := unstructured.NestedSlice(o, "spec", "podSets")
	_ = unstructured.SetNestedField(sets[1].(map[string]any), topology, "template", "metadata", "annotations",
		admission.PublicKey)
	_ = unstructured.SetNestedSlice(o, sets, "spec", "podSets")
}

// runOn starts a Job whose pods have a node selector, as Kueue writes it, and returns where they run.
func (s *servers) runOn(t *testing.T, name string, pods int32, selector map[string]string) (nodes []string) {
	t.Helper()
	j := newJob(name, pods, map[string]string{lasts: "1s"})
	j.Spec.Template.Spec.SchedulingGates, j.Spec.Template.Spec.NodeSelector = nil, selector
	if _, err := s.admin.batch.Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "its pods to end", func() bool { return s.ended(name) })
	for _, p := range s.pods(name) {
		nodes = append(nodes, p.Spec.NodeName)
	}
	return nodes
}
