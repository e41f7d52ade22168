package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// TestBoundedMeasured submits tiny jobs at 500/s to one replica on this machine's disk, while 64
// clients poll its status, and measures memory after a fifth of the jobs and after all, and both calls'
// latency. LIGHTLOOM_MEASURE=history runs it with a million jobs that are known for 60 s after their
// end, LIGHTLOOM_MEASURE=history-short with 60,000 and 10 s. Both need the machine for themselves.
func TestBoundedMeasured(t *testing.T) {
	jobs, known := 1_000_000, 60*time.Second
	switch os.Getenv("LIGHTLOOM_MEASURE") {
	case "history":
	case "history-short":
		jobs, known = 60_000, 10*time.Second
	default:
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=history, or history-short")
	}
	m := newMeasured(t, known)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.replica.run(ctx) }()
	m.submit(ctx, 0) // once the replica leads
	m.submits = latencies{}

	var pollers sync.WaitGroup
	polling, stop := context.WithCancel(ctx)
	for i := range 64 {
		pollers.Go(func() { m.poll(polling, time.Duration(i)*pollEvery/64) })
	}
	first := m.run(ctx, 1, jobs/5)
	last := m.run(ctx, jobs/5, jobs)
	stop()
	pollers.Wait()
	s, err := m.client.Status(ctx)
	must(t, err)
	m.report(first, last, s)
	cancel()
	must(t, <-ended)
}

// measured is a replica and what its clients see of it.
type measured struct {
	t       *testing.T
	replica *replicaProcess
	client  *api.Client
	user    pki.Identity
	at      string // address of the northbound

	mu       sync.Mutex
	submits  latencies
	statuses latencies
}

// latencies counts calls by how long they took, in steps: kept one by one they took as much memory as
// what is measured.
type latencies struct {
	steps [1000]int // the last holds all longer ones
	n     int
}

const latencyStep = 100 * time.Microsecond

func (l *latencies) add(d time.Duration) {
	l.steps[min(int(d/latencyStep), len(l.steps)-1)]++
	l.n++
}

// percentile returns the upper end of the step that holds the q-th of a hundred.
func (l *latencies) percentile(q int) time.Duration {
	step := 0
	for seen := l.steps[0]; seen*100 <= l.n*q && step < len(l.steps)-1; seen += l.steps[step] {
		step++
	}
	return time.Duration(step+1) * latencyStep
}

func newMeasured(t *testing.T, known time.Duration) *measured {
	ca, err := pki.New(time.Hour)
	must(t, err)
	id, err := ca.Issue(pki.Controller, "controller0")
	must(t, err)
	pem, err := id.MarshalPEM()
	must(t, err)
	var at [3]string
	for i := range at {
		addr, release, err := socket.Hold()
		must(t, err)
		t.Cleanup(func() { must(t, release()) })
		at[i] = addr.String()
	}
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	c := ReplicaConfig{ID: "controller0", Peers: []replica.Peer{{ID: "controller0", Addr: at[0]}},
		API: map[string]string{"controller0": at[1]}, Dir: t.TempDir(), Epoch: time.Now(), Spec: spec, Policy: "random+ecmp",
		Agent: at[2], Identity: IdentityConfig{PEM: pem, Admins: []string{"user"}}, Ages: Ages{Retention: known}}
	for _, n := range f.Topology.Nodes() {
		if n.Role != pathmap.Host {
			c.Devices = append(c.Devices, inventory.Device{Name: n.Name, Address: at[2]})
		}
	}
	m := &measured{t: t, at: at[1]}
	m.replica, err = newReplicaProcess(c, &home{dir: c.Dir}, io.Discard)
	must(t, err)
	m.user, err = ca.Issue(pki.Client, "user")
	must(t, err)
	m.client, err = api.Dial([]string{at[1]}, m.user.Client("", pki.Controller))
	must(t, err)
	t.Cleanup(m.client.Close)
	return m
}

// run submits jobs at 500/s and returns the memory in bytes of the last seconds: the median, of pages
// of its own, and with those of the history file.
func (m *measured) run(ctx context.Context, from, to int) (memory [2]int) {
	var sums [2][]int
	var submitters sync.WaitGroup
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for n := from; n < to; n++ {
		<-tick.C
		submitters.Go(func() { m.submit(ctx, n) })
		if to-n < 5000 && n%50 == 0 {
			for i, key := range []string{"RssAnon:", "VmRSS:"} {
				sums[i] = append(sums[i], m.memory(key))
			}
		}
	}
	submitters.Wait()
	for i := range sums {
		slices.Sort(sums[i])
		memory[i] = sums[i][len(sums[i])/2]
	}
	return memory
}

// memory returns a figure of /proc/self/status in bytes.
func (m *measured) memory(key string) (n int) {
	b, err := os.ReadFile("/proc/self/status")
	must(m.t, err)
	_, rest, _ := strings.Cut(string(b), key)
	_, err = fmt.Sscanf(rest, "%d kB", &n)
	must(m.t, err)
	return n << 10
}

// submit submits a job that ends once it has begun: its bytes stay on one host.
func (m *measured) submit(ctx context.Context, n int) {
	job := &controller.Job{Name: "tiny", Edges: []controller.Edge{{Flows: []controller.Flow{{Bytes: 1}}}}}
	began := time.Now()
	if _, err := m.client.Submit(ctx, fmt.Sprint("job-", n), []*controller.Job{job}); err != nil {
		m.t.Error(err)
	}
	m.note(&m.submits, time.Since(began))
}

const pollEvery = 100 * time.Millisecond

// poll asks for the status ten times a second, from a moment of its own on: real clients do not ask all
// at once.
func (m *measured) poll(ctx context.Context, after time.Duration) {
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		if _, err := m.client.Status(ctx); err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			m.t.Error(err)
		}
		m.note(&m.statuses, time.Since(began))
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (m *measured) note(to *latencies, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to.add(d)
}

func (m *measured) report(first, last [2]int, s api.Status) {
	m.t.Logf("%d jobs, %d ended; memory after a fifth %d MiB (with files %d), after all %d MiB (with files %d)", s.Jobs,
		s.JobsEnded, first[0]>>20, first[1]>>20, last[0]>>20, last[1]>>20)
	submit, status := &m.submits, &m.statuses
	m.t.Logf("submit p50 %v p99 %v, status p50 %v p99 %v (to 0.1 ms)", submit.percentile(50),
		submit.percentile(99),
		status.percentile(50), status.percentile(99))
	if last[0]*10 > first[0]*11 {
		m.t.Error("memory grows by more than a tenth")
	}
	if status.percentile(99) > 5*time.Millisecond || submit.percentile(99) > 50*time.Millisecond ||
		submit.percentile(50) > 5*time.Millisecond {
		m.t.Error("calls take too long")
	}
}
