package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap"
)

// OwnValue is what some racks or OCSes have for themselves: "eps@3=500Mbps", "ocs@0-4=20Gbps" of racks,
// "dark@1=50ms", "ports@0-2=6" of OCSes.
type OwnValue struct {
	Link        string // a rate of a rack's links: nic, eps or ocs; rate on a crossbar. Else one of ocsKeys
	First, Last int    // racks, or OCSes
	Rate        pathmap.BitsPerSecond
	Delay       time.Duration `json:",omitempty"` // of an OCS: apply, dark or lock
	Ports       int           `json:",omitempty"` // of an OCS
}

// ocsKeys are what an OCS may have for itself: the stages of its reconfiguration delay, and its ports.
func ocsKeys() []string { return []string{"apply", "dark", "lock", "ports"} }

func ofOCS(what string) bool { return slices.Contains(ocsKeys(), what) }

func (o OwnValue) String() string {
	switch {
	case o.Link == "ports":
		return fmt.Sprintf("%s=%d", o.key(), o.Ports)
	case ofOCS(o.Link):
		return fmt.Sprintf("%s=%v", o.key(), o.Delay)
	}
	return fmt.Sprintf("%s=%v", o.key(), o.Rate)
}

// key is what stands before the value, as in a spec.
func (o OwnValue) key() string {
	if o.First == o.Last {
		return fmt.Sprintf("%s@%d", o.Link, o.First)
	}
	return fmt.Sprintf("%s@%d-%d", o.Link, o.First, o.Last)
}

// ownKinds are what racks of a kind of fabric may have for themselves, and then its OCSes.
func ownKinds(kind string) (racks, ocses []string) {
	switch kind {
	case Hybrid:
		return []string{"nic", "eps", "ocs"}, ocsKeys()
	case LeafSpine:
		return []string{"nic", "eps"}, nil
	case Crossbar:
		return []string{"rate"}, []string{"apply", "dark", "lock"}
	case PodKind:
		return nil, ocsKeys()
	}
	return nil, nil
}

// OwnKey reads a key of the form what@3 or what@0-4.
func OwnKey(name string) (what string, first, last int, ok bool) {
	what, numbers, _ := strings.Cut(name, "@")
	from, to, ranged := strings.Cut(numbers, "-")
	if !ranged {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	return what, first, last, err == nil && err2 == nil && first >= 0 && last >= first
}

// setOwn reads one key of the form what@rack or what@first-last, or of OCSes in the place of racks.
func (d *draft) setOwn(name, value string) error {
	what, numbers, _ := strings.Cut(name, "@")
	if err := d.mayOwn(name, what); err != nil {
		return err
	}
	of, has, example := "rack", "rate", "1Gbps"
	if ofOCS(what) {
		if of, has, example = "OCS", "value", "50ms"; what == "ports" {
			example = "4"
		}
	}
	o := OwnValue{Link: what}
	var ok bool
	if _, o.First, o.Last, ok = OwnKey(name); !ok {
		return wrong(name, "%q is no %s and no range of %ss: write %s@3=%s or %s@0-4=%s", numbers, of, strings.ReplaceAll(of,
			"OCS", "OCSe"), what, example, what, example)
	}
	if err := o.set(name, value); err != nil {
		return err
	}
	for _, x := range d.s.Own {
		if x.Link == o.Link && x.First <= o.Last && o.First <= x.Last {
			return wrong(name, "%s %d has a %s of its own already: %v", of, max(x.First, o.First), has, x)
		}
	}
	d.s.Own = append(d.s.Own, o)
	slices.SortFunc(d.s.Own, func(a, b OwnValue) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.First, b.First))
	})
	return nil
}

// mayOwn refuses what nothing of this kind of fabric has for itself.
func (d *draft) mayOwn(name, what string) error {
	racks, ocses := ownKinds(d.s.Kind)
	if slices.Contains(racks, what) || slices.Contains(ocses, what) {
		return nil
	}
	if len(racks) == 0 {
		return wrong(name, "racks of a %s have no rates of their own: write a file:", d.s.Kind)
	}
	var write []string
	for _, r := range racks {
		write = append(write, r+"@3=1Gbps")
	}
	if len(ocses) > 0 {
		write = append(write, "of an OCS dark@1=50ms")
	}
	return wrong(name, "no rack has a %q of its own: write %s", what, strings.Join(write, " or "))
}

