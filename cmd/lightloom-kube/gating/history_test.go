package gating

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

// cluster is Kubernetes and Lightloom in a few lines, with whoever does what Decide says killed at any point of it.
type cluster struct {
	*testing.T
	random *rand.Rand
	world  *World
	old    *World // as a cache that lags has it
	jobs   int
	pods   int
	since  map[string]int // of slices without a Job, in passes; a kill forgets it
	done   int            // Jobs that ended by themselves
}

// pass decides on what is there, the cluster's part perhaps as it was a while ago, and does it until it is killed.
func (c *cluster) pass(kill bool) {
	seen := *c.world
	if c.old != nil && c.random.IntN(2) == 0 {
		seen.Jobs, seen.Pods, seen.Nodes = c.old.Jobs, c.old.Pods, c.old.Nodes
	}
	seen.Slices = slices.Clone(c.world.Slices)
	p := Decide(&seen)
	dead := func() bool { return kill && c.random.IntN(8) == 0 }
	since := map[string]int{}
	for _, name := range p.Orphans {
		if since[name] = c.since[name] + 1; since[name] > 3 { // longer than a cache lags
			p.Free = append(p.Free, name)
		}
	}
	c.since = since
	for _, name := range p.Free {
		if dead() {
			c.since = nil
			return
		}
		c.world.Slices = slices.DeleteFunc(c.world.Slices, func(x northbound.Slice) bool { return x.Name == name })
	}
	for _, r := range p.Ask {
		if dead() {
			c.since = nil
			return
		}
		c.create(r)
	}
	for _, r := range p.Release {
		if dead() {
			c.since = nil
			return
		}
		c.release(r)
	}
	for _, e := range p.Evict {
		c.world.Pods = slices.DeleteFunc(c.world.Pods, func(q *corev1.Pod) bool { return q.UID == e.UID })
	}
}

func (c *cluster) create(r northbound.Request) {
	if slices.ContainsFunc(c.world.Slices, func(x northbound.Slice) bool { return x.Name == r.Name }) {
		return // that one is there already
	}
	for _, x := range c.world.Slices {
		for _, h := range x.Hosts {
			if slices.Contains(r.Hosts, h) {
				c.Fatalf("slices %s and %s have host %s", x.Name, r.Name, h)
			}
		}
	}
	c.world.Slices = append(slices.Clone(c.world.Slices), northbound.Slice{Name: r.Name, Owner: r.Owner, State: "Pending",
		Hosts: r.Hosts})
}

// release is the API server's: a pod that is not as it was seen stays as it is.
func (c *cluster) release(r Release) {
	at := slices.IndexFunc(c.world.Pods, func(q *corev1.Pod) bool {
		return q.UID == r.Pod.UID && q.ResourceVersion == r.Pod.ResourceVersion
	})
	if at < 0 {
		return
	}
	i := slices.IndexFunc(c.world.Slices, func(x northbound.Slice) bool { return x.Name == r.Slice })
	if i < 0 || c.world.Slices[i].State != northbound.Ready || !slices.Contains(c.world.Slices[i].Hosts, r.Node) {
		c.Fatalf("pod %s is released onto %s of slice %q: %+v", r.Pod.Name, r.Node, r.Slice, c.world.Slices)
	}
	p := c.world.Pods[at].DeepCopy()
	set(p, r.Node, r.Slice)
	p.Spec.NodeName = r.Node
	c.replace(p)
}

// replace changes a pod: those that were handed out stay as they are.
func (c *cluster) replace(p *corev1.Pod) {
	p.ResourceVersion += "i"
	c.world.Pods = slices.Clone(c.world.Pods)
	at := slices.IndexFunc(c.world.Pods, func(q *corev1.Pod) bool { return q.UID == p.UID })
	c.world.Pods[at] = p
}

