package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// FirstDifference is where two runs of the same jobs under a policy first decide differently.
type FirstDifference struct {
	Policy string  `json:"policy"`
	Same   bool    `json:"same"` // nothing differs
	Kind   string  `json:"kind,omitempty"`
	Of     string  `json:"of,omitempty"` // what is decided: a job, a coflow, or a port of the optical switch
	Sides  [2]Side `json:"sides"`
}

// Side is one of the two runs at the first difference.
type Side struct {
	Run      string `json:"run"`
	Decision string `json:"decision"`       // "nothing" where the run decides no such thing
	At       Time   `json:"at_seconds"`     // when it was decided
	Active   int    `json:"coflows_active"` // in the queue then: ready, and not ended
	Moves    int    `json:"circuits"`       // of the whole run

	Circuit *CircuitSide `json:"circuit,omitempty"`
	CCT     [2]float64   `json:"cct_seconds_mean"` // of coflows that had ended by then, and of the others
}

// CircuitSide is what a run knew as it decided on a circuit, and what followed.
type CircuitSide struct {
	Left      int64        `json:"left_bytes"`        // as the controller knew
	Actual    int64        `json:"left_bytes_actual"` // as it was, where the testbed can tell
	Age       Time         `json:"left_age_seconds"`  // of what the controller knew
	Delta     Time         `json:"delta_seconds"`
	Begins    Time         `json:"not_before_seconds"`
	Ends      Time         `json:"not_after_seconds"`
	Begun     Time         `json:"begun_seconds"`
	InService Time         `json:"in_service_seconds"`
	Ended     Time         `json:"ended_seconds"`
	Remained  int64        `json:"end_left_bytes"` // when it ended
	Cause     string       `json:"cause"`
	Took      Time         `json:"coflow_cct_seconds"`       // of the coflow that it was for; 0: not known
	Before    *CircuitSide `json:"circuit_before,omitempty"` // the last one on the same ports

	what string
}

// Time is seconds in JSON.
type Time time.Duration

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(decimal(time.Duration(t).Seconds())), nil
}

// key is what a decision is on: a job's places, a coflow's paths, or a port's next circuit.
type key struct {
	kind, of string
}

// chains orders decisions by what they are on. Circuits are in the chain of each of their two ports, since a
// port has them one after the other whatever happens at others meanwhile.
func chains(all []Decision) map[key][]*Decision {
	out := map[key][]*Decision{}
	all = sortedDecisions(all)
	slices.SortStableFunc(all, func(a, b Decision) int { return cmp.Compare(a.when(), b.when()) })
	for i := range all {
		d := &all[i]
		for _, of := range d.on() {
			k := key{d.Kind, of}
			out[k] = append(out[k], d)
		}
	}
	return out
}

func (d *Decision) on() []string {
	switch d.Kind {
	case DecidedCircuit:
		return []string{fmt.Sprintf("OCS input %d", d.Circuit.In), fmt.Sprintf("OCS output %d", d.Circuit.Out)}
	case DecidedRoute:
		return []string{d.coflow()}
	}
	return []string{d.Job}
}

// when is the instant by which decisions are ordered: circuits by their begin, since that makes their order.
func (d *Decision) when() time.Duration {
	if d.Kind == DecidedCircuit {
		return d.Circuit.Begun
	}
	return d.At
}

func (d *Decision) coflow() string {
	if d.Job == "" {
		return "any coflow"
	}
	return d.Job + ", edge " + strconv.Itoa(int(d.Edge))
}

// same reports whether two runs decide alike. When is no part of it: on packets all comes a little later.
func (d *Decision) same(e *Decision) bool {
	return d.What == e.What && d.Job == e.Job && d.Edge == e.Edge
}

// forked is the first place at which a chain of two runs differs. One of the two is nil where a run decides
// nothing more.
type forked struct {
	key
	sides [2]*Decision
	last  *[2]*Decision // that were alike before, on the same port; nil: there were none
}

// at is the earlier of the two instants.
func (f *forked) at() time.Duration {
	at := time.Duration(-1)
	for _, d := range f.sides {
		if d != nil && (at < 0 || d.when() < at) {
			at = d.when()
		}
	}
	return at
}

// fork returns the earliest difference between the decisions of two runs; nil where there is none.
func fork(a, b []Decision) *forked {
	x, y := chains(a), chains(b)
	var first *forked
	for k := range union(x, y) {
		f := forkOf(k, x[k], y[k])
		if f != nil && (first == nil || cmp.Or(cmp.Compare(f.at(), first.at()), cmp.Compare(f.kind, first.kind),
			cmp.Compare(f.of, first.of)) < 0) {
			first = f
		}
	}
	return first
}

func union(x, y map[key][]*Decision) map[key]bool {
	all := map[key]bool{}
	for k := range x {
		all[k] = true
	}
	for k := range y {
		all[k] = true
	}
	return all
}

func forkOf(k key, a, b []*Decision) *forked {
	for i := range max(len(a), len(b)) {
		f := &forked{key: k}
		for side, all := range [][]*Decision{a, b} {
			if i < len(all) {
				f.sides[side] = all[i]
			}
		}
		if f.sides[0] != nil && f.sides[1] != nil && f.sides[0].same(f.sides[1]) {
			continue
		}
		if i > 0 {
			f.last = &[2]*Decision{a[i-1], b[i-1]}
		}
		return f
	}
	return nil
}

