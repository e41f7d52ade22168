package topo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap"
)

// maxText bounds the text form: a longer one is not a spec.
const maxText = 4096

// ParseSpec reads the text form: a kind, and perhaps a colon and keys with values, separated by commas.
// Keys left out have their defaults, which the spec returned holds. Keys by kind:
//
//	hybrid     racks hosts spines nic eps oversub ocs ports wavelengths ocses rails dark slots vcpus
//	leafspine  racks hosts spines nic eps oversub slots vcpus
//	crossbar   ports rate ocses dark slots vcpus
//	pod        cubes side spines nic eps ocs ports dark slots vcpus
//	fattree    k hosts rate paths slots vcpus
//	jellyfish  switches degree hosts rate seed paths slots vcpus
//	file       path dark scale hosts paths slots vcpus
//
// A rack may have rates of its own: nic@3=1Gbps, eps@0-4=500Mbps and ocs@2=5Gbps, on a crossbar
// rate@3=1Gbps. An OCS may have its own: dark@1=50ms, apply@1=2ms and lock@0-2=1ms, the stages of its
// reconfiguration delay, and ports@2=4. oversub is how many times what a rack's hosts can send is more
// than what its uplinks carry, as in oversub=4:1, in the place of eps.
//
// vcpus are those of hosts in turn, as in vcpus=16/4: every other host has 16, the others 4.
//
// Hosts are those of a rack, but of the whole fabric for a fat-tree and a Jellyfish, and for a file
// those to add at each switch that has none. The path of a file may be written without its key where it
// comes first, as in "file:lab.yaml,dark=10ms"; it is not opened here.
func ParseSpec(text string) (Spec, error) {
	if len(text) > maxText {
		return Spec{}, fmt.Errorf("parse fabric spec: %d bytes long, at most %d are read", len(text), maxText)
	}
	s, at, err := parseText(text)
	if err != nil {
		return Spec{}, fmt.Errorf("parse fabric spec %q: column %d: %w", text, at+1, err)
	}
	return s, nil
}

// parseText is ParseSpec with the offset of what is wrong.
func parseText(text string) (Spec, int, error) {
	kind, rest, more := strings.Cut(text, ":")
	d := newDraft()
	if err := d.kind(kind); err != nil {
		return Spec{}, 0, err
	}
	offsets := map[string]int{}
	for at := len(kind) + 1; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, ",")
		key, value, ok := strings.Cut(pair, "=")
		if kind == FileKind && len(offsets) == 0 && !(ok && key == "path") {
			key, value, ok = "path", pair, true
		}
		if !ok || value == "" {
			return Spec{}, at, fmt.Errorf("%q is no key with a value: write it like %s", pair, d.example())
		}
		if err := d.set(key, value); err != nil {
			return Spec{}, at, err
		}
		offsets[key] = at
		at += len(pair) + 1
	}
	s, err := d.spec()
	if ke := (*keyError)(nil); errors.As(err, &ke) {
		return Spec{}, offsets[ke.key], err
	}
	return s, 0, err
}

// draft is a spec being read, whichever the form.
type draft struct {
	s     Spec
	keys  []key
	given map[string]bool

	oversub float64 // 0: not given
}

// key is one key of a kind.
type key struct {
	name string
	set  func(s *Spec, value string) error
}

func newDraft() *draft { return &draft{given: map[string]bool{}} }

func (d *draft) kind(kind string) error {
	d.s.Kind = kind
	if d.keys = keysOf(kind); d.keys == nil {
		return wrong("kind", "%q is unknown: write %s", kind, oneOf(kind, Kinds()))
	}
	return nil
}

// example is a key of the kind with a value.
func (d *draft) example() string {
	switch d.s.Kind {
	case Crossbar:
		return "ports=16"
	case PodKind:
		return "cubes=8"
	case FatTreeKind:
		return "k=4"
	case JellyfishKind:
		return "switches=20"
	case FileKind:
		return "path=lab.yaml"
	}
	return "racks=16"
}

// set reads one key.
func (d *draft) set(name, value string) error {
	if strings.Contains(name, "@") {
		return d.setOwn(name, value)
	}
	for _, k := range d.keys {
		if k.name != name {
			continue
		}
		if d.given[name] {
			return wrong(name, "given twice: leave one out")
		}
		d.given[name] = true
		if name == "oversub" {
			return d.setOversub(value)
		}
		return k.set(&d.s, value)
	}
	names := make([]string, len(d.keys))
	for i, k := range d.keys {
		names[i] = k.name
	}
	return wrong(name, "unknown key of a %s: write %s", d.s.Kind, oneOf(name, names))
}

