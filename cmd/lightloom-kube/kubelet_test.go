package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/gating"
)

// lasts is the annotation of a test's pods that says how long they run.
const lasts = "test/lasts"

// nodes makes a node of each host, and is their kubelet until the test ends: pods that are bound run, succeed after a
// while, and go when they are deleted. They run nothing, unless a fabric is there whose hosts run their commands.
func (s *servers) nodes(racks, each int) { s.nodesOf(nil, racks, each) }

func (s *servers) nodesOf(f *fabric, racks, each int) {
	s.Helper()
	var names []string
	for i := range each * racks {
		names = append(names, fmt.Sprintf("h%d-%d", i/each, i%each))
		s.node(names[i], corev1.ConditionTrue)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var both sync.WaitGroup
	k := &kubelet{admin: s.admin, fabric: f, stop: map[types.UID]context.CancelFunc{}}
	both.Go(func() { k.watch(ctx) })
	both.Go(func() { heartbeats(ctx, s.admin, names) })
	s.Cleanup(func() { cancel(); both.Wait() })
}

// heartbeats says of nodes that they are as they were, until ctx ends: those that are silent for 50 s count as lost.
func heartbeats(ctx context.Context, admin kubernetes, names []string) {
	every := time.NewTicker(10 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			beat := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`,
				now.UTC().Format(time.RFC3339))
			for _, name := range names {
				_, _ = admin.core.Nodes().Patch(ctx, name, types.StrategicMergePatchType, beat, metav1.PatchOptions{},
					"status")
			}
		}
	}
}

// node makes a node, or says how it is.
func (s *servers) node(name string, ready corev1.ConditionStatus) {
	s.Helper()
	nodes := s.admin.core.Nodes()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, _ = nodes.Create(s.Context(), n, metav1.CreateOptions{}) // it may be there
	now := metav1.Now()
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Test",
		LastHeartbeatTime: now, LastTransitionTime: now}}
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20")}
	n.Status.Capacity = n.Status.Allocatable
	await(s.T, "node "+name+" to take its status", func() bool {
		had, err := nodes.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		had.Status = n.Status
		_, err = nodes.UpdateStatus(s.Context(), had, metav1.UpdateOptions{})
		return err == nil
	})
}

// kubelet is that of all nodes.
type kubelet struct {
	admin  kubernetes
	fabric *fabric // nil: commands are not run
	run    sync.WaitGroup
	stop   map[types.UID]context.CancelFunc // of pods that run a command
}

// watch watches pods until ctx ends.
func (k *kubelet) watch(ctx context.Context) {
	defer k.run.Wait()
	for ctx.Err() == nil {
		w, err := k.admin.core.Pods("").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for e := range w.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok && p.Spec.NodeName != "" {
				k.see(ctx, p)
			}
		}
	}
}

// see does what is due for a pod.
func (k *kubelet) see(ctx context.Context, p *corev1.Pod) {
	phase := func(to corev1.PodPhase) {
		_, _ = k.admin.core.Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"phase":%q}}`, to), metav1.PatchOptions{}, "status")
	}
	command := k.fabric != nil && len(p.Spec.Containers[0].Command) > 0
	switch {
	case p.DeletionTimestamp != nil:
		if stop := k.stop[p.UID]; stop != nil {
			stop()
		}
		now := int64(0)
		_ = k.admin.core.Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	case p.Status.Phase == corev1.PodPending:
		phase(corev1.PodRunning)
	case p.Status.Phase == corev1.PodRunning && !command:
		d, _ := time.ParseDuration(p.Annotations[lasts])
		time.AfterFunc(d, func() { phase(corev1.PodSucceeded) })
	case p.Status.Phase == corev1.PodRunning && k.stop[p.UID] == nil:
		running, stop := context.WithCancel(ctx)
		k.stop[p.UID] = stop
		c := k.fabric.in(running, p.Spec.NodeName, p.Spec.Containers[0].Command...)
		for _, e := range p.Spec.Containers[0].Env {
			c.Env = append(c.Env, e.Name+"="+valueOf(p, e))
		}
		k.run.Go(func() {
			defer stop()
			if c.Run() == nil {
				phase(corev1.PodSucceeded)
			} else {
				phase(corev1.PodFailed)
			}
		})
	}
}

// valueOf is the value of a variable, which can be a field of its pod.
func valueOf(p *corev1.Pod, e corev1.EnvVar) string {
	if e.ValueFrom == nil || e.ValueFrom.FieldRef == nil {
		return e.Value
	}
	path := e.ValueFrom.FieldRef.FieldPath
	if path == "spec.nodeName" {
		return p.Spec.NodeName
	}
	of, key, _ := strings.Cut(strings.TrimSuffix(path, "']"), "['")
	return map[string]map[string]string{"metadata.annotations": p.Annotations, "metadata.labels": p.Labels}[of][key]
}

// job submits a Job whose pods carry the gate.
func (s *servers) job(name string, pods int32, notes map[string]string) *batchv1.Job {
	s.Helper()
	j, err := s.admin.batch.Jobs("default").Create(s.Context(), newJob(name, pods, notes), metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return j
}

func newJob(name string, pods int32, notes map[string]string) *batchv1.Job {
	indexed, never, off := batchv1.IndexedCompletion, int32(1000), false
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Parallelism: &pods,
		Completions: &pods, CompletionMode: &indexed, BackoffLimit: &never}}
	if notes[lasts] == "" {
		notes[lasts] = "1s"
	}
	j.Spec.Template.Annotations = notes
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: &off,
		SchedulingGates: []corev1.PodSchedulingGate{{Name: gating.Gate}},
		Containers: []corev1.Container{{Name: "x", Image: "none", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}}
	return j
}

// ended reports whether a Job is complete.
func (s *servers) ended(name string) bool {
	j, err := s.admin.batch.Jobs("default").Get(s.Context(), name, metav1.GetOptions{})
	return err == nil && j.Status.CompletionTime != nil
}

// pods returns those of a Job.
func (s *servers) pods(job string) []corev1.Pod {
	l, err := s.admin.core.Pods("default").List(s.Context(), metav1.ListOptions{LabelSelector: "job-name=" + job})
	if err != nil {
		return nil
	}
	return l.Items
}

// reason returns why a Job's first pod waits, as its condition says.
func (s *servers) reason(job string) (reason, message string) {
	for _, p := range s.pods(job) {
		for _, c := range p.Status.Conditions {
			if c.Type == gating.Condition {
				return c.Reason, c.Message
			}
		}
	}
	return "", ""
}
