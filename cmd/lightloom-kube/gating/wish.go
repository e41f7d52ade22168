package gating

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Names that pods carry. The gate and the first three are the user's, the others ours.
const (
	Gate      = "lightloom/circuits" // the scheduling gate, and the annotation that says none, wanted or required
	NodesKey  = "lightloom/nodes"    // annotation: on how many nodes its pods run
	ShapeKey  = "lightloom/shape"    // annotation: the shape of a slice of a pod of cubes
	SliceKey  = "lightloom/slice"    // annotation of pods that were released onto a slice
	HostLabel = "lightloom/host"     // label of a node whose name is not its host's
	Condition = "lightloom/CircuitsReady"
)

// What a Job can want.
const (
	None     = "none"
	Wanted   = "wanted"
	Required = "required"
)

// Wish is what a Job asks for.
type Wish struct {
	Circuits string
	Shape    string // of a pod of cubes; empty on other fabrics
	Nodes    int    // 0: as the shape says
	Pods     int    // that run at once
}

// each returns how many pods run on a node at most.
func (w *Wish) each() int { return (w.Pods + w.Nodes - 1) / w.Nodes }

// Gated reports whether pods of a Job carry the gate.
func Gated(j *batchv1.Job) bool { return hasGate(j.Spec.Template.Spec.SchedulingGates) }

func hasGate(all []corev1.PodSchedulingGate) bool {
	return slices.ContainsFunc(all, func(g corev1.PodSchedulingGate) bool { return g.Name == Gate })
}

// ParseWish reads what a Job asks for from its pods' annotations.
func ParseWish(j *batchv1.Job) (Wish, error) {
	notes := j.Spec.Template.Annotations
	w := Wish{Circuits: Required, Pods: podsOf(j), Shape: strings.ToLower(notes[ShapeKey])}
	if said, ok := notes[Gate]; ok {
		w.Circuits = said
	}
	if !slices.Contains([]string{None, Wanted, Required}, w.Circuits) {
		return w, fmt.Errorf("annotation %s is %.40q: write none, wanted or required", Gate, w.Circuits)
	}
	text, named := notes[NodesKey]
	if w.Shape != "" {
		if named {
			return w, fmt.Errorf("annotations %s and %s are both there: a shape says how many nodes it has: leave one out",
				ShapeKey, NodesKey)
		}
		return w, nil
	}
	w.Nodes = w.Pods
	if named {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > w.Pods {
			return w, fmt.Errorf("annotation %s is %.40q: write a number from 1 to %d, the pods that run at once",
				NodesKey, text, w.Pods)
		}
		w.Nodes = n
	}
	return w, nil
}

// podsOf returns how many pods of a Job run at once, at least 1.
func podsOf(j *batchv1.Job) int {
	n := int32(1)
	if j.Spec.Parallelism != nil {
		n = *j.Spec.Parallelism
	}
	if j.Spec.Completions != nil {
		n = min(n, *j.Spec.Completions)
	}
	return int(max(n, 1))
}

// over reports whether a Job has no use for circuits: it has ended, or is suspended, or goes away.
func over(j *batchv1.Job) bool {
	if j.DeletionTimestamp != nil || j.Spec.Suspend != nil && *j.Spec.Suspend {
		return true
	}
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}
