package gnmi

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/pki"
)

// Election is an election id: the client with the largest one can write; see Less.
type Election struct{ High, Low uint64 }

// Less reports whether e is smaller than o.
func (e Election) Less(o Election) bool { return e.High < o.High || e.High == o.High && e.Low < o.Low }

// Config is how to reach one device.
type Config struct {
	Name    string // in errors
	Addr    string // host:port
	Device  southbound.DeviceID
	Profile Profile
	// Choose are the profiles that the device can have, where Profile is nil: the first that fits its
	// Capabilities is it.
	Choose []Profile
	TLS    *tls.Config // nil: plaintext, and only to a loopback address with Plaintext set

	Plaintext bool
	Login     *Login // sent with every call, over TLS only; nil: none

	// Election gives the id that every Set carries; nil sends none. It is asked once a Set.
	Election func() Election
	// SendRole adds an empty role to the id: required by the specification's text and refused by SONiC.
	SendRole bool
	// Role is the role whose id it is, of those that a device arbitrates between one by one; empty: the
	// controller's.
	Role string

	// Trust takes the profile as fitting where the device does not implement Capabilities.
	Trust bool

	// Start is the instant 0 of the fabric on the device's wall clock, for DeviceEvent.At; zero: events
	// carry no time.
	Start time.Time

	Timeout   time.Duration // of one Set, Get or Capabilities whose context has no deadline; 0 means 5 s
	Keepalive time.Duration // of an idle connection; 0 means 10 s, below which servers say too_many_pings
	MaxBytes  int           // of one message; 0 means 16 MiB
	// Turns has room for as many sessions as write a table or read a large answer at a time. It is shared by the
	// sessions of a process, which would else hold the tables of all devices in several forms at once; nil: any number.
	Turns   chan struct{}
	Poll    time.Duration // between two reads of what a device can not stream; 0 means 1 s
	Changes *Changes      // shared by sessions that follow each other at one device; nil: this is the only one
}

// StreamWindow and ConnWindow are the HTTP/2 flow-control windows, in bytes, of a stream and of a
// connection. They are fixed: within a building they exceed the bandwidth-delay product, and adapting
// them costs a ping and its answer for every request on an idle connection.
const (
	StreamWindow = 256 << 10
	ConnWindow   = 1 << 20
)

const (
	defaultTimeout   = 5 * time.Second
	defaultKeepalive = 10 * time.Second
	defaultMaxBytes  = 16 << 20
	defaultPoll      = time.Second
)

// Session is a device behind gNMI. It is safe for several goroutines: Sets go out one after the other,
// in the order of the calls.
type Session struct {
	cfg    Config
	conn   *grpc.ClientConn
	client gpb.GNMIClient
	model  *schema.Model

	turn   chan struct{} // one token: the queue of Sets
	writer Writer        // by the holder of the turn; nil: what the device holds must be read first

	rules bareness // whether it needs no deletes

	mu        sync.Mutex
	stale     bool            // something happened after which nothing that is known of the device's configuration holds
	reread    bool            // the device has been read back since the last Set
	misplaced []misplacedRule // rules that stand elsewhere than they should, as last read
	known     map[string]pair // the circuits that a writer of them knows, nil before its first change; never written to
}

var _ southbound.Device = (*Session)(nil)

// Dial connects to a device and checks that the profile fits it. It waits for a device that is not there yet, but not
// with a certificate that has expired. ctx bounds Dial, not the session.
func Dial(ctx context.Context, cfg Config) (*Session, error) {
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("dial device %q: %w", cfg.Name, err)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, expired := pki.Expired(cfg.TLS, time.Now())
	caps, err := s.client.Capabilities(ctx, &gpb.CapabilityRequest{}, grpc.WaitForReady(!expired))
	switch {
	case err == nil && cfg.Profile == nil:
		err = s.choose(ctx, caps)
	case err == nil:
		err = cfg.Profile.Check(caps)
	case cfg.Trust && cfg.Profile != nil && status.Code(err) == codes.Unimplemented:
		err = nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dial device %q at %s: %w", cfg.Name, cfg.Addr,
			explain(err)), s.conn.Close())
	}
	return s, nil
}

func open(cfg Config) (*Session, error) {
	if cfg.Profile == nil && len(cfg.Choose) == 0 {
		return nil, errors.New("no profile")
	}
	cfg = cfg.defaults()
	conn, err := connect(cfg)
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, conn: conn, client: gpb.NewGNMIClient(conn), turn: make(chan struct{}, 1)}
	s.rules.changes = cmp.Or(cfg.Changes, new(Changes))
	if cfg.Profile != nil {
		s.model = cfg.Profile.Model()
	}
	return s, nil
}

