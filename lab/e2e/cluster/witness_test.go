package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd"
	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/guard"
	"lightloom/southbound/hostagent"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// witness stands before every switch and the agent of a lab, and notes which calls of which leaders
// they have taken. They fence on calls that write alone: reads carry no election id.
type witness struct {
	mu     sync.Mutex
	reign  uint64               // upper half of the election id of the leader that has taken over
	taken  map[string]int       // calls that write, by door, each accepted
	first  map[uint64]time.Time // when the first one of a leader was answered
	all    map[uint64]time.Time // and when every switch had answered one of it
	doors  map[uint64]map[string]bool
	refuse int      // calls of former leaders that were refused
	stale  []string // and those that were accepted
	spoil  float64  // the share of answers that are spoilt
	spoilt int
	r      *rand.Rand
	news   chan struct{} // closed and replaced at each note
}

func newWitness() *witness {
	return &witness{taken: map[string]int{}, first: map[uint64]time.Time{}, all: map[uint64]time.Time{},
		doors: map[uint64]map[string]bool{}, r: rand.New(rand.NewPCG(1, 90)), news: make(chan struct{})}
}

// election returns the upper half of the election id of a call that writes; 0 for others.
func election(method string, frame []byte) uint64 {
	switch name := method[strings.LastIndex(method, "/")+1:]; name {
	case "Set":
		var m gpb.SetRequest
		if proto.Unmarshal(frame, &m) != nil {
			return 0
		}
		for _, e := range m.GetExtension() {
			if x, ok := e.GetExt().(*gnmi_ext.Extension_MasterArbitration); ok {
				return x.MasterArbitration.GetElectionId().GetHigh()
			}
		}
	case "Run", "Start", "Steer", "SetRates", "Regard", "Ack":
		var m agentpb.StatusRequest // all of them begin with the election
		if proto.Unmarshal(frame, &m) != nil {
			return 0
		}
		return m.GetElection().GetHigh()
	}
	return 0
}

// came returns the leader that had taken over when a call came.
func (w *witness) came() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reign
}

// note notes a call that wrote, of a leader, and that came while another may have been the last to take
// over.
func (w *witness) note(door, method string, leader, reign uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && leader < reign:
		w.refuse++
	case err != nil:
	case leader < reign:
		w.stale = append(w.stale, fmt.Sprintf("%s has taken %s of %x after %x took over", door, method,
			leader, reign))
	default:
		w.taken[door]++
	}
	if err != nil {
		return
	}
	now := time.Now()
	if _, ok := w.first[leader]; !ok {
		w.first[leader] = now
		w.doors[leader] = map[string]bool{}
	}
	if method == "/gnmi.gNMI/Set" {
		if w.doors[leader][door] = true; len(w.doors[leader]) == len(labSwitches) && w.all[leader].IsZero() {
			w.all[leader] = now
		}
	}
	close(w.news)
	w.news = make(chan struct{})
}

// tookOver says that a leader has claimed and read back all.
func (w *witness) tookOver(leader uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reign = max(w.reign, leader)
}

// answered waits until every switch has answered a leader later than one, and returns when the first
// and the last did.
func (w *witness) answered(ctx context.Context, after uint64) (leader uint64, first,
	last time.Time, err error) {
	for {
		w.mu.Lock()
		news := w.news
		for x, at := range w.all {
			if x > after && x > leader {
				leader, first, last = x, w.first[x], at
			}
		}
		w.mu.Unlock()
		if leader > 0 {
			return leader, first, last, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return 0, first, last, context.Cause(ctx)
		}
	}
}

// spoiled returns an answer, now and then with some of its bytes changed, cut off or doubled.
func (w *witness) spoiled(b []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r.Float64() >= w.spoil {
		return b
	}
	w.spoilt++
	b = append([]byte(nil), b...)
	switch n := len(b); {
	case n == 0:
		return []byte{byte(w.r.IntN(256))}
	case w.r.IntN(4) == 0:
		return b[:w.r.IntN(n)]
	case w.r.IntN(4) == 0:
		return append(b, b...)
	}
	for range 1 + w.r.IntN(4) {
		b[w.r.IntN(len(b))] = byte(w.r.IntN(256))
	}
	return b
}

