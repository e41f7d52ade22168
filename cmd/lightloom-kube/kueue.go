package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/admission"
	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/slicing"
)

var (
	kueueGroup       = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}
	checkResource    = kueueGroup.WithResource("admissionchecks")
	workloadResource = kueueGroup.WithResource("workloads")
)

// serveChecks does what is due for Kueue's workloads that have our admission check.
func (c *controller) serveChecks(ctx context.Context, w *gating.World) error {
	if c.checks == nil || !c.checks.HasSynced() || !c.workloads.HasSynced() || !c.sliced.HasSynced() {
		return nil
	}
	in := &admission.World{Now: w.Now, Patient: c.quota, Away: w.Away, Invalid: c.invalid, Unread: map[string]bool{}}
	in.Cubes, in.Size = gating.Cubes(w)
	checks, unread, err1 := decoded[admission.Check](c.checks)
	workloads, unread2, err2 := decoded[admission.Workload](c.workloads)
	all, unread3, _ := decoded[slicing.Slice](c.sliced) // what is wrong with these is said where they are served
	in.Checks, in.Workloads, in.Slices = checks, workloads, all
	for _, u := range unread2 {
		in.Unread[string(u.GetUID())] = true
	}
	for _, u := range unread3 {
		in.Unread[u.GetName()] = true
	}
	p, errs := admission.Decide(in), []error{err1, err2}
	clear(c.invalid) // it was used
	if len(unread) > 0 {
		p.Delete = nil // it can be ours, and that of any workload
	}
	for _, k := range p.Activate {
		errs = append(errs, c.patch(ctx, checkResource, &k.ObjectMeta, map[string]any{"status": k.Status}, "status"))
	}
	for _, s := range p.Delete {
		errs = append(errs, c.deleteSlice(ctx, s.Name, &s.UID))
	}
	for _, name := range c.leftWorkloads.abandoned(p.Orphans, w.Now, c.settle) {
		errs = append(errs, c.deleteSlice(ctx, name, nil))
	}
	for _, s := range p.Create {
		errs = append(errs, c.createSlice(ctx, s))
	}
	for _, a := range p.Set {
		errs = append(errs, c.set(ctx, a))
	}
	return errors.Join(errs...)
}

// deleteSlice deletes a Slice of that name and uid, where one is given.
func (c *controller) deleteSlice(ctx context.Context, name string, uid *types.UID) error {
	o := metav1.DeleteOptions{}
	if uid != nil {
		o.Preconditions = &metav1.Preconditions{UID: uid}
	}
	err := c.kube.others.Resource(sliceResource).Delete(ctx, name, o)
	if err != nil && !passed(err) {
		return fmt.Errorf("delete Slice %s: %w", name, err)
	}
	return nil
}

func (c *controller) createSlice(ctx context.Context, s *slicing.Slice) error {
	text, err := json.Marshal(map[string]any{"apiVersion": "accelerator.gke.io/v1beta1", "kind": "Slice",
		"metadata": map[string]any{"name": s.Name, "annotations": s.Annotations}, "spec": s.Spec})
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return err
	}
	_, err = c.kube.others.Resource(sliceResource).Create(ctx, u, metav1.CreateOptions{})
	switch {
	case apierrors.IsInvalid(err):
		c.invalid[s.Name] = err.Error() // the next pass refuses its workload
		c.rouse()
		return nil
	case err != nil && !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("create Slice %s: %w", s.Name, err)
	}
	return nil
}

// set says what becomes of a workload. Only what is said of our checks is applied: others write beside it.
func (c *controller) set(ctx context.Context, a admission.Answer) error {
	w, yes := a.Workload, true
	text, err := json.Marshal(map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
		"metadata": map[string]any{"name": w.Name, "namespace": w.Namespace, "uid": w.UID,
			"resourceVersion": w.ResourceVersion},
		"status": map[string]any{"admissionChecks": a.States}})
	if err != nil {
		return err
	}
	_, err = c.kube.others.Resource(workloadResource).Namespace(w.Namespace).Patch(ctx, w.Name, types.ApplyPatchType, text,
		metav1.PatchOptions{FieldManager: "lightloom-kube", Force: &yes}, "status")
	switch {
	case passed(err):
		return nil
	case err != nil:
		return fmt.Errorf("set check of workload %s/%s: %w", w.Namespace, w.Name, err)
	}
	for _, s := range a.States {
		c.say("check %s of workload %s/%s is %s: %s", s.Name, w.Namespace, w.Name, s.State, s.Message)
	}
	return nil
}

// markNodes writes on nodes which rack and slice they are of.
func (c *controller) markNodes(ctx context.Context, w *gating.World) error {
	if !c.labels {
		return nil
	}
	names := map[string]string{}
	if c.sliced != nil && c.sliced.HasSynced() {
		all, _, _ := decoded[slicing.Slice](c.sliced) // what is wrong with some is said where they are served
		for _, s := range all {
			names[slicing.Name(s.UID)] = s.Name
		}
	}
	all := gating.Marks(w, names)
	if len(all) == 0 {
		return nil
	}
	first := c.mark(ctx, all[0])
	if apierrors.IsForbidden(first) {
		return first // what is not allowed for one is not for others
	}
	return errors.Join(first, each(all[1:], func(m gating.Mark) error { return c.mark(ctx, m) }))
}

// mark changes a node's labels as they were seen.
func (c *controller) mark(ctx context.Context, m gating.Mark) error {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": m.Labels,
		"resourceVersion": m.Node.ResourceVersion, "uid": m.Node.UID}})
	if err != nil {
		return err
	}
	_, err = c.kube.core.Nodes().Patch(ctx, m.Node.Name, types.MergePatchType, text, metav1.PatchOptions{})
	if err == nil || passed(err) {
		return nil
	}
	return fmt.Errorf("label node %s: %w", m.Node.Name, err)
}
