package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	resetpb "github.com/openconfig/gnoi/factory_reset"
	ospb "github.com/openconfig/gnoi/os"
	syspb "github.com/openconfig/gnoi/system"
	"github.com/openconfig/gnsi/certz"
	spb "github.com/openconfig/gribi/v1/proto/service"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target/certd"
	"lightloom/emulator/target/rib"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/guard"
	"lightloom/southbound/lldp"
)

// Config configures how a target serves its device.
type Config struct {
	Door   *device.Door
	Remote Backend   // instead of Door: a switch elsewhere
	Start  time.Time // instant 0 of the device's clock on the wall; timestamps are counted from it

	TLS       *tls.Config // nil: plaintext, and only with Plaintext set and on a loopback address
	Plaintext bool
	Keys      certd.Keys // of TLS, which gNSI's Certz can replace; nil: it is not served
	Login     Login      // over TLS only
	RESTCONF  bool       // of an optical switch: Polatis' model by RESTCONF, and no gNMI

	SONiC   bool   // an optical switch also speaks sonic-ocs, on the same store
	Profile string // one of Profiles of the switch's kind; "" means the first, or sonic-ocs with SONiC

	Like     string               // "" means the specification; or LikeSONiC
	Validate func() time.Duration // how long a Set is validated, with LikeSONiC; nil: no time

	Boot   time.Duration // how long a reboot by gNOI takes, of a switch with a Door; 0 means 1 s
	Images []string      // versions of images that are installed, of which the first runs; empty: gNOI's OS is not served

	RIB *rib.RIB // a packet switch also serves gRIBI, of these tables; nil: it does not

	Settle time.Duration // how long a Set waits, where the model has it answer when all is done; 0 means 5 s

	Strict       bool   // refuse a Set without an election id
	ElectionFile string // keeps the largest election ids over a restart of the target; "" keeps them in memory only

	Limits

	Keepalive time.Duration // of an idle connection, and half of it for an answer; 0 means 10 s, the least is 1 s

	// Neighbors returns the LLDP neighbours; nil means no LLDP. It is called under the target's lock.
	Neighbors func() []lldp.Heard
	// Counts returns the counters of a packet switch, by port; nil means no counters. It is called likewise.
	Counts func() ([]PortCount, error)

	Log *slog.Logger // nil: none
}

// Limits bounds what peers can ask of a target.
type Limits struct {
	MaxBytes       int // of one message; 0 means 16 MiB
	MaxSubscribers int // streams at a time; 0 means 64
	MaxQueue       int // leaves that a subscriber may lag behind before it is cut; 0 means 65,536

	// Turns has room for as many targets as handle a Get or a large Set at a time. It is shared by the targets of a
	// process, which a controller programs all at once; nil: any number.
	Turns chan struct{}
}

const (
	defaultMaxBytes       = 16 << 20
	defaultMaxSubscribers = 64
	defaultMaxQueue       = 1 << 16
	defaultKeepalive      = 10 * time.Second
)

// Target serves gNMI for one device. Make one with New, run it with Serve.
type Target struct {
	gpb.UnimplementedGNMIServer
	cfg    Config
	name   string
	like   *likeSONiC // nil: as the specification says
	wall   wall
	detach func()

	door  Backend
	inbox inbox

	mu    sync.Mutex
	news  chan struct{} // closed, and another one put in its place, when the switch has told something
	front front
	tree  *tree
	down  bool
	arb   *arbiter
	subs  []*subscriber // in the order in which they came

	clients []*ribClient // of gRIBI
	primary *ribClient
	ribArb  *arbiter

	reboot reboot
	image  image
}