// frames is a codec that leaves messages as they are.
type frames struct{}

func (frames) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (frames) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (frames) Name() string { return "proto" }

// stand has the witness pass on the calls to one door: what comes at l, over TLS, to conn.
func (w *witness) stand(t *testing.T, door string, l net.Listener, id pki.Identity, conn *grpc.ClientConn) {
	pass := func(_ any, in grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(in)
		ctx, cancel := context.WithCancel(in.Context())
		defer cancel()
		out, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
		if err != nil {
			return err
		}
		var ask []byte
		if err := in.RecvMsg(&ask); err != nil {
			return err
		}
		leader, reign := election(method, ask), w.came()
		if err := out.SendMsg(&ask); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		go func() {
			var more []byte
			for in.RecvMsg(&more) == nil && out.SendMsg(&more) == nil {
			}
			_ = out.CloseSend()
		}()
		var answer []byte
		err = out.RecvMsg(&answer)
		if leader > 0 {
			w.note(door, method, leader, reign, err)
		}
		for ; err == nil; err = out.RecvMsg(&answer) {
			answer = w.spoiled(answer)
			if err := in.SendMsg(&answer); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if s, ok := status.FromError(err); ok && s.Code() != codes.OK {
			return s.Err()
		}
		return err
	}
	srv := grpc.NewServer(grpc.Creds(guard.Credentials()), grpc.ForceServerCodec(frames{}),
		grpc.UnknownServiceHandler(pass))
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(guard.New(l, guard.Config{TLS: guard.GRPC(id.Server(pki.Controller)),
			Logger: slog.New(slog.DiscardHandler)}))
	}()
	t.Cleanup(func() {
		srv.Stop()
		<-served
		conn.Close()
	})
}

const labFabric = "hybrid:racks=3,hosts=1,spines=2,nic=1Gbps,eps=500Mbps,ocs=1Gbps,dark=5ms"

// labSwitches are the switches of labFabric.
var labSwitches = []string{"tor0", "tor1", "tor2", "spine0", "spine1", "ocs"}

// lab is a cluster of three replicas as processes, whose switches and agent are in this one, behind a
// witness. Switches move no packets, and hosts send each other bytes over loopback.
type lab struct {
	*machines
	*witness
	fabric   *topo.Fabric
	switches map[string]*switchd.Switch
	stops    string // the directory by which replicas learn where to stop
}

// newLab starts one. Its replicas stop where files in stops say so, and leave out claims if they are
// told to.
func newLab(t *testing.T, env ...string) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "lab") // short, as names of Unix sockets must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text := "devices:\n"
	for _, name := range labSwitches {
		text += fmt.Sprintf("  %s: unix:%s/%s\n", name, dir, name)
	}
	text += "agents:\n"
	for h := range 3 {
		text += fmt.Sprintf("  h%d-0: unix:%s/agent\n", h, dir)
	}
	l := &lab{witness: newWitness(), switches: map[string]*switchd.Switch{},
		stops: filepath.Join(dir, "stops")}
	if err := os.Mkdir(l.stops, 0o700); err != nil {
		t.Fatal(err)
	}
	l.machines = foundedOn(t, "lightloom", labFabric, text, "--agents", "--policy", "random+ecmp+sunflow")
	if l.program, err = os.Executable(); err != nil { // which stops where it is told to
		t.Fatal(err)
	}
	l.env = append(env, stopsEnv+"="+l.stops)
	spec, err := topo.ParseSpec(labFabric)
	if err != nil {
		t.Fatal(err)
	}
	if l.fabric, err = topo.New(spec); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	begun := time.Now()
	for i, node := range l.fabric.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		l.openSwitch(ctx, &running, dir, southbound.DeviceID(i), begun)
	}
	l.openAgent(ctx, &running, dir)
	for _, name := range l.names {
		l.start(name)
	}
	return l
}

