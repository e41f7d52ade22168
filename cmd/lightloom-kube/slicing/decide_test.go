package slicing

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

func now() time.Time { return time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC) }

// newWorld has four cubes of two hosts each, and Slices that have the finalizer.
func newWorld(all ...*Slice) *World {
	w := &World{Now: now(), Owner: "kubernetes", Slices: all}
	for i := range 8 {
		w.Hosts = append(w.Hosts, northbound.Host{Rack: i / 2})
	}
	return w
}

func newSlice(name string, partitions ...string) *Slice {
	return &Slice{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Finalizers: []string{"a", Finalizer}},
		Spec: Spec{Type: "tpu7x", Topology: "2x2x4", PartitionIDs: partitions}}
}

func there(name, state, reason string) northbound.Slice {
	return northbound.Slice{Name: prefix + name, Owner: "kubernetes", State: state, Reason: reason}
}

func show(p *Plan) string {
	var out []string
	for _, s := range p.Hold {
		out = append(out, "hold "+s.Name)
	}
	for _, n := range p.Free {
		out = append(out, "free "+n)
	}
	for _, s := range p.Let {
		out = append(out, "let "+s.Name)
	}
	for _, r := range p.Ask {
		out = append(out, "ask "+r.Name+" "+r.Shape)
	}
	for _, w := range p.Say {
		c := w.Conditions[len(w.Conditions)-2:]
		out = append(out, "say "+w.Slice.Name+" "+string(c[0].Status)+" "+c[0].Reason+" "+c[1].Reason)
	}
	for _, n := range p.Orphans {
		out = append(out, "orphan "+n)
	}
	return strings.Join(out, "; ")
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name, want string
		world      func() *World
	}{
		{"the finalizer comes before all else", "hold a", func() *World {
			w := newWorld(newSlice("a"))
			w.Slices[0].Finalizers = nil
			return w
		}},
		{"then it is asked for", "ask slice-a 2x2x4; say a False SliceNotCreated SliceNotCreated",
			func() *World { return newWorld(newSlice("a", "cube0", "cube3")) }},
		{"a cube that is not there", "say a False SliceCreationFailed SliceCreationFailed",
			func() *World { return newWorld(newSlice("a", "cube4")) }},
		{"a cube twice", "say a False SliceCreationFailed SliceCreationFailed",
			func() *World { return newWorld(newSlice("a", "cube1", "cube1")) }},
		{"what was refused is not asked for again", "say a False SliceCreationFailed SliceCreationFailed", func() *World {
			w := newWorld(newSlice("a"))
			w.Refused = map[string]Refusal{"slice-a": {"this fabric is no pod", now().Add(-time.Second)}}
			return w
		}},
		{"for a while", "ask slice-a 2x2x4; say a False SliceCreationFailed SliceCreationFailed", func() *World {
			w := newWorld(newSlice("a"))
			w.Refused = map[string]Refusal{"slice-a": {"these keys are nobody's", now().Add(-again)}}
			return w
		}},
		{"another owner's slice has its name", "say a False SliceCreationFailed SliceOfOthers", func() *World {
			w := newWorld(newSlice("a"))
			w.There = []northbound.Slice{there("a", "Ready", "CircuitsLit")}
			w.There[0].Owner = "other"
			return w
		}},
		{"and stands as it goes", "say a False DEACTIVATING SliceOfOthers", func() *World {
			w := newWorld(newSlice("a"))
			w.Slices[0].DeletionTimestamp = &metav1.Time{Time: now()}
			w.There = []northbound.Slice{there("a", "Ready", "CircuitsLit")}
			w.There[0].Owner = "other"
			return w
		}},
		{"a Slice that cannot be read is there", "", func() *World {
			w := newWorld()
			w.Unread, w.There = []types.UID{"a"}, []northbound.Slice{there("a", "Ready", "")}
			return w
		}},
		{"one that waits", "say a False SliceNotCreated NoRoom", func() *World {
			w := newWorld(newSlice("a"))
			w.There = []northbound.Slice{there("a", "Pending", "NoRoom")}
			return w
		}},
		{"one that is Ready", "say a True ACTIVE CircuitsLit", func() *World {
			w := newWorld(newSlice("a"))
			w.There = []northbound.Slice{there("a", "Ready", "CircuitsLit")}
			return w
		}},
		{"one that has lost a cube", "say a False INCOMPLETE CubeAway", func() *World {
			w := newWorld(newSlice("a"))
			w.There = []northbound.Slice{there("a", "Incomplete", "CubeAway")}
			return w
		}},
		{"one that goes is freed first", "free slice-a; say a False DEACTIVATING DEACTIVATING", func() *World {
			w := newWorld(newSlice("a"))
			w.Slices[0].DeletionTimestamp = &metav1.Time{Time: now()}
			w.There = []northbound.Slice{there("a", "Ready", "CircuitsLit")}
			return w
		}},
		{"and then let go", "let a", func() *World {
			w := newWorld(newSlice("a"))
			w.Slices[0].DeletionTimestamp = &metav1.Time{Time: now()}
			return w
		}},
		{"others hold it still", "", func() *World {
			w := newWorld(newSlice("a"))
			w.Slices[0].DeletionTimestamp, w.Slices[0].Finalizers = &metav1.Time{Time: now()}, []string{"a"}
			return w
		}},
		{"slices of Jobs, and of others, are not ours", "orphan slice-b", func() *World {
			w := newWorld()
			w.There = []northbound.Slice{{Name: "kube-1", Owner: "kubernetes"}, {Name: "slice-c", Owner: "other"},
				there("b", "Ready", "")}
			return w
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Decide(c.world())); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSaidOnce: conditions that are there already are not written again, those of others stay, and the time of a
// transition is that of the status.
func TestSaidOnce(t *testing.T) {
	w := newWorld(newSlice("a"))
	w.Slices[0].Status.Conditions = []metav1.Condition{{Type: "Other", Status: "True"}}
	w.There = []northbound.Slice{there("a", "Pending", "NoRoom")}
	first := Decide(w).Say[0].Conditions
	if len(first) != 3 || first[0].Type != "Other" {
		t.Fatalf("%+v", first)
	}
	w.Slices[0].Status.Conditions = first
	w.Now = now().Add(time.Hour)
	if got := Decide(w).Say; len(got) != 0 {
		t.Errorf("it is said again: %+v", got)
	}
	w.There[0].Reason = "BehindOthers"
	second := Decide(w).Say[0].Conditions
	if second[2].Reason != "BehindOthers" || !second[2].LastTransitionTime.Time.Equal(now()) {
		t.Errorf("%+v", second[2])
	}
}

// TestRequestIsItsOwners: the answer to another owner's request is not taken for ours, and ids are within their bounds.
func TestRequestIsItsOwners(t *testing.T) {
	s := newSlice("00000000-0000-4000-8000-000000000000")
	a, err := request(s, "kubernetes", nil)
	b, err2 := request(s, strings.Repeat("o", 200), nil)
	if err != nil || err2 != nil || a.ID == b.ID || a.Name != b.Name || len(b.ID) > 128 {
		t.Errorf("%+v, %+v", a, b)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("cube0", "cube3")
	f.Add("cube-1", "cube03")
	f.Fuzz(func(t *testing.T, a, b string) {
		r, err := request(newSlice("a", a, b), "", newWorld().Hosts)
		if err == nil && (r.Cubes[0] == r.Cubes[1] || slices.Min(r.Cubes) < 0 || slices.Max(r.Cubes) > 3) {
			t.Errorf("%q, %q: cubes %v", a, b, r.Cubes)
		}
	})
}
