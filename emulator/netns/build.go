package netns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/dataplane"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Fabric is a fabric of real interfaces. All methods can be called by several goroutines; Close by one,
// last.
type Fabric struct {
	spec     *topo.Fabric
	settings Settings
	home     int // descriptor of the switches' namespace
	wire     *wire
	hosts    []*host
	ports    []int // interface that sends into a link, by LinkID; in its host's namespace for a host's link
	sink     int
	pairs    uint32   // of interfaces, made so far
	planes   []Plane  // by node; nil for hosts
	levels   []uint16 // priorities that have queues at ports, ascending from 0
}

// Interfaces of the switches are in groups, from firstGroup on, so that one request removes all of one.
const (
	firstGroup = 0x4c4c0000
	groupSize  = 256 // pairs of interfaces
)

// Build builds a fabric in the process's own namespaces. It refuses outside of Enter: what it makes
// must go away with the process.
func Build(spec *topo.Fabric, opt Options) (*Fabric, error) {
	f, err := Lay(spec, opt)
	if err != nil {
		return nil, err
	}
	if err := f.Raise(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("build fabric: %w", err), f.Close())
	}
	return f, nil
}

// Lay is Build without the queues of switches' ports, which stay down until Raise. Planes take rules meanwhile.
func Lay(spec *topo.Fabric, opt Options) (*Fabric, error) {
	if !Inside() {
		return nil, errors.New("build fabric: this process has no namespaces of its own: start it through Enter")
	}
	opt, err := opt.settle()
	if err == nil && opt.VOQBytes > 0 && !spec.HasOCS() {
		err = errNoFibre
	}
	if err == nil && opt.VOQBytes > 0 && spec.OCSes() > 1 {
		err = errManyFibres
	}
	if err != nil {
		return nil, fmt.Errorf("build fabric: %w", err)
	}
	f := &Fabric{spec: spec, planes: make([]Plane, len(spec.Topology.Nodes())),
		ports: make([]int, len(spec.Topology.Links())), levels: opt.levels(len(spec.Topology.Links()))}
	f.settings = Settings{Dataplane: opt.Dataplane, Congestion: opt.Congestion, MTU: opt.MTU,
		QueueBytes: opt.QueueBytes,
		ECNBytes:   opt.ECNBytes, VOQBytes: opt.VOQBytes, NICQueueBytes: nicQueue}
	if err := f.lay(opt); err != nil {
		return nil, errors.Join(fmt.Errorf("build fabric: %w", err), f.Close())
	}
	return f, nil
}

func (f *Fabric) lay(opt Options) (err error) {
	if f.home, err = openNetns(); err != nil {
		return err
	}
	if f.wire, err = openWire(); err != nil {
		return err
	}
	var byPacing bool
	if f.hosts, f.settings.Notes, byPacing, err = newHosts(f.spec.Hosts(), opt.Congestion,
		opt.ECNBytes > 0); err != nil {
		return err
	}
	if err := f.addSink(); err != nil {
		return err
	}
	gso := 0
	if !byPacing {
		gso = f.segment()
		f.settings.Notes = append(f.settings.Notes,
			fmt.Sprintf("segments are at most %d bytes, so that pacing holds "+
				"without tcp_tso_rtt_log", gso))
	}
	for l := pathmap.LinkID(0); int(l) < len(f.ports); l += 2 {
		if err := f.cable(l); err != nil {
			return fmt.Errorf("cable %s: %w", f.name(l), err)
		}
	}
	// Before queues: each takes a while that grows with the number of blocks, of which queues have most.
	if err := f.addPlanes(opt); err != nil {
		return err
	}
	for l, link := range f.spec.Topology.Links() {
		h := f.hostAt(link.From)
		if h < 0 {
			f.settings.note(f.shape(link))
			continue
		}
		s := nicShape(link.Capacity, opt.MTU)
		s.levels = f.levels
		if f.ports[l], err = f.hosts[h].configure(f.Addr(h), s, gso); err != nil {
			return fmt.Errorf("shape %s: %w", f.name(pathmap.LinkID(l)), err)
		}
	}
	return nil
}

