package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

// controller keeps Jobs and slices in line, in passes: each looks at all that there is, decides and does it. What it
// remembers between two passes only makes it quicker, or keeps it from repeating itself.
type controller struct {
	options
	kube  kubernetes
	north *northbound.Client
	say   func(format string, args ...any)

	jobs, pods, nodes cache.SharedIndexInformer
	sliced            cache.SharedIndexInformer // Slices; nil without --slices
	checks, workloads cache.SharedIndexInformer // Kueue's; nil without --kueue

	wake   chan struct{}
	events record.EventRecorder

	mu      sync.Mutex
	gone    map[string]bool            // slices of Jobs that were seen to go
	refused map[string]slicing.Refusal // requests for Slices, by their names
	invalid map[string]string          // what the API server has said to Slices of workloads, by their names

	leftJobs, leftSlices left // slices without a Job, or Slice
	leftWorkloads        left // Slices without a workload

	told map[string]string // what was said last about nodes, and of a pass
}

// errLost is the end of one that does not lead any more: what it knows may be old.
var errLost = errors.New("another one leads: start again to wait")

// lead waits until this one leads, and then runs until ctx ends. The lease is given up once nothing is done any more.
func (c *controller) lead(ctx context.Context) error {
	host, _ := os.Hostname() // for people to read
	me := cmp.Or(host, "lightloom-kube") + "_" + string(uuid.NewUUID())
	electing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var began atomic.Bool
	defer context.AfterFunc(ctx, func() {
		if !began.Load() {
			stop()
		}
	})()
	done := make(chan error, 1)
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "lightloom-kube"},
			Client: c.kube.leases, LockConfig: resourcelock.ResourceLockConfig{Identity: me}},
		Name: "lightloom-kube", ReleaseOnCancel: true,
		LeaseDuration: c.lease, RenewDeadline: c.lease * 2 / 3, RetryPeriod: c.lease / 8,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				began.Store(true)
				work, cancel := context.WithCancel(ctx)
				defer context.AfterFunc(leading, cancel)()
				c.say("leads as %s", me)
				done <- c.run(work)
				cancel()
				stop()
			},
			OnStoppedLeading: func() {},
		}})
	if err != nil {
		return fmt.Errorf("elect a leader: %w", err)
	}
	c.say("waits for the lease %s/lightloom-kube", c.namespace)
	e.Run(electing)
	if !began.Load() {
		return nil
	}
	if err := <-done; err != nil {
		return err
	}
	if ctx.Err() == nil {
		return errLost
	}
	return nil
}

// run watches and makes passes until ctx ends.
func (c *controller) run(ctx context.Context) error {
	c.wake, c.gone = make(chan struct{}, 1), map[string]bool{}
	c.leftJobs, c.leftSlices, c.leftWorkloads = left{}, left{}, left{}
	c.refused, c.invalid = map[string]slicing.Refusal{}, map[string]string{}
	c.told = map[string]string{}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typed.EventSinkImpl{Interface: c.kube.core.Events("")})
	c.events = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "lightloom-kube"})
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.watch(ctx, &watching); err != nil {
		return err
	}
	watching.Go(func() { c.north.Watch(ctx, c.rouse) })
	for ctx.Err() == nil {
		began := time.Now()
		c.report("pass", c.pass(ctx, began))
		c.rest(ctx, max(time.Since(began), shortest))
	}
	return nil
}

// A pass takes half of the time at most, and there is one now and then in any case: some things are due by time alone.
const (
	shortest = 20 * time.Millisecond
	longest  = time.Second
	patience = 2 * time.Second // with a Lightloom controller that does not answer, at least
)

// rest waits a moment, and then until something has changed.
func (c *controller) rest(ctx context.Context, moment time.Duration) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(moment):
	}
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-time.After(longest):
	}
}

// rouse has another pass follow.
func (c *controller) rouse() {
	select {
	case c.wake <- struct{}{}:
	default: // it follows already
	}
}

// report says what went wrong, once until something else does.
func (c *controller) report(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != c.told[what] {
		c.say("%s", text)
	}
	c.told[what] = text
}

