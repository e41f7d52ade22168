package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/admission"
	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
)

// build builds this program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lightloom-kube")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if flags := os.Getenv("LIGHTLOOM_KUBE_BUILD"); flags != "" {
		c.Args = slices.Insert(c.Args, 2, flags)
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestGates: Jobs on a real control plane and a real controller.
func TestGates(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, racks), startServers(t), build(t)
	s.apply()
	s.nodes(4, 2)
	args := []string{"--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--lease", "2s", "--settle", "2s"}
	start(t, t.TempDir(), ours, args...)
	north := northbound.DialSocket(f.socket)
	t.Run("a Job of three nodes gets circuits, and gives them back", func(t *testing.T) {
		began := time.Now()
		j := s.job("three", 3, map[string]string{lasts: "2s"})
		check := &checker{T: t, s: s, north: north}
		check.until(func() bool { return check.released == 3 })
		t.Logf("three pods were released after %v", time.Since(began).Round(time.Millisecond))
		await(t, "the Job to end", func() bool { return s.ended("three") })
		await(t, "its slice to go", func() bool {
			_, err := north.Slice(t.Context(), gating.SliceName(j.UID))
			return northbound.IsUnknown(err)
		})
		if reason, message := s.reason("three"); reason != gating.Lit {
			t.Errorf("its pods say %s: %s", reason, message)
		}
	})
	for _, c := range []struct {
		name   string
		pods   int32
		notes  map[string]string
		reason string
		says   string
	}{
		{"more-nodes-than-hosts", 9, nil, gating.Impossible, "asks for 9 nodes, and 8 of the cluster's nodes are hosts"},
		{"a-typo", 1, map[string]string{gating.Gate: "yes"}, gating.Impossible, "write none, wanted or required"},
		{"a-shape-on-no-pod", 2, map[string]string{gating.ShapeKey: "2x2x2"}, gating.Impossible, "no pod"},
		{"none", 1, map[string]string{gating.Gate: gating.None}, gating.Without, "not asked for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.notes == nil {
				c.notes = map[string]string{}
			}
			s.job(c.name, c.pods, c.notes)
			await(t, "its pods to say "+c.reason, func() bool {
				reason, message := s.reason(c.name)
				return reason == c.reason && strings.Contains(message, c.says)
			})
			now := metav1.DeletePropagationBackground
			_ = s.admin.batch.Jobs("default").Delete(t.Context(), c.name, metav1.DeleteOptions{PropagationPolicy: &now})
		})
	}
	t.Run("events tell of it", func(t *testing.T) {
		events, err := s.admin.core.Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || !slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.Source.Component == "lightloom-kube" && e.InvolvedObject.Kind == "Job" && e.Reason == gating.Lit
		}) {
			t.Errorf("no event tells of circuits: %v", err)
		}
	})
}

// TestAway: while no Lightloom controller answers, Jobs that can do without circuits start, others say why they wait,
// and workloads of Kueue give their quota back in time.
func TestAway(t *testing.T) {
	measured(t)
	s, ours := startServers(t), build(t)
	s.apply()
	s.definitions()
	s.nodes(2, 2)
	start(t, t.TempDir(), ours, "--socket", filepath.Join(s.dir, "none"), "--kubeconfig", s.kubeconfig("ours"),
		"--lease", "2s", "--patience", "3s", "--kueue", "--kueue-patience", "3s")
	waits := s.workload(t, "jobset", now)
	for _, c := range []struct{ wants, reason string }{
		{gating.None, gating.Without}, {gating.Wanted, gating.Without}, {gating.Required, gating.AwayNow},
	} {
		s.job(c.wants, 2, map[string]string{gating.Gate: c.wants})
		await(t, c.wants+" to be "+c.reason, func() bool { reason, _ := s.reason(c.wants); return reason == c.reason })
	}
	await(t, "quota to be given back", func() bool { return s.check(t, waits).State == admission.Retry })
	await(t, "those without to end", func() bool { return s.ended(gating.None) && s.ended(gating.Wanted) })
}

// checker looks at pods and slices, again and again, for what may not be.
type checker struct {
	*testing.T
	s        *servers
	north    *northbound.Client
	released int             // pods that run with circuits, or have
	seen     map[string]bool // pods whose release was checked
}

// until checks until something is so.
func (c *checker) until(ok func() bool) {
	c.Helper()
	c.seen = map[string]bool{}
	await(c.T, "all to be released", func() bool {
		c.look()
		return ok()
	})
}

