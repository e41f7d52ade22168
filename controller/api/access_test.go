package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/torus"
	"lightloom/southbound/pki"
)

// realm is a replicated state that knows owners and grants, shared by two replicas of which r0 leads.
// It counts what changes it.
type realm struct {
	mu      sync.Mutex
	grants  map[string]controller.Access
	jobs    map[controller.JobID]string // owners
	taken   map[string]controller.JobID
	held    map[int64]string
	changes int
	records []AuditRecord
	answers []string        // calls that have ended, and how
	late    map[string]bool // names whose grants r1 learns of only once it has caught up
}

func (r *realm) leading(id string, change func()) error {
	if id != "r0" {
		return ErrNotLeader
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	change()
	return nil
}

func (r *realm) count() int { r.mu.Lock(); defer r.mu.Unlock(); return r.changes }

// seat is a realm as one replica sees it.
type seat struct {
	*realm
	id string
}

func (s seat) Leader() (string, string, uint64) { return "r0", "", 1 }
func (s seat) Counts() Counts                   { return Counts{} }
func (s seat) Digest() (uint64, [32]byte)       { return 0, [32]byte{} }
func (s seat) Applied() uint64                  { return 9 }

func (s seat) State(context.Context, bool) (Snapshot, error) {
	return Snapshot{JSON: []byte("{}")}, nil
}

func (s seat) ReadIndex(context.Context) (uint64, error) { return 9, s.leads() }

func (s seat) ChangeFabric(context.Context, *apiv1.ApplyFabricRequest) (uint64, []string, error) {
	return 1, nil, s.leading(s.id, func() {})
}

func (s seat) leads() error {
	if s.id != "r0" {
		return ErrNotLeader
	}
	return nil
}

func (s seat) WaitApplied(context.Context, uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.late)
	return nil
}

func (s seat) Events(_ context.Context, _ uint64, sink func(Event) error) error {
	return sink(Event{Seq: 1})
}

func (s seat) Submit(_ context.Context, offers []controller.Offer) (ids []controller.JobID, err error) {
	return ids, s.leading(s.id, func() {
		for _, o := range offers {
			id, known := s.taken[o.Request]
			if !known {
				id = controller.JobID(len(s.jobs))
				s.taken[o.Request], s.jobs[id] = id, o.Job.User
			}
			ids = append(ids, id)
		}
	})
}

func (s seat) Cancel(context.Context, controller.JobID) (e Ended, err error) {
	return e, s.leading(s.id, func() {})
}

func (s seat) info(id controller.JobID) *apiv1.JobInfo {
	owner, _ := s.JobOwner(id)
	return &apiv1.JobInfo{Id: int32(id), User: owner}
}

func (s seat) Job(id controller.JobID) (*apiv1.GetJobResponse, error) {
	if _, known := s.JobOwner(id); !known {
		return nil, nil
	}
	return &apiv1.GetJobResponse{Job: s.info(id)}, nil
}

func (s seat) Jobs(q JobQuery) (page []*apiv1.JobInfo, next controller.JobID, err error) {
	for id := q.From; ; id++ {
		if _, known := s.JobOwner(id); !known {
			return page, NoJob, nil
		}
		if j := s.info(id); Matches(q.Filter, j) {
			page = append(page, j)
		}
	}
}

func (s seat) WatchJobs(_ context.Context, _ uint64, sink func(*apiv1.JobsChanged) error) error {
	page, _, err := s.Jobs(JobQuery{})
	if err == nil {
		err = sink(&apiv1.JobsChanged{Index: 1, Reset_: true, Jobs: page})
	}
	return err
}

func (s seat) Bandwidths(_ context.Context, pairs []HostPair) ([]Bandwidth, error) {
	return make([]Bandwidth, len(pairs)), nil
}

