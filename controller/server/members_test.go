package server

import (
	"context"
	"errors"
	"fmt"

	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// party is replicas in this process, on loopback, with their directories. None has a switch or an agent.
type party struct {
	t     *testing.T
	ca    *pki.Authority
	dir   string
	shape ReplicaConfig // of every one, but for who it is
	node  Node
	ids   []string
	peers map[string]replica.Peer
	api   map[string]string
	stop  map[string]func() error // returns what the replica ended with
	over  map[string]<-chan struct{}
	keys  map[string]pki.Paths // of those whose keys are in files
	said  map[string]*journal  // what each has logged since it was started last
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// newParty founds a cluster. Tests with one run in parallel: they mostly wait.
func newParty(t *testing.T) *party {
	t.Helper()
	ca, err := pki.New(time.Hour)
	must(t, err)
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4")
	must(t, err)
	p := &party{t: t, ca: ca, dir: t.TempDir(), peers: map[string]replica.Peer{}, api: map[string]string{},
		stop: map[string]func() error{}, over: map[string]<-chan struct{}{},
		said: map[string]*journal{}, keys: map[string]pki.Paths{},
		node: newNode(3, spec)}
	p.shape = ReplicaConfig{Cluster: p.node.Cluster, Epoch: p.node.Epoch, Spec: spec, Policy: "random+ecmp",
		Agent: p.port()}
	f, err := topo.New(spec)
	must(t, err)
	for _, n := range f.Topology.Nodes() {
		if n.Role != pathmap.Host {
			p.shape.Devices = append(p.shape.Devices, inventory.Device{Name: n.Name, Address: p.shape.Agent})
		}
	}
	for i := range 3 {
		p.place(fmt.Sprintf("c%d", i))
	}
	for _, id := range p.ids {
		n := p.node
		n.Replica = id
		must(t, n.Found(filepath.Join(p.dir, id)))
	}
	return p
}

func (p *party) port() string {
	p.t.Helper()
	at, release, err := socket.Hold()
	must(p.t, err)
	p.t.Cleanup(func() { must(p.t, release()) })
	return at.String()
}

// place gives one more replica its addresses.
func (p *party) place(id string) {
	p.ids = append(p.ids, id)
	p.peers[id], p.api[id] = replica.Peer{ID: id, Addr: p.port()}, p.port()
}

// run starts a replica that knows those others.
func (p *party) run(id string, knows ...string) {
	p.t.Helper()
	who, err := p.ca.Issue(pki.Controller, id)
	must(p.t, err)
	c := p.shape
	c.ID, c.Dir, c.API = id, filepath.Join(p.dir, id), map[string]string{}
	c.Identity.Admins = []string{"user"}
	if c.Identity.Files = p.keys[id]; c.Identity.Files.Cert == "" {
		c.Identity.PEM, err = who.MarshalPEM()
		must(p.t, err)
	}
	for _, other := range knows {
		c.Peers, c.API[other] = append(c.Peers, p.peers[other]), p.api[other]
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, why, said := make(chan struct{}), error(nil), &journal{}
	p.said[id] = said
	go func() {
		defer close(ended)
		why = runReplica(ctx, c, said)
	}()
	p.over[id] = ended
	p.stop[id] = sync.OnceValue(func() error {
		cancel()
		<-ended
		return why
	})
	p.t.Cleanup(func() { _ = p.stop[id]() })
}

// dial returns a client, or a replica's own, of these replicas.
func (p *party) dial(role pki.Role, name string, ids ...string) *api.Client {
	p.t.Helper()
	who, err := p.ca.Issue(role, name)
	must(p.t, err)
	var at []string
	for _, id := range ids {
		at = append(at, p.api[id])
	}
	c, err := api.Dial(at, who.Client("", pki.Controller))
	must(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// await asks for the members until they are as wanted.
func (p *party) await(ctx context.Context, c *api.Client, what string,
	ok func(api.Members) bool) api.Members {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := c.Members(ctx, api.Read{Linearizable: true})
		if err == nil && ok(all) {
			return all
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s: %+v, %v", what, all, err)
		case <-tick.C:
		}
	}
}

// voters reports whether those have a vote and have introduced themselves, and nobody else does.
func voters(ids ...string) func(api.Members) bool {
	return func(all api.Members) bool {
		var have []string
		for _, m := range all.Members {
			if m.Voter && m.API != "" && m.Level == uint32(state.Newest) {
				have = append(have, m.ID)
			}
		}
		return len(all.Members) == len(ids) && strings.Join(have, " ") == strings.Join(ids, " ")
	}
}

func tinyJob(name string) *controller.Job {
	return &controller.Job{Name: name, Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0,
		Dst: 1, Bytes: 1}}}}}
}

