package topo

import (
	"cmp"
	"fmt"
	"strings"
)

// generalDefaults is WithDefaults for a fat-tree, a Jellyfish and a file.
func (s Spec) generalDefaults() Spec {
	s.Slots, s.Paths = cmp.Or(s.Slots, DefaultSlots), cmp.Or(s.Paths, DefaultPaths)
	switch s.Kind {
	case FatTreeKind:
		s.K, s.EPS = cmp.Or(s.K, DefaultK), cmp.Or(s.EPS, DefaultEPS)
		half := max(s.K/2, 1)
		s.Servers = cmp.Or(s.Servers, half*half*s.K)
		s.Racks, s.Hosts = (s.Servers+half-1)/half, min(half, s.Servers)
		s.NIC = s.EPS
	case JellyfishKind:
		s.Switches, s.Degree = cmp.Or(s.Switches, DefaultSwitches), cmp.Or(s.Degree, DefaultDegree)
		s.EPS, s.Seed = cmp.Or(s.EPS, DefaultEPS), cmp.Or(s.Seed, DefaultSeed)
		s.Servers = cmp.Or(s.Servers, s.Switches)
		s.Racks = max(min(s.Switches, s.Servers), 1)
		s.Hosts = (s.Servers + s.Racks - 1) / s.Racks
		s.NIC = s.EPS
	case FileKind:
		s.Divisor = cmp.Or(s.Divisor, 1)
		if s.Ports > 0 {
			s.Dark = cmp.Or(s.Dark, DefaultDark)
		}
	}
	return s
}

// generalString is String for them; s has its defaults.
func (s Spec) generalString() string {
	var keys []string
	put := func(key string, value any) { keys = append(keys, fmt.Sprintf("%s=%v", key, value)) }
	switch s.Kind {
	case FatTreeKind:
		put("k", s.K)
		put("hosts", s.Servers)
		put("rate", s.EPS)
	case JellyfishKind:
		put("switches", s.Switches)
		put("degree", s.Degree)
		put("hosts", s.Servers)
		put("rate", s.EPS)
		put("seed", s.Seed)
	case FileKind:
		if strings.HasPrefix(s.File, "path=") {
			put("path", s.File)
		} else {
			keys = append(keys, s.File)
		}
		if s.Dark != 0 {
			put("dark", s.Dark)
		}
		if s.Divisor != 1 {
			put("scale", s.Divisor)
		}
		if s.PerNode != 0 {
			put("hosts", s.PerNode)
		}
	}
	if s.Paths != DefaultPaths {
		put("paths", s.Paths)
	}
	if s.Slots != DefaultSlots {
		put("slots", s.Slots)
	}
	if s.VCPUs != "" {
		put("vcpus", s.VCPUs)
	}
	return s.Kind + ":" + strings.Join(keys, ",")
}

// checkGeneral is Check for them; s has its defaults.
func (s Spec) checkGeneral() error {
	for _, c := range []struct {
		key      string
		value    int
		min, max int
	}{{"slots", s.Slots, 1, MaxSlots}, {"paths", s.Paths, 1, MaxPaths}} {
		if c.value < c.min || c.value > c.max {
			return wrong(c.key, "%d is out of range: write %d to %d", c.value, c.min, c.max)
		}
	}
	switch s.Kind {
	case FatTreeKind:
		return s.checkFatTree()
	case JellyfishKind:
		return s.checkJellyfish()
	}
	return s.checkFile()
}

func (s Spec) checkFatTree() error {
	if s.K < 2 || s.K > MaxK || s.K%2 != 0 {
		return wrong("k", "%d is no even number from 2 to %d", s.K, MaxK)
	}
	if all := s.K * s.K * s.K / 4; s.Servers < 1 || s.Servers > all {
		return wrong("hosts", "%d hosts do not fit: k=%d carries 1 to %d", s.Servers, s.K, all)
	}
	return checkRate("rate", s.EPS)
}

func (s Spec) checkJellyfish() error {
	switch {
	case s.Switches < 2 || s.Switches > MaxRacks:
		return wrong("switches", "%d is out of range: write 2 to %d", s.Switches, MaxRacks)
	case s.Degree < 1 || s.Degree >= s.Switches:
		return wrong("degree", "%d links a switch: write 1 to %d, one fewer than switches",
			s.Degree, s.Switches-1)
	case s.Servers < 1 || s.Hosts > MaxHosts:
		return wrong("hosts", "%d hosts on %d switches: write 1 to %d", s.Servers, s.Switches,
			s.Switches*MaxHosts)
	case s.Switches*s.Degree/2+s.Servers > MaxCables:
		return wrong("switches", "%d switches of %d links and %d hosts make more than %d cables: write fewer", s.Switches,
			s.Degree, s.Servers, MaxCables)
	}
	return checkRate("rate", s.EPS)
}

func (s Spec) checkFile() error {
	switch {
	case s.File == "":
		return wrong("path", "missing: write the topology's file, such as file:lab.yaml")
	case s.Divisor < 1e-6 || s.Divisor > 1e12:
		return wrong("scale", "%v is out of range: write a number from 0.000001 to 1e12", s.Divisor)
	case s.PerNode > MaxHosts:
		return wrong("hosts", "%d hosts a switch: write 1 to %d", s.PerNode, MaxHosts)
	case s.Dark < 0 || s.Dark > MaxDark:
		return wrong("dark", "%v is not within 1ns and %v", s.Dark, MaxDark)
	case strings.ContainsAny(s.File, ",\n"):
		return wrong("path", "%q holds a comma or ends a line: give the file another name", s.File)
	case s.Racks > 0 && s.Dark != 0 && s.Ports == 0:
		return wrong("dark", "%s has no OCS: leave dark out, or give a node role: ocs", s.File)
	}
	return nil
}