// watch keeps what the API server has of Jobs, pods and nodes at hand, and returns once all of it is.
func (c *controller) watch(ctx context.Context, until *sync.WaitGroup) error {
	core := c.kube.core.RESTClient()
	c.jobs = c.inform(c.kube.batch.RESTClient(), "jobs", &batchv1.Job{})
	c.pods, c.nodes = c.inform(core, "pods", &corev1.Pod{}), c.inform(core, "nodes", &corev1.Node{})
	all := []cache.SharedIndexInformer{c.jobs, c.pods, c.nodes}
	if c.slices {
		c.sliced = c.follow(sliceResource)
		all = append(all, c.sliced)
	}
	if c.kueue {
		c.checks, c.workloads = c.follow(checkResource), c.follow(workloadResource)
		all = append(all, c.checks, c.workloads)
	}
	var told sync.Map // what is wrong is said once, until something else is
	for _, i := range all {
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { c.rouse() }, UpdateFunc: func(_, _ any) { c.rouse() }, DeleteFunc: c.deleted,
		})
		wrong := func(_ context.Context, _ *cache.Reflector, err error) {
			text := "watch the API server: " + err.Error()
			if apierrors.IsNotFound(err) {
				text = "the cluster has no Kueue of API v1beta2, which --kueue asks for"
				if i == c.sliced {
					text = "the cluster has no Slices: kubectl apply -k deploy adds them"
				}
			}
			if last, _ := told.Swap(i, text); last != text {
				c.say("%s", text)
			}
		}
		if err = errors.Join(err, i.SetTransform(slim), i.SetWatchErrorHandlerWithContext(wrong)); err != nil {
			return fmt.Errorf("watch the API server: %w", err)
		}
		until.Go(func() { i.RunWithContext(ctx) })
	}
	cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.pods.HasSynced, c.nodes.HasSynced) // or ctx has ended
	return nil
}

// inform returns what follows all objects of a kind by one watch.
func (c *controller) inform(from rest.Interface, resource string, like runtime.Object) cache.SharedIndexInformer {
	all := cache.NewListWatchFromClient(from, resource, metav1.NamespaceAll, fields.Everything())
	return cache.NewSharedIndexInformer(all, like, 0, cache.Indexers{})
}

// listed returns the objects that an informer has.
func listed[T any](i cache.SharedIndexInformer) (out []T) {
	for _, x := range i.GetStore().List() {
		if t, ok := x.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// slim drops the record of who set which field: it takes most of the memory, and no decision uses it.
func slim(x any) (any, error) {
	if o, ok := x.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return x, nil
}

// deleted notes which slices have lost their Job for good.
func (c *controller) deleted(x any) {
	if late, ok := x.(cache.DeletedFinalStateUnknown); ok {
		x = late.Obj
	}
	if j, ok := x.(*batchv1.Job); ok && gating.Gated(j) {
		c.mu.Lock()
		c.gone[gating.SliceName(j.UID)] = true
		c.mu.Unlock()
	}
	c.rouse()
}

// world returns what there is. While the Lightloom controller is away it is what Kubernetes has, with an error.
func (c *controller) world(ctx context.Context, now time.Time) (*gating.World, error) {
	w := &gating.World{Now: now, Owner: c.owner, Patient: c.patient, Starve: c.starve}
	asking, cancel := context.WithTimeout(ctx, max(c.patient, patience))
	defer cancel()
	var err error
	// Slices come first: what they are of is in the lists then, or will be.
	if w.Slices, err = c.north.Slices(asking); err != nil {
		err = fmt.Errorf("list slices: %w", err)
	} else if w.Hosts, err = c.north.Hosts(asking); err != nil {
		err = fmt.Errorf("read fabric: %w", err)
	}
	if w.Away = err != nil; w.Away {
		w.Slices, w.Hosts = nil, nil
	}
	w.Jobs, w.Pods, w.Nodes = listed[*batchv1.Job](c.jobs), listed[*corev1.Pod](c.pods), listed[*corev1.Node](c.nodes)
	return w, err
}