// TestClusterGrowsAndShrinks: three replicas become five and then three others while a client submits:
// no submission takes two seconds, and none is lost. Who is taken out ends and does not come back; the
// later ones are known to all.
func TestClusterGrowsAndShrinks(t *testing.T) {
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	first := []string{"c0", "c1", "c2"}
	for _, id := range first {
		p.run(id, first...)
	}
	p.place("c3")
	p.place("c4")
	ops := p.dial(pki.Controller, "c0", "c0", "c1", "c2", "c3", "c4")
	ops.Attempt = time.Second
	p.await(ctx, ops, "the first three", voters(first...))

	load := p.dial(pki.Client, "user", "c0", "c1", "c2", "c3", "c4")
	load.Attempt = 500 * time.Millisecond
	arrivals, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	jobs, worst := 0, time.Duration(0)
	wg.Go(func() {
		for ; arrivals.Err() == nil; jobs++ {
			began := time.Now()
			if _, err := load.Submit(ctx, fmt.Sprintf("job %d", jobs),
				[]*controller.Job{tinyJob("j")}); err != nil {
				t.Errorf("job %d: %v", jobs, err)
				return
			}
			worst = max(worst, time.Since(began))
			select {
			case <-arrivals.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	stranger := p.dial(pki.Client, "stranger", "c0")
	if err := stranger.ChangeMembers(ctx, api.AddMember, api.Member{ID: "c3", Raft: p.peers["c3"].Addr}); api.
		CodeOf(err) != api.Denied {
		t.Errorf("a client that nothing is granted to adds a member: %v", err)
	}
	if err := ops.ChangeMembers(ctx, api.Promote, api.Member{ID: "c1"}); api.CodeOf(err) != api.Denied {
		t.Errorf("c0 speaks for c1: %v", err)
	}
	knows := first
	for _, id := range []string{"c3", "c4"} {
		must(t, ops.ChangeMembers(ctx, api.AddMember, api.Member{ID: id, Raft: p.peers[id].Addr}))
		knows = append(knows[:len(knows):len(knows)], id)
		n := p.node
		n.Replica, n.Joining = id, true
		must(t, n.Found(filepath.Join(p.dir, id)))
		p.run(id, knows...)
		p.await(ctx, ops, id, voters(knows...))
	}
	st, err := load.StatusAt(ctx, api.Read{Linearizable: true})
	must(t, err)
	gone := []string{st.Leader, "c1", "c2", "c0"} // the leader is among those that go
	if st.Leader != "c0" && st.Leader != "c1" && st.Leader != "c2" {
		gone = gone[1:]
	}
	left := map[string]bool{"c0": true, "c1": true, "c2": true}
	for _, id := range gone {
		if !left[id] || len(left) == 1 {
			continue
		}
		delete(left, id)
		must(t, ops.ChangeMembers(ctx, api.RemoveMember, api.Member{ID: id}))
		p.ended(ctx, id)
	}
	var kept []string
	for id := range left {
		kept = append(kept, id)
	}
	all := p.await(ctx, ops, "the last three", voters(kept[0], "c3", "c4"))
	stop()
	wg.Wait()
	last := p.dial(pki.Client, "user", kept[0], "c3", "c4")
	s, err := last.StatusAt(ctx, api.Read{Linearizable: true})
	if err != nil || s.Jobs != jobs || worst > 2*time.Second || jobs < 20 {
		t.Errorf("%d jobs are there, %d were submitted, the slowest in %v: %v", s.Jobs, jobs, worst, err)
	}
	t.Logf("%d jobs, the slowest in %v; %+v", jobs, worst.Round(time.Millisecond), all)
}

// ended waits until a replica that was taken out has ended, and wants it to stay so.
func (p *party) ended(ctx context.Context, id string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := ReadNode(filepath.Join(p.dir, id))
		must(p.t, err)
		if n.Removed {
			break
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s goes on", id)
		case <-tick.C:
		}
	}
	if err := p.stop[id](); !errors.Is(err, replica.ErrRemoved) {
		p.t.Errorf("%s ended with %v", id, err)
	}
	p.run(id, id, "c3")
	if err := p.stop[id](); !errors.Is(err, replica.ErrRemoved) {
		p.t.Errorf("%s begins again: %v", id, err)
	}
}
