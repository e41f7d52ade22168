package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// own is a rate that some racks have for themselves: "eps@3=500Mbps", "ocs@0-4=20Gbps".
type own struct {
	what        string // nic, eps or ocs; rate on a crossbar
	first, last int    // racks
	rate        pathmap.BitsPerSecond
}

func (o own) String() string {
	if o.first == o.last {
		return fmt.Sprintf("%s@%d=%v", o.what, o.first, o.rate)
	}
	return fmt.Sprintf("%s@%d-%d=%v", o.what, o.first, o.last, o.rate)
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
		return wrong(name, "no rack has a %q of its own: write %s@3=1Gbps", what, strings.Join(kinds, "@3=1Gbps or "))
	}
	o := own{what: what}
	first, last, ranged := strings.Cut(racks, "-")
	if !ranged {
		last = first
	}
	var err, err2 error
	o.first, err = strconv.Atoi(first)
	o.last, err2 = strconv.Atoi(last)
	if err != nil || err2 != nil || o.first < 0 || o.last < o.first {
		return wrong(name, "%q is no rack and no range of racks: write %s@3=1Gbps or %s@0-4=1Gbps", racks, what, what)
	}
	if o.rate, err = pathmap.ParseRate(value); err != nil {
		return wrong(name, "%v", err)
	}
	if err := checkRate(name, o.rate); err != nil {
		return err
	}
	all, err := parseOwn(d.s.Own)
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.what == o.what && x.first <= o.last && o.first <= x.last {
			return wrong(name, "rack %d has a rate of its own already: %v", max(x.first, o.first), x)
		}
	}
	d.s.Own = ownText(append(all, o))
	return nil
}

// ownText writes rates of racks in their one order.
func ownText(all []own) string {
	slices.SortFunc(all, func(a, b own) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.first, b.first)) })
	var out []string
	for _, o := range all {
		out = append(out, o.String())
	}
	return strings.Join(out, ",")
}

// parseOwn reads what ownText wrote.
func parseOwn(text string) ([]own, error) {
	var all []own
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		var o own
		key, value, ok := strings.Cut(part, "=")
		what, racks, ok2 := strings.Cut(key, "@")
		first, last, ranged := strings.Cut(racks, "-")
		if !ranged {
			last = first
		}
		var err, err2, err3 error
		o.what = what
		o.first, err = strconv.Atoi(first)
		o.last, err2 = strconv.Atoi(last)
		o.rate, err3 = pathmap.ParseRate(value)
		if !ok || !ok2 || err != nil || err2 != nil || err3 != nil {
			return nil, wrong("rates of racks", "%q: write them like eps@3=1Gbps", part)
		}
		all = append(all, o)
	}
	return all, nil
}

// checkOwn checks that racks with rates of their own are there.
func (s Spec) checkOwn() error {
	all, err := parseOwn(s.Own)
	if err != nil {
		return err
	}
	for _, o := range all {
		name, _, _ := strings.Cut(o.String(), "=")
		switch {
		case !slices.Contains(ownKinds(s.Kind), o.what):
			return wrong(name, "racks of a %s have no %s of their own", s.Kind, o.what)
		case o.last >= s.Racks:
			return wrong(name, "there is no rack %d: racks are 0 to %d", o.last, s.Racks-1)
		case o.what == "ocs" && o.last >= s.Ports:
			return wrong(name, "rack %d has no OCS port: racks 0 to %d have", o.last, s.Ports-1)
		}
		if err := checkRate(name, o.rate); err != nil {
			return err
		}
	}
	return nil
}

// rackRates are what each rack's links have: the common rate, or its own. s has its defaults and is checked.
func (s Spec) rackRates() (nic, eps, ocs []pathmap.BitsPerSecond) {
	nic, eps, ocs = slices.Repeat([]pathmap.BitsPerSecond{s.NIC}, s.Racks),
		slices.Repeat([]pathmap.BitsPerSecond{s.EPS}, s.Racks), slices.Repeat([]pathmap.BitsPerSecond{s.OCS}, s.Racks)
	all, err := parseOwn(s.Own)
	if err != nil {
		panic("topo: " + err.Error()) // Check has read it
	}
	for _, o := range all {
		for r := o.first; r <= o.last; r++ {
			if o.what == "nic" || o.what == "rate" {
				nic[r] = o.rate
			}
			if o.what == "eps" || o.what == "rate" {
				eps[r] = o.rate
			}
			if o.what == "ocs" || o.what == "rate" {
				ocs[r] = o.rate
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
	all, err := parseOwn(s.Own)
	if err != nil {
		return s // Check says what is wrong
	}
	for i := range all {
		all[i].rate = divide(all[i].rate)
	}
	s.Own = ownText(all)
	return s
}

// withoutOwn takes the rates of one sort away.
func (s Spec) withoutOwn(what string) Spec {
	all, err := parseOwn(s.Own)
	if err == nil {
		s.Own = ownText(slices.DeleteFunc(all, func(o own) bool { return o.what == what }))
	}
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
			s.NIC = max(s.OCS*pathmap.BitsPerSecond(s.Wavelengths())/pathmap.BitsPerSecond(s.Hosts), 1)
		}
	}
	d.s.NIC = s.NIC
	d.s.EPS = pathmap.BitsPerSecond(float64(s.NIC) * float64(s.Hosts) / (float64(s.Spines) * d.oversub))
	if d.s.EPS < 1 {
		return wrong("oversub", "%v leaves less than 1 bit a second to an uplink: write a smaller ratio", d.oversub)
	}
	return nil
}