func (s seat) Reserve(_ context.Context, w BandwidthRequest) (p BandwidthReservation, err error) {
	return p, s.leading(s.id, func() {
		if p.ID = 7; w.Request != "the tenant's" {
			p.ID = int64(100 + len(s.held))
			s.held[p.ID] = w.Owner
		}
	})
}

func (s seat) Reservations(owner string, from int64, most int) ([]*apiv1.Reservation, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page []*apiv1.Reservation
	for _, id := range slices.Sorted(maps.Keys(s.held)) {
		if id < from || owner != "" && s.held[id] != owner {
			continue
		}
		if len(page) == most {
			return page, id
		}
		page = append(page, &apiv1.Reservation{Id: id, Owner: s.held[id]})
	}
	return page, 0
}

func (s seat) CreateSlice(_ context.Context, r SliceRequest) (*apiv1.Slice, error) {
	return &apiv1.Slice{Name: r.Name, Owner: r.Owner}, s.leading(s.id, func() {})
}

func (s seat) DeleteSlice(context.Context, string) error { return s.leading(s.id, func() {}) }

func (s seat) MakeRoom(context.Context, torus.Shape, bool) (*apiv1.DefragmentSlicesResponse, error) {
	return &apiv1.DefragmentSlicesResponse{}, s.leading(s.id, func() {})
}

func (s seat) Slice(name string) *apiv1.Slice {
	if name == "waits" {
		return &apiv1.Slice{Name: name, Owner: "tenant", State: "Pending", Message: "said by " + s.id}
	}
	if name != "t" {
		return nil
	}
	return &apiv1.Slice{Name: name, Owner: "tenant"}
}

func (s seat) Slices(owner string, from, most int) ([]*apiv1.Slice, int) {
	if owner != "" && owner != "tenant" || from > 0 || most < 1 {
		return nil, 0
	}
	return []*apiv1.Slice{s.Slice("t")}, 0
}

func (s seat) SlicesVersion() uint64 { return 1 }

func (s seat) Release(context.Context, int64) error { return s.leading(s.id, func() {}) }

func (s seat) Grant(_ context.Context, g controller.Grant) error {
	return s.leading(s.id, func() { s.grants[g.Name] = g.Access })
}

// Wiring says for whom it was asked.
func (s seat) Wiring(_ context.Context, user string, r *apiv1.WiringRequest) (*apiv1.WiringResponse, error) {
	if r.GetWhat() == WireApply {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changes++
	}
	return &apiv1.WiringResponse{Testbed: r.GetTestbed(), Strays: []string{user, r.GetHolder()}}, nil
}

func (s seat) Leases() (*apiv1.ListLeasesResponse, error) { return &apiv1.ListLeasesResponse{}, nil }

func (s seat) Members() Members { return Members{} }

func (s seat) Change(context.Context, MemberChange, Member) error { return s.leading(s.id, func() {}) }

func (s seat) Access(name string) controller.Access {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != "r0" && s.late[name] {
		return ""
	}
	return s.grants[name]
}

func (s seat) Grants() (out []controller.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"admin", "operator"} {
		out = append(out, controller.Grant{Name: name, Access: s.grants[name]})
	}
	return out
}

func (s seat) JobOwner(id controller.JobID) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.jobs[id]
	return name, ok
}

func (s seat) BandwidthOwner(id int64) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.held[id]
	return name, ok
}

// court is two replicas of a realm, with the authority that they trust.
type court struct {
	*realm
	ca      *pki.Authority
	dir     string
	sources []*pki.Source // of the servers
	addrs   []string
	sockets []string
}

