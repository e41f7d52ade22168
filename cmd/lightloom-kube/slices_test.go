package main

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

// slice creates a Slice.
func (s *servers) slice(name, topology string, partitions ...any) error {
	spec := map[string]any{"type": "tpu7x", "topology": topology}
	if len(partitions) > 0 {
		spec["partitionIds"] = partitions
	}
	_, err := s.admin.others.Resource(sliceResource).Create(s.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "accelerator.gke.io/v1beta1", "kind": "Slice", "metadata": map[string]any{"name": name},
		"spec": spec}}, metav1.CreateOptions{})
	return err
}

// readSlice returns a Slice, or nil if there is none.
func (s *servers) readSlice(name string) *slicing.Slice {
	s.Helper()
	u, err := s.admin.others.Resource(sliceResource).Get(s.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	x := &slicing.Slice{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, x)
	}
	if err != nil {
		s.Fatal(err)
	}
	return x
}

// condition returns what a condition of a Slice says.
func (s *servers) condition(name, kind string) (c metav1.Condition) {
	s.Helper()
	if x := s.readSlice(name); x != nil {
		for _, had := range x.Status.Conditions {
			if had.Type == kind {
				return had
			}
		}
	}
	return c
}

// is waits until a Slice is in a state.
func (s *servers) is(name, reason string) {
	s.Helper()
	await(s.T, "Slice "+name+" to be "+reason, func() bool {
		c := s.condition(name, slicing.Ready)
		return c.Reason == reason && (c.Status == metav1.ConditionTrue) == (reason == slicing.Active)
	})
}

func (s *servers) end(name string) {
	s.Helper()
	err := s.admin.others.Resource(sliceResource).Delete(s.Context(), name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
}

// controllers returns the controller's slices by the names of the Slices that have them.
func (s *servers) controllers(north *northbound.Client) map[string]northbound.Slice {
	s.Helper()
	all, err := north.Slices(s.Context())
	list, err2 := s.admin.others.Resource(sliceResource).List(s.Context(), metav1.ListOptions{})
	if err != nil || err2 != nil {
		return nil
	}
	out := map[string]northbound.Slice{}
	for _, x := range all {
		name := x.Name // of one that has no Slice
		for _, u := range list.Items {
			if slicing.Name(u.GetUID()) == x.Name {
				name = u.GetName()
			}
		}
		out[name] = x
	}
	return out
}

// TestNoPod: a Slice on a fabric that is no pod is refused, and says so.
func TestNoPod(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, racks), startServers(t), build(t)
	s.apply()
	start(t, t.TempDir(), ours, "--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--lease", "2s", "--slices")
	if err := s.slice("x", "2x2x2"); err != nil {
		t.Fatal(err)
	}
	s.is("x", slicing.CreationFailed)
	if c := s.condition("x", slicing.Ready); !strings.Contains(c.Message, "no pod") {
		t.Errorf("it says %q", c.Message)
	}
	s.end("x")
	await(t, "the Slice to go", func() bool { return s.readSlice("x") == nil })
}

