package admission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/slicing"
)

// read returns a workload of the contract, with its check in a state.
func read(t *testing.T, name, state string) *Workload {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "contract", "kueue", "Workload-"+name+".json"))
	w := &Workload{}
	if err == nil {
		err = json.Unmarshal(text, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.UID = "w1"
	w.Status.Checks[0].State = state
	return w
}

// newWorld has eight cubes of eight nodes, and a check of ours that Kueue knows to be served.
func newWorld(w *Workload, all ...*slicing.Slice) *World {
	c := &Check{ObjectMeta: metav1.ObjectMeta{Name: "lightloom-slice"}}
	c.Spec.ControllerName = Controller
	c.Status.Conditions = []metav1.Condition{{Type: "Active", Status: "True"}}
	out := &World{Now: time.Date(2026, 11, 30, 1, 1, 0, 0, time.UTC), Checks: []*Check{c}, Workloads: []*Workload{w},
		Slices: all, Cubes: map[string]string{}, Size: 8, Patient: 5 * time.Minute}
	for i := range 64 {
		out.Cubes[fmt.Sprintf("h%d-%d", i/8, i%8)] = slicing.Partition(i / 8)
	}
	return out
}

// made returns the Slice of the first pod set that asks for one, in a state.
func made(w *Workload, reason string, cubes ...string) *slicing.Slice {
	i := slices.IndexFunc(w.Spec.PodSets, func(p PodSet) bool { return p.shape() != "" })
	s := newSlice(w, &w.Spec.PodSets[i], cubes)
	status := metav1.ConditionFalse
	if reason == slicing.Active {
		status = metav1.ConditionTrue
	}
	if reason != "" {
		s.Status.Conditions = []metav1.Condition{{Type: slicing.Ready, Status: status, Reason: reason, Message: "m"}}
	}
	return s
}

func show(p *Plan) string {
	var out []string
	for _, c := range p.Activate {
		out = append(out, "activate "+c.Name)
	}
	for _, s := range p.Delete {
		out = append(out, "delete "+s.Spec.Topology)
	}
	for _, s := range p.Create {
		out = append(out, "create "+strings.Join(append([]string{s.Spec.Type, s.Spec.Topology}, s.Spec.PartitionIDs...), " "))
	}
	for _, a := range p.Set {
		for _, s := range a.States {
			out = append(out, s.State)
			for _, u := range s.Selected {
				out = append(out, "select "+u.Name)
			}
		}
	}
	for range p.Orphans {
		out = append(out, "orphan")
	}
	return strings.Join(out, "; ")
}

// second adds another check of ours to a workload.
func second(w *World, x *Workload, state string) {
	c := *w.Checks[0]
	c.Name = "another"
	w.Checks = append(w.Checks, &c)
	x.Status.Checks = append(x.Status.Checks, State{Name: "another", State: state})
}

// away is a controller that does not answer, for as long as quota is reserved.
func away(since time.Duration) func(*World, *Workload) {
	return func(w *World, x *Workload) {
		w.Away, w.Cubes, w.Size = true, nil, 0
		w.Now = x.Status.Conditions[0].LastTransitionTime.Add(since)
	}
}

// TestWholeCubes: what the definition of Slices does not take is no topology.
func TestWholeCubes(t *testing.T) {
	for shape, want := range map[string]bool{"4x4x4": true, "2x2x4": true, "4x4x8_twisted": true, "4x4x4junk": false,
		"4x4x4x4": false, "+4x4x4": false, " 4x4x4": false, "1x4x4": false, "0x4x4": false, "4x4": false,
		"99999999999999999999x4x4": false, strings.Repeat("0", 62) + "2x2x2": false} {
		if got := wholeCubes(shape, 8); got != want {
			t.Errorf("%q: %v", shape, got)
		}
	}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name, contract, state, want string
		change                      func(*World, *Workload)
	}{
		{"a JobSet's workers get a Slice, its driver none", "jobset", Pending, "create tpu7x 2x2x4; Pending", nil},
		{"on the cubes where Kueue has placed them", "placed", Pending, "create pod 2x2x4 cube6 cube3; Pending", nil},
		{"one that is new is waited for", "jobset", Pending, "Pending",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, "")) }},
		{"one that is ACTIVE lets them start on its nodes", "jobset", Pending, "Ready; select workers",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Active)) }},
		{"a shape that can never be", "jobset", Pending, "Rejected",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Failed)) }},
		{"cubes that Kueue has chosen and that fail", "placed", Pending, "Retry",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Failed, "cube6", "cube3")) }},
		{"cubes that Kueue has chosen anew", "placed", Pending, "delete 2x2x4; Pending",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Active, "cube1", "cube2")) }},
		{"quota is not kept for ever", "jobset", Pending, "delete 2x2x4; Retry", func(w *World, x *Workload) {
			w.Slices, w.Now = append(w.Slices, made(x, slicing.NotCreated)), w.Now.Add(time.Hour)
		}},
		{"a cube that is swapped while it runs", "jobset", Ready, "",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Incomplete)) }},
		{"a Slice that was deleted while it runs", "jobset", Ready, "Retry", nil},
		{"a node that vanishes while it runs", "placed", Ready, "", func(w *World, x *Workload) {
			w.Slices, w.Cubes = append(w.Slices, made(x, slicing.Active, "cube6", "cube3")), nil
		}},
		{"an assignment that is written in another order while it runs", "placed", Ready, "",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Active, "cube3", "cube6")) }},
		{"a fabric that shrinks while it runs", "jobset", Ready, "",
			func(w *World, x *Workload) { w.Slices, w.Size = append(w.Slices, made(x, slicing.Active)), 0 }},
		{"a Slice of somebody else's while it runs", "jobset", Ready, "Retry", func(w *World, x *Workload) {
			w.Slices = append(w.Slices, made(x, slicing.Active))
			w.Slices[0].Annotations = nil
		}},
		{"one whose slice is refused for a while while it runs", "jobset", Ready, "",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.CreationFailed)) }},
		{"while it is evicted its pods may still run", "jobset", Pending, "", func(w *World, x *Workload) {
			w.Slices = append(w.Slices, made(x, slicing.Active))
			x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: "Evicted", Status: "True"})
		}},
		{"and nothing is made for it", "jobset", Pending, "", func(_ *World, x *Workload) {
			x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: "Evicted", Status: "True"})
		}},
		{"until its quota is gone", "jobset", Pending, "delete 2x2x4", func(w *World, x *Workload) {
			w.Slices = append(w.Slices, made(x, slicing.Active))
			x.Status.Conditions[0].Status = "False"
			x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: "Evicted", Status: "True"})
		}},
		{"also where it is to be tried again after it ran", "jobset", Retry, "", func(w *World, x *Workload) {
			w.Slices = append(w.Slices, made(x, slicing.Active))
			x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: "Admitted", Status: "True"})
		}},
		{"what was refused for now", "jobset", Pending, "Retry",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.CreationFailed)) }},
		{"what the API server does not take", "jobset", Pending, "Rejected", func(w *World, x *Workload) {
			w.Invalid = map[string]string{made(x, "").Name: "spec.type: too long"}
		}},
		{"two checks of ours say the same", "jobset", Pending, "Ready; select workers; Ready; select workers",
			func(w *World, x *Workload) {
				w.Slices = append(w.Slices, made(x, slicing.Active))
				second(w, x, Pending)
			}},
		{"also one that comes while it runs", "jobset", Ready, "Ready; select workers; Ready; select workers",
			func(w *World, x *Workload) {
				w.Slices = append(w.Slices, made(x, slicing.Active))
				x.Status.Checks[0].Selected = ready(x, w.Slices).Selected
				second(w, x, Pending)
			}},
		{"while no controller answers it waits", "jobset", Pending, "", away(time.Minute)},
		{"but does not keep quota for ever", "jobset", Pending, "Retry", away(time.Hour)},
		{"what runs does not mind", "jobset", Ready, "", away(time.Hour)},
		{"one that waits for nothing does not mind either", "jobset", Pending, "", func(w *World, x *Workload) {
			away(time.Hour)(w, x)
			x.Spec.PodSets[1].Template.Metadata.Annotations = nil
		}},
		{"a Slice that cannot be read is there", "jobset", Ready, "", func(w *World, x *Workload) {
			w.Unread = map[string]bool{made(x, "").Name: true}
		}},
		{"a workload that cannot be read is there", "jobset", Pending, "", func(w *World, x *Workload) {
			w.Slices, w.Workloads = append(w.Slices, made(x, slicing.Active)), nil
			w.Unread = map[string]bool{"w1": true}
		}},
		{"one that failed while it runs", "jobset", Ready, "Retry",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Failed)) }},
		{"what is to be tried again gives its Slice back", "jobset", Retry, "delete 2x2x4",
			func(w *World, x *Workload) { w.Slices = append(w.Slices, made(x, slicing.Active)) }},
		{"and what has no quota", "jobset", Pending, "delete 2x2x4", func(w *World, x *Workload) {
			w.Slices, x.Status.Conditions = append(w.Slices, made(x, slicing.Active)), nil
		}},
		{"and what has finished", "jobset", Ready, "delete 2x2x4", func(w *World, x *Workload) {
			w.Slices = append(w.Slices, made(x, slicing.Active))
			x.Status.Conditions = append(x.Status.Conditions, metav1.Condition{Type: "Finished", Status: "True"})
		}},
		{"a Slice whose workload is not there", "jobset", Pending, "orphan", func(w *World, x *Workload) {
			w.Slices, w.Workloads = append(w.Slices, made(x, slicing.Active)), nil
		}},
		{"a Slice of that name that is somebody else's", "jobset", Pending, "Retry", func(w *World, x *Workload) {
			s := made(x, slicing.Active)
			s.Annotations = nil
			w.Slices = append(w.Slices, s)
		}},
		{"checks of others", "jobset", Pending, "",
			func(w *World, _ *Workload) { w.Checks[0].Spec.ControllerName = "accelerator.gke.io/slice" }},
		{"a check that no controller served", "jobset", Ready, "activate lightloom-slice", func(w *World, x *Workload) {
			w.Checks[0].Status.Conditions, w.Slices = nil, append(w.Slices, made(x, slicing.Active))
		}},
		{"half a cube", "jobset", Pending, "Rejected", func(_ *World, x *Workload) {
			x.Spec.PodSets[1].Template.Metadata.Annotations[PublicKey] = "1x2x2"
		}},
		{"no shape", "jobset", Pending, "Rejected", func(_ *World, x *Workload) {
			x.Spec.PodSets[1].Template.Metadata.Annotations[PublicKey] = "four"
		}},
		{"a fabric that is no pod", "jobset", Pending, "Rejected", func(w *World, _ *Workload) { w.Size = 0 }},
		{"several groups in one pod set", "placed", Pending, "Rejected", func(_ *World, x *Workload) {
			two := 2
			x.Spec.PodSets[0].Topology.Groups = &two
		}},
		{"nodes that are in no cube", "placed", Pending, "Retry", func(w *World, _ *Workload) { w.Cubes = nil }},
		{"no pod set asks for a shape", "jobset", Pending, "Ready", func(_ *World, x *Workload) {
			x.Spec.PodSets[1].Template.Metadata.Annotations = nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := read(t, c.contract, c.state)
			w := newWorld(x)
			if c.change != nil {
				c.change(w, x)
			}
			if got := show(Decide(w)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNames: names of Slices are within the public bounds, and no two workloads share one.
func TestNames(t *testing.T) {
	a, b := read(t, "jobset", Pending), read(t, "jobset", Pending)
	a.Name, b.Name, b.UID = strings.Repeat("a.b-", 40), strings.Repeat("a.b-", 40), "w2"
	one, other := sliceName(a, "main"), sliceName(b, "main")
	if one == other || len(one) > 49 || strings.Contains(one, ".") {
		t.Errorf("%s, %s", one, other)
	}
}

// FuzzWorkload: whatever a workload holds, its cubes are some of the fabric's or what it names, and nothing breaks.
func FuzzWorkload(f *testing.F) {
	for _, name := range []string{"jobset", "placed"} {
		text, err := os.ReadFile(filepath.Join("..", "contract", "kueue", "Workload-"+name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"status":{"admission":{"podSetAssignments":[{"name":"","topologyAssignment":{"slices":[{}]}}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		x := &Workload{}
		if json.Unmarshal(text, x) != nil {
			return
		}
		for _, a := range Decide(newWorld(x)).Set {
			if a.States[0].Name == "" && len(x.Status.Checks) > 0 && x.Status.Checks[0].Name != "" {
				t.Errorf("%+v", a)
			}
		}
	})
}
