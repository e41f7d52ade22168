package topo

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lightloom/pathmap"
)

// Limits of a topology's file. What one controller can hold, with room: 100,000 hosts of a fat-tree are
// 107,000 nodes and 304,000 cables.
const (
	MaxNodes = 1 << 18
	MaxFile  = 256 << 20 // bytes
	maxName  = 255       // bytes of a node's name
	maxPort  = 1<<16 - 1
)

// place is where in a file something stands, both from 1; line 0 is unknown.
type place struct{ line, col int }

// A sketch is a topology as a file has it, not checked yet. Every format is read into one.
type sketch struct {
	file   string
	nodes  []sketchNode
	cables []sketchCable
	rate   pathmap.BitsPerSecond // of cables that name none
	derive bool                  // missing roles are derived from the cables

	unit pathmap.BitsPerSecond // of capacities without one; 0: the file does not say
	bare []bareRate            // capacities without a unit, in a file that has not said one yet
	last knownRate             // most links of a file have the rate of the one before
}

// knownRate is a rate as a file has it, and what it means.
type knownRate struct {
	key, text  string
	unit, rate pathmap.BitsPerSecond
	bare       bool // it has no unit, in a file that had not said one yet
}

type sketchNode struct {
	name  string       // its id
	label string       // what it is called where the id is a number; empty: nothing else
	role  pathmap.Role // 0: not given
	rack  int32        // None: not given
	leaf  bool         // may be a host, if it has a single cable
	at    place
}

// sketchCable joins two named nodes. Ports are None where the file does not say; rates are 0.
type sketchCable struct {
	from, to         string
	fromPort, toPort int32
	there, back      pathmap.BitsPerSecond
	oneWay           bool // one direction only: another one must be the way back
	bare, bareBack   bool // there and back had no unit, in a file that had not said one yet
	at               place
}

func newSketch(file string) *sketch { return &sketch{file: file, rate: DefaultEPS} }

func (s *sketch) wrong(at place, format string, args ...any) error {
	return fileError(s.file, at, fmt.Errorf(format, args...))
}

// maxError bounds what an error repeats of a file, in bytes.
const maxError = 600