func newCourt(t *testing.T) *court {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "court") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &court{ca: ca, dir: dir, realm: &realm{taken: map[string]controller.JobID{"the tenant's/0": 0},
		jobs: map[controller.JobID]string{0: "tenant"}, held: map[int64]string{7: "tenant"}, late: map[string]bool{},
		grants: map[string]controller.Access{"viewer": controller.Viewer, "tenant": controller.Tenant,
			"other": controller.Tenant, "operator": controller.Operator, "admin": controller.Admin,
			"revoked": controller.Admin, "expired": controller.Admin, "foreign": controller.Admin}}}
	peers := map[string]string{}
	var lns []net.Listener
	for i := range 2 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns = append(lns, ln)
		peers[fmt.Sprint("r", i)] = ln.Addr().String()
		c.addrs = append(c.addrs, ln.Addr().String())
	}
	for i, ln := range lns {
		c.serve(t, fmt.Sprint("r", i), ln, peers)
	}
	return c
}

func (c *court) serve(t *testing.T, id string, ln net.Listener, peers map[string]string) {
	t.Helper()
	keys := filepath.Join(c.dir, id+".pem")
	if err := c.issue(t, pki.Controller, id).WriteFile(keys); err != nil {
		t.Fatal(err)
	}
	source, err := pki.Open(pki.Paths{Files: pki.Files{Cert: keys, Key: keys, CA: keys}, Revoked: c.revoked()})
	if err != nil {
		t.Fatal(err)
	}
	c.sources = append(c.sources, source)
	c.sockets = append(c.sockets, filepath.Join(c.dir, id))
	local, err := net.Listen("unix", filepath.Join(c.dir, id))
	if err != nil {
		t.Fatal(err)
	}
	s := seat{c.realm, id}
	srv, err := NewServer(Config{ID: id, Peers: peers, Listener: ln,
		ServerTLS: source.Server(pki.Client, pki.Controller),
		ClientTLS: source.Client("", pki.Controller), Submitter: s, Stater: s, Eventer: s,
		Resources: Resources{BandwidthReserver: s, Slicer: s, Wirer: s}, Canceller: s, Changer: s,
		Finder: s, Indexer: s, Membership: s, Jobs: s,
		Reported: Reported{Fabric: func() *apiv1.Fabric { return &apiv1.Fabric{} }},
		Callers: Callers{Admins: []string{"configured"}, Granter: s, Owners: s, Local: local,
			Identify: func(st tls.ConnectionState) (pki.Role, string, error) {
				return source.Peer(st, pki.Client, pki.Controller)
			},
			Audit: func(r AuditRecord) { c.mu.Lock(); defer c.mu.Unlock(); c.records = append(c.records, r) },
			Answered: func(call, code string, took time.Duration) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.answers = append(c.answers, fmt.Sprint(call, " ", code, " ", took > 0))
			}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (c *court) revoked() string { return filepath.Join(c.dir, "revoked.pem") }

func (c *court) reload(t *testing.T) {
	t.Helper()
	for _, s := range c.sources {
		if changed, err := s.Reload(); err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
}

func (c *court) issue(t *testing.T, role pki.Role, name string) pki.Identity {
	t.Helper()
	id, err := c.ca.Issue(role, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// party is one who calls.
type party struct {
	name   string
	tls    *tls.Config       // nil: at the socket
	header map[string]string // said beside
}

// parties are all kinds of callers. Only the names of those who may do something appear in the table of
// the test.
func (c *court) parties(t *testing.T) []party {
	t.Helper()
	of := func(id pki.Identity) *tls.Config { return id.Client("", pki.Controller) }
	client := func(name string) *tls.Config { return of(c.issue(t, pki.Client, name)) }
	strangers, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := strangers.Issue(pki.Client, "foreign")
	if err != nil {
		t.Fatal(err)
	}
	unverified := of(foreign)
	unverified.InsecureSkipVerify, unverified.VerifyConnection = true, nil
	bare := client("admin")
	bare.Certificates = nil
	expired, err := c.ca.IssueUntil(time.Now().Add(-30*time.Second), 20*time.Second, pki.Client,
		"expired", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	revoked := c.issue(t, pki.Client, "revoked")
	if err := c.ca.Revoke(c.revoked(), revoked.Serial(), time.Now()); err != nil {
		t.Fatal(err)
	}
	all := []party{{name: "without a certificate", tls: bare}, {name: "foreign", tls: unverified},
		{name: "expired", tls: of(expired)}, {name: "revoked", tls: of(revoked)}, {name: "local"},
		{name: "replica", tls: of(c.issue(t, pki.Controller, "r1"))}}
	for _, r := range []pki.Role{pki.Switch, pki.Agent} {
		all = append(all, party{name: "a " + string(r), tls: of(c.issue(t, r, "admin"))})
	}
	for _, name := range []string{"nobody", "viewer", "tenant", "other", "operator", "admin", "configured"} {
		all = append(all, party{name: name, tls: client(name)},
			party{"forwarded " + name, of(c.issue(t, pki.Controller, "r1")),
				map[string]string{forwarded: "r1", onBehalf: "client/" + name}},
			party{"forging " + name, client("nobody"),
				map[string]string{forwarded: "r1", onBehalf: "client/" + name}},
			party{"forging half " + name, client("nobody"), map[string]string{onBehalf: "client/" + name}})
	}
	return append(all,
		party{"a forger as replica", client("admin"), map[string]string{forwarded: "r1"}},
		party{"local forging", nil, map[string]string{onBehalf: "client/admin"}},
		party{"one replica as another", of(c.issue(t, pki.Controller, "r1")),
			map[string]string{forwarded: "r0", onBehalf: "client/admin"}},
		party{"a replica for a replica", of(c.issue(t, pki.Controller, "r1")),
			map[string]string{forwarded: "r1", onBehalf: "replica/r1"}},
		party{"forwarded relay", of(c.issue(t, pki.Controller, "r1")), map[string]string{forwarded: "r1"}})
}

// caller returns a client of replica i that calls as p.
func (c *court) caller(t *testing.T, p party, i int) apiv1connect.ControllerClient {
	caller, hangUp := c.dial(p, i)
	t.Cleanup(hangUp)
	return caller
}

func (c *court) dial(p party, i int) (caller apiv1connect.ControllerClient, hangUp func()) {
	h, base := DialLocal(c.sockets[i]).http, "http://local"
	if p.tls != nil {
		h, base = httpClient(p.tls), "https://"+c.addrs[i]
	}
	return newCaller(&http.Client{Transport: saying{p.header, h.Transport}}, base), h.CloseIdleConnections
}

// saying adds headers to what is sent.
type saying struct {
	header map[string]string
	next   http.RoundTripper
}

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	for k, v := range s.header {
		r.Header.Set(k, v)
	}
	return s.next.RoundTrip(r)
}

// stream reads a stream to its end.
func stream[M any](s *connect.ServerStreamForClient[M], err error) error {
	if err != nil {
		return err
	}
	for s.Receive() {
	}
	return errors.Join(s.Err(), s.Close())
}

// procedures says of each call who may make it, and makes it: job 0 and reservation 7 are of the party
// "tenant".
func procedures() map[string]struct {
	may  string
	call func(context.Context, apiv1connect.ControllerClient, string) error
} {
	type row = struct {
		may  string
		call func(context.Context, apiv1connect.ControllerClient, string) error
	}
	return map[string]row{
		"Status": {"viewer tenant other operator admin configured local replica relay", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.Status(ctx, connect.NewRequest(&apiv1.StatusRequest{Read: &apiv1.Read{Linearizable: true}}))
			return err
		}},
		"Bandwidth": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.Bandwidth(ctx, connect.NewRequest(&apiv1.BandwidthRequest{Pairs: []*apiv1.HostPair{{}}}))
			return err
		}},
		"State": {"viewer operator admin configured local replica relay", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			return stream(c.State(ctx, connect.NewRequest(&apiv1.StateRequest{})))
		}},
		"Events": {"viewer operator admin configured local",
			func(ctx context.Context, c apiv1connect.ControllerClient,
				_ string) error {
				return stream(c.Events(ctx, connect.NewRequest(&apiv1.EventsRequest{})))
			}},
		"GetFabric": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.GetFabric(ctx, connect.NewRequest(&apiv1.GetFabricRequest{}))
			return err
		}},
		"ApplyFabric": {"operator admin configured local",
			func(ctx context.Context, c apiv1connect.ControllerClient,
				_ string) error {
				_, err := c.ApplyFabric(ctx, connect.NewRequest(&apiv1.ApplyFabricRequest{}))
				return err
			}},
		"GetJob": {"viewer tenant operator admin configured local replica relay", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.GetJob(ctx, connect.NewRequest(&apiv1.GetJobRequest{}))
			return err
		}},
		"ListJobs": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ListJobs(ctx, connect.NewRequest(&apiv1.ListJobsRequest{}))
			return err
		}},
		"WatchJobs": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			return stream(c.WatchJobs(ctx, connect.NewRequest(&apiv1.WatchJobsRequest{})))
		}},
		"SubmitJobs": {"tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, request string) error {
			_, err := c.SubmitJobs(ctx, connect.NewRequest(&apiv1.SubmitJobsRequest{RequestId: request,
				Jobs: []*apiv1.Job{jobToWire(coflow("a"))}}))
			return err
		}},
		"Reserve": {"tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, request string) error {
			_, err := c.Reserve(ctx, connect.NewRequest(&apiv1.ReserveRequest{RequestId: request, Rate: 1}))
			return err
		}},
		"Cancel": {"tenant operator admin configured local",
			func(ctx context.Context, c apiv1connect.ControllerClient,
				_ string) error {
				_, err := c.Cancel(ctx, connect.NewRequest(&apiv1.CancelRequest{}))
				return err
			}},
		"Release": {"tenant operator admin configured local",
			func(ctx context.Context, c apiv1connect.ControllerClient,
				_ string) error {
				_, err := c.Release(ctx, connect.NewRequest(&apiv1.ReleaseRequest{Id: 7}))
				return err
			}},
		"CreateSlice": {"tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, request string) error {
			_, err := c.CreateSlice(ctx, connect.NewRequest(&apiv1.CreateSliceRequest{RequestId: request, Name: "n",
				Shape: "4x4x4"}))
			return err
		}},
		"DeleteSlice": {"tenant operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.DeleteSlice(ctx, connect.NewRequest(&apiv1.DeleteSliceRequest{Name: "t"}))
			return err
		}},
		"DefragmentSlices": {"operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.DefragmentSlices(ctx, connect.NewRequest(&apiv1.DefragmentSlicesRequest{Shape: "4x4x4"}))
			return err
		}},
		"GetSlice": {"viewer tenant operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.GetSlice(ctx, connect.NewRequest(&apiv1.GetSliceRequest{Name: "t"}))
			return err
		}},
		"ListSlices": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ListSlices(ctx, connect.NewRequest(&apiv1.ListSlicesRequest{}))
			return err
		}},
		"WatchSlices": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			in, err := c.WatchSlices(ctx, connect.NewRequest(&apiv1.WatchSlicesRequest{}))
			if err != nil {
				return err
			}
			defer in.Close() // it has no end of its own
			in.Receive()
			return in.Err()
		}},
		"ListReservations": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ListReservations(ctx, connect.NewRequest(&apiv1.ListReservationsRequest{}))
			return err
		}},
		"CheckWiring": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.CheckWiring(ctx, connect.NewRequest(&apiv1.WiringRequest{What: WirePlan}))
			return err
		}},
		"Wire": {"tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.Wire(ctx, connect.NewRequest(&apiv1.WiringRequest{What: WireApply}))
			return err
		}},
		"ListLeases": {"viewer tenant other operator admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ListLeases(ctx, connect.NewRequest(&apiv1.ListLeasesRequest{}))
			return err
		}},
		"SetAccess": {"admin configured local", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.SetAccess(ctx, connect.NewRequest(&apiv1.SetAccessRequest{
				Grant: &apiv1.Grant{Name: "new", Access: "viewer"}}))
			return err
		}},
		"ListAccess": {"operator admin configured local",
			func(ctx context.Context, c apiv1connect.ControllerClient,
				_ string) error {
				_, err := c.ListAccess(ctx, connect.NewRequest(&apiv1.ListAccessRequest{}))
				return err
			}},
		"Members": {"viewer operator admin configured local replica relay", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.Members(ctx, connect.NewRequest(&apiv1.MembersRequest{}))
			return err
		}},
		"ChangeMembers": {"admin configured local replica relay", func(ctx context.Context,
			c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ChangeMembers(ctx, connect.NewRequest(&apiv1.ChangeMembersRequest{Change: RemoveMember,
				Member: &apiv1.Member{Id: "x"}}))
			return err
		}},
		"ReadIndex": {"replica relay", func(ctx context.Context, c apiv1connect.ControllerClient, _ string) error {
			_, err := c.ReadIndex(ctx, connect.NewRequest(&apiv1.ReadIndexRequest{}))
			return err
		}},
	}
}