// happens has something happen that is not the controller's doing.
func (c *cluster) happens() {
	w := c.world
	switch k := c.random.IntN(8); {
	case k == 0 && len(w.Jobs) < 12:
		c.jobs++
		w.Jobs = append(slices.Clone(w.Jobs), newJob(fmt.Sprintf("j%03d", c.jobs), int32(1+c.random.IntN(4)), nil))
	case k == 1 && len(w.Jobs) > 0 && c.random.IntN(4) == 0: // somebody deletes a Job
		c.forget(w.Jobs[c.random.IntN(len(w.Jobs))])
	case k == 2 && c.random.IntN(3) == 0: // a node goes or comes
		i := c.random.IntN(len(w.Nodes))
		n := w.Nodes[i].DeepCopy()
		if n.Spec.Unschedulable = !n.Spec.Unschedulable; n.Spec.Unschedulable {
			w.Pods = slices.DeleteFunc(slices.Clone(w.Pods), func(p *corev1.Pod) bool { return p.Spec.NodeName == n.Name })
		}
		w.Nodes = slices.Clone(w.Nodes)
		w.Nodes[i] = n
	case k == 3:
		c.finish()
	}
	for _, j := range w.Jobs { // the Job controller
		for len(c.of(j)) < podsOf(j) {
			c.pods++
			p := newPod(j, c.free(j))
			p.UID = types.UID(fmt.Sprint("p", c.pods))
			w.Pods = append(slices.Clone(w.Pods), p)
		}
	}
	w.Slices = slices.Clone(w.Slices) // circuits are lit
	for i := range w.Slices {
		if c.random.IntN(3) == 0 {
			w.Slices[i].State = northbound.Ready
		}
	}
}

// finish ends a Job whose pods all run.
func (c *cluster) finish() {
	for _, j := range c.world.Jobs {
		of := c.of(j)
		runs := func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }
		if len(of) == podsOf(j) && !slices.ContainsFunc(of, func(p *corev1.Pod) bool { return !runs(p) }) {
			c.done++
			c.forget(j)
			return
		}
	}
}

func (c *cluster) forget(j *batchv1.Job) {
	same := func(o *batchv1.Job) bool { return o.UID == j.UID }
	c.world.Jobs = slices.DeleteFunc(slices.Clone(c.world.Jobs), same)
	c.world.Pods = slices.DeleteFunc(slices.Clone(c.world.Pods), func(p *corev1.Pod) bool {
		return metav1.GetControllerOf(p).UID == j.UID
	})
}

func (c *cluster) of(j *batchv1.Job) (out []*corev1.Pod) {
	for _, p := range c.world.Pods {
		if metav1.GetControllerOf(p).UID == j.UID {
			out = append(out, p)
		}
	}
	return out
}

// free returns the lowest index that no pod of a Job has.
func (c *cluster) free(j *batchv1.Job) int {
	used := map[int]bool{}
	for _, p := range c.of(j) {
		used[index(p)] = true
	}
	i := 0
	for used[i] {
		i++
	}
	return i
}

// TestHistories: whoever is killed wherever, no pod is released without its host and no host is two slices'; and once
// nothing happens any more, no slice is without a Job, and no Job without a slice that could have one.
func TestHistories(t *testing.T) {
	seeds := uint64(60)
	if os.Getenv("LIGHTLOOM_LONG") != "" {
		seeds = 3000
	}
	ended := 0
	for seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			c := &cluster{T: t, random: rand.New(rand.NewPCG(seed, 41)), world: newWorld(4)}
			for range 150 {
				was := *c.world
				c.happens()
				c.pass(true)
				c.old = &was
			}
			c.old = nil
			for _, n := range c.world.Nodes {
				n.Spec.Unschedulable = false
			}
			for range 400 { // it comes to rest
				c.finish()
				for i := range c.world.Slices {
					c.world.Slices[i].State = northbound.Ready
				}
				c.pass(false)
			}
			if len(c.world.Jobs) > 0 || len(c.world.Slices) > 0 {
				t.Errorf("left: %d jobs, slices %+v; %s", len(c.world.Jobs), c.world.Slices, show(Decide(c.world)))
			}
			ended += c.done
		})
	}
	if ended < int(seeds) {
		t.Errorf("%d Jobs ended: too few to show anything", ended)
	}
}

// TestThousandJobs bounds no time: it shows that a pass over a thousand Jobs ends, with each of them told why it waits.
func TestThousandJobs(t *testing.T) {
	var jobs []*batchv1.Job
	for i := range 1000 {
		jobs = append(jobs, newJob(fmt.Sprintf("j%04d", i), 3, nil))
	}
	p := Decide(newWorld(16, jobs...))
	reasons := map[string]int{}
	for _, w := range p.Words {
		reasons[w.Reason]++
	}
	if len(p.Ask) != 8 || !maps.Equal(reasons, map[string]int{Asked: 24, NoRoom: 2976}) {
		t.Errorf("%d slices; %v", len(p.Ask), reasons)
	}
}

func BenchmarkThousandJobs(b *testing.B) {
	var jobs []*batchv1.Job
	for i := range 1000 {
		jobs = append(jobs, newJob(fmt.Sprintf("j%04d", i), 3, nil))
	}
	w := newWorld(16, jobs...)
	for b.Loop() {
		Decide(w)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/pass")
}
