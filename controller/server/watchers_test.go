package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

const (
	watchersEnv   = "LIGHTLOOM_WATCH" // of the process that watches: address and keys
	perConnection = 25                // watches
)

// TestWatchersMeasured measures how long GetJob takes with a large history, and what 1,000 watchers of
// jobs in another process cost the replica while jobs are submitted and cancelled at 100/s. It needs
// the machine for itself.
func TestWatchersMeasured(t *testing.T) {
	if at := os.Getenv(watchersEnv); at != "" {
		watch(t, strings.Split(at, ","))
		return
	}
	if os.Getenv("LIGHTLOOM_MEASURE") != "watchers" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=watchers")
	}
	t.Run("history", func(t *testing.T) {
		const known = 1_000_000
		m := newMeasured(t, time.Hour)
		m.remember(known)
		defer m.serve(t)()
		m.getJobs(t.Context(), known)
	})
	t.Run("watchers", func(t *testing.T) {
		m := newMeasured(t, time.Minute)
		defer m.serve(t)()
		m.watched(t)
	})
}

// serve runs the replica until the function that it returns is called.
func (m *measured) serve(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.replica.run(ctx) }()
	m.submit(ctx, 0)
	return func() {
		cancel()
		must(t, <-ended)
	}
}

// watched takes turns between 1,000 watchers and none. Where a history of a million jobs is there, a
// snapshot with it takes more than they do.
func (m *measured) watched(t *testing.T) {
	ctx := t.Context()
	m.load(ctx, "warm") // the first takes more, whoever watches
	const pairs = 10
	var alone, watched, share []float64
	for k := range 2 * pairs {
		if k%4 == 0 || k%4 == 3 { // alone, watched, watched, alone
			alone = append(alone, m.load(ctx, fmt.Sprint("alone", k)))
			continue
		}
		child := m.watchers(t)
		watched = append(watched, m.load(ctx, fmt.Sprint("watched", k)))
		must(t, child.Process.Signal(syscall.SIGTERM))
		_ = child.Wait() // it was told to end
	}
	for k := range pairs {
		share = append(share, 1-alone[k]/watched[k])
	}
	slices.Sort(share)
	t.Logf("the replica takes %.3f of a core alone and %.3f with 1,000 watchers, whose share is %.3f (least %.3f, most "+
		"%.3f)", alone, watched, share[pairs/2], share[0], share[pairs-1])
}

// remember puts that many jobs of two stages into the history, under ids that no job of the state has.
func (m *measured) remember(n int) {
	var left []state.Left
	for i := range n {
		id := controller.JobID(1<<20 + i)
		j := &state.Job{Job: controller.Job{ID: id, Name: fmt.Sprint("job", i),
			FirstCoflow: southbound.CoflowID(id),
			Stages: []controller.Stage{{Name: "map", Tasks: make([]controller.Task, 4)}, {Name: "reduce",
				Tasks: make([]controller.Task, 2)}},
			Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 1 << 20}}},
			Stages: make([]state.Stage, 2), Hosts: []southbound.HostID{0, 1, 0, 1, 0,
				1}, Ended: time.Second, Leaves: 2}
		left = append(left, state.Left{Job: j, Tasks: make([]state.Task, 6),
			Coflows: []*state.Coflow{{ID: j.FirstCoflow, Job: id, Bytes: 1 << 20, Ended: time.Second}}})
		if len(left) == 10_000 || i == n-1 {
			m.replica.history.Put(left)
			must(m.t, m.replica.history.Flush())
			left = nil
		}
	}
}

func (m *measured) getJobs(ctx context.Context, known int) {
	var took []time.Duration
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		began := time.Now()
		_, err := m.client.Job(ctx, controller.JobID(1<<20+r.IntN(known)), api.Read{})
		must(m.t, err)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	m.t.Logf("GetJob with %d jobs in the history: p50 %v, p99 %v, longest %v", known, took[len(took)/2],
		took[len(took)*99/100], took[len(took)-1])
}

// load submits and cancels jobs for some seconds and returns the share of a core that this process took.
func (m *measured) load(ctx context.Context, name string) float64 {
	const seconds, rate = 10, 100
	began, used := time.Now(), cpu(m.t)
	var callers sync.WaitGroup
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for n := range seconds * rate {
		<-tick.C
		callers.Go(func() {
			job := &controller.Job{Name: "tiny", Edges: []controller.Edge{{Flows: []controller.Flow{{Bytes: 1}}}}}
			ids, err := m.client.Submit(ctx, fmt.Sprint(name, "/", n), []*controller.Job{job})
			if err == nil {
				_, err = m.client.Cancel(ctx, ids[0])
			}
			if err != nil {
				m.t.Error(err)
			}
		})
	}
	callers.Wait()
	return (cpu(m.t) - used).Seconds() / time.Since(began).Seconds()
}

// cpu is the time that this process has taken.
func cpu(t *testing.T) time.Duration {
	var r syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// watchers starts the process that watches, and returns once all watches have begun.
func (m *measured) watchers(t *testing.T) *exec.Cmd {
	pem, err := m.user.MarshalPEM()
	must(t, err)
	keys := filepath.Join(t.TempDir(), "user.pem")
	must(t, os.WriteFile(keys, pem, 0o600))
	child := exec.Command(os.Args[0], "-test.run", "^TestWatchersMeasured$")
	child.Env = append(os.Environ(), watchersEnv+"="+m.at+","+keys)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	line := make([]byte, 64)
	n, err := out.Read(line)
	must(t, err)
	t.Logf("the other process says: %s", line[:n])
	return child
}

// watch is the process that watches.
func watch(t *testing.T, at []string) {
	id, err := pki.ReadFile(at[1])
	must(t, err)
	const watches = 1000
	begun := make(chan bool, watches)
	var all sync.WaitGroup
	for range watches / perConnection {
		c, err := api.Dial(at[:1], id.Client("", pki.Controller))
		must(t, err)
		_, err = c.Status(t.Context()) // so that all of its watches find a connection
		must(t, err)
		for range perConnection {
			all.Go(func() {
				first := true
				_ = c.WatchJobs(t.Context(), &apiv1.WatchJobsRequest{}, func(m *apiv1.JobsChanged) error {
					if first && m.Index > 0 { // all that was there before has come
						first = false
						begun <- true
					}
					return nil
				}) // it ends with the process
			})
		}
	}
	for range watches {
		<-begun
	}
	fmt.Printf("%d watches have begun\n", watches)
	all.Wait()
}
