package topo

import (
	"fmt"
	"math"
	"strconv"

	"lightloom/pathmap"
)

// The names of the attributes that every format can have on nodes and links; each format documents how it writes them.
const (
	attrRole       = "role"        // of a node: host, tor, switch (where it is left out) or ocs
	attrRack       = "rack"        // of a node: a number from 0
	attrCapacity   = "capacity"    // of a link: a rate with a unit, or bits a second
	attrBack       = "back"        // of a link: the capacity of the other direction, where it differs
	attrSourcePort = "source_port" // of a link: the port at its first node, from 0
	attrTargetPort = "target_port" // of a link: the port at its second node
)

// capacityNames are what others call a link's capacity, in the order in which they are looked for: networkx users, and
// the Topology Zoo.
func capacityNames() []string { return []string{attrCapacity, "bandwidth", "LinkSpeedRaw"} }

// Roles lists the roles as files write them.
func Roles() []string { return []string{"host", "tor", "switch", "ocs"} }

func roleOf(text string) (pathmap.Role, error) {
	for i, r := range Roles() {
		if r == text {
			return pathmap.Role(i + 1), nil
		}
	}
	return 0, wrong(attrRole, "%q is unknown: write %s", text, oneOf(text, Roles()))
}

// numberOf reads a whole number from 0 to most. A decimal point is fine if nothing stands behind it: some tools write
// every number so.
func numberOf(key, text string, most int32) (int32, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || v < 0 || v > float64(most) {
		return 0, wrong(key, "%q is no whole number from 0 to %d", text, most)
	}
	return int32(v), nil
}

// capacityOf reads a link's rate: with a unit, or as a number of bits a second, in which 1e9 and 1000000000.0 are fine.
func capacityOf(key, text string) (pathmap.BitsPerSecond, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r, err := pathmap.ParseRate(text)
		if err != nil {
			return 0, wrong(key, "%v", err)
		}
		return r, checkRate(key, r)
	}
	switch {
	case math.IsNaN(v) || v > float64(MaxRate):
		return 0, wrong(key, "%q is more than any link carries: write %d or less, in bits a second", text, int64(MaxRate))
	case v <= 0:
		return 0, wrong(key, "%q carries nothing: write a rate above zero, such as 1Gbps, or leave the link out", text)
	case v != math.Trunc(v):
		return 0, wrong(key, "%q is not a whole number of bits a second: leave digits out", text)
	}
	return pathmap.BitsPerSecond(v), nil
}

// attributes gives the text of an attribute, and whether it is there.
type attributes func(name string) (string, bool)

// node reads what a node's attributes say.
func (a attributes) node(n *sketchNode) error {
	n.rack = pathmap.None
	var err error
	if text, ok := a(attrRole); ok {
		if n.role, err = roleOf(text); err != nil {
			return fmt.Errorf("node %q: %w", n.name, err)
		}
	}
	if text, ok := a(attrRack); ok {
		if n.rack, err = numberOf(attrRack, text, math.MaxInt32); err != nil {
			return fmt.Errorf("node %q: %w", n.name, err)
		}
	}
	return nil
}

// cable reads what a link's attributes say.
func (a attributes) cable(c *sketchCable) error {
	c.fromPort, c.toPort = pathmap.None, pathmap.None
	for _, name := range capacityNames() {
		if text, ok := a(name); ok {
			if err := capacity(&c.there, name, text); err != nil {
				return fmt.Errorf("link %s: %w", c, err)
			}
			break
		}
	}
	if text, ok := a(attrBack); ok {
		if err := capacity(&c.back, attrBack, text); err != nil {
			return fmt.Errorf("link %s: %w", c, err)
		}
	}
	for _, p := range []struct {
		key string
		to  *int32
	}{{attrSourcePort, &c.fromPort}, {attrTargetPort, &c.toPort}} {
		text, ok := a(p.key)
		if !ok {
			continue
		}
		n, err := numberOf(p.key, text, maxPort)
		if err != nil {
			return fmt.Errorf("link %s: %w", c, err)
		}
		*p.to = n
	}
	return nil
}

func capacity(to *pathmap.BitsPerSecond, key, text string) error {
	r, err := capacityOf(key, text)
	*to = r
	return err
}
