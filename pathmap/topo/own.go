package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// RackRate is a rate that some racks have for themselves: "eps@3=500Mbps", "ocs@0-4=20Gbps".
type RackRate struct {
	Link        string // which links of a rack: nic, eps or ocs; rate on a crossbar
	First, Last int    // racks
	Rate        pathmap.BitsPerSecond
}

func (o RackRate) String() string { return fmt.Sprintf("%s=%v", o.key(), o.Rate) }

// key is what stands before the rate, as in a spec.
func (o RackRate) key() string {
	if o.First == o.Last {
		return fmt.Sprintf("%s@%d", o.Link, o.First)
	}
	return fmt.Sprintf("%s@%d-%d", o.Link, o.First, o.Last)
}

// ownKinds are what racks of a kind of fabric may have for themselves.
func ownKinds(kind string) []string {
	switch kind {
	case Hybrid:
		return []string{"nic", "eps", "ocs"}
	case LeafSpine:
		return []string{"nic", "eps"}
	case Crossbar:
		return []string{"rate"}
	}
	return nil
}

// setOwn reads one key of the form what@rack or what@first-last.
func (d *draft) setOwn(name, value string) error {
	what, racks, _ := strings.Cut(name, "@")
	kinds := ownKinds(d.s.Kind)
	if !slices.Contains(kinds, what) {
		if len(kinds) == 0 {
			return wrong(name, "racks of a %s have no rates of their own: write a file:", d.s.Kind)
		}
		return wrong(name, "no rack has a %q of its own: write %s@3=1Gbps", what,
			strings.Join(kinds, "@3=1Gbps or "))
	}
	o := RackRate{Link: what}
	first, last, ranged := strings.Cut(racks, "-")
	if !ranged {
		last = first
	}
	var err, err2 error
	o.First, err = strconv.Atoi(first)
	o.Last, err2 = strconv.Atoi(last)
	if err != nil || err2 != nil || o.First < 0 || o.Last < o.First {
		return wrong(name, "%q is no rack and no range of racks: write %s@3=1Gbps or %s@0-4=1Gbps",
			racks, what, what)
	}
	if o.Rate, err = pathmap.ParseRate(value); err != nil {
		return wrong(name, "%v", err)
	}
	if err := checkRate(name, o.Rate); err != nil {
		return err
	}
	for _, x := range d.s.Own {
		if x.Link == o.Link && x.First <= o.Last && o.First <= x.Last {
			return wrong(name, "rack %d has a rate of its own already: %v", max(x.First, o.First), x)
		}
	}
	d.s.Own = append(d.s.Own, o)
	slices.SortFunc(d.s.Own, func(a, b RackRate) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.First, b.First))
	})
	return nil
}

// checkOwn checks that racks with rates of their own are there.
func (s Spec) checkOwn() error {
	for _, o := range s.Own {
		name := o.key()
		switch {
		case !slices.Contains(ownKinds(s.Kind), o.Link):
			return wrong(name, "racks of a %s have no %s of their own", s.Kind, o.Link)
		case o.Last >= s.Racks:
			return wrong(name, "there is no rack %d: racks are 0 to %d", o.Last, s.Racks-1)
		case o.Link == "ocs" && o.Last >= s.Ports:
			return wrong(name, "rack %d has no OCS port: racks 0 to %d have", o.Last, s.Ports-1)
		}
		if err := checkRate(name, o.Rate); err != nil {
			return err
		}
	}
	return nil
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

// withoutOwn takes the rates of one sort of links away.
func (s Spec) withoutOwn(link string) Spec {
	s.Own = slices.DeleteFunc(slices.Clone(s.Own), func(o RackRate) bool { return o.Link == link })
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
			s.NIC = max(s.OCS*pathmap.BitsPerSecond(s.Planes())/pathmap.BitsPerSecond(s.Hosts), 1)
		}
	}
	d.s.NIC = s.NIC
	d.s.EPS = pathmap.BitsPerSecond(float64(s.NIC) * float64(s.Hosts) / (float64(s.Spines) * d.oversub))
	if d.s.EPS < 1 {
		return wrong("oversub", "%v leaves less than 1 bit a second to an uplink: write a smaller ratio", d.oversub)
	}
	return nil
}