// lookFor looks for a while.
func (c *checker) lookFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		c.look()
	}
}

// look checks what there is. Slices are read before and after pods: what holds in neither does not hold.
func (c *checker) look() {
	before, err1 := c.north.Slices(c.Context())
	pods, err2 := c.s.admin.core.Pods("default").List(c.Context(), metav1.ListOptions{})
	after, err3 := c.north.Slices(c.Context())
	if err1 != nil || err2 != nil || err3 != nil {
		return // the next look
	}
	owner := map[string]string{}
	for _, x := range after {
		for _, h := range x.Hosts {
			if owner[h] != "" {
				c.Errorf("host %s has slices %s and %s", h, owner[h], x.Name)
			}
			owner[h] = x.Name
		}
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		name := p.Annotations[gating.SliceKey]
		if name == "" || c.seen[string(p.UID)] {
			continue
		}
		c.seen[string(p.UID)] = true
		c.released++
		node := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields
		has := func(x northbound.Slice) bool {
			return x.Name == name && x.State == northbound.Ready && slices.Contains(x.Hosts, node[len(node)-1].Values[0])
		}
		if p.Status.Phase == corev1.PodSucceeded {
			continue // too late to say
		}
		if !slices.ContainsFunc(before, has) && !slices.ContainsFunc(after, has) {
			c.Errorf("pod %s is released onto %s of %s, which does not have it: %+v, %+v", p.Name, node, name, before, after)
		}
	}
}

// TestKilled: the program, and the leader of Lightloom's three replicas, are killed at random instants while Jobs come
// and go, and no pod is released without its host, no slice is left without a Job, and none is there twice.
func TestKilled(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, racks), startServers(t), build(t)
	s.apply()
	s.nodes(4, 2)
	random, kills := seeded(t), manyKills()
	north := northbound.DialSocket(f.socket)
	check := &checker{T: t, s: s, north: north, seen: map[string]bool{}}
	dir, jobs := t.TempDir(), 0
	submit := func() string {
		jobs++
		name := "j" + strconv.Itoa(jobs)
		s.job(name, int32(1+random.IntN(4)), map[string]string{lasts: strconv.Itoa(100+random.IntN(2000)) + "ms"})
		return name
	}
	args := []string{"--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--settle", "3s", "--lease"}
	var names []string
	for k := range kills {
		c := exec.Command(ours, slices.Concat(args, []string{"1s"})...)
		log, err := os.OpenFile(filepath.Join(dir, "ours.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout, c.Stderr, c.SysProcAttr = log, log, alone(syscall.SIGKILL)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		names = append(names, submit(), submit())
		check.lookFor(time.Duration(random.IntN(2000)) * time.Millisecond)
		dead := f.killLeader(t)
		check.lookFor(time.Duration(random.IntN(1500)) * time.Millisecond)
		f.run(t, "heal", "controller", dead)
		check.lookFor(time.Duration(500+random.IntN(2000)) * time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = log.Close()
		if t.Failed() {
			t.Fatalf("after kill %d", k+1)
		}
	}
	// The last one has a lease that a busy machine does not let run out, which would end it.
	start(t, t.TempDir(), ours, slices.Concat(args, []string{"15s"})...)
	await(t, "all Jobs to end", func() bool {
		check.look()
		return !slices.ContainsFunc(names, func(n string) bool { return !s.ended(n) })
	})
	await(t, "all slices to go", func() bool {
		all, err := north.Slices(t.Context())
		return err == nil && len(all) == 0
	})
	t.Logf("%d kills of the program and of the leader each, %d Jobs, %d pods seen as they were released", kills, jobs,
		check.released)
}

// killLeader kills the replica that leads, once one does, and returns its name.
func (f *fabric) killLeader(t *testing.T) (leader string) {
	t.Helper()
	await(t, "a leader", func() bool {
		var st struct {
			Leader string `json:"leader"`
		}
		out, err := exec.CommandContext(t.Context(), f.program, "status", "-o", "json").Output()
		if err == nil && json.Unmarshal(out, &st) == nil {
			leader = st.Leader
		}
		return leader != ""
	})
	f.run(t, "fail", "controller", leader)
	return leader
}

// run runs a command of lightloom.
func (f *fabric) run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), f.program, args...).CombinedOutput(); err != nil {
		t.Fatalf("lightloom %q: %v: %s", args, err, out)
	}
}

// manyKills returns how many times a program is killed.
func manyKills() int {
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_KILLS")); err == nil {
		return n
	}
	return 20
}
