package topo

import (
	"cmp"
	"fmt"
	"strings"

	"lightloom/pathmap"
)

// keyError is an error of one key of a spec, so that a reader can point at it.
type keyError struct{ key, msg string }

func (e *keyError) Error() string { return e.key + ": " + e.msg }

func wrong(key, format string, args ...any) error {
	return &keyError{key, fmt.Sprintf(format, args...)}
}

// Check returns an error if s is invalid, with zero fields taken as their defaults. Each error names
// what to write instead.
func (s Spec) Check() error {
	if _, err := parseVCPUs(s.VCPUs); err != nil {
		return err
	}
	switch s.Kind {
	case Hybrid, LeafSpine, Crossbar:
		if s.Side != 0 || s.FacePorts != 0 {
			return wrong("kind", "a %s has no cubes: write pod, or leave side out", s.Kind)
		}
	case PodKind:
		if err := s.checkPod(); err != nil {
			return err
		}
	case FatTreeKind, JellyfishKind, FileKind:
		if s.Waves > 1 {
			return wrong("kind", "a %s has one wavelength a rack: write hybrid for more", s.Kind)
		}
		if s.OCSes > 1 {
			return wrong("kind", "a %s has no parallel OCSes: write hybrid or crossbar for more than one", s.Kind)
		}
		return s.WithDefaults().checkGeneral()
	default:
		return wrong("kind", "%q is unknown: write %s", s.Kind, oneOf(s.Kind, Kinds()))
	}
	given := s
	s = s.WithDefaults()
	racks := "racks"
	if s.Kind == Crossbar {
		racks = "ports"
	}
	if s.Pod() {
		racks = "cubes"
	}
	for _, c := range []struct {
		key      string
		value    int
		min, max int
	}{{racks, s.Racks, 1, MaxRacks}, {"hosts", s.Hosts, 1, MaxHosts}, {"spines", s.Spines, 1, MaxSpines},
		{"slots", s.Slots, 1, MaxSlots}} {
		if c.value < c.min || c.value > c.max {
			return wrong(c.key, "%d is out of range: write %d to %d", c.value, c.min, c.max)
		}
	}
	if cables := s.Racks * (s.Hosts + s.Spines); cables > MaxCables {
		return wrong(racks, "%d racks of %d hosts and %d uplinks make %d cables, more than %d: write %s=%d or fewer",
			s.Racks, s.Hosts, s.Spines, cables, MaxCables, racks, MaxCables/(s.Hosts+s.Spines))
	}
	if err := cmp.Or(s.checkPlanes(), s.checkRails()); err != nil {
		return err
	}
	if err := s.checkRates(); err != nil {
		return err
	}
	if err := s.checkOwn(); err != nil {
		return err
	}
	return s.checkOCS(given)
}

func (s Spec) checkPlanes() error {
	switch {
	case s.Waves < 0 || s.Waves > MaxWaves:
		return wrong("wavelengths", "%d is out of range: write 1 to %d", s.Waves, MaxWaves)
	case s.OCSes < 0 || s.OCSes > MaxOCSes:
		return wrong("ocses", "%d is out of range: write 1 to %d", s.OCSes, MaxOCSes)
	case s.Planes() > MaxOCSes && !s.Pod():
		return wrong("ocses", "%d OCSes of %d wavelengths give a rack %d circuits at once, more than %d: write ocses=%d or "+
			"fewer", s.OCSes, s.Waves, s.Planes(), MaxOCSes, MaxOCSes/s.Waves)
	}
	return nil
}

func (s Spec) checkRates() error {
	rates := []struct {
		key   string
		value pathmap.BitsPerSecond
	}{{"nic", s.NIC}, {"eps", s.EPS}, {"ocs", s.OCS}}
	if s.Kind == Crossbar {
		rates = rates[1:]
		rates[0].key = "rate"
	}
	for _, r := range rates {
		if r.key == "ocs" && !s.HasOCS() {
			continue
		}
		if err := checkRate(r.key, r.value); err != nil {
			return err
		}
	}
	return nil
}

func checkRate(key string, r pathmap.BitsPerSecond) error {
	switch {
	case r <= 0:
		return wrong(key, "a rate of %v carries nothing: write a rate above zero, such as %s=1Gbps", r, key)
	case r > MaxRate:
		return wrong(key, "%v is more than any link carries: write %v or less", r, MaxRate)
	}
	return nil
}

// checkOCS checks what only a fabric with an OCS has; given is the spec before its defaults were filled.
func (s Spec) checkOCS(given Spec) error {
	if s.Kind == Crossbar {
		if s.Hosts != 1 || s.Spines != 1 || s.NIC != s.EPS || s.HasOCS() &&
			(s.OCS != s.EPS || s.Ports != s.Racks || s.Waves != 0) {
			return wrong("kind", "a crossbar has one host a port and one rate: write hybrid for anything else")
		}
	}
	if !s.HasOCS() {
		if s.Kind == Crossbar && given.OCSes > 1 {
			return wrong("ocses", "a crossbar without dark has no OCS: add dark=10ms, or leave ocses out")
		}
		if given.OCS != 0 || given.Ports != 0 || given.Dark != 0 || given.Waves > 1 || given.OCSes > 1 {
			return wrong("kind", "a %s has no OCS: write hybrid, or leave ocs, ports and dark out", s.Kind)
		}
		return nil
	}
	switch {
	case s.Ports < 1 || s.Ports > s.Racks:
		return wrong("ports", "%d OCS ports for %d racks: write ports=%d or fewer, at least 1", s.Ports,
			s.Racks, s.Racks)
	case s.Dark < 0:
		return wrong("dark", "%v is below zero: write a duration such as dark=10ms", s.Dark)
	case s.Dark > MaxDark:
		return wrong("dark", "%v is longer than any mirror moves: write %v or less", s.Dark, MaxDark)
	}
	return nil
}

// oneOf lists what may be written, the nearest first named where one is near.
func oneOf(word string, known []string) string {
	list := "one of " + strings.Join(known, ", ")
	if near, ok := nearest(word, known); ok {
		return fmt.Sprintf("%q? It is %s", near, list)
	}
	return list
}