// TestSlices: Slices of a real API server are slices of a real controller over an emulated pod of cubes.
func TestSlices(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, cubes), startServers(t), build(t)
	s.apply()
	args := []string{"--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--lease", "2s", "--settle", "2s",
		"--slices"}
	start(t, t.TempDir(), ours, args...)
	north := northbound.DialSocket(f.socket)
	create := func(t *testing.T, name, topology string, partitions ...any) {
		t.Helper()
		if err := s.slice(name, topology, partitions...); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("one becomes Ready, and goes", func(t *testing.T) {
		create(t, "train", "2x2x4")
		s.is("train", slicing.Active)
		if x := s.controllers(north)["train"]; x.State != northbound.Ready || len(x.Cubes) != 2 || x.Shape != "2x2x4" {
			t.Errorf("the controller has %+v", x)
		}
		if c := s.condition("train", slicing.Lit); c.Status != metav1.ConditionTrue || c.Reason != "CircuitsLit" {
			t.Errorf("its other condition is %+v", c)
		}
		s.end("train")
		await(t, "both to go", func() bool { return s.readSlice("train") == nil && len(s.controllers(north)) == 0 })
	})
	t.Run("it has the partitions that it names", func(t *testing.T) {
		create(t, "named", "2x2x4", "cube5", "cube2")
		s.is("named", slicing.Active)
		if x := s.controllers(north)["named"]; !slices.Equal(x.Cubes, []int{2, 5}) {
			t.Errorf("the controller has %+v", x)
		}
		_, err := s.admin.others.Resource(sliceResource).Patch(t.Context(), "named", types.MergePatchType,
			[]byte(`{"spec":{"topology":"2x2x2"}}`), metav1.PatchOptions{})
		if err == nil || !strings.Contains(err.Error(), "cannot be changed") {
			t.Errorf("it can be changed: %v", err)
		}
		s.end("named")
	})
	for _, c := range []struct {
		name, topology, reason, says string
		partitions                   []any
	}{
		{"no-partition", "2x2x2", slicing.CreationFailed, "write cube0 to cube7", []any{"cube8"}},
		{"twice", "2x2x4", slicing.CreationFailed, "named twice", []any{"cube1", "cube1"}},
		{"too-large", "64x64x64", slicing.Failed, "", nil},
		{"too-few", "2x2x4", slicing.Failed, "", []any{"cube1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			create(t, c.name, c.topology, c.partitions...)
			s.is(c.name, c.reason)
			if got := s.condition(c.name, slicing.Ready).Message; !strings.Contains(got, c.says) || got == "" {
				t.Errorf("it says %q", got)
			}
			s.end(c.name)
			await(t, "it to go", func() bool { return s.readSlice(c.name) == nil && len(s.controllers(north)) == 0 })
		})
	}
	t.Run("a topology that is none is refused as it comes", func(t *testing.T) {
		if err := s.slice("no-topology", "4 by 4"); err == nil {
			t.Error("it is taken")
		}
	})
	t.Run("one that has no room waits for it", func(t *testing.T) {
		create(t, "all", "4x4x4")
		s.is("all", slicing.Active)
		create(t, "next", "2x2x2")
		s.is("next", slicing.NotCreated)
		await(t, "it to say why", func() bool { return s.condition("next", slicing.Lit).Reason == "NoRoom" })
		s.end("all")
		s.is("next", slicing.Active)
		s.end("next")
		await(t, "both to go", func() bool { return len(s.controllers(north)) == 0 })
	})
	t.Run("one that is lost behind its back is made again", func(t *testing.T) {
		create(t, "lost", "2x2x2")
		s.is("lost", slicing.Active)
		if err := north.Delete(t.Context(), s.controllers(north)["lost"].Name); err != nil {
			t.Fatal(err)
		}
		await(t, "it to be back", func() bool { return s.controllers(north)["lost"].State == northbound.Ready })
		s.end("lost")
	})
}

// TestSlicesKilled: the program is killed at random instants while Slices come and go, and at the end the
// controller has a slice for each Slice that is there, and no other.
func TestSlicesKilled(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, cubes), startServers(t), build(t)
	s.apply()
	random, kills := seeded(t), manyKills()
	north := northbound.DialSocket(f.socket)
	args := []string{"--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--lease", "1s", "--settle", "3s",
		"--slices"}
	var names []string
	made := 0
	for k := range kills {
		c := exec.Command(ours, args...)
		c.SysProcAttr = alone(syscall.SIGKILL)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		end := time.After(time.Duration(1200+random.IntN(1500)) * time.Millisecond)
		for running := true; running; {
			if len(names) < 6 && random.IntN(2) == 0 {
				made++
				names = append(names, "s"+strconv.Itoa(made))
				if err := s.slice(names[len(names)-1], []string{"2x2x2", "2x2x4", "2x4x4"}[random.IntN(3)]); err != nil {
					t.Fatal(err)
				}
			} else if len(names) > 0 {
				i := random.IntN(len(names))
				s.end(names[i])
				names = slices.Delete(names, i, i+1)
			}
			select {
			case <-end:
				running = false
			case <-time.After(time.Duration(random.IntN(250)) * time.Millisecond):
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Fatalf("after kill %d", k+1)
		}
	}
	start(t, t.TempDir(), ours, args...)
	slices.Sort(names)
	await(t, "the controller to have what the cluster has", func() bool {
		got := []string{}
		for name := range s.controllers(north) {
			got = append(got, name)
		}
		slices.Sort(got)
		list, err := s.admin.others.Resource(sliceResource).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == len(names) && slices.Equal(got, names)
	})
	for len(names) > 0 { // what waits has its turn
		for _, x := range s.controllers(north) {
			if x.State != northbound.Ready && x.State != "Pending" && x.State != "Activating" {
				t.Errorf("slice %+v", x)
			}
		}
		await(t, "one to be Ready", func() bool {
			return slices.ContainsFunc(names, func(n string) bool {
				return s.condition(n, slicing.Ready).Reason == slicing.Active
			})
		})
		i := slices.IndexFunc(names, func(n string) bool { return s.condition(n, slicing.Ready).Reason == slicing.Active })
		s.end(names[i])
		names = slices.Delete(names, i, i+1)
	}
	await(t, "all to go", func() bool { all, err := north.Slices(t.Context()); return err == nil && len(all) == 0 })
	t.Logf("%d kills, %d Slices", kills, made)
}

// seeded returns a source of random numbers, and logs its seed.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