// choose takes the first profile that fits what a device says it is and, among those of one model, what
// it holds.
func (s *Session) choose(ctx context.Context, c *gpb.CapabilityResponse) error {
	fit := slices.DeleteFunc(slices.Clone(s.cfg.Choose), func(p Profile) bool { return p.Check(c) != nil })
	if len(fit) == 0 {
		var names []string
		for _, m := range c.GetSupportedModels() {
			names = append(names, m.GetName())
		}
		return fmt.Errorf("no profile fits: the device speaks %s: %w", strings.Join(names, ", "),
			southbound.ErrUnsupported)
	}
	s.cfg.Profile = fit[0]
	s.model = fit[0].Model()
	for _, p := range fit {
		tell, ok := Base(p).(Identifying)
		if _, first := Base(fit[0]).(Identifying); !ok || !first {
			break
		}
		s.model = p.Model()
		if leaves, err := s.getOnce(ctx, []schema.Path{tell.IdentifyingPath()},
			gpb.GetRequest_ALL); err == nil && len(leaves) > 0 {
			s.cfg.Profile = p
			break
		}
		s.model = fit[0].Model()
	}
	return nil
}

// Profile returns the profile that the session speaks.
func (s *Session) Profile() Profile { return s.cfg.Profile }

// Connect opens what a Session would, without a profile: for tools that ask a device what it is. It
// waits for nothing.
func Connect(cfg Config) (*grpc.ClientConn, error) {
	conn, err := connect(cfg.defaults())
	if err != nil {
		return nil, fmt.Errorf("connect to device %q: %w", cfg.Name, err)
	}
	return conn, nil
}

func (cfg Config) defaults() Config {
	cfg.Timeout = orDefault(cfg.Timeout, defaultTimeout)
	cfg.Keepalive = orDefault(cfg.Keepalive, defaultKeepalive)
	cfg.Poll = orDefault(cfg.Poll, defaultPoll)
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	return cfg
}

func connect(cfg Config) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	switch {
	case cfg.TLS != nil:
		creds = credentials.NewTLS(cfg.TLS)
	case !cfg.Plaintext:
		return nil, errors.New("no TLS configuration, and plaintext is not asked for")
	case !loopback(cfg.Addr):
		return nil, fmt.Errorf("plaintext to %s: it is taken on loopback addresses only", cfg.Addr)
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: cfg.Keepalive, Timeout: cfg.Timeout,
			PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: cfg.Timeout,
			Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
				MaxDelay: time.Second}}),
		grpc.WithStaticStreamWindowSize(StreamWindow),
		grpc.WithStaticConnWindowSize(ConnWindow),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(cfg.MaxBytes),
			grpc.MaxCallSendMsgSize(cfg.MaxBytes)),
	}
	if cfg.Login != nil {
		opts = append(opts, grpc.WithPerRPCCredentials(cfg.Login))
	}
	return grpc.NewClient("passthrough:///"+cfg.Addr, opts...)
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Close ends the session and every Watch of it.
func (s *Session) Close() error { return s.conn.Close() }

func (s *Session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.cfg.Timeout)
}

// Set implements southbound.Device. An empty change carries the election id and nothing else; see
// Claim. An error that wraps none of southbound's sentinels leaves it open whether the change was
// accepted; the next Set reads the device's configuration first.
func (s *Session) Set(ctx context.Context, c *southbound.Change) error {
	if err := s.inTurn(ctx, func(ctx context.Context) error { return s.set(ctx, c) }); err != nil {
		return fmt.Errorf("set device %q: %w", s.cfg.Name, explain(err))
	}
	return nil
}

// inTurn makes a Set once those called before have been answered.
func (s *Session) inTurn(ctx context.Context, set func(context.Context) error) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("wait for earlier changes: %w", ctx.Err())
	}
	return set(ctx)
}

// set runs while its caller holds the turn. A change can be refused because another client has written:
// then set reads the device's configuration and sends the change once more.
func (s *Session) set(ctx context.Context, c *southbound.Change) error {
	fresh, err := s.readConfig(ctx)
	if err != nil {
		return err
	}
	err = s.send(ctx, c)
	if status.Code(err) != codes.Aborted || fresh {
		return err
	}
	if _, err := s.readConfig(ctx); err != nil {
		return err
	}
	return s.send(ctx, c)
}