func (l *lab) listen(path string) net.Listener {
	l.t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		l.t.Fatal(err)
	}
	return ln
}

// own is the identity of a switch or an agent.
func (l *lab) own(name string) pki.Identity {
	l.t.Helper()
	id, err := inventory.ReadKeys(l.dir, name)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

func (l *lab) openSwitch(ctx context.Context, running *sync.WaitGroup, dir string, id southbound.DeviceID,
	begun time.Time) {
	name := l.fabric.Topology.Node(id).Name
	clock := func() time.Duration { return time.Since(begun) }
	c := device.Config{ID: id, Name: name, Kind: device.Packet, Racks: int32(len(l.fabric.ToRNode)),
		Ports: l.fabric.Topology.Ports(id), Clock: clock,
		Delays: device.Delays{Dark: device.Fixed(5 * time.Millisecond)}}
	if id == l.fabric.OCSNode {
		c.Kind = device.Optical
	}
	c.Plane = mem.New(c.Ports, clock)
	s := switchd.New(switchd.Config{Device: c})
	behind := filepath.Join(dir, name+".behind")
	if err := s.Open(l.listen(behind), pki.Identity{}, target.Config{Start: begun, Strict: true}); err != nil {
		l.t.Fatal(err)
	}
	l.switches[name] = s
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			l.t.Error(err)
		}
		s.Close()
	})
	conn, err := grpc.NewClient("unix:"+behind, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(frames{})))
	if err != nil {
		l.t.Fatal(err)
	}
	l.stand(l.t, name, l.listen(filepath.Join(dir, name)), l.own(name), conn)
}

// inThisProcess is where the sockets of the lab's hosts are made.
type inThisProcess struct{}

func (inThisProcess) InHost(_ southbound.HostID, do func() error) error { return do() }

func (l *lab) openAgent(ctx context.Context, running *sync.WaitGroup, dir string) {
	conf := hostagent.ForFabric(l.fabric)
	conf.Addr = func(southbound.HostID) netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }
	conf.Net = inThisProcess{}
	a, err := hostagent.New(conf)
	if err != nil {
		l.t.Fatal(err)
	}
	id, behind := l.own("h0-0"), filepath.Join(dir, "agent.behind")
	ln := l.listen(behind)
	running.Go(func() {
		if err := errors.Join(a.Serve(ctx, ln, id.Server(pki.Controller)), a.Close()); err != nil {
			l.t.Error(err)
		}
	})
	etc := filepath.Join(l.dir, "c0", "etc")
	by, err := pki.Files{Cert: filepath.Join(etc, "cert.pem"), Key: filepath.Join(etc, "key.pem"),
		CA: filepath.Join(etc, "ca.pem")}.Read()
	if err != nil {
		l.t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:agent", grpc.WithTransportCredentials(credentials.NewTLS(
		guard.GRPC(by.Client("h0-0", pki.Agent)))), grpc.WithDefaultCallOptions(grpc.ForceCodec(frames{})),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", behind)
		}))
	if err != nil {
		l.t.Fatal(err)
	}
	l.stand(l.t, "agent", l.listen(filepath.Join(dir, "agent")), id, conn)
}

// light cuts the cable between the first ToR and a spine, or mends it.
func (l *lab) light(spine int, lit bool) {
	f := l.fabric
	for n := range pathmap.NodeID(len(f.Topology.Nodes())) {
		for _, k := range f.Topology.Out(n) {
			x := f.Topology.Link(k)
			from, to := f.Topology.Node(x.From).Name, f.Topology.Node(x.To).Name
			if s := fmt.Sprint("spine", spine); from == "tor0" && to == s || from == s && to == "tor0" {
				l.switches[from].Door.Light(southbound.Port(x.FromPort), lit)
			}
		}
	}
}