// TestWhoMayCallWhat: every call of the service's descriptor × every kind of caller × the leader and
// another replica. A call without a line in the table fails, and so does one without a rule. What is
// denied changes nothing.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	parties := c.parties(t)
	c.reload(t)
	methods := apiv1.File_api_proto.Services().ByName("Controller").Methods()
	table, all := procedures(), rules()
	tried, denied, n := 0, 0, 0
	callers := make([][2]apiv1connect.ControllerClient, len(parties)) // a handshake for each, and not for each call
	for k, p := range parties {
		for i := range callers[k] {
			caller, hangUp := c.dial(p, i)
			defer hangUp()
			callers[k][i] = caller
		}
	}
	for m := range methods.Len() {
		name := string(methods.Get(m).Name())
		row, ok := table[name]
		if _, ruled := all["/lightloom.v1.Controller/"+name]; !ok || !ruled {
			t.Errorf("call %s: it has a line in this table: %v, a rule in rules.go: %v", name, ok, ruled)
			continue
		}
		may := strings.Fields(row.may)
		for k, p := range parties {
			who, passed := strings.CutPrefix(p.name, "forwarded ")
			for i, at := range []string{"leader", "follower"} {
				if passed && i > 0 {
					continue // r1 forwards to r0
				}
				n++
				before := c.count()
				err := row.call(within(t, hanging), callers[k][i], fmt.Sprint("request", n))
				for range 2 { // a machine that stands still for a second loses connections
					if connect.CodeOf(err) == connect.CodeUnavailable {
						err = row.call(within(t, hanging), callers[k][i], fmt.Sprint("request", n))
					}
				}
				want := slices.Contains(may, who)
				if tried++; !want {
					denied++
				}
				if (err == nil) != want {
					t.Errorf("%s by %s at the %s: %v", name, p.name, at, err)
				}
				if !want && c.count() != before {
					t.Errorf("%s by %s at the %s is denied and changes something", name, p.name, at)
				}
			}
		}
	}
	t.Logf("%d calls, %d of them denied", tried, denied)
}

