package topo

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"lightloom/pathmap"
)

// The kinds of fabrics.
const (
	Hybrid    = "hybrid"    // racks, a spine layer, and an OCS
	LeafSpine = "leafspine" // racks and a spine layer
	PodKind   = "pod"       // cubes of hosts and a spine layer; the cubes' faces meet on OCSes
	Crossbar  = "crossbar"  // one big switch: a rack of one host for each port; with dark=, an OCS beside it

	FatTreeKind   = "fattree"   // three layers of equal switches, those without hosts left out
	JellyfishKind = "jellyfish" // switches joined at random
	FileKind      = "file"      // what a topology's file says, in any of the formats
)

// Kinds lists the kinds, as ParseSpec takes them.
func Kinds() []string {
	return []string{Hybrid, LeafSpine, Crossbar, PodKind, FatTreeKind, JellyfishKind, FileKind}
}

// What a spec's fields are where they are left out. NIC is OCS·Planes/Hosts but at least EPS where
// there is an OCS, else EPS.
const (
	DefaultRacks         = 8
	DefaultHosts         = 2
	DefaultSpines        = 2
	DefaultSlots         = 2
	DefaultCrossbarPorts = 150 // as in the Facebook trace
	DefaultK             = 4
	DefaultSwitches      = 20
	DefaultDegree        = 4
	DefaultSeed          = 1
	DefaultPaths         = 6 // as many as three bits name beside the default and the circuit
	DefaultEPS           = pathmap.Gbps
	DefaultOCS           = 10 * pathmap.Gbps
	DefaultDark          = 10 * time.Millisecond
)

// Limits of a spec. Hosts are bound by a rack's /24, the rest by what one controller can hold.
const (
	MaxRacks  = 1 << 14
	MaxHosts  = 253
	MaxSpines = 1 << 10
	MaxSlots  = 1 << 12
	MaxWaves  = 16      // schedules keep tables of the square of the OCSes' ports
	MaxOCSes  = 16      // likewise, and of wavelengths and OCSes together
	MaxCables = 1 << 21 // hosts and uplinks together
	MaxPaths  = 252     // as many as a tag of a simulated fabric names
	MaxRate   = 100_000 * pathmap.Gbps
	MaxDark   = time.Hour
)

// HasOCS reports whether the fabric has an optical circuit switch.
func (s Spec) HasOCS() bool {
	return s.Kind == Hybrid || s.Pod() || s.Kind == Crossbar && s.Dark != 0 || s.Kind == FileKind && s.Ports > 0
}

// WithDefaults returns s with its zero fields filled.
func (s Spec) WithDefaults() Spec {
	if s.General() {
		return s.generalDefaults()
	}
	racks, hosts, spines := DefaultRacks, DefaultHosts, DefaultSpines
	if s.Kind == Crossbar {
		racks, hosts, spines = DefaultCrossbarPorts, 1, 1
	}
	if s.Pod() {
		s.Side = cmp.Or(s.Side, DefaultSide)
		hosts = s.Side * s.Side * s.Side
	}
	s.Racks, s.Hosts, s.Spines = cmp.Or(s.Racks, racks), cmp.Or(s.Hosts, hosts), cmp.Or(s.Spines, spines)
	s.Slots = cmp.Or(s.Slots, DefaultSlots)
	s.EPS = cmp.Or(s.EPS, DefaultEPS)
	if s.HasOCS() {
		ocs := DefaultOCS
		if s.Kind == Crossbar {
			ocs = s.EPS
		}
		if s.Pod() {
			s.FacePorts = cmp.Or(s.FacePorts, 2*s.Racks)
		}
		s.OCS, s.Ports, s.Dark = cmp.Or(s.OCS, ocs), cmp.Or(s.Ports, s.Racks), cmp.Or(s.Dark, DefaultDark)
	}
	if s.Waves == 1 {
		s.Waves = 0 // one form of what is the same
	}
	if s.OCSes == 1 {
		s.OCSes = 0
	}
	s.NIC = cmp.Or(s.NIC, s.defaultNIC())
	return s
}

