package topo

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// The names of the attributes that every format can have on nodes and links; each format documents how
// it writes them.
const (
	attrRole       = "role"        // of a node: host, tor, switch (where it is left out) or ocs
	attrRack       = "rack"        // of a node: a number from 0
	attrCapacity   = "capacity"    // of a link: a rate with a unit, or bits a second
	attrBack       = "back"        // of a link: the capacity of the other direction, where it differs
	attrSourcePort = "source_port" // of a link: the port at its first node, from 0
	attrTargetPort = "target_port" // of a link: the port at its second node
)

// capacityNames are what others call a link's capacity, in the order in which they are looked for:
// networkx users, and the Topology Zoo.
func capacityNames() []string { return []string{attrCapacity, "bandwidth", attrRaw} }

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

// numberOf reads a whole number from 0 to most. A decimal point is fine if nothing stands behind it:
// some tools write every number so.
func numberOf(key, text string, most int32) (int32, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || v < 0 || v > float64(most) {
		return 0, wrong(key, "%q is no whole number from 0 to %d", text, most)
	}
	return int32(v), nil
}

// attrUnit is the attribute of a graph that says what its capacities are in, as FNSS has it; attrRaw is
// one in bits a second, whatever that says.
const (
	attrUnit = "capacity_unit"
	attrRaw  = "LinkSpeedRaw"

	// attrSpeed is a number of attrSpeedUnits, such as 10 and G: of the Topology Zoo, where a file has no attrRaw.
	attrSpeed      = "LinkSpeed"
	attrSpeedUnits = "LinkSpeedUnits"
)

// leastBare is the smallest rate in bits a second that is believed without a unit: those who write 10
// or 10000 mean megabits or gigabits.
const leastBare = pathmap.Mbps

// capacityOf reads a link's rate: with a unit, or as a number of units, in which 1e9 and 1000000000.0
// are fine. A unit of 0 is not known. A link without limit, as inf is in graphs of Python's, has the
// highest rate.
func capacityOf(key, text string, unit pathmap.BitsPerSecond) (pathmap.BitsPerSecond, error) {
	if text == "" {
		return 0, wrong(key, "it is empty or not a number: write a rate such as 1Gbps, or leave it out")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		r, err := pathmap.ParseRate(text)
		if err != nil {
			return 0, wrong(key, "%v", err)
		}
		return r, checkRate(key, r)
	}
	if math.IsInf(v, 1) && err == nil {
		return MaxRate, nil
	}
	if unit != 0 && unit != 1 {
		v = math.Round(v * float64(unit))
	}
	switch {
	case math.IsNaN(v) || v > float64(MaxRate):
		return 0, wrong(key, "%q is more than any link carries: write %v or less", text, MaxRate)
	case v <= 0:
		return 0, wrong(key, "%q carries nothing: write a rate above zero, such as 1Gbps, or leave the link out", text)
	case v != math.Trunc(v):
		return 0, wrong(key, "%q is not a whole number of bits a second: leave digits out", text)
	case unit == 0 && v < float64(leastBare):
		plain := strconv.FormatFloat(v, 'f', -1, 64)
		return 0, wrong(key, "%q has no unit, and is hardly bits a second: write %sMbps, %sGbps or %sbps", text, plain, plain,
			plain)
	}
	return pathmap.BitsPerSecond(v), nil
}

// unitOf reads what capacities are in.
func unitOf(text string) (pathmap.BitsPerSecond, error) {
	r, err := pathmap.ParseRate("1" + text)
	if err != nil {
		return 0, wrong(attrUnit, "%q is no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps", text)
	}
	return r, nil
}

// bareRate is a capacity without a unit that is none in bits a second, for when the unit is known.
type bareRate struct {
	cable     int
	back      bool
	key, text string
}

// giveUnits gives the capacities that waited for it the file's unit.
func (s *sketch) giveUnits() error {
	for _, b := range s.bare {
		c := &s.cables[b.cable]
		r, err := capacityOf(b.key, b.text, s.unit)
		if err != nil {
			return fileError(s.file, c.at, fmt.Errorf("link %s: %w", c, err))
		}
		if b.back {
			c.back = r
		} else {
			c.there = r
		}
	}
	for i := range s.cables {
		if s.unit == 0 {
			break
		}
		c := &s.cables[i]
		for _, x := range []struct {
			rate *pathmap.BitsPerSecond
			bare bool
		}{{&c.there, c.bare}, {&c.back, c.bareBack}} {
			if x.bare && *x.rate > MaxRate/s.unit {
				return s.wrong(c.at, "link %s: %d of %v is more than any link carries: write %v or less", c,
					*x.rate, s.unit,
					MaxRate)
			} else if x.bare {
				*x.rate *= s.unit
			}
		}
	}
	return nil
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

// cable reads what the attributes of the next link of s say.
func (a attributes) cable(s *sketch, c *sketchCable) error {
	c.fromPort, c.toPort = pathmap.None, pathmap.None
	for _, name := range append(capacityNames(), attrSpeed) {
		if text, ok := a(name); ok {
			if unit, ok := a(attrSpeedUnits); ok && name == attrSpeed {
				text += strings.TrimSuffix(unit, "bps") + "bps"
			}
			if err := s.capacity(&c.there, &c.bare, bareRate{len(s.cables), false, name, text}); err != nil {
				return fmt.Errorf("link %s: %w", c, err)
			}
			break
		}
	}
	if text, ok := a(attrBack); ok {
		if err := s.capacity(&c.back, &c.bareBack, bareRate{len(s.cables), true, attrBack, text}); err != nil {
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

// capacity reads a rate, or has it wait for its unit.
func (s *sketch) capacity(to *pathmap.BitsPerSecond, bare *bool, b bareRate) error {
	unit := s.unit
	if b.key == attrRaw {
		unit = 1
	}
	if k := &s.last; k.text == b.text && k.key == b.key && k.unit == unit && k.text != "" {
		*to, *bare = k.rate, *bare || k.bare
		return nil
	}
	r, err := capacityOf(b.key, b.text, unit)
	plain := false
	if v, ferr := strconv.ParseFloat(b.text, 64); unit == 0 && ferr == nil && !math.IsInf(v, 0) {
		if err != nil {
			s.bare = append(s.bare, b)
			return nil
		}
		plain = true
	}
	*bare = *bare || plain
	if *to = r; err == nil {
		s.last = knownRate{b.key, b.text, unit, r, plain}
	}
	return err
}