func (s *Session) send(ctx context.Context, c *southbound.Change) error {
	c, gone := s.gather(c)
	end := func() {}
	if c.Replace || len(c.Rules) > manyRules {
		var err error
		if end, err = s.takeTurn(ctx); err != nil {
			return err
		}
	}
	number, bare := s.rules.sent()
	if w, ok := s.writer.(*ruleWriter); ok {
		w.bare = bare
	}
	req, err := s.writer.Encode(c)
	end()
	if err != nil {
		return err
	}
	req.Delete = append(gone, req.Delete...)
	if s.cfg.Election != nil {
		req.Extension = append(req.Extension, s.arbitration(s.cfg.Election()))
	}
	resp, err := s.client.Set(ctx, req)
	if err == nil {
		err = failureWithin(resp)
	}
	if err != nil {
		s.distrust()
		return err
	}
	s.rules.accepted(number)
	s.writer.Accepted()
	s.gathered(c)
	written := s.writer
	if r, ok := written.(*renamedWriter); ok {
		written = r.Writer
	}
	if w, ok := written.(circuitKnower); ok {
		s.mu.Lock()
		s.known = w.circuits()
		s.mu.Unlock()
	}
	return nil
}

// takeTurn waits for this session's turn to do what takes much memory and needs no device, and returns what ends it.
func (s *Session) takeTurn(ctx context.Context) (end func(), err error) {
	if s.cfg.Turns == nil {
		return func() {}, nil
	}
	select {
	case s.cfg.Turns <- struct{}{}:
		return func() { <-s.cfg.Turns }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the tables of other devices: %w", ctx.Err())
	}
}

// circuitKnower is a writer that knows which circuits its device is configured to have.
type circuitKnower interface{ circuits() map[string]pair }

// compare looks for a circuit that the writer does not know: another client has made it, and the
// writer's state is stale.
func (s *Session) compare(seen southbound.Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reread = true
	if s.known == nil {
		return
	}
	known := make(map[pair]bool, len(s.known))
	for _, h := range s.known {
		known[h] = true
	}
	for _, c := range seen.Connections {
		if !known[pair{c.In, c.Out}] && c.Status != southbound.PendingDeletion {
			s.stale = true
		}
	}
}

// readConfig makes a writer that knows what the device holds, unless there is one that can be trusted.
func (s *Session) readConfig(ctx context.Context) (fresh bool, err error) {
	s.mu.Lock()
	if s.stale {
		s.stale, s.writer = false, nil
	}
	if r, ok := s.writer.(Rereader); ok && s.reread {
		if !r.Reread() {
			s.writer = nil
		}
	}
	s.reread = false
	s.mu.Unlock()
	if _, first := Base(s.cfg.Profile).(ReadsFirst); s.writer != nil && !first {
		return false, nil
	}
	var config []schema.Leaf
	if paths := s.cfg.Profile.ConfigPaths(); len(paths) > 0 {
		if config, err = s.get(ctx, paths, gpb.GetRequest_ALL); err != nil {
			return false, fmt.Errorf("read configuration: %w", err)
		}
	}
	s.writer = s.cfg.Profile.NewWriter(config)
	return true, nil
}

func (s *Session) distrust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

func (s *Session) arbitration(e Election) *gnmi_ext.Extension {
	m := &gnmi_ext.MasterArbitration{ElectionId: &gnmi_ext.Uint128{High: e.High, Low: e.Low}}
	if s.cfg.SendRole || s.cfg.Role != "" {
		m.Role = &gnmi_ext.Role{Id: s.cfg.Role}
	}
	return &gnmi_ext.Extension{Ext: &gnmi_ext.Extension_MasterArbitration{MasterArbitration: m}}
}

// failureWithin finds what older devices say inside a response that is no error.
func failureWithin(r *gpb.SetResponse) error {
	//nolint:staticcheck // deprecated, and still sent
	if m := r.GetMessage(); m.GetCode() != 0 {
		return status.Error(codes.Code(m.GetCode()), m.GetMessage())
	}
	for _, u := range r.GetResponse() {
		//nolint:staticcheck // deprecated, and still sent
		if m := u.GetMessage(); m.GetCode() != 0 {
			return status.Error(codes.Code(m.GetCode()), m.GetMessage())
		}
	}
	return nil
}

// explain adds the sentinel that a status code stands for.
func explain(err error) error {
	switch status.Code(err) {
	case codes.PermissionDenied:
		return fmt.Errorf("%w: %w", err, southbound.ErrNotLeader)
	case codes.Unimplemented:
		return fmt.Errorf("%w: %w: %w", err, southbound.ErrUnsupported, southbound.ErrRefused)
	case codes.InvalidArgument, codes.NotFound, codes.Aborted:
		return fmt.Errorf("%w: %w", err, southbound.ErrRefused)
	}
	return err
}
