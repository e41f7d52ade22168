package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
)

// pass does what is due.
func (c *controller) pass(ctx context.Context, now time.Time) error {
	w, away := c.world(ctx, now)
	plan, errs := gating.Decide(w), []error{away}
	if away == nil {
		c.compare(w)
		plan.Free = append(plan.Free, c.abandoned(plan.Orphans, now)...)
	}
	stays := map[string]bool{} // slices that are still there: their names cannot be asked for
	for _, name := range plan.Free {
		if err := c.north.Delete(ctx, name); err != nil {
			stays[name] = true
			errs = append(errs, fmt.Errorf("free slice %s: %w", name, err))
			continue
		}
		c.say("freed slice %s", name)
	}
	for _, r := range plan.Ask {
		if !stays[r.Name] {
			errs = append(errs, c.ask(ctx, r, plan))
		}
	}
	for _, r := range plan.Release {
		errs = append(errs, c.release(ctx, r))
	}
	for _, p := range plan.Evict {
		errs = append(errs, c.evict(ctx, p))
	}
	for i := range plan.Words {
		errs = append(errs, c.word(ctx, &plan.Words[i]))
	}
	if away == nil {
		errs = append(errs, c.serveSlices(ctx, w), c.markNodes(ctx, w))
	}
	errs = append(errs, c.serveChecks(ctx, w)) // quota is given back in time also while the controller is away
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(errs...)
}

// abandoned returns the slices whose Jobs are known to be gone, or have not been there for a while: a slice can be
// younger than what the API server has told of Jobs.
func (c *controller) abandoned(orphans []string, now time.Time) []string {
	out := c.leftJobs.abandoned(orphans, now, c.settle)
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.gone {
		switch {
		case !slices.Contains(orphans, name):
			delete(c.gone, name)
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out
}

// ask asks for a slice. What can never be had is told to its pods.
func (c *controller) ask(ctx context.Context, r northbound.Request, plan *gating.Plan) error {
	x, err := c.north.Create(ctx, r)
	switch {
	case northbound.IsInvalid(err):
		for i := range plan.Words {
			if w := &plan.Words[i]; gating.SliceName(w.Job.UID) == r.Name {
				w.Reason, w.Message = gating.Impossible, err.Error()
			}
		}
		return nil
	case err != nil:
		return fmt.Errorf("ask for slice %s: %w", r.Name, err)
	}
	c.say("asked for slice %s %s%s: %s", r.Name, r.Shape, strings.Join(r.Hosts, ","), x.State)
	return nil
}

// release pins a pod and removes its gate, in one change of the pod as it was seen. It is later in the next pass if the
// pod has changed meanwhile.
func (c *controller) release(ctx context.Context, r gating.Release) error {
	gates := slices.DeleteFunc(slices.Clone(r.Pod.Spec.SchedulingGates), func(g corev1.PodSchedulingGate) bool {
		return g.Name == gating.Gate
	})
	meta := map[string]any{"resourceVersion": r.Pod.ResourceVersion, "uid": r.Pod.UID}
	spec := map[string]any{"schedulingGates": gates}
	if r.Node != "" {
		meta["annotations"] = map[string]string{gating.SliceKey: r.Slice}
		spec["affinity"] = gating.Pin(r.Pod.Spec.Affinity, r.Node)
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta, "spec": spec})
	if err != nil {
		return err
	}
	_, err = c.kube.core.Pods(r.Pod.Namespace).Patch(ctx, r.Pod.Name, types.MergePatchType, patch,
		metav1.PatchOptions{})
	switch {
	case passed(err):
		return nil
	case err != nil:
		return fmt.Errorf("release pod %s/%s: %w", r.Pod.Namespace, r.Pod.Name, err)
	}
	c.say("released pod %s/%s onto %s", r.Pod.Namespace, r.Pod.Name, place(r))
	return nil
}

func place(r gating.Release) string {
	if r.Node == "" {
		return "any node, without circuits"
	}
	return r.Node + " of slice " + r.Slice
}

// passed reports whether a pod is not as it was seen: another pass follows.
func passed(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// evict deletes a pod that waits for a node which is away: its Job makes another, with the gate.
func (c *controller) evict(ctx context.Context, p *corev1.Pod) error {
	err := c.kube.core.Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}})
	switch {
	case passed(err):
		return nil
	case err != nil:
		return fmt.Errorf("delete pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	c.say("deleted pod %s/%s: the node that it waits for is away", p.Namespace, p.Name)
	return nil
}

// word writes a pod's condition where it says something else, and an event for its Job.
func (c *controller) word(ctx context.Context, w *gating.Word) error {
	now := corev1.PodCondition{Type: gating.Condition, Status: corev1.ConditionFalse, Reason: w.Reason,
		Message: w.Message, LastTransitionTime: metav1.Now()}
	if w.Ready {
		now.Status = corev1.ConditionTrue
	}
	for i := range w.Pod.Status.Conditions {
		had := &w.Pod.Status.Conditions[i]
		if had.Type != gating.Condition {
			continue
		}
		if had.Reason == now.Reason && had.Message == now.Message && had.Status == now.Status {
			return nil
		}
		if had.Status == now.Status {
			now.LastTransitionTime = had.LastTransitionTime
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": w.Pod.UID},
		"status": map[string]any{"conditions": []corev1.PodCondition{now}}})
	if err != nil {
		return err
	}
	_, err = c.kube.core.Pods(w.Pod.Namespace).Patch(ctx, w.Pod.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "status")
	switch {
	case passed(err):
		return nil
	case err != nil:
		return fmt.Errorf("say why pod %s/%s waits: %w", w.Pod.Namespace, w.Pod.Name, err)
	}
	kind := corev1.EventTypeNormal
	if w.Reason == gating.Impossible || w.Reason == gating.NameIsTaken {
		kind = corev1.EventTypeWarning
	}
	c.events.Event(w.Job, kind, w.Reason, w.Message) // equal ones are counted together
	return nil
}

// compare says which nodes are no hosts and which hosts no nodes, whenever that has changed.
func (c *controller) compare(w *gating.World) {
	nodes, hosts := gating.Strangers(w)
	var errs []error
	if len(nodes) > 0 {
		errs = append(errs, fmt.Errorf("%d nodes are no hosts of the fabric and get no pods of it: %s: label them "+
			"%s=HOST if they are", len(nodes), few(nodes), gating.HostLabel))
	}
	if len(hosts) > 0 {
		errs = append(errs, fmt.Errorf("%d hosts of the fabric are no nodes and get no pods: %s", len(hosts), few(hosts)))
	}
	c.report("compare", errors.Join(errs...))
}

// few names the first of many.
func few(all []string) string {
	if len(all) > 5 {
		return strings.Join(all[:5], ", ") + ", …"
	}
	return strings.Join(all, ", ")
}