// defaultNIC is what NIC is where it is left out and the other fields are filled.
func (s Spec) defaultNIC() pathmap.BitsPerSecond {
	if s.Kind == Hybrid && s.Hosts > 0 {
		return max(s.OCS*pathmap.BitsPerSecond(s.CircuitsARack())/pathmap.BitsPerSecond(s.Hosts), s.EPS)
	}
	if s.Pod() {
		return max(s.OCS, s.EPS)
	}
	return s.EPS
}

// String writes the text form, which ParseSpec reads back to the same spec. Keys that hold their
// default and are seldom set (nic, ports, slots) are left out.
func (s Spec) String() string {
	s = s.WithDefaults()
	if s.General() {
		return s.generalString()
	}
	var b strings.Builder
	b.WriteString(s.Kind)
	sep := byte(':')
	put := func(key string, value any) {
		b.WriteByte(sep)
		fmt.Fprintf(&b, "%s=%v", key, value)
		sep = ','
	}
	if s.Kind == Crossbar {
		put("ports", s.Racks)
		put("rate", s.EPS)
	} else if s.Pod() {
		put("cubes", s.Racks)
		put("side", s.Side)
		put("spines", s.Spines)
		put("eps", s.EPS)
	} else {
		put("racks", s.Racks)
		put("hosts", s.Hosts)
		put("spines", s.Spines)
		put("eps", s.EPS)
	}
	if s.Kind == Hybrid || s.Pod() {
		put("ocs", s.OCS)
	}
	if s.HasOCS() {
		put("dark", s.Dark)
	}
	s.putOCSes(put)
	if s.NIC != s.defaultNIC() {
		put("nic", s.NIC)
	}
	if s.Slots != DefaultSlots {
		put("slots", s.Slots)
	}
	if s.VCPUs != "" {
		put("vcpus", s.VCPUs)
	}
	for _, o := range s.Own {
		b.WriteByte(',')
		b.WriteString(o.String())
	}
	return b.String()
}

// putOCSes writes how many OCSes there are, with which ports.
func (s Spec) putOCSes(put func(key string, value any)) {
	if s.Kind == Hybrid && s.Ports != s.Racks {
		put("ports", s.Ports)
	}
	if s.Pod() && s.FacePorts != 2*s.Racks {
		put("ports", s.FacePorts)
	}
	if s.Waves > 1 {
		put("wavelengths", s.Waves)
	}
	if s.OCSes > 1 {
		put("ocses", s.OCSes)
	}
	if s.Rails > 0 {
		put("rails", s.Rails)
	}
}

// WithoutOCS returns the packet network of s alone: a leaf-spine of the same racks. With extra, it is
// given what the OCS carried, spread evenly: each ToR–spine link gains OCS ÷ Spines for each plane
// (less in proportion where only some racks have an OCS port), rounded down. It is for hybrids,
// leaf-spines, crossbars and pods.
func (s Spec) WithoutOCS(extra bool) Spec {
	s = s.WithDefaults()
	if extra && s.HasOCS() {
		ports, links := pathmap.BitsPerSecond(s.cabledPorts()), pathmap.BitsPerSecond(s.Racks*s.Spines)
		s.EPS += s.OCS/links*ports + s.OCS%links*ports/links
	}
	s.Kind, s.OCS, s.Ports, s.Dark, s.Waves, s.OCSes, s.Layout = LeafSpine, 0, 0, 0, 0, 0, Layout{}
	return s.withoutOwn()
}

// cabledPorts is how many cables lead from racks to OCSes.
func (s Spec) cabledPorts() (sum int) {
	if s.Rails > 0 {
		return s.Racks
	}
	planes := s.Planes() / s.ParallelOCSes()
	for ocs := range s.ParallelOCSes() {
		sum += s.PortsOf(ocs) * planes
	}
	return sum
}