// fileError is err with its place.
func fileError(file string, at place, err error) error {
	if text := err.Error(); len(text) > maxError {
		err = errors.New(strings.ToValidUTF8(text[:maxError], "") + "…")
	}
	switch {
	case at.line == 0:
		return fmt.Errorf("%s: %w", file, err)
	case at.col == 0:
		return fmt.Errorf("%s:%d: %w", file, at.line, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", file, at.line, at.col, err)
}

// addNode adds a node, as long as there are not too many.
func (s *sketch) addNode(n sketchNode) error {
	if len(s.nodes) == MaxNodes {
		return s.wrong(n.at, "more than %d nodes: a controller holds no larger network; leave nodes out", MaxNodes)
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// addCable adds a cable, as long as there are not too many.
func (s *sketch) addCable(c sketchCable) error {
	if len(s.cables) == 2*MaxCables {
		return s.wrong(c.at, "more than %d links: a controller holds no larger network; leave links out", MaxCables)
	}
	s.cables = append(s.cables, c)
	return nil
}

// topology checks the sketch and builds what it says.
func (s *sketch) topology() (*pathmap.Topology, error) {
	if err := s.giveUnits(); err != nil {
		return nil, err
	}
	index, err := s.index()
	if err != nil {
		return nil, err
	}
	if err := s.checkCables(index); err != nil {
		return nil, err
	}
	if err := s.pairWays(); err != nil {
		return nil, err
	}
	if len(s.cables) > MaxCables {
		return nil, s.wrong(s.cables[MaxCables].at,
			"more than %d links: a controller holds no larger network; leave links "+
				"out", MaxCables)
	}
	if err := s.givePorts(index); err != nil {
		return nil, err
	}
	s.giveRoles(index)
	s.giveRacks(index)
	b := pathmap.NewBuilder()
	names := s.names()
	for i, n := range s.nodes {
		b.Add(pathmap.Node{Name: names[i], Role: n.role, Rack: n.rack})
	}
	for _, c := range s.cables {
		b.Cable(pathmap.NodeID(index[c.from]), c.fromPort, pathmap.NodeID(index[c.to]), c.toPort,
			c.there, c.back)
	}
	t, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	return t, nil
}

// index returns the nodes by name.
func (s *sketch) index() (map[string]int, error) {
	if len(s.nodes) == 0 {
		return nil, s.wrong(place{}, "no nodes: a topology has at least one")
	}
	index := make(map[string]int, len(s.nodes))
	for i, n := range s.nodes {
		if err := checkName(n.name); err != nil {
			return nil, fileError(s.file, n.at, err)
		}
		if first, twice := index[n.name]; twice {
			return nil, s.wrong(n.at, "node %q: the name is taken%s: give each node its own", n.name,
				on(s.nodes[first].at))
		}
		index[n.name] = i
	}
	return index, nil
}

// on names the line of a place.
func on(at place) string {
	if at.line == 0 {
		return ""
	}
	return fmt.Sprintf(" on line %d", at.line)
}

func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a node without name: give it one")
	case len(name) > maxName:
		return fmt.Errorf("node %q…: the name is longer than %d bytes: shorten it",
			strings.ToValidUTF8(name[:16], "?"),
			maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("node %q: the name has letters that cannot be printed: write others", name)
	}
	return nil
}

func (s *sketch) checkCables(index map[string]int) error {
	for i := range s.cables {
		c := &s.cables[i]
		for _, name := range []string{c.from, c.to} {
			if _, ok := index[name]; !ok {
				return s.wrong(c.at, "link %s: there is no node %q%s", c, name, s.near(name))
			}
		}
		if c.from == c.to {
			return s.wrong(c.at, "link %s: it joins a node to itself: leave it out, or name another node", c)
		}
		if c.there == 0 {
			c.there = s.rate
		}
		if c.back == 0 {
			c.back = c.there
		}
	}
	return nil
}

// near suggests a node.
func (s *sketch) near(name string) string {
	names := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		names[i] = n.name
	}
	if best, ok := nearest(name, names); ok {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ": add it to the nodes"
}

func (c *sketchCable) String() string {
	dash := "–"
	if c.oneWay {
		dash = "→"
	}
	return c.from + dash + c.to
}

// pairWays makes one cable of each two links that are each other's way back, in the order of the first ones.
func (s *sketch) pairWays() error {
	type pair struct{ from, to string }
	waiting := map[pair][]int{}
	kept := s.cables[:0]
	for _, c := range s.cables {
		turned := pair{c.to, c.from}
		if first := waiting[turned]; c.oneWay && len(first) > 0 {
			kept[first[0]].meet(c)
			waiting[turned] = first[1:]
			continue
		}
		if c.oneWay {
			waiting[pair{c.from, c.to}] = append(waiting[pair{c.from, c.to}], len(kept))
		}
		kept = append(kept, c)
	}
	s.cables = kept
	for i := range s.cables {
		if c := &s.cables[i]; c.oneWay {
			return s.wrong(c.at, "link %s: it has no way back: add %s→%s, or write an undirected graph",
				c, c.to, c.from)
		}
	}
	return nil
}

// meet makes c a whole cable, back being the other direction.
func (c *sketchCable) meet(back sketchCable) {
	c.oneWay, c.back = false, back.there
	if c.fromPort == pathmap.None {
		c.fromPort = back.toPort
	}
	if c.toPort == pathmap.None {
		c.toPort = back.fromPort
	}
}

// givePorts checks the ports that the file names and gives the other ends the lowest that are left, in
// the file's order.
func (s *sketch) givePorts(index map[string]int) error {
	type port struct {
		node int
		port int32
	}
	held := map[port]int{}
	ends := func(c *sketchCable) [2]struct {
		name string
		port *int32
	} {
		return [2]struct {
			name string
			port *int32
		}{{c.from, &c.fromPort}, {c.to, &c.toPort}}
	}
	for i := range s.cables {
		c := &s.cables[i]
		for _, e := range ends(c) {
			if *e.port == pathmap.None {
				continue
			}
			p := port{index[e.name], *e.port}
			if first, taken := held[p]; taken {
				return s.wrong(c.at, "link %s: port %d of %q is taken by link %s%s: write another", c,
					*e.port, e.name,
					&s.cables[first], on(s.cables[first].at))
			}
			held[p] = i
		}
	}
	next := make([]int32, len(s.nodes))
	for i := range s.cables {
		for _, e := range ends(&s.cables[i]) {
			if *e.port != pathmap.None {
				continue
			}
			n := index[e.name]
			for {
				p := port{n, next[n]}
				next[n]++
				if _, taken := held[p]; !taken {
					held[p], *e.port = i, p.port
					break
				}
			}
		}
	}
	return nil
}

// giveRoles fills roles that the file does not say: switches, or as the cables tell. A node that can be
// a host and has one cable is one; a switch with a host is a ToR.
func (s *sketch) giveRoles(index map[string]int) {
	cables := make([]int, len(s.nodes))
	for _, c := range s.cables {
		cables[index[c.from]]++
		cables[index[c.to]]++
	}
	said := make([]bool, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		said[i] = n.role != 0
		switch {
		case said[i]:
		case s.derive && n.leaf && cables[i] == 1:
			n.role = pathmap.Host
		default:
			n.role = pathmap.Switch
		}
	}
	if !s.derive {
		return
	}
	for _, c := range s.cables {
		from, to := &s.nodes[index[c.from]], &s.nodes[index[c.to]]
		if from.role == pathmap.Host && to.role == pathmap.Switch && !said[index[c.to]] {
			to.role = pathmap.ToR
		}
		if to.role == pathmap.Host && from.role == pathmap.Switch && !said[index[c.from]] {
			from.role = pathmap.ToR
		}
	}
}

// giveRacks numbers the ToRs where the file names no rack at all, and puts their hosts beside them.
func (s *sketch) giveRacks(index map[string]int) {
	for _, n := range s.nodes {
		if n.rack != pathmap.None {
			return
		}
	}
	racks := int32(0)
	for i := range s.nodes {
		if s.nodes[i].role == pathmap.ToR {
			s.nodes[i].rack = racks
			racks++
		}
	}
	for _, c := range s.cables {
		from, to := &s.nodes[index[c.from]], &s.nodes[index[c.to]]
		if from.role == pathmap.Host && to.role == pathmap.ToR && from.rack == pathmap.None {
			from.rack = to.rack
		}
		if to.role == pathmap.Host && from.role == pathmap.ToR && to.rack == pathmap.None {
			to.rack = from.rack
		}
	}
}
