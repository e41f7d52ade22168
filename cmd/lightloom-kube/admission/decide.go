package admission

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/slicing"
)

// World is what there is at one instant. Nothing of it is changed.
type World struct {
	Now       time.Time
	Checks    []*Check
	Workloads []*Workload
	Slices    []*slicing.Slice
	Cubes     map[string]string // of nodes, by their name
	Size      int               // how many hosts a cube has; 0: the fabric is no pod of cubes
	Patient   time.Duration     // how long a workload that has quota waits for its Slices
}

// Plan is what is to be done, in the order of its fields.
type Plan struct {
	Activate []*Check         // that get the conditions they have here
	Delete   []*slicing.Slice // of workloads that do not want them any more
	Create   []*slicing.Slice
	Set      []Answer
	Orphans  []string // Slices of workloads that are not there: perhaps not yet
}

// Answer is what a check says of a workload from now on.
type Answer struct {
	Workload *Workload
	State    State
}

// again is how long Kueue waits before it tries a workload again whose Slices failed, in seconds.
const again = 60

// Decide returns what is due.
func Decide(w *World) *Plan {
	d := decision{World: w, plan: &Plan{}, checks: map[string]bool{}, slices: map[string]*slicing.Slice{},
		wanted: map[string]*slicing.Slice{}, known: map[string]bool{}}
	for _, c := range w.Checks {
		if c.Spec.ControllerName == Controller {
			d.checks[c.Name] = true
			d.activate(c)
		}
	}
	for _, s := range w.Slices {
		d.slices[s.Name] = s
	}
	all := slices.SortedFunc(slices.Values(w.Workloads), func(a, b *Workload) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	for _, x := range all {
		d.known[string(x.UID)] = true
		for i := range x.Status.Checks {
			if d.checks[x.Status.Checks[i].Name] {
				d.serve(x, &x.Status.Checks[i])
				break // a second check of ours would ask for the same
			}
		}
	}
	d.unwanted()
	return d.plan
}

type decision struct {
	*World
	plan   *Plan
	checks map[string]bool           // of ours, by name
	slices map[string]*slicing.Slice // that are there
	wanted map[string]*slicing.Slice
	known  map[string]bool // uids of workloads
}

// activate tells Kueue that somebody serves a check.
func (d *decision) activate(c *Check) {
	if had := meta.FindStatusCondition(c.Status.Conditions, "Active"); had != nil && had.Status == metav1.ConditionTrue &&
		had.ObservedGeneration == c.Generation {
		return
	}
	out := *c
	out.Status.Conditions = slices.Clone(c.Status.Conditions)
	meta.SetStatusCondition(&out.Status.Conditions, metav1.Condition{Type: "Active", Status: metav1.ConditionTrue,
		Reason: "Active", Message: "lightloom-kube serves it", ObservedGeneration: c.Generation,
		LastTransitionTime: metav1.NewTime(d.Now)})
	d.plan.Activate = append(d.plan.Activate, &out)
}

// unwanted deletes Slices that belong to workloads and are not wanted.
func (d *decision) unwanted() {
	for _, name := range sorted(d.slices) {
		s := d.slices[name]
		switch uid := s.Annotations[UIDKey]; {
		case uid == "" || d.wanted[name] != nil || s.DeletionTimestamp != nil:
		case !d.known[uid]:
			d.plan.Orphans = append(d.plan.Orphans, name)
		default:
			d.plan.Delete = append(d.plan.Delete, s)
		}
	}
}

func sorted(m map[string]*slicing.Slice) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// serve decides about one workload.
func (d *decision) serve(x *Workload, had *State) {
	if !x.reserved() || had.State == Retry || had.State == Rejected {
		return // Kueue sets it to Pending where it tries again
	}
	var list []*slicing.Slice
	for i := range x.Spec.PodSets {
		p := &x.Spec.PodSets[i]
		if p.shape() == "" {
			continue
		}
		cubes, err := cubesOf(assignment(x, p.Name), d.Cubes)
		switch {
		case !wholeCubes(p.shape(), d.Size):
			d.set(x, had, State{State: Rejected, Message: fmt.Sprintf("pod set %s asks for %.40q: each side has to be a "+
				"multiple of a cube's, of %d hosts in all", p.Name, p.shape(), d.Size)})
			return
		case p.groups() > 1:
			d.set(x, had, State{State: Rejected, Message: fmt.Sprintf("pod set %s falls into %d groups, and gets one Slice: "+
				"write each as a replicated job of its own", p.Name, p.groups())})
			return
		case err != nil:
			d.set(x, had, retry(err.Error()))
			return
		}
		list = append(list, newSlice(x, p, cubes))
	}
	d.answer(x, had, list)
}

// wholeCubes reports whether a topology takes whole cubes: pods find their Slice by a label of its cubes' nodes.
func wholeCubes(shape string, size int) bool {
	var a, b, c, side int
	for side*side*side < size {
		side++
	}
	n, _ := fmt.Sscanf(shape, "%dx%dx%d", &a, &b, &c)
	return n == 3 && size > 0 && min(a, b, c) > 0 && a%side == 0 && b%side == 0 && c%side == 0
}

func assignment(x *Workload, set string) *Topology {
	for i := range x.Status.Admission.PodSets {
		if x.Status.Admission.PodSets[i].Name == set {
			return x.Status.Admission.PodSets[i].Topology
		}
	}
	return nil
}

// answer compares the Slices that a workload wants with those that are there.
func (d *decision) answer(x *Workload, had *State, list []*slicing.Slice) {
	waits := ""
	for _, want := range list {
		s := d.slices[want.Name]
		switch {
		case had.State == Ready && (s == nil || s.DeletionTimestamp != nil):
			d.set(x, had, retry("Slice "+want.Name+" was deleted"))
			return
		case s == nil:
			d.wanted[want.Name] = want
			d.plan.Create = append(d.plan.Create, want)
			waits = cmp.Or(waits, "Slice "+want.Name+" is created")
			continue
		case s.Annotations[UIDKey] != string(x.UID):
			d.set(x, had, retry("Slice "+want.Name+" is somebody else's: delete it"))
			return
		case s.DeletionTimestamp != nil || !same(s, want):
			waits = cmp.Or(waits, "Slice "+want.Name+" has other partitions, and is made anew") // once it is deleted
			continue
		}
		d.wanted[want.Name] = s
		c := meta.FindStatusCondition(s.Status.Conditions, slicing.Ready)
		switch {
		case c == nil:
			waits = cmp.Or(waits, "Slice "+want.Name+" is new")
		case c.Reason == slicing.Failed || c.Reason == slicing.CreationFailed:
			d.failed(x, had, want, c.Message)
			return
		case c.Reason != slicing.Active:
			waits = cmp.Or(waits, "Slice "+want.Name+" is "+c.Reason+": "+c.Message)
		}
	}
	switch {
	case had.State == Ready: // a cube that is swapped for another is the controller's affair
	case waits == "":
		d.set(x, had, ready(x, list))
	case d.late(x):
		for _, want := range list {
			delete(d.wanted, want.Name)
		}
		d.plan.Create = slices.DeleteFunc(d.plan.Create, func(s *slicing.Slice) bool { return slices.Contains(list, s) })
		d.set(x, had, retry(fmt.Sprintf("it had no circuits after %v: %s", d.Patient, waits)))
	default:
		d.set(x, had, State{State: Pending, Message: waits})
	}
}

// failed answers for a Slice that failed: other cubes may do where Kueue has chosen these, and else nothing will.
func (d *decision) failed(x *Workload, had *State, want *slicing.Slice, message string) {
	text := "Slice " + want.Name + " of topology " + want.Spec.Topology + ": " + message
	if len(want.Spec.PartitionIDs) > 0 || had.State == Ready {
		d.set(x, had, retry(text))
		return
	}
	d.set(x, had, State{State: Rejected, Message: text})
}

// late reports whether a workload has kept its quota for long enough.
func (d *decision) late(x *Workload) bool {
	c := meta.FindStatusCondition(x.Status.Conditions, "QuotaReserved")
	return d.Patient > 0 && d.Now.Sub(c.LastTransitionTime.Time) >= d.Patient
}

func same(s, want *slicing.Slice) bool {
	return s.Spec.Topology == want.Spec.Topology && slices.Equal(s.Spec.PartitionIDs, want.Spec.PartitionIDs)
}

func retry(message string) State {
	after := again
	return State{State: Retry, Message: message, After: &after}
}

// ready has pods run on the nodes of their Slice.
func ready(x *Workload, list []*slicing.Slice) State {
	s := State{State: Ready, Message: "no pod set asks for circuits"}
	for _, want := range list {
		s.Message = "all circuits are lit"
		for i := range x.Spec.PodSets {
			if p := &x.Spec.PodSets[i]; sliceName(x, p.Name) == want.Name {
				s.Selected = append(s.Selected, Update{p.Name, map[string]string{gating.SliceLabel: want.Name}})
			}
		}
	}
	return s
}

// set has a check say something else, unless it says so already. What fails gives its Slices back.
func (d *decision) set(x *Workload, had *State, s State) {
	if had.State == s.State && had.Message == s.Message {
		return
	}
	s.Name, s.Since = had.Name, metav1.NewTime(d.Now)
	if had.State == s.State {
		s.Since = had.Since
	}
	d.plan.Set = append(d.plan.Set, Answer{x, s})
}
