package api

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/controller"
	"lightloom/southbound/guard/guardtest"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) {
	if !guardtest.Main() {
		noise.Waiting(4)
		goleak.VerifyTestMain(m)
	}
}

// shared is what a replicated state would hold: one for all replicas of a test, so that it shows what
// got through.
type shared struct {
	mu     sync.Mutex
	hashed int // times
	leader int // -1: none
	taken  map[string]controller.JobID
	order  []string
	fate   []error // of the next submissions: taken, and then answered so
}

// member is one replica's view of it.
type member struct {
	*shared
	i     int
	snap  []byte
	block chan struct{} // Submit waits for it, if set
}

func (m *member) Submit(ctx context.Context, batch []controller.Offer) ([]controller.JobID, error) {
	if m.block != nil {
		select {
		case <-m.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leader != m.i {
		return nil, fmt.Errorf("replica %d: %w", m.i, ErrNotLeader)
	}
	var ids []controller.JobID
	for _, o := range batch {
		id, known := m.taken[o.Request]
		if !known {
			id = controller.JobID(len(m.order))
			m.taken[o.Request] = id
			m.order = append(m.order, o.Job.Name)
		}
		ids = append(ids, id)
	}
	if len(m.fate) > 0 {
		err := m.fate[0]
		m.fate = m.fate[1:]
		return nil, err
	}
	return ids, nil
}

func (m *member) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Counts{Index: uint64(len(m.order)), Jobs: len(m.order), JobsEnded: 1, Coflows: 2, CoflowEnded: 3}
}

func (m *member) Digest() (uint64, [32]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hashed++
	return uint64(len(m.order)), sha256.Sum256(fmt.Append(nil, m.order))
}

func (m *member) State(context.Context, bool) (Snapshot, error) {
	if m.snap == nil {
		return Snapshot{}, errors.New("no state")
	}
	return Snapshot{Index: 7, Digest: sha256.Sum256(m.snap), JSON: m.snap}, nil
}

func (m *member) Leader() (string, string, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leader < 0 {
		return "", "", 4
	}
	return fmt.Sprintf("r%d", m.leader), "raft:1", 4
}

func (s *shared) lead(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = i
}

// testCluster is three servers over TLS on loopback.
type testCluster struct {
	*shared
	members []*member
	hubs    []*Hub
	addrs   []string
	ca      *pki.Authority
	stop    []func() // of each server; returns once it has ended
}

func newTestCluster(t testing.TB, change func(i int, c *Config)) *testCluster {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	tc := &testCluster{shared: &shared{taken: map[string]controller.JobID{}}, ca: ca}
	peers := map[string]string{}
	var lns []net.Listener
	for i := range 3 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns = append(lns, ln)
		tc.addrs = append(tc.addrs, ln.Addr().String())
		peers[fmt.Sprintf("r%d", i)] = ln.Addr().String()
	}
	for i, ln := range lns {
		m, hub := &member{shared: tc.shared, i: i, snap: []byte(`{"jobs":[]}`)}, NewHub(100)
		tc.members, tc.hubs = append(tc.members, m), append(tc.hubs, hub)
		id := fmt.Sprintf("r%d", i)
		cfg := Config{
			ID: id, Peers: peers, Listener: ln, Submitter: m, Stater: m, Finder: m, Eventer: hub,
			Resources: Resources{BandwidthReserver: m},
			Canceller: m, Callers: Callers{Admins: []string{"user"}},
			ServerTLS: tc.identity(t, pki.Controller, id).Server(pki.Controller, pki.Client),
			ClientTLS: tc.identity(t, pki.Controller, id).Client("", pki.Controller),
			Check:     func(j *controller.Job) error { return j.Check(8, 16) },
			Reported: Reported{Now: func() time.Duration { return 5 * time.Second },
				Changes: func() int { return 3 }},
		}
		if change != nil {
			change(i, &cfg)
		}
		tc.serve(t, cfg)
	}
	return tc
}

func (tc *testCluster) serve(t testing.TB, cfg Config) {
	t.Helper()
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	tc.stop = append(tc.stop, sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("server %s: %v", cfg.ID, err)
		}
	}))
	t.Cleanup(tc.stop[len(tc.stop)-1])
}

func (tc *testCluster) identity(t testing.TB, role pki.Role, name string) pki.Identity {
	t.Helper()
	who, err := tc.ca.Issue(role, name)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

func (tc *testCluster) tls(t testing.TB) *tls.Config {
	return tc.identity(t, pki.Client, "user").Client("", pki.Controller)
}

// dial returns a client of the given replicas, in that order.
func (tc *testCluster) dial(t testing.TB, which ...int) *Client {
	t.Helper()
	var addrs []string
	for _, i := range which {
		addrs = append(addrs, tc.addrs[i])
	}
	c, err := Dial(addrs, tc.tls(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func coflow(name string) *controller.Job {
	return &controller.Job{Name: name, Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0,
		Dst: 1, Bytes: 1000}}}}}
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