// TestWhoReplacesDevices: admins alone, at any replica: a record has secrets of the replicas sent to an
// address.
func TestWhoReplacesDevices(t *testing.T) {
	c := newCourt(t)
	parties := c.parties(t)
	c.reload(t)
	device, rack := []string{"name: tor0"}, []*apiv1.Rack{{}}
	for _, f := range []*apiv1.FabricDescription{{Devices: device}, {Racks: rack},
		{Devices: device, Racks: rack}} {
		for _, p := range parties {
			who, _ := strings.CutPrefix(p.name, "forwarded ")
			want := slices.Contains([]string{"admin", "configured", "local"}, who)
			before := c.count()
			caller, hangUp := c.dial(p, 0)
			_, err := caller.ApplyFabric(within(t, hanging),
				connect.NewRequest(&apiv1.ApplyFabricRequest{Fabric: f}))
			hangUp()
			if (err == nil) != want || !want && c.count() != before {
				t.Errorf("%s, %v: %v", p.name, f, err)
			}
		}
	}
}

// TestTenantsStayApart: a tenant's job and reservation have its name and no other, whatever it says,
// and another's request id is not answered with the other's job.
func TestTenantsStayApart(t *testing.T) {
	c := newCourt(t)
	for i := range 2 {
		other := c.caller(t, party{name: "other",
			tls: c.issue(t, pki.Client, "other").Client("", pki.Controller)}, i)
		job := func(user string) *apiv1.Job {
			w := jobToWire(coflow("a"))
			w.User = user
			return w
		}
		submit := func(request, user string) error {
			_, err := other.SubmitJobs(within(t, hanging),
				connect.NewRequest(&apiv1.SubmitJobsRequest{RequestId: request,
					Jobs: []*apiv1.Job{job(user)}}))
			return err
		}
		reserve := func(request, owner string) error {
			_, err := other.Reserve(within(t, hanging),
				connect.NewRequest(&apiv1.ReserveRequest{RequestId: request, Rate: 1,
					Owner: owner}))
			return err
		}
		list := func(user string) error {
			_, err := other.ListJobs(within(t, hanging), connect.NewRequest(&apiv1.ListJobsRequest{
				Filter: &apiv1.JobFilter{User: user}}))
			return err
		}
		for name, err := range map[string]error{
			"list another's": list("tenant"), "submit as another": submit("a", "tenant"),
			"submit another's request": submit("the tenant's", ""),
			"reserve as another": reserve("a",
				"tenant"), "reserve by another's request": reserve("the tenant's", ""),
		} {
			if CodeOf(decode(err)) != Denied {
				t.Errorf("%s: %v", name, err)
			}
		}
		var seen []*apiv1.JobInfo
		if page, err := other.ListJobs(within(t, hanging),
			connect.NewRequest(&apiv1.ListJobsRequest{})); err != nil {
			t.Error(err)
		} else {
			seen = page.Msg.Jobs
		}
		watch, err := other.WatchJobs(within(t, hanging), connect.NewRequest(&apiv1.WatchJobsRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		for watch.Receive() {
			seen = append(seen, watch.Msg().Jobs...)
		}
		if err := errors.Join(watch.Err(), watch.Close()); err != nil || len(seen) != 4*i {
			t.Errorf("%d jobs are read, %v", len(seen), err)
		}
		for _, j := range seen {
			if j.User != "other" {
				t.Errorf("job %d of %q is read", j.Id, j.User)
			}
		}
		if err := errors.Join(submit(fmt.Sprint("b", i), ""), submit(fmt.Sprint("c", i), "other"),
			reserve(fmt.Sprint("d", i), "")); err != nil {
			t.Error(err)
		}
		held, err := other.ListReservations(within(t, hanging),
			connect.NewRequest(&apiv1.ListReservationsRequest{}))
		if err != nil || len(held.Msg.Reservations) != i+1 {
			t.Errorf("reservations: %v, %v", held, err)
			continue
		}
		for _, r := range held.Msg.Reservations {
			if r.Owner != "other" {
				t.Errorf("reservation %d of %q is read", r.Id, r.Owner)
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, owner := range c.jobs {
		if owner != "other" && id != 0 {
			t.Errorf("job %d is of %q", id, owner)
		}
	}
	for id, owner := range c.held {
		if owner != "other" && id != 7 {
			t.Errorf("reservation %d is of %q", id, owner)
		}
	}
}

// TestGrantsTakeEffect: a grant counts at a replica that has not heard of it when the call comes, and a
// certificate that is revoked counts for nothing, also on a connection that is open.
func TestGrantsTakeEffect(t *testing.T) {
	c := newCourt(t)
	c.late["viewer"] = true
	viewer := c.caller(t, party{name: "viewer",
		tls: c.issue(t, pki.Client, "viewer").Client("", pki.Controller)}, 1)
	if err := procedures()["Status"].call(within(t, hanging), viewer, ""); err != nil {
		t.Errorf("right after the grant: %v", err)
	}
	id := c.issue(t, pki.Client, "admin")
	admin := c.caller(t, party{name: "admin", tls: id.Client("", pki.Controller)}, 1)
	status := func() error { return procedures()["Status"].call(within(t, hanging), admin, "") }
	if err := status(); err != nil {
		t.Fatal(err)
	}
	if err := c.ca.Revoke(c.revoked(), id.Serial(), time.Now()); err != nil {
		t.Fatal(err)
	}
	c.reload(t)
	if err := status(); CodeOf(decode(err)) != Denied {
		t.Errorf("revoked, on an open connection: %v", err)
	}
}

// TestAudit: the replica that is called and the leader both record who, what, and how it ended; a read
// is not recorded, but counted like all calls.
func TestAudit(t *testing.T) {
	c := newCourt(t)
	tenant := c.caller(t, party{name: "tenant",
		tls: c.issue(t, pki.Client, "tenant").Client("", pki.Controller)}, 1)
	viewer := c.caller(t, party{name: "viewer",
		tls: c.issue(t, pki.Client, "viewer").Client("", pki.Controller)}, 0)
	for _, call := range []string{"Status", "Cancel"} {
		if err := procedures()[call].call(within(t, hanging), tenant, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := procedures()["Cancel"].call(within(t, hanging), viewer, ""); CodeOf(decode(err)) != Denied {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.records {
		if c.records[i].At.IsZero() {
			t.Error("a record has no time")
		}
		c.records[i].At = time.Time{}
	}
	want := []AuditRecord{
		{Caller: "client/tenant", Via: "r1", Call: "Cancel", What: "job 0", Result: "ok", Index: 9},
		{Caller: "client/tenant", Call: "Cancel", What: "job 0", Result: "ok", Index: 9},
		{Caller: "client/viewer", Call: "Cancel", Result: "denied"},
	}
	if !slices.Equal(c.records, want) {
		t.Errorf("recorded\n%+v\nwant\n%+v", c.records, want)
	}
	slices.Sort(c.answers)
	if want := []string{"Cancel denied false", "Cancel ok true", "Cancel ok true", "ReadIndex ok true",
		"Status ok true"}; !slices.Equal(
		c.answers, want) {
		t.Errorf("answered %q, want %q", c.answers, want)
	}
}

// grants are what clients are granted; those whose grant was taken back are missing.
type grants map[string]controller.Access

func (g grants) Access(name string) controller.Access              { return g[name] }
func (grants) Grants() []controller.Grant                          { return nil }
func (grants) Grant(context.Context, controller.Grant) (err error) { return err }

// TestReads: who may read whose jobs. Nothing is read by a caller whose grant is taken back between
// admission and the read.
func TestReads(t *testing.T) {
	s := &Server{cfg: Config{Callers: Callers{Granter: grants{"ann": controller.Tenant,
		"bob": controller.Viewer}}}}
	for _, tc := range []struct {
		who    Caller
		want   string
		denied bool
	}{
		{Caller{Kind: byClient, Name: "ann"}, "ann", false},
		{Caller{Kind: byClient, Name: "bob"}, "", false},
		{Caller{Kind: byLocal, Name: "0"}, "", false},
		{Caller{Kind: byClient, Name: "gone"}, "", true},
		{Caller{}, "", true},
	} {
		user, err := s.reads(context.WithValue(t.Context(), callerKey{}, tc.who))
		if user != tc.want || tc.denied != (CodeOf(err) == Denied) {
			t.Errorf("%v reads of %q, %v", tc.who, user, err)
		}
	}
}