// New makes a target for the device behind the door. Close it when it is no longer served.
func New(cfg Config) (*Target, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	if cfg.MaxSubscribers == 0 {
		cfg.MaxSubscribers = defaultMaxSubscribers
	}
	if cfg.MaxQueue == 0 {
		cfg.MaxQueue = defaultMaxQueue
	}
	if cfg.Settle == 0 {
		cfg.Settle = 5 * time.Second
	}
	if cfg.Keepalive == 0 {
		cfg.Keepalive = defaultKeepalive
	}
	if cfg.Boot == 0 {
		cfg.Boot = defaultBoot
	}
	if cfg.SONiC {
		cfg.Profile = "sonic-ocs"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Like != "" && cfg.Like != LikeSONiC {
		return nil, fmt.Errorf("make target: it can be like %q, and not like %q", LikeSONiC, cfg.Like)
	}
	arb, err := newArbiter(cfg.Strict, cfg.ElectionFile)
	if err != nil {
		return nil, fmt.Errorf("make target: %w", err)
	}
	t := &Target{cfg: cfg, arb: arb, wall: wall{cfg.Start},
		inbox: inbox{kick: make(chan struct{}, 1)}, door: cfg.Remote,
		news: make(chan struct{})}
	if cfg.RIB != nil {
		if t.ribArb, err = newArbiter(true, ribFile(cfg.ElectionFile)); err != nil {
			return nil, fmt.Errorf("make target: %w", err)
		}
	}
	if cfg.Like == LikeSONiC {
		t.like = &likeSONiC{validate: cfg.Validate, turn: make(chan struct{}, 1)}
	}
	if t.door == nil {
		t.door = emulated{cfg.Door}
	}
	t.detach = t.door.Attach(device.Tap{
		Event:   func(e southbound.DeviceEvent) { t.inbox.put(happening{event: &e}) },
		Applied: func(a device.Applied) { t.inbox.put(happening{applied: &a}) },
	}, func(now time.Duration, s Switch) { err = t.begin(now, s) })
	if err != nil {
		t.detach()
		return nil, fmt.Errorf("make target: %w", err)
	}
	return t, nil
}

// ribFile is where gRIBI's election ids are kept.
func ribFile(elections string) string {
	if elections == "" {
		return ""
	}
	return elections + ".gribi"
}

// begin fills the tree; it is called under the door's lock.
func (t *Target) begin(now time.Duration, dev Switch) (err error) {
	t.name = dev.Config().Name
	if t.cfg.RIB != nil {
		if dev.Config().Kind != device.Packet {
			return errors.New("gRIBI is of packet switches")
		}
		t.cfg.RIB.Booted(dev)
		dev = hidden{dev, t.cfg.RIB}
	}
	if t.front, err = newFront(dev.Config(), t.wall, t.cfg.Profile); err != nil {
		return err
	}
	t.tree = newTree(t.front.model())
	t.front.load(t.tree, now, dev)
	t.tree.forget()
	t.down = dev.Down(now)
	return nil
}

// Close lets go of the device and ends every subscription.
func (t *Target) Close() {
	t.detach()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelReboot()
	t.cut(status.Error(codes.Unavailable, "the target is closed"))
}

// Serve serves on l until ctx ends, then returns nil; or returns why it could not. It closes l.
func (t *Target) Serve(ctx context.Context, l net.Listener) error {
	opts, err := t.options(l)
	if err != nil {
		return errors.Join(fmt.Errorf("serve target %q: %w", t.name, err), l.Close())
	}
	s := grpc.NewServer(opts...)
	gpb.RegisterGNMIServer(s, t)
	if t.cfg.Door != nil {
		syspb.RegisterSystemServer(s, &system{t: t})
		resetpb.RegisterFactoryResetServer(s, &factoryReset{t: t})
	}
	if t.cfg.Door != nil && len(t.cfg.Images) > 0 {
		ospb.RegisterOSServer(s, &imageServer{t: t})
	}
	if t.cfg.Keys != nil {
		certz.RegisterCertzServer(s, certd.New(t.cfg.Keys))
	}
	if t.cfg.RIB != nil {
		spb.RegisterGRIBIServer(s, &ribServer{t: t})
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { t.follow(ctx) })
	wg.Go(func() {
		<-ctx.Done()
		s.Stop()
	})
	if t.cfg.TLS != nil {
		l = guard.New(l, guard.Config{TLS: guard.GRPC(t.cfg.TLS), Logger: t.cfg.Log})
	}
	err = s.Serve(l)
	stopped := ctx.Err() != nil
	cancel()
	wg.Wait()
	if err != nil && !stopped {
		return fmt.Errorf("serve target %q: %w", t.name, err)
	}
	return nil
}

func (t *Target) options(l net.Listener) ([]grpc.ServerOption, error) {
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(t.cfg.MaxBytes),
		grpc.MaxSendMsgSize(t.cfg.MaxBytes),
		grpc.MaxConcurrentStreams(uint32(2 * t.cfg.MaxSubscribers)),
		grpc.ConnectionTimeout(10 * time.Second),
		// Windows that do not adapt: adapting costs a ping and its answer for every request on an idle connection.
		grpc.StaticStreamWindowSize(gnmi.StreamWindow),
		grpc.StaticConnWindowSize(gnmi.ConnWindow),
		// Goroutines whose stacks have grown already; while all of them serve streams, others are made as ever.
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: t.cfg.Keepalive, Timeout: t.cfg.Keepalive / 2}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	}
	if t.cfg.TLS != nil {
		return append(append(opts, t.cfg.Login.options()...), grpc.Creds(guard.Credentials())), nil
	}
	if t.cfg.Login != (Login{}) {
		return nil, errors.New("credentials are not asked for in plaintext")
	}
	if !t.cfg.Plaintext {
		return nil, errors.New("no TLS configuration, and plaintext is not asked for")
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		return nil, fmt.Errorf("plaintext on %v: it is offered on loopback addresses only", a)
	}
	return opts, nil
}

