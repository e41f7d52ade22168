package topo

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"lightloom/pathmap"
)

// newGeneral builds a fat-tree, a Jellyfish or what a file says; s is checked and has its defaults.
func newGeneral(s Spec) (*Fabric, error) {
	t, err := s.graph()
	if err != nil {
		return nil, err
	}
	return s.drawn(t)
}

// plotted is newGeneral for a file that has been read into t.
func (s Spec) plotted(t *pathmap.Topology) (*Fabric, error) {
	if s.PerNode != 0 {
		var err error
		if t, err = withHosts(t, s.PerNode); err != nil {
			return nil, err
		}
	}
	return s.drawn(t)
}

func (s Spec) drawn(t *pathmap.Topology) (*Fabric, error) {
	g := plot{spec: s, t: t}
	f, err := g.fabric()
	if err != nil && s.Kind == FileKind {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	return f, err
}

// graph returns the topology that s speaks of, as its generator or its file has it.
func (s Spec) graph() (*pathmap.Topology, error) {
	switch s.Kind {
	case FatTreeKind:
		return FatTree(s.K, s.Servers, s.EPS)
	case JellyfishKind:
		j, err := newJellyfish(s.Switches, s.Degree, rand.New(rand.NewPCG(s.Seed, s.Seed)))
		if err != nil {
			return nil, err
		}
		return j.topology(s.Servers, s.EPS)
	}
	t, err := s.file()
	if err != nil || s.PerNode == 0 {
		return t, err
	}
	return withHosts(t, s.PerNode)
}

// file returns the topology that the file has.
func (s Spec) file() (*pathmap.Topology, error) {
	format, err := FormatOf(s.File)
	switch {
	case err != nil:
		return nil, err
	case s.Text == "":
		return format.ReadFile(s.File)
	}
	return format.from(s.File, strings.NewReader(s.Text))
}

// plot makes a fabric of any topology: hosts are leaves, the switch that a host is cabled to is its
// rack's ToR, every other packet switch passes on, and at most one OCS joins ToRs.
type plot struct {
	spec   Spec
	t      *pathmap.Topology
	rackOf []int32          // by node: of ToRs, None else
	tors   []pathmap.NodeID // by rack
	ocs    pathmap.NodeID
	uplink []pathmap.LinkID // by node: a ToR's link to the OCS, or None
	hosts  [][]pathmap.LinkID
	node   []pathmap.NodeID // by node of t: in the fabric
}

func (g *plot) fabric() (*Fabric, error) {
	if err := g.findRacks(); err != nil {
		return nil, err
	}
	if err := g.findOCS(); err != nil {
		return nil, err
	}
	g.order()
	if err := g.connected(); err != nil {
		return nil, err
	}
	return g.build()
}

// findRacks finds each host's ToR.
func (g *plot) findRacks() error {
	t := g.t
	g.hosts = make([][]pathmap.LinkID, len(t.Nodes()))
	found := false
	for n, node := range t.Nodes() {
		if node.Role != pathmap.Host {
			continue
		}
		out := t.Out(pathmap.NodeID(n))
		if len(out) != 1 {
			return fmt.Errorf("host %q has %d cables: a fabric's host has one, to its ToR; leave the others out, or give the "+
				"node role: switch", node.Name, len(out))
		}
		up := t.Link(out[0])
		if to := t.Node(up.To); to.Role == pathmap.Host || to.Role == pathmap.OCS {
			return fmt.Errorf("host %q is cabled to %q, a node of role %v: cable it to a packet switch",
				node.Name, to.Name,
				to.Role)
		}
		g.hosts[up.To] = append(g.hosts[up.To], pathmap.Reverse(out[0]))
		found = true
	}
	if !found {
		return fmt.Errorf("no hosts: a fabric has at least one; give nodes role: host, or write " +
			"hosts=1 behind the file, or --hosts-per-node 1, for one at each switch")
	}
	for n, links := range g.hosts {
		if len(links) == 0 {
			continue
		}
		if len(links) > MaxHosts {
			return fmt.Errorf("switch %q has %d hosts: a rack holds at most %d",
				t.Node(pathmap.NodeID(n)).Name, len(links),
				MaxHosts)
		}
		slices.SortFunc(links, func(a, b pathmap.LinkID) int {
			return cmp.Compare(t.Link(a).FromPort,
				t.Link(b).FromPort)
		})
		g.tors = append(g.tors, pathmap.NodeID(n))
	}
	if len(g.tors) > MaxRacks {
		return fmt.Errorf("%d switches have hosts: a fabric has at most %d racks", len(g.tors), MaxRacks)
	}
	return nil
}

// findOCS finds the optical switch and the ToRs that it joins.
func (g *plot) findOCS() error {
	t := g.t
	g.ocs = pathmap.None
	g.uplink = slices.Repeat([]pathmap.LinkID{pathmap.None}, len(t.Nodes()))
	for n, node := range t.Nodes() {
		if node.Role != pathmap.OCS {
			continue
		}
		if g.ocs != pathmap.None {
			return fmt.Errorf("%q and %q are both of role ocs: a file has at most one; write parallel ones as "+
				"hybrid:racks=16,ocses=4", t.Node(g.ocs).Name, node.Name)
		}
		g.ocs = pathmap.NodeID(n)
		for _, l := range t.Out(g.ocs) {
			tor := t.Link(l).To
			switch {
			case len(g.hosts[tor]) == 0:
				return fmt.Errorf("OCS %q is cabled to %q, which has no hosts: cable it to ToRs", node.Name,
					t.Node(tor).Name)
			case g.uplink[tor] != pathmap.None:
				return fmt.Errorf("OCS %q has two cables to %q: a rack has one OCS port", node.Name,
					t.Node(tor).Name)
			}
			g.uplink[tor] = pathmap.Reverse(l)
		}
	}
	if g.ocs != pathmap.None && len(t.Out(g.ocs)) == 0 {
		return fmt.Errorf("OCS %q has no cables: cable it to ToRs, or leave it out", t.Node(g.ocs).Name)
	}
	return nil
}

// order numbers the racks: those with an OCS port first, then by the numbers that the topology gives,
// then by NodeID.
func (g *plot) order() {
	without := func(n pathmap.NodeID) int {
		if g.uplink[n] == pathmap.None {
			return 1
		}
		return 0
	}
	slices.SortFunc(g.tors, func(a, b pathmap.NodeID) int {
		x, y := uint32(g.t.Node(a).Rack), uint32(g.t.Node(b).Rack) // None is the largest
		return cmp.Or(cmp.Compare(without(a), without(b)), cmp.Compare(x, y), cmp.Compare(a, b))
	})
	g.rackOf = slices.Repeat([]int32{pathmap.None}, len(g.t.Nodes()))
	for r, n := range g.tors {
		g.rackOf[n] = int32(r)
	}
}

// connected wants a way over packet switches between any two racks, and to every packet switch.
func (g *plot) connected() error {
	t := g.t
	seen := make([]bool, len(t.Nodes()))
	seen[g.tors[0]] = true
	for queue := g.tors[:1:1]; len(queue) > 0; queue = queue[1:] {
		for _, l := range t.Out(queue[0]) {
			if to := t.Link(l).To; !seen[to] && t.Node(to).Role != pathmap.OCS && t.Node(to).Role != pathmap.Host {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for _, n := range g.tors {
		if !seen[n] {
			return fmt.Errorf("there is no way over packet switches between %q and %q: add a link, or leave the hosts of one "+
				"out", t.Node(g.tors[0]).Name, t.Node(n).Name)
		}
	}
	for n, node := range t.Nodes() {
		if role := node.Role; !seen[n] && role != pathmap.OCS && role != pathmap.Host &&
			g.rackOf[n] == pathmap.None {
			return fmt.Errorf("switch %q: there is no way over packet switches to any rack: add a link, or leave it out",
				node.Name)
		}
	}
	return nil
}

// build writes the fabric's own topology: ToRs by rack, the other packet switches, the OCS, hosts by rack.
func (g *plot) build() (*Fabric, error) {
	f := &Fabric{Racks: len(g.tors), OCSNode: pathmap.None, Transit: true}
	hosts := make([]int32, len(g.tors))
	for r, n := range g.tors {
		hosts[r] = int32(len(g.hosts[n]))
		f.HostsPerRack = max(f.HostsPerRack, len(g.hosts[n]))
	}
	f.number(hosts)
	b := pathmap.NewBuilder()
	g.addNodes(f, b)
	var err error
	if err = g.addCables(f, b); err == nil {
		f.Topology, err = b.Build()
	}
	if err != nil {
		return nil, err
	}
	f.Spec = g.told(f)
	return f, f.Spec.Check()
}

func (g *plot) addNodes(f *Fabric, b *pathmap.Builder) {
	t := g.t
	g.node = make([]pathmap.NodeID, len(t.Nodes()))
	add := func(n pathmap.NodeID, role pathmap.Role, rack int32) pathmap.NodeID {
		g.node[n] = b.Add(pathmap.Node{Name: t.Node(n).Name, Role: role, Rack: rack})
		return g.node[n]
	}
	for r, n := range g.tors {
		f.ToRNode = append(f.ToRNode, add(n, pathmap.ToR, int32(r)))
	}
	for n, node := range t.Nodes() {
		if node.Role != pathmap.Host && node.Role != pathmap.OCS && g.rackOf[n] == pathmap.None {
			add(pathmap.NodeID(n), pathmap.Switch, pathmap.None)
		}
	}
	if g.ocs != pathmap.None {
		f.OCSNode = add(g.ocs, pathmap.OCS, pathmap.None)
		f.OCSUplink = slices.Repeat([]int32{pathmap.None}, f.Racks)
	}
	h := 0
	for r, n := range g.tors {
		for _, l := range g.hosts[n] {
			f.HostNode[h], f.HostPort[h] = add(t.Link(l).To, pathmap.Host, int32(r)), t.Link(l).FromPort
			h++
		}
	}
}

// addCables adds every cable, in the topology's order. A host's port is 0, and the OCS's port to rack r
// is r.
func (g *plot) addCables(f *Fabric, b *pathmap.Builder) error {
	t := g.t
	for l := pathmap.LinkID(0); int(l) < len(t.Links()); l += 2 {
		ab, ba := t.Link(l), t.Link(pathmap.Reverse(l))
		from, to := g.port(ab), g.port(ba)
		there, err := g.scaled(ab)
		if err != nil {
			return err
		}
		back, err := g.scaled(ba)
		if err != nil {
			return err
		}
		b.Cable(g.node[ab.From], from, g.node[ab.To], to, there, back)
	}
	for r, n := range g.tors {
		if l := g.uplink[n]; l != pathmap.None {
			f.OCSUplink[r] = t.Link(l).FromPort
		}
	}
	return nil
}

// port is the port of the fabric that a link leaves by.
func (g *plot) port(l pathmap.Link) int32 {
	switch g.t.Node(l.From).Role {
	case pathmap.Host:
		return 0
	case pathmap.OCS:
		return g.rackOf[l.To]
	}
	return l.FromPort
}

// scaled is a link's capacity, divided as the spec says.
func (g *plot) scaled(l pathmap.Link) (pathmap.BitsPerSecond, error) {
	if g.spec.Kind != FileKind || g.spec.Divisor == 1 {
		return l.Capacity, nil
	}
	c := pathmap.BitsPerSecond(float64(l.Capacity) / g.spec.Divisor)
	if c <= 0 || c > MaxRate {
		return 0, fmt.Errorf("link %s–%s: %v divided by %v is no rate that a link carries: write another scale",
			g.t.Node(l.From).Name, g.t.Node(l.To).Name, l.Capacity, g.spec.Divisor)
	}
	return c, nil
}

// told is the spec with the fields that follow from the fabric.
func (g *plot) told(f *Fabric) Spec {
	s := g.spec
	s.Racks, s.Hosts, s.Ports = f.Racks, f.HostsPerRack, 0
	if s.Kind != FileKind {
		return s
	}
	s.NIC, s.EPS, s.OCS = 0, 0, 0
	for _, l := range f.Topology.Links() {
		from, to := f.Topology.Node(l.From).Role, f.Topology.Node(l.To).Role
		switch {
		case from == pathmap.Host || to == pathmap.Host:
			s.NIC = max(s.NIC, l.Capacity)
		case from == pathmap.OCS || to == pathmap.OCS:
			s.OCS = max(s.OCS, l.Capacity)
		default:
			s.EPS = max(s.EPS, l.Capacity)
		}
	}
	if f.HasOCS() {
		s.Ports = len(f.Topology.Out(f.OCSNode))
		s = s.WithDefaults()
	}
	return s
}