// set reads the value.
func (o *OwnValue) set(name, value string) (err error) {
	switch {
	case o.Link == "ports":
		if o.Ports, err = strconv.Atoi(value); err != nil || o.Ports < 1 {
			return wrong(name, "%q is no number of ports: write it like %s=4", value, name)
		}
	case ofOCS(o.Link):
		if o.Delay, err = time.ParseDuration(value); err != nil {
			return wrong(name, "%q is no duration: write it like %s=50ms", value, name)
		}
	default:
		if o.Rate, err = pathmap.ParseRate(value); err != nil {
			return wrong(name, "%v", err)
		}
		return checkRate(name, o.Rate)
	}
	return nil
}

// checkOwn checks that racks and OCSes with values of their own are there. s has its defaults.
func (s Spec) checkOwn() error {
	racks, ocses := ownKinds(s.Kind)
	for _, o := range s.Own {
		name := o.key()
		switch {
		case ofOCS(o.Link):
			if err := s.checkOwnOCS(&o, ocses); err != nil {
				return err
			}
			continue
		case !slices.Contains(racks, o.Link):
			return wrong(name, "racks of a %s have no %s of their own", s.Kind, o.Link)
		case o.Last >= s.Racks:
			return wrong(name, "there is no rack %d: racks are 0 to %d", o.Last, s.Racks-1)
		case o.Link == "ocs" && o.Last >= s.mostPorts():
			return wrong(name, "rack %d has no OCS port: racks 0 to %d have", o.Last, s.mostPorts()-1)
		}
		if err := checkRate(name, o.Rate); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkOwnOCS(o *OwnValue, may []string) error {
	name, n := o.key(), s.ParallelOCSes()
	switch {
	case !slices.Contains(may, o.Link):
		return wrong(name, "an OCS of a %s has no %s of its own", s.Kind, o.Link)
	case !s.HasOCS():
		return wrong(name, "this %s has no OCS: add dark=10ms, or leave %s out", s.Kind, name)
	case o.Last >= n:
		return wrong(name, "there is no OCS %d: OCSes are 0 to %d", o.Last, n-1)
	case o.Link != "ports" && (o.Delay < 0 || o.Delay > MaxDark || o.Delay == 0 && o.Link == "dark"):
		return wrong(name, "%v is not within 1ns and %v", o.Delay, MaxDark)
	case o.Link == "ports" && s.Pod() && o.Ports < 2*s.Racks:
		return wrong(name, "an OCS of %d ports, and %d cubes have %d faces on each: write %s=%d or more, or cubes=%d",
			o.Ports, s.Racks, 2*s.Racks, name, 2*s.Racks, max(1, o.Ports/2))
	case o.Link == "ports" && !s.Pod() && (o.Ports < 1 || o.Ports > s.Racks):
		return wrong(name, "%d OCS ports for %d racks: write %s=%d or fewer, at least 1", o.Ports, s.Racks, name, s.Racks)
	}
	return nil
}

// own returns what an OCS has for itself; nil: nothing of that.
func (s Spec) own(what string, ocs int) *OwnValue {
	for i := range s.Own {
		if o := &s.Own[i]; o.Link == what && o.First <= ocs && ocs <= o.Last {
			return o
		}
	}
	return nil
}

// PortsOf returns how many racks have a port on an OCS, from rack 0 on. s has its defaults.
func (s Spec) PortsOf(ocs int) int {
	if o := s.own("ports", ocs); o != nil && !s.Pod() {
		return o.Ports
	}
	return s.Ports
}

// mostPorts is how many racks have a port on any OCS.
func (s Spec) mostPorts() int {
	most := 0
	for ocs := range s.ParallelOCSes() {
		most = max(most, s.PortsOf(ocs))
	}
	return most
}

// OwnDelay returns a stage of an OCS's reconfiguration delay, apply, dark or lock, where it has one of its own.
func (s Spec) OwnDelay(stage string, ocs int) (time.Duration, bool) {
	if o := s.own(stage, ocs); o != nil {
		return o.Delay, true
	}
	return 0, false
}

// OwnDelays reports whether any OCS has a delay of its own.
func (s Spec) OwnDelays() bool {
	return slices.ContainsFunc(s.Own, func(o OwnValue) bool { return ofOCS(o.Link) && o.Link != "ports" })
}

// ownPorts reports whether any OCS has a number of ports of its own.
func (s Spec) ownPorts() bool {
	return slices.ContainsFunc(s.Own, func(o OwnValue) bool { return o.Link == "ports" })
}

// LeastDark returns the dark time of the fastest OCS.
func (s Spec) LeastDark() time.Duration {
	if !s.OwnDelays() {
		return s.Dark
	}
	least := MaxDark
	for ocs := range s.ParallelOCSes() {
		dark, own := s.OwnDelay("dark", ocs)
		if !own {
			dark = s.Dark
		}
		least = min(least, dark)
	}
	return least
}

// rackRates are what each rack's links have: the common rate, or its own. s has its defaults and is checked.
func (s Spec) rackRates() (nic, eps, ocs []pathmap.BitsPerSecond) {
	nic, eps, ocs = slices.Repeat([]pathmap.BitsPerSecond{s.NIC}, s.Racks),
		slices.Repeat([]pathmap.BitsPerSecond{s.EPS},
			s.Racks), slices.Repeat([]pathmap.BitsPerSecond{s.OCS}, s.Racks)
	for _, o := range s.Own {
		for r := o.First; r <= o.Last; r++ {
			if o.Link == "nic" || o.Link == "rate" {
				nic[r] = o.Rate
			}
			if o.Link == "eps" || o.Link == "rate" {
				eps[r] = o.Rate
			}
			if o.Link == "ocs" || o.Link == "rate" {
				ocs[r] = o.Rate
			}
		}
	}
	return nic, eps, ocs
}

// Divide returns s with all of its rates divided, rounded down.
func (s Spec) Divide(by float64) Spec {
	divide := func(r pathmap.BitsPerSecond) pathmap.BitsPerSecond { return pathmap.BitsPerSecond(float64(r) / by) }
	s.NIC, s.EPS, s.OCS = divide(s.NIC), divide(s.EPS), divide(s.OCS)
	s.Divisor *= by // of a file's
	s.Own = slices.Clone(s.Own)
	for i := range s.Own {
		s.Own[i].Rate = divide(s.Own[i].Rate)
	}
	return s
}

// withoutOwn takes away what OCSes and racks' links to them have for themselves.
func (s Spec) withoutOwn() Spec {
	s.Own = slices.DeleteFunc(slices.Clone(s.Own), func(o OwnValue) bool { return o.Link == "ocs" || ofOCS(o.Link) })
	return s
}

// setOversub reads how many times what hosts can send is more than what a rack's uplinks carry: "4:1",
// or "4".
func (d *draft) setOversub(value string) error {
	num, den, ratio := strings.Cut(value, ":")
	if !ratio {
		den = "1"
	}
	n, err := strconv.ParseFloat(num, 64)
	m, err2 := strconv.ParseFloat(den, 64)
	if err != nil || err2 != nil || !(n > 0 && n <= 1e6 && m > 0 && m <= 1e6) {
		return wrong("oversub", "%q is no ratio: write oversub=4:1", value)
	}
	d.oversub = n / m
	return nil
}

// applyOversub derives the uplinks' rate from the oversubscription ratio: the rate of a rack's hosts
// over that of its uplinks. A missing NIC rate is its default beside an OCS, else 1 Gb/s.
func (d *draft) applyOversub() error {
	switch {
	case d.oversub == 0:
		return nil
	case d.given["eps"]:
		return wrong("oversub", "eps is given too: leave one out")
	}
	s := d.s.WithDefaults()
	if d.s.NIC == 0 {
		s.NIC = DefaultEPS
		if s.HasOCS() {
			s.NIC = max(s.OCS*pathmap.BitsPerSecond(s.CircuitsARack())/pathmap.BitsPerSecond(s.Hosts), 1)
		}
	}
	d.s.NIC = s.NIC
	d.s.EPS = pathmap.BitsPerSecond(float64(s.NIC) * float64(s.Hosts) / (float64(s.Spines) * d.oversub))
	if d.s.EPS < 1 {
		return wrong("oversub", "%v leaves less than 1 bit a second to an uplink: write a smaller ratio", d.oversub)
	}
	return nil
}
