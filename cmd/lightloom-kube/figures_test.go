package main

import (
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

// seen notes when watchers of Slices are told of a change of their reason.
type seen struct {
	mu  sync.Mutex
	all map[string][]turn
}

type turn struct {
	reason string
	at     time.Time
}

// see watches until the test ends. A server ends a watch now and then: another one begins with all that there is.
func (s *servers) see() *seen {
	s.Helper()
	out := &seen{all: map[string][]turn{}}
	ctx := s.Context()
	go func() {
		for ctx.Err() == nil {
			w, err := s.admin.others.Resource(sliceResource).Watch(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for e := range w.ResultChan() {
				if u, ok := e.Object.(*unstructured.Unstructured); ok {
					out.look(u)
				}
			}
		}
	}()
	return out
}

func (s *seen) look(u *unstructured.Unstructured) {
	x := &slicing.Slice{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, x) != nil {
		return
	}
	for _, c := range x.Status.Conditions {
		if c.Type == slicing.Ready {
			s.note(x.Name, c.Reason)
		}
	}
}

func (s *seen) note(name, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.all[name]
	if len(had) == 0 || had[len(had)-1].reason != reason {
		s.all[name] = append(had, turn{reason, time.Now()})
	}
}

// after returns when a Slice came to a state, not before an instant.
func (s *seen) after(name, reason string, from time.Time) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.all[name] {
		if t.reason == reason && t.at.After(from) {
			return t.at, true
		}
	}
	return time.Time{}, false
}

// rank returns which of n in order is the one that p in a hundred do not exceed: of less than a hundred, p99 is the
// last.
func rank(n, p int) int { return max(0, (n*p+99)/100-1) }

func TestRank(t *testing.T) {
	for _, c := range []struct{ n, p, want int }{{1, 99, 0}, {5, 50, 2}, {10, 99, 9}, {99, 99, 98}, {100, 99, 98},
		{320, 99, 316}, {7, 0, 0}, {7, 100, 6}} {
		if got := rank(c.n, c.p); got != c.want {
			t.Errorf("%d of %d: %d, want %d", c.p, c.n, got, c.want)
		}
	}
}

// figures prints times in order, in ms.
func figures(t *testing.T, what string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	ms := func(p int) float64 { return float64(took[rank(len(took), p)].Microseconds()) / 1e3 }
	t.Logf("%s,%d,%.0f,%.0f,%.0f,%.0f", what, len(took), ms(0), ms(50), ms(99), ms(100))
}

// TestSliceFigures measures what users of Slices see: each time begins before the call that creates a Slice, or makes a
// cube fail, and ends when a watch tells of ACTIVE; where that was over before INCOMPLETE was told, when the controller
// says Ready.
func TestSliceFigures(t *testing.T) {
	measured(t)
	for _, pod := range []struct {
		cubes int
		at    map[int]string // how many Slices at once, of which topology
	}{{8, map[int]string{16: "2x2x1"}}, {32, map[int]string{16: "2x2x2", 32: "2x2x2", 64: "2x2x1"}},
		{64, map[int]string{64: "2x2x2", 128: "2x2x1", 256: "2x1x1"}}} {
		t.Run(fmt.Sprintf("%d cubes", pod.cubes), func(t *testing.T) {
			f := startFabric(t, fmt.Sprintf("pod:cubes=%d,side=2,spines=1,eps=20Mbps,ocs=100Mbps,dark=10ms", pod.cubes))
			s, ours := startServers(t), build(t)
			s.apply()
			start(t, t.TempDir(), ours, "--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"),
				"--slices")
			m := &measurement{T: t, servers: s, seen: s.see(), fabric: f, north: northbound.DialSocket(f.socket)}
			t.Log("what,count,least ms,p50 ms,p99 ms,most ms")
			m.warm()
			if pod.cubes == 8 {
				m.oneByOne(40)
				m.failures(10)
			}
			for _, n := range []int{16, 32, 64, 128, 256} {
				if shape := pod.at[n]; shape != "" {
					m.atOnce(n, shape, max(1, min(5, 320/n)))
				}
			}
		})
	}
}