// spec returns what was read, checked.
func (d *draft) spec() (Spec, error) {
	if err := d.applyOversub(); err != nil {
		return Spec{}, err
	}
	if err := d.s.Check(); err != nil {
		return Spec{}, err
	}
	return d.s.WithDefaults(), nil
}

// keysOf lists the keys of a kind; nil where there is no such kind.
func keysOf(kind string) []key {
	racks := []key{
		{"racks", count("racks", func(s *Spec) *int { return &s.Racks })},
		{"hosts", count("hosts", func(s *Spec) *int { return &s.Hosts })},
		{"spines", count("spines", func(s *Spec) *int { return &s.Spines })},
		{"nic", rate("nic", func(s *Spec) *pathmap.BitsPerSecond { return &s.NIC })},
		{"eps", rate("eps", func(s *Spec) *pathmap.BitsPerSecond { return &s.EPS })},
		{"oversub", nil}, // setOversub's
	}
	slots := key{"slots", count("slots", func(s *Spec) *int { return &s.Slots })}
	vcpus := key{"vcpus", setVCPUs}
	dark := key{"dark", duration("dark", func(s *Spec) *time.Duration { return &s.Dark })}
	ocses := key{"ocses", count("ocses", func(s *Spec) *int { return &s.OCSes })}
	switch kind {
	case Hybrid:
		return append(racks,
			key{"ocs", rate("ocs", func(s *Spec) *pathmap.BitsPerSecond { return &s.OCS })},
			key{"ports", count("ports", func(s *Spec) *int { return &s.Ports })},
			key{"wavelengths", count("wavelengths", func(s *Spec) *int { return &s.Waves })}, ocses,
			key{"rails", count("rails", func(s *Spec) *int { return &s.Rails })}, dark, slots, vcpus)
	case LeafSpine:
		return append(racks, slots, vcpus)
	case PodKind:
		return podKeys(dark, slots, vcpus)
	case Crossbar:
		return []key{
			{"ports", count("ports", func(s *Spec) *int { return &s.Racks })},
			{"rate", rate("rate", func(s *Spec) *pathmap.BitsPerSecond { return &s.EPS })}, ocses, dark, slots, vcpus}
	}
	return generalKeys(kind, dark, slots, vcpus)
}

// generalKeys lists the keys of a general fabric; nil where there is no such kind.
func generalKeys(kind string, dark, slots, vcpus key) []key {
	servers := key{"hosts", count("hosts", func(s *Spec) *int { return &s.Servers })}
	every := key{"rate", rate("rate", func(s *Spec) *pathmap.BitsPerSecond { return &s.EPS })}
	paths := key{"paths", count("paths", func(s *Spec) *int { return &s.Paths })}
	switch kind {
	case FatTreeKind:
		return []key{{"k", count("k", func(s *Spec) *int { return &s.K })}, servers, every, paths, slots, vcpus}
	case JellyfishKind:
		return []key{{"switches", count("switches", func(s *Spec) *int { return &s.Switches })},
			{"degree", count("degree", func(s *Spec) *int {
				return &s.Degree
			})}, servers, every, {"seed", setSeed}, paths, slots, vcpus}
	case FileKind:
		return []key{{"path", func(s *Spec, value string) error {
			s.File = value
			return nil
		}}, dark, {"scale", setDivisor}, {"hosts", count("hosts", func(s *Spec) *int { return &s.PerNode })},
			paths, slots, vcpus}
	}
	return nil
}

func setSeed(s *Spec, value string) error {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 {
		return wrong("seed", "%q is no whole number from 1: write it like seed=7", value)
	}
	s.Seed = n
	return nil
}

func setDivisor(s *Spec, value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) {
		return wrong("scale", "%q is no number above zero: write it like scale=10", value)
	}
	s.Divisor = v
	return nil
}

func count(name string, field func(*Spec) *int) func(*Spec, string) error {
	return func(s *Spec, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return wrong(name, "%q is no whole number: write it like %s=16", value, name)
		}
		if n < 1 {
			return wrong(name, "%d is out of range: write 1 or more, or leave %s out", n, name)
		}
		*field(s) = n
		return nil
	}
}

func rate(name string, field func(*Spec) *pathmap.BitsPerSecond) func(*Spec, string) error {
	return func(s *Spec, value string) error {
		r, err := pathmap.ParseRate(value)
		if err != nil {
			return wrong(name, "%v", err)
		}
		if err := checkRate(name, r); err != nil {
			return err
		}
		*field(s) = r
		return nil
	}
}

func duration(name string, field func(*Spec) *time.Duration) func(*Spec, string) error {
	return func(s *Spec, value string) error {
		v, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return wrong(name, "%q is no duration: write it like %s=10ms", value, name)
		case v <= 0:
			return wrong(name, "%v is not above zero: write %s=1ns for an ideal switch", v, name)
		}
		*field(s) = v
		return nil
	}
}