// Raise makes the queues of switches' ports and sets them up, once, after Lay. It returns when all interfaces take
// packets. Close must not be called before it returns, which it does soon after the end of ctx.
func (f *Fabric) Raise(ctx context.Context) error {
	b := batch{wire: f.wire}
	send := func() error {
		if ctx.Err() != nil {
			return fmt.Errorf("raise fabric: %w", context.Cause(ctx))
		}
		if l, err := b.send(); err != nil {
			return fmt.Errorf("shape %s: %w", f.name(pathmap.LinkID(l)), err)
		}
		return nil
	}
	made := map[pathmap.BitsPerSecond][]request{} // by rate
	for l, link := range f.spec.Topology.Links() {
		if f.hostAt(link.From) >= 0 {
			continue
		}
		if made[link.Capacity] == nil {
			made[link.Capacity] = append(f.shape(link).requests(), setUp())
		}
		if b.add(l, f.ports[l], made[link.Capacity]); !b.full() {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	if err := send(); err != nil {
		return err
	}
	return f.awaitUp(ctx)
}

// shape returns how a switch's port is shaped that sends into a link.
func (f *Fabric) shape(link pathmap.Link) shape {
	s := linkShape(link.Capacity, f.settings.MTU, f.settings.QueueBytes)
	s.levels = f.levels
	s.mark = min(f.settings.ECNBytes, s.queue-1)
	return s
}

// awaitUp returns once all interfaces take packets, which the kernel sees to some time after they were set up.
func (f *Fabric) awaitUp(ctx context.Context) error {
	for l, link := range f.spec.Topology.Links() {
		nl := f.wire.Handle
		if h := f.hostAt(link.From); h >= 0 {
			nl = f.hosts[h].wire.Handle
		}
		if ctx.Err() != nil {
			return fmt.Errorf("raise fabric: %w", context.Cause(ctx))
		}
		if err := dataplane.AwaitUp(nl, f.ports[l]); err != nil {
			return err
		}
	}
	return nil
}

// addPlanes gives every switch its dataplane.
func (f *Fabric) addPlanes(opt Options) (err error) {
	for n, node := range f.spec.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		sw := f.describe(pathmap.NodeID(n), opt)
		if sw.Dark, err = f.voqs(pathmap.NodeID(n), opt); err != nil {
			return fmt.Errorf("queues for dark circuits of %q: %w", sw.Name, err)
		}
		if f.planes[n], err = NewPlane(f.wire.Handle, sw, opt.Dataplane); err != nil {
			return err
		}
	}
	return nil
}

// segment bounds GSO segments to 1.25 ms of the slowest link, but to no less than three packets.
func (f *Fabric) segment() int {
	slowest := slices.MinFunc(f.spec.Topology.Links(),
		func(a, b pathmap.Link) int { return int(a.Capacity - b.Capacity) })
	return int(min(65_536, max(4_500, slowest.Capacity.In(1_250_000))))
}

// addSink makes the pair of interfaces that dropped packets end in.
func (f *Fabric) addSink() error {
	v := f.veth("sink0", "sink1")
	if err := f.wire.LinkAdd(v); err != nil {
		return fmt.Errorf("add sink: %w", err)
	}
	f.sink = v.Attrs().Index
	for _, name := range []string{"sink0", "sink1"} {
		if _, err := f.up(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fabric) veth(name, peer string) *netlink.Veth {
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: peer, PeerTxQLen: -1}
	v.Name, v.MTU, v.Group = name, f.settings.MTU, firstGroup+f.pairs/groupSize
	f.pairs++
	return v
}

// up sets an interface up and returns its index.
func (f *Fabric) up(name string) (int, error) {
	l, err := f.wire.LinkByName(name)
	if err == nil {
		err = f.wire.LinkSetUp(l)
	}
	if err != nil {
		return 0, fmt.Errorf("set %q up: %w", name, err)
	}
	return l.Attrs().Index, nil
}

// cable makes the interfaces of both directions of a link pair. They stay down: where an interface is up, the kernel
// waits for all processors at each change of its root queue and of its hook.
func (f *Fabric) cable(l pathmap.LinkID) error {
	t := f.spec.Topology
	if f.hostAt(t.Link(l).From) >= 0 {
		l = pathmap.Reverse(l)
	}
	link := t.Link(l)
	v := f.veth(f.ifname(link.From, link.FromPort), nicName)
	h := f.hostAt(link.To)
	if h >= 0 {
		v.PeerNamespace, v.PeerHardwareAddr = netlink.NsFd(f.hosts[h].ns), hostMAC
	} else {
		v.PeerName = f.ifname(link.To, link.ToPort)
	}
	if err := f.wire.LinkAdd(v); err != nil {
		return fmt.Errorf("add veth: %w", err)
	}
	f.ports[l] = v.Attrs().Index
	if h >= 0 {
		return nil
	}
	peer, err := f.wire.LinkByName(v.PeerName)
	if err != nil {
		return fmt.Errorf("find %q: %w", v.PeerName, err)
	}
	f.ports[pathmap.Reverse(l)] = peer.Attrs().Index
	return nil
}

func (s *Settings) note(p shape) {
	if s.MinQueueBytes == 0 || p.queue < s.MinQueueBytes {
		s.MinQueueBytes = p.queue
	}
	s.MaxQueueBytes = max(s.MaxQueueBytes, p.queue)
	s.MaxBurst = max(s.MaxBurst, p.burst)
}
