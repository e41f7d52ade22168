package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

var sliceResource = schema.GroupVersionResource{Group: "accelerator.gke.io", Version: "v1beta1", Resource: "slices"}

// follow returns what follows all objects of a resource that a definition adds to the cluster, by one watch.
func (c *controller) follow(of schema.GroupVersionResource) cache.SharedIndexInformer {
	from := c.kube.others.Resource(of)
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return from.List(ctx, o)
		},
		WatchFuncWithContext: from.Watch,
	}, &unstructured.Unstructured{}, 0, cache.Indexers{})
}

// decoded returns the objects of such a resource, with those fields that are used. Those that cannot be read are bad,
// and err says why, in the order of their names.
func decoded[T any](i cache.SharedIndexInformer) (out []*T, bad []*unstructured.Unstructured, err error) {
	all := slices.SortedFunc(slices.Values(listed[*unstructured.Unstructured](i)),
		func(a, b *unstructured.Unstructured) int {
			return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
	var errs []error
	for _, u := range all {
		t := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, t); err != nil {
			bad, errs = append(bad, u), append(errs, fmt.Errorf("read %s %s: %w", u.GetKind(), u.GetName(), err))
			continue
		}
		out = append(out, t)
	}
	return out, bad, errors.Join(errs...)
}

// serveSlices does what is due for Slices. Where the cluster has no such resource there is nothing to do.
func (c *controller) serveSlices(ctx context.Context, w *gating.World) error {
	if c.sliced == nil || !c.sliced.HasSynced() {
		return nil
	}
	all, bad, err := decoded[slicing.Slice](c.sliced)
	var unread []types.UID
	for _, u := range bad {
		unread = append(unread, u.GetUID())
	}
	c.forget(all)
	p := slicing.Decide(&slicing.World{Now: w.Now, Slices: all, Hosts: w.Hosts, There: w.Slices, Owner: c.owner,
		Refused: c.refused, Unread: unread})
	p.Free = append(p.Free, c.leftSlices.abandoned(p.Orphans, w.Now, c.settle)...)
	return errors.Join(err,
		each(p.Hold, func(s *slicing.Slice) error {
			return c.finalize(ctx, s, append(slices.Clone(s.Finalizers), slicing.Finalizer))
		}),
		each(p.Free, func(name string) error { return c.freeSlice(ctx, name) }),
		each(p.Let, func(s *slicing.Slice) error {
			return c.finalize(ctx, s, slices.DeleteFunc(slices.Clone(s.Finalizers), func(f string) bool {
				return f == slicing.Finalizer
			}))
		}),
		each(p.Ask, func(r northbound.Request) error { return c.askSlice(ctx, r) }),
		each(p.Say, func(word slicing.Word) error {
			return c.patch(ctx, sliceResource, &word.Slice.ObjectMeta,
				map[string]any{"status": slicing.Status{Conditions: word.Conditions}}, "status")
		}))
}

// forget drops what was said of Slices that are gone.
func (c *controller) forget(all []*slicing.Slice) {
	there := map[string]bool{}
	for _, s := range all {
		there[slicing.Name(s.UID)] = true
	}
	maps.DeleteFunc(c.refused, func(name string, _ slicing.Refusal) bool { return !there[name] })
}

// each does something with each of several, with some of them at a time: hundreds of Slices can come at once.
func each[T any](all []T, do func(T) error) error {
	errs, places := make([]error, len(all)), make(chan struct{}, 16)
	var under sync.WaitGroup
	for i, x := range all {
		places <- struct{}{}
		under.Go(func() {
			errs[i] = do(x)
			<-places
		})
	}
	under.Wait()
	return errors.Join(errs...)
}

func (c *controller) freeSlice(ctx context.Context, name string) error {
	if err := c.north.Delete(ctx, name); err != nil {
		return fmt.Errorf("free slice %s: %w", name, err)
	}
	c.say("freed slice %s", name)
	return nil
}

// askSlice asks for a Slice's slice.
func (c *controller) askSlice(ctx context.Context, r northbound.Request) error {
	x, err := c.north.Create(ctx, r)
	switch {
	case northbound.IsInvalid(err):
		c.mu.Lock()
		c.refused[r.Name] = slicing.Refusal{Message: err.Error(), At: time.Now()}
		c.mu.Unlock()
		c.rouse()
		return nil
	case err != nil:
		return fmt.Errorf("ask for slice %s: %w", r.Name, err)
	case x.Owner != r.Owner:
		return fmt.Errorf("ask for slice %s: it is of owner %.40q", r.Name, x.Owner)
	}
	c.mu.Lock()
	delete(c.refused, r.Name)
	c.mu.Unlock()
	c.say("asked for slice %s %s: %s", r.Name, r.Shape, x.State)
	c.rouse()
	return nil
}

func (c *controller) finalize(ctx context.Context, s *slicing.Slice, all []string) error {
	return c.patch(ctx, sliceResource, &s.ObjectMeta, map[string]any{"metadata": map[string]any{"finalizers": all}})
}

// patch changes an object as it was seen. One that has changed meanwhile is left to the next pass.
func (c *controller) patch(ctx context.Context, of schema.GroupVersionResource, m *metav1.ObjectMeta,
	change map[string]any, part ...string) error {
	meta, _ := change["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["resourceVersion"], meta["uid"] = m.ResourceVersion, m.UID
	change["metadata"] = meta
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = c.kube.others.Resource(of).Namespace(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, text,
		metav1.PatchOptions{}, part...)
	if err == nil || passed(err) {
		return nil
	}
	return fmt.Errorf("change %s %s: %w", of.Resource, m.Name, err)
}

// left are things that nothing asks for any more, since when.
type left map[string]time.Time

// abandoned returns those that nothing has asked for for a while: they can be younger than what watches have brought.
func (l left) abandoned(orphans []string, now time.Time, settle time.Duration) (out []string) {
	for name := range l {
		if !slices.Contains(orphans, name) {
			delete(l, name)
		}
	}
	for _, name := range orphans {
		if _, known := l[name]; !known {
			l[name] = now
		}
		if now.Sub(l[name]) >= settle {
			out = append(out, name)
		}
	}
	return out
}
