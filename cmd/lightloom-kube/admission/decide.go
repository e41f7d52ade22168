package admission

import (
	"cmp"
	"fmt"
	"regexp"
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
	Away      bool              // the controller does not answer: all that is decided is who has waited too long
	Invalid   map[string]string // what the API server has said to Slices that it refused, by their names
	Unread    map[string]bool   // names of Slices, and uids of workloads, that are there and cannot be read
}

// Plan is what is to be done, in the order of its fields.
type Plan struct {
	Activate []*Check         // that get the conditions they have here
	Delete   []*slicing.Slice // of workloads that do not want them any more
	Create   []*slicing.Slice
	Set      []Answer
	Orphans  []string // Slices of workloads that are not there: perhaps not yet
}

// Answer is what our checks say of a workload from now on.
type Answer struct {
	Workload *Workload
	States   []State // of all of them: what is not applied again is dropped
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
			if !w.Away {
				d.activate(c)
			}
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
		if had := d.ours(x); len(had) > 0 {
			d.serve(x, had)
		}
	}
	if !w.Away {
		d.unwanted()
	}
	return d.plan
}

// ours returns what our checks say of a workload. All say the same, so the first is the one that goes furthest.
func (d *decision) ours(x *Workload) (out []State) {
	for _, s := range x.Status.Checks {
		if d.checks[s.Name] {
			out = append(out, s)
		}
	}
	order := []string{Rejected, Retry, Ready, Pending}
	slices.SortStableFunc(out, func(a, b State) int {
		return cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State))
	})
	return out
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
		case uid == "" || d.wanted[name] != nil || s.DeletionTimestamp != nil || d.Unread[uid]:
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
func (d *decision) serve(x *Workload, had []State) {
	state := had[0].State
	switch answered := state == Retry || state == Rejected; {
	case !x.holds():
	case x.goes() || answered && x.is("Admitted") || d.unread(x):
		d.keep(x)
	case answered: // Kueue sets it to Pending where it tries again
	case state == Ready:
		d.keep(x)
		d.follow(x, had)
	case d.Away:
		if x.asks() && d.late(x) {
			d.set(x, had, retry(fmt.Sprintf("it had no circuits after %v: no Lightloom controller answers", d.Patient)))
		}
	default:
		d.admit(x, had)
	}
}

// keep has a workload's Slices stay that are there: its pods may still run.
func (d *decision) keep(x *Workload) {
	for i := range x.Spec.PodSets {
		name := sliceName(x, x.Spec.PodSets[i].Name)
		if s := d.slices[name]; s != nil && s.Annotations[UIDKey] == string(x.UID) {
			d.wanted[name] = s
		}
	}
}

// unread reports whether a workload has a Slice that cannot be read.
func (d *decision) unread(x *Workload) bool {
	return slices.ContainsFunc(x.Spec.PodSets, func(p PodSet) bool { return d.Unread[sliceName(x, p.Name)] })
}

// follow looks whether a workload that runs still has its Slices. Nothing else of it is asked again: nodes come and go,
// and a cube that is swapped for another is the controller's affair.
func (d *decision) follow(x *Workload, had []State) {
	if d.Away {
		return
	}
	for i := range x.Spec.PodSets {
		p := &x.Spec.PodSets[i]
		if p.shape() == "" {
			continue
		}
		name := sliceName(x, p.Name)
		s := d.slices[name]
		switch {
		case s == nil || s.DeletionTimestamp != nil:
			d.set(x, had, retry("Slice "+name+" was deleted"))
			return
		case s.Annotations[UIDKey] != string(x.UID):
			d.set(x, had, retry("Slice "+name+" is somebody else's: delete it"))
			return
		}
		if c := meta.FindStatusCondition(s.Status.Conditions, slicing.Ready); c != nil && c.Reason == slicing.Failed {
			d.set(x, had, retry(failure(s, c)))
			return
		}
	}
	d.set(x, had, had[0]) // for a check that came later
}

func failure(s *slicing.Slice, c *metav1.Condition) string {
	return "Slice " + s.Name + " of topology " + s.Spec.Topology + ": " + c.Message
}

// admit decides about a workload that waits for its Slices.
func (d *decision) admit(x *Workload, had []State) {
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

// topology is what the definition of Slices takes.
var topology = regexp.MustCompile(`^[0-9]+x[0-9]+x[0-9]+(_twisted)?$`)

// wholeCubes reports whether a topology takes whole cubes: pods find their Slice by a label of its cubes' nodes.
func wholeCubes(shape string, size int) bool {
	var a, b, c, side int
	for side*side*side < size {
		side++
	}
	if len(shape) > 63 || !topology.MatchString(shape) {
		return false
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
func (d *decision) answer(x *Workload, had []State, list []*slicing.Slice) {
	waits := ""
	for _, want := range list {
		s := d.slices[want.Name]
		switch {
		case s == nil && d.Invalid[want.Name] != "":
			d.set(x, had, State{State: Rejected, Message: "Slice " + want.Name + ": " + d.Invalid[want.Name]})
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
		case c.Reason == slicing.Failed && len(want.Spec.PartitionIDs) == 0: // nothing else will do
			d.set(x, had, State{State: Rejected, Message: failure(s, c)})
			return
		case c.Reason == slicing.Failed || c.Reason == slicing.CreationFailed: // other cubes or keys may do
			d.set(x, had, retry(failure(s, c)))
			return
		case c.Reason != slicing.Active:
			waits = cmp.Or(waits, "Slice "+want.Name+" is "+c.Reason+": "+c.Message)
		}
	}
	switch {
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

// set has our checks say something else, unless all say so already. What fails gives its Slices back.
func (d *decision) set(x *Workload, had []State, s State) {
	a, changed := Answer{Workload: x}, false
	for _, h := range had {
		changed = changed || h.State != s.State || h.Message != s.Message
		s.Name, s.Since = h.Name, metav1.NewTime(d.Now)
		if h.State == s.State {
			s.Since = h.Since
		}
		a.States = append(a.States, s)
	}
	if changed {
		d.plan.Set = append(d.plan.Set, a)
	}
}
