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
	if c.checks == nil || !c.checks.HasSynced() || !c.workloads.HasSynced() || !c.slices.HasSynced() {
		return nil
	}
	in := &admission.World{Now: w.Now, Patient: c.quota}
	in.Cubes, in.Size = gating.Cubes(w)
	var err1, err2, err3 error
	in.Checks, err1 = decoded[admission.Check](c.checks)
	in.Workloads, err2 = decoded[admission.Workload](c.workloads)
	in.Slices, err3 = decoded[slicing.Slice](c.slices)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	p := admission.Decide(in)
	var errs []error
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
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create Slice %s: %w", s.Name, err)
	}
	return nil
}

// set says what becomes of a workload. Only what is said of our check is applied: others write beside it.
func (c *controller) set(ctx context.Context, a admission.Answer) error {
	w, yes := a.Workload, true
	text, err := json.Marshal(map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
		"metadata": map[string]any{"name": w.Name, "namespace": w.Namespace, "uid": w.UID,
			"resourceVersion": w.ResourceVersion},
		"status": map[string]any{"admissionChecks": []admission.State{a.State}}})
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
	c.say("check %s of workload %s/%s is %s: %s", a.State.Name, w.Namespace, w.Name, a.State.State, a.State.Message)
	return nil
}

// markNodes writes on nodes which rack and slice they are of.
func (c *controller) markNodes(ctx context.Context, w *gating.World) error {
	if !c.labels {
		return nil
	}
	names := map[string]string{}
	if c.slices.HasSynced() {
		all, err := decoded[slicing.Slice](c.slices)
		if err != nil {
			return err
		}
		for _, s := range all {
			names[slicing.Name(s.UID)] = s.Name
		}
	}
	all := gating.Marks(w, names)
	if len(all) == 0 {
		return nil
	}
	if err := c.mark(ctx, all[0]); err != nil {
		return err // what is not allowed for one is not for others
	}
	return each(all[1:], func(m gating.Mark) error { return c.mark(ctx, m) })
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