// FirstDifferenceList is the first differences of two reports, by policy.
type FirstDifferenceList struct {
	Policies []FirstDifference `json:"policies"`
}

// FirstDifferences compares what two runs of the same jobs have decided, under each policy of both. The paths
// are of report.json or of its folder, and the reports were read from there.
func FirstDifferences(paths [2]string, reps [2]*Report) (*FirstDifferenceList, error) {
	if err := sameRun(paths, reps); err != nil {
		return nil, err
	}
	var decided [2]map[string][]Decision
	var labels [2]string
	for i, path := range paths {
		dir := path
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			dir = filepath.Dir(path)
		}
		var err error
		if decided[i], err = ReadDecisions(dir); err != nil {
			return nil, hint.Wrong(err)
		}
		if decided[i] == nil {
			return nil, &UnlikeError{fmt.Sprintf("%s has no %s beside it: an earlier version made it, or it has more than "+
				"10,000 flows", path, decisionsFile), "repeat it, with --coflows 500 where it is large"}
		}
		labels[i] = reps[i].Fabric.On
	}
	if labels[0] == labels[1] {
		labels = paths
	}
	matched, err := match(reps[0], reps[1], paths[0], paths[1])
	if err != nil {
		return nil, err
	}
	out := &FirstDifferenceList{}
	for _, m := range matched {
		a, b := &reps[0].Policies[m[0]], &reps[1].Policies[m[1]]
		out.Policies = append(out.Policies,
			findDifference(labels, a, b, [2][]Decision{decided[0][a.Name], decided[1][b.Name]}))
	}
	return out, nil
}

// sameRun refuses reports of other jobs or of another fabric.
func sameRun(paths [2]string, reps [2]*Report) error {
	across := reps[0].Fabric.On != reps[1].Fabric.On
	return like(paths[:], reps[:], 1, CompareOptions{Across: across})
}

// JSON returns the differences as JSON.
func (l *FirstDifferenceList) JSON() ([]byte, error) { return encode("first differences", l) }

// Table writes the differences, one after the other.
func (l *FirstDifferenceList) Table(w io.Writer) error {
	for i := range l.Policies {
		if err := l.Policies[i].Table(w); err != nil {
			return err
		}
	}
	return nil
}

// findDifference compares what two runs of the same jobs have decided under a row of each.
func findDifference(names [2]string, a, b *Policy, decided [2][]Decision) FirstDifference {
	out := FirstDifference{Policy: a.Name}
	if b.Name != a.Name {
		out.Policy += " and " + b.Name
	}
	f := fork(decided[0], decided[1])
	if out.Same = f == nil; f != nil {
		out.Kind, out.Of = f.kind, f.of
	}
	for i, p := range []*Policy{a, b} {
		s := &out.Sides[i]
		s.Run = names[i]
		for k := range decided[i] {
			if decided[i][k].Kind == DecidedCircuit {
				s.Moves++
			}
		}
		if f != nil {
			s.fill(p, f, i)
		}
	}
	return out
}

// fill adds what a run knew at the fork, and what followed.
func (s *Side) fill(p *Policy, f *forked, side int) {
	at := f.at()
	if s.Decision = "nothing"; f.sides[side] != nil {
		d := f.sides[side]
		at = d.when()
		s.Decision = d.words()
		if d.Kind == DecidedCircuit {
			s.Circuit = d.side(p)
			if f.last != nil {
				s.Circuit.Before = f.last[side].side(p)
			}
		}
	}
	s.At, s.Active = Time(at), under(p.Coflows, at.Seconds())
	s.CCT = apart(p.Coflows, f.at().Seconds())
}

// apart returns the mean CCT of coflows that had ended by an instant, and of the others.
func apart(all []Row, at float64) (mean [2]float64) {
	n := [2]float64{}
	for _, c := range all {
		k := 0
		if c.Arrival+c.Took > at {
			k = 1
		}
		mean[k], n[k] = mean[k]+c.Took, n[k]+1
	}
	for k := range mean {
		mean[k] /= max(n[k], 1)
	}
	return mean
}

func (d *Decision) words() string {
	switch d.Kind {
	case DecidedCircuit:
		return fmt.Sprintf("circuit %s for %s", d.What, d.coflow())
	case DecidedRoute:
		return "paths " + d.What
	}
	return "on " + d.What
}

func (d *Decision) side(p *Policy) *CircuitSide {
	c := &d.Circuit
	return &CircuitSide{Left: int64(c.Made.Bytes), Actual: int64(c.Made.Actual), Age: Time(c.Made.Age),
		Delta: Time(c.Delta), Begins: Time(c.NotBefore), Ends: Time(c.NotAfter), Begun: Time(c.Begun),
		InService: Time(c.InService), Ended: Time(c.Ended), Remained: int64(c.End.Bytes), Cause: c.Cause,
		Took: Time(tookOf(p, d.Job, d.Edge)), what: d.words()}
}

// tookOf is the CCT of a coflow, the edge-th of those of a job; 0 where the report does not list it.
func tookOf(p *Policy, job string, edge int32) time.Duration {
	n := int32(0)
	for _, c := range p.Coflows {
		if c.Name != job {
			continue
		}
		if n == edge {
			return time.Duration(c.Took * float64(time.Second))
		}
		n++
	}
	return 0
}

// Ports names a circuit.
func Ports(in, out southbound.Port) string { return fmt.Sprintf("%d→%d", in, out) }
