package admission

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/slicing"
)

// Controller is the controllerName of admission checks that are ours.
const Controller = "lightloom/slice"

// Names that pod templates, Slices and nodes carry.
const (
	ShapeKey    = gating.ShapeKey                           // of a pod template: the topology of its Slice
	PublicKey   = "cloud.google.com/gke-tpu-slice-topology" // the same, as others write it
	TypeKey     = "cloud.google.com/gke-tpu-accelerator"    // of a pod's node selector: the type of its Slice
	WorkloadKey = "lightloom/workload"                      // of a Slice: NAMESPACE/NAME of its workload
	UIDKey      = "lightloom/workload-uid"                  // of a Slice: which one of that name
)

// Check is an AdmissionCheck, as far as it is used here; as are the types below.
type Check struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ControllerName string `json:"controllerName"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// Workload is what Kueue admits: a Job, a JobSet and others.
type Workload struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		PodSets []PodSet `json:"podSets"`
		Active  *bool    `json:"active,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
		Admission  *struct {
			PodSets []Assignment `json:"podSetAssignments"`
		} `json:"admission,omitempty"`
		Checks []State `json:"admissionChecks,omitempty"`
	} `json:"status"`
}

// PodSet is pods of one template.
type PodSet struct {
	Name     string `json:"name"`
	Count    int    `json:"count"`
	Template struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations,omitempty"`
		} `json:"metadata"`
		Spec struct {
			NodeSelector map[string]string `json:"nodeSelector,omitempty"`
		} `json:"spec"`
	} `json:"template"`
	Topology *struct {
		Groups *int `json:"subGroupCount,omitempty"`
	} `json:"topologyRequest,omitempty"`
}

// Assignment is what Kueue has given to a pod set. Topology is where topology-aware scheduling has placed it.
type Assignment struct {
	Name     string    `json:"name"`
	Topology *Topology `json:"topologyAssignment,omitempty"`
}

// Topology lists domains level by level, in a compact way: a value for all domains of a part, or one for each.
type Topology struct {
	Levels []string `json:"levels"`
	Parts  []struct {
		Domains int      `json:"domainCount"`
		Values  []Values `json:"valuesPerLevel"`
	} `json:"slices"`
}

// Values are names of domains on one level.
type Values struct {
	Universal  *string `json:"universal,omitempty"`
	Individual *struct {
		Prefix string   `json:"prefix,omitempty"`
		Suffix string   `json:"suffix,omitempty"`
		Roots  []string `json:"roots"`
	} `json:"individual,omitempty"`
}

// The states of a check.
const (
	Pending  = "Pending"
	Ready    = "Ready"
	Retry    = "Retry"
	Rejected = "Rejected"
)

// State is what a check says of a workload.
type State struct {
	Name     string      `json:"name"`
	State    string      `json:"state"`
	Message  string      `json:"message"`
	Since    metav1.Time `json:"lastTransitionTime"`
	After    *int        `json:"requeueAfterSeconds,omitempty"`
	Selected []Update    `json:"podSetUpdates,omitempty"`
}

// Update is what the pods of a set get.
type Update struct {
	Name         string            `json:"name"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// shape returns the topology that a pod set asks for; "" is none.
func (p *PodSet) shape() string {
	notes := p.Template.Metadata.Annotations
	return cmp.Or(notes[ShapeKey], notes[PublicKey])
}

// asks reports whether some pod set asks for a topology.
func (w *Workload) asks() bool {
	return slices.ContainsFunc(w.Spec.PodSets, func(p PodSet) bool { return p.shape() != "" })
}

// groups returns into how many parts of equal shape a pod set falls.
func (p *PodSet) groups() int {
	if p.Topology == nil || p.Topology.Groups == nil {
		return 1
	}
	return *p.Topology.Groups
}

// holds reports whether a workload has quota: its pods may run, also while it is evicted.
func (w *Workload) holds() bool { return w.is("QuotaReserved") && !w.is("Finished") }

// goes reports whether a workload that has quota is to lose it.
func (w *Workload) goes() bool {
	return w.DeletionTimestamp != nil || w.Spec.Active != nil && !*w.Spec.Active || w.Status.Admission == nil ||
		w.is("Evicted")
}

func (w *Workload) is(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// sliceName returns the name of a pod set's Slice, which is within the public bounds of such names.
func sliceName(w *Workload, set string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(w.UID) + "/" + set)) // it never fails
	name := strings.Trim(strings.ReplaceAll(w.Name[:min(len(w.Name), 24)], ".", "-"), "-")
	return fmt.Sprintf("kueue-%s-%016x", name, h.Sum64())
}

// cubesOf returns the cubes of a pod set that topology-aware scheduling has placed, in its order; none where it
// has not. On each node the label of its cube says which that is.
func cubesOf(t *Topology, cubes map[string]string) (out []string, err error) {
	if t == nil {
		return nil, nil
	}
	level := max(slices.Index(t.Levels, gating.CubeLabel), 0)
	if t.Levels == nil || t.Levels[level] != gating.CubeLabel {
		level = len(t.Levels) - 1 // the names of nodes
	}
	for _, part := range t.Parts {
		if level < 0 || level >= len(part.Values) {
			return nil, fmt.Errorf("its topology assignment has %d levels and values for %d", len(t.Levels), len(part.Values))
		}
		for _, value := range part.Values[level].list() {
			if t.Levels[level] != gating.CubeLabel {
				if cubes[value] == "" {
					return nil, fmt.Errorf("node %.63q of its topology assignment is in no cube of the fabric", value)
				}
				value = cubes[value]
			}
			if !slices.Contains(out, value) {
				out = append(out, value)
			}
		}
	}
	return out, nil
}

func (v *Values) list() (out []string) {
	if v.Universal != nil {
		return []string{*v.Universal}
	}
	if v.Individual != nil {
		for _, r := range v.Individual.Roots {
			out = append(out, v.Individual.Prefix+r+v.Individual.Suffix)
		}
	}
	return out
}

// newSlice returns what a pod set asks for.
func newSlice(w *Workload, p *PodSet, cubes []string) *slicing.Slice {
	s := &slicing.Slice{Spec: slicing.Spec{Topology: p.shape(), PartitionIDs: cubes,
		Type: cmp.Or(p.Template.Spec.NodeSelector[TypeKey], "pod")}}
	s.Name = sliceName(w, p.Name)
	s.Annotations = map[string]string{WorkloadKey: w.Namespace + "/" + w.Name, UIDKey: string(w.UID)}
	return s
}