type measurement struct {
	*testing.T
	*servers
	*seen
	fabric *fabric
	north  *northbound.Client
	made   int
}

func (m *measurement) Helper() { m.T.Helper() }

// create creates a Slice, and returns its name and when that began.
func (m *measurement) create(topology string) (name string, began time.Time) {
	m.Helper()
	m.made++
	name, began = fmt.Sprintf("s%d", m.made), time.Now()
	if err := m.slice(name, topology); err != nil {
		m.T.Fatal(err)
	}
	return name, began
}

// active waits for a Slice to be ACTIVE, and returns when it was.
func (m *measurement) active(name string, from time.Time) (at time.Time) {
	m.Helper()
	await(m.T, name+" to be ACTIVE", func() (ok bool) { at, ok = m.after(name, slicing.Active, from); return ok })
	return at
}

// drop ends all Slices.
func (m *measurement) drop(names ...string) {
	m.Helper()
	for _, n := range names {
		m.end(n)
	}
	await(m.T, "all slices to go", func() bool {
		all, err := m.north.Slices(m.T.Context())
		return err == nil && len(all) == 0
	})
}

func (m *measurement) warm() { name, from := m.create("2x2x2"); m.active(name, from); m.drop(name) }

func (m *measurement) oneByOne(times int) {
	var took []time.Duration
	for range times {
		name, from := m.create("2x2x4")
		took = append(took, m.active(name, from).Sub(from))
		m.drop(name)
	}
	figures(m.T, "created to ready; one of 2x2x4", took)
}

func (m *measurement) atOnce(n int, topology string, times int) {
	var took, all []time.Duration
	for range times {
		var names []string
		var from []time.Time
		for range n {
			name, began := m.create(topology)
			names, from = append(names, name), append(from, began)
		}
		last := time.Time{}
		for i, name := range names {
			at := m.active(name, from[i])
			took = append(took, at.Sub(from[i]))
			if at.After(last) {
				last = at
			}
		}
		all = append(all, last.Sub(from[0]))
		m.drop(names...)
	}
	figures(m.T, fmt.Sprintf("created to ready; %d of %s at once; each", n, topology), took)
	figures(m.T, fmt.Sprintf("created to ready; %d of %s at once; all of them", n, topology), all)
}

// failures has a cube's switch fail, which ends all that its hosts say.
func (m *measurement) failures(times int) {
	var told, back []time.Duration
	for range times {
		name, from := m.create("2x2x4")
		m.active(name, from)
		dead := m.controllers(m.north)[name].Cubes[0]
		cube := slicing.Partition(dead)
		from = time.Now()
		m.lightloom("fail", "switch", cube)
		await(m.T, "the cube to be swapped", func() bool {
			x := m.controllers(m.north)[name]
			return x.State == northbound.Ready && !slices.Contains(x.Cubes, dead)
		})
		at := time.Now() // at most one look too late
		if lost, ok := m.after(name, slicing.Incomplete, from); ok {
			told = append(told, lost.Sub(from))
			at = m.active(name, from)
		}
		back = append(back, at.Sub(from))
		m.drop(name)
		m.lightloom("heal", "switch", cube)
		other, began := m.create("4x4x4") // all cubes: it waits until this one is back
		m.active(other, began)
		m.drop(other)
	}
	if len(told) > 0 { // what lasts shorter than a look of the program is not told
		figures(m.T, "cube fails to INCOMPLETE; of 2x2x4", told)
	}
	figures(m.T, "cube fails to ready again; of 2x2x4", back)
}

func (m *measurement) lightloom(args ...string) {
	m.Helper()
	if out, err := exec.Command(m.fabric.program, args...).CombinedOutput(); err != nil {
		m.T.Fatalf("lightloom %v: %v: %s", args, err, out)
	}
}