// follow passes the device's reports between requests to the subscribers.
func (t *Target) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.inbox.kick:
			t.mu.Lock()
			t.catchUp()
			t.mu.Unlock()
		}
	}
}

// catchUp handles the events that the device has emitted. The lock is held.
func (t *Target) catchUp() {
	all := t.inbox.take()
	if len(all) > 0 {
		close(t.news)
		t.news = make(chan struct{})
	}
	for _, h := range all {
		switch {
		case h.applied != nil:
			a := *h.applied
			if t.cfg.RIB != nil {
				a = t.cfg.RIB.Hide(a)
			}
			t.front.applied(t.tree, a)
			t.publish(h.applied.At)
		case h.event.Kind == southbound.Lost:
			t.down = true
			t.tree.forget()
			t.cut(errDown())
			t.dismiss(errDown())
		case h.event.Kind == southbound.Synced && t.down:
			t.reload()
		case !t.down:
			t.front.event(t.tree, *h.event)
			t.publish(h.event.At)
		}
	}
}

// takeTurn waits for this target's turn, and returns what ends it.
func (t *Target) takeTurn(ctx context.Context) (end func(), err error) {
	if t.cfg.Turns == nil {
		return func() {}, nil
	}
	select {
	case t.cfg.Turns <- struct{}{}:
		return func() { <-t.cfg.Turns }, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func errDown() error { return status.Error(codes.Unavailable, device.ErrDown.Error()) }

// reload shows the device anew after its restart. What it has forgotten is gone from the configuration
// too. Events that came after the restart are in what is read here; taking them in again changes
// nothing.
func (t *Target) reload() {
	t.down = false
	t.tree = newTree(t.front.model())
	t.door.Do(func(now time.Duration, dev Switch) {
		if t.cfg.RIB != nil {
			t.cfg.RIB.Booted(dev)
			dev = hidden{dev, t.cfg.RIB}
		}
		t.front.load(t.tree, now, dev)
	})
	t.tree.forget()
}

// happening is one event of a device.
type happening struct {
	event   *southbound.DeviceEvent
	applied *device.Applied
}

// inbox receives the events of the device, under its door's lock, without waiting for the target's.
type inbox struct {
	mu   sync.Mutex
	all  []happening
	held bool // the holder of the target's lock reads all itself
	kick chan struct{}
}

// hold keeps new events from waking the target, until release.
func (b *inbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

func (b *inbox) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held = false; len(b.all) > 0 {
		b.wake()
	}
}

// wake leaves the token that there is something.
func (b *inbox) wake() {
	select {
	case b.kick <- struct{}{}:
	default:
	}
}

func (b *inbox) put(h happening) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all = append(b.all, h); !b.held {
		b.wake()
	}
}

func (b *inbox) take() []happening {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}
