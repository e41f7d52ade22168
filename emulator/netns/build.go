package netns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
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
	planes   []Plane // by node; nil for hosts
}

// group marks the interfaces of the switches, so that one request removes them all.
const group = 0x4c4c

// Build builds a fabric in the process's own namespaces. It refuses outside of Enter: what it makes
// must go away with the process.
func Build(spec *topo.Fabric, opt Options) (*Fabric, error) {
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
		ports: make([]int, len(spec.Topology.Links()))}
	f.settings = Settings{Dataplane: opt.Dataplane, Congestion: opt.Congestion, MTU: opt.MTU,
		QueueBytes: opt.QueueBytes,
		ECNBytes:   opt.ECNBytes, VOQBytes: opt.VOQBytes, NICQueueBytes: nicQueue}
	if err := f.build(opt); err != nil {
		return nil, errors.Join(fmt.Errorf("build fabric: %w", err), f.Close())
	}
	return f, nil
}

func (f *Fabric) build(opt Options) (err error) {
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
	for l := 0; l < len(f.ports); l += 2 {
		if err := f.cable(pathmap.LinkID(l), opt, gso); err != nil {
			return fmt.Errorf("cable %s: %w", f.name(pathmap.LinkID(l)), err)
		}
	}
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
	v.Name, v.MTU, v.Group = name, f.settings.MTU, group
	return v
}

func (f *Fabric) up(name string) (int, error) { return f.raise(name, func(int) error { return nil }) }

// raise sets an interface up once prepare has run: an interface that is up already makes the kernel
// wait for all processors at each change of its root queue.
func (f *Fabric) raise(name string, prepare func(link int) error) (int, error) {
	l, err := f.wire.LinkByName(name)
	if err == nil {
		err = prepare(l.Attrs().Index)
	}
	if err == nil {
		err = f.wire.LinkSetUp(l)
	}
	if err != nil {
		return 0, fmt.Errorf("set %q up: %w", name, err)
	}
	return l.Attrs().Index, nil
}

// cable makes both directions of a link pair.
func (f *Fabric) cable(l pathmap.LinkID, opt Options, gso int) error {
	t := f.spec.Topology
	ab, ba := t.Link(l), t.Link(pathmap.Reverse(l))
	if t.Node(ab.From).Role == pathmap.Host {
		l, ab, ba = pathmap.Reverse(l), ba, ab
	}
	if h := f.hostAt(ab.To); h >= 0 {
		return f.hostCable(l, ab, ba, h, opt, gso)
	}
	names := [2]string{f.ifname(ab.From, ab.FromPort), f.ifname(ab.To, ab.ToPort)}
	if err := f.wire.LinkAdd(f.veth(names[0], names[1])); err != nil {
		return fmt.Errorf("add veth: %w", err)
	}
	if err := f.port(l, names[0], ab.Capacity, opt); err != nil {
		return err
	}
	return f.port(pathmap.Reverse(l), names[1], ba.Capacity, opt)
}

func (f *Fabric) hostCable(l pathmap.LinkID, down, up pathmap.Link, h southbound.HostID,
	opt Options, gso int) error {
	v := f.veth(f.ifname(down.From, down.FromPort), nicName)
	v.PeerNamespace, v.PeerHardwareAddr = netlink.NsFd(f.hosts[h].ns), hostMAC
	if err := f.wire.LinkAdd(v); err != nil {
		return fmt.Errorf("add veth: %w", err)
	}
	if err := f.port(l, v.Name, down.Capacity, opt); err != nil {
		return err
	}
	return f.hosts[h].configure(f.Addr(h), nicShape(up.Capacity, opt.MTU), gso)
}

// port shapes and raises the interface of a switch that sends into a link.
func (f *Fabric) port(l pathmap.LinkID, name string, rate pathmap.BitsPerSecond, opt Options) (err error) {
	s := linkShape(rate, opt.MTU, opt.QueueBytes)
	s.mark = min(opt.ECNBytes, s.queue-1)
	f.settings.note(s)
	f.ports[l], err = f.raise(name, func(link int) error { return s.apply(f.wire, link) })
	return err
}

func (s *Settings) note(p shape) {
	if s.MinQueueBytes == 0 || p.queue < s.MinQueueBytes {
		s.MinQueueBytes = p.queue
	}
	s.MaxQueueBytes = max(s.MaxQueueBytes, p.queue)
	s.MaxBurst = max(s.MaxBurst, p.burst)
}
