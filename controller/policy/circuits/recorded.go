package circuits

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// Recorded makes the circuit reservations that an earlier run of the same jobs made, at the same time
// after the start of their coflows, whatever is left: an open loop. A reservation whose ports are still
// taken waits for them, one whose ports are taken again before its end is cut short, and one whose host
// flows have ended is left out: coflows start a little earlier or later than they did.
type Recorded struct{ all []recorded }

// recorded is what Recorded reads of a line of --per-reservation.
type recorded struct {
	controller.CircuitReservation
	Anchor struct { // the coflow from whose start instants count, by job and edge: ids are those of one run
		Job     controller.JobID `json:"job"`
		Edge    int32            `json:"edge"`
		Started time.Duration    `json:"started_ns"`
	} `json:"anchor"`
	Policy string `json:"policy"`
}

// maxRecorded bounds the reservations of a file.
const maxRecorded = 1 << 20

// ParseRecorded reads a file that --per-reservation wrote as lines of JSON, of one policy. Errors name
// file and line.
func ParseRecorded(r io.Reader, name string) (Recorded, error) {
	var all []recorded
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, 1<<20)
	line := 1
	for ; in.Scan(); line++ {
		fail := func(format string, args ...any) (Recorded, error) {
			return Recorded{}, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
		}
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var x recorded
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return fail("%v: give a file that --per-reservation FILE.jsonl wrote", err)
		}
		switch {
		case x.In < 0 || x.Out < 0 || x.In == x.Out:
			return fail("a circuit from port %d to port %d: take two ports from 0 on", x.In, x.Out)
		case x.Fallback > controller.Hold:
			return fail("fallback %d: take 0 for packets or 1 to hold", x.Fallback)
		case x.NotBefore < 0 || x.NotAfter <= x.NotBefore || x.NotAfter >= southbound.Never:
			return fail("from %v to %v is no time", x.NotBefore, x.NotAfter)
		case len(all) > 0 && x.Policy != all[0].Policy:
			return fail("a reservation of %q after those of %q: record one policy a file", x.Policy, all[0].Policy)
		case len(all) == maxRecorded:
			return fail("more than %d reservations: record a shorter run", maxRecorded)
		}
		all = append(all, x)
	}
	if err := in.Err(); err != nil {
		return Recorded{}, fmt.Errorf("read %q: line %d: %w", name, line, plaintext.LineError(err))
	}
	slices.SortStableFunc(all, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.NotBefore, b.NotBefore), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	return Recorded{all}, nil
}

// Wants implements the part's list of events.
func (Recorded) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted,
		controller.CircuitReservationEnded,
		controller.FabricChanged, controller.WakeReached)
}

// Fill reserves the circuits of coflows that have started.
func (x Recorded) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	n := southbound.Port(v.Fabric.OCSPorts())
	if n == 0 {
		return
	}
	taken := newTable(int(n))
	for i := range v.Reserved {
		r := &v.Reserved[i]
		if from := max(r.NotBefore, v.Now); from < r.NotAfter && taken.fits(r.In, r.Out, from, r.NotAfter) {
			taken.take(r.In, r.Out, from, r.NotAfter)
		}
	}
	for i := range x.all {
		r, due := x.all[i].due(v)
		if !due || r.In >= n || r.Out >= n || r.NotAfter <= r.NotBefore || stands(v, &r) {
			continue
		}
		from := earliest(taken.in(r.In), taken.out(r.Out), r.NotBefore, 1)
		if from >= r.NotAfter {
			continue
		}
		r.NotBefore, r.NotAfter = from, min(r.NotAfter, from+taken.free(r.In, r.Out, from))
		taken.take(r.In, r.Out, r.NotBefore, r.NotAfter)
		p.Reserve = append(p.Reserve, r)
	}
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
}

// due returns a reservation with the ids and instants of this run, and whether its coflow has started
// and has something left between the two racks.
func (a *recorded) due(v *controller.View) (r controller.CircuitReservation, due bool) {
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if c.Job != a.Anchor.Job || c.Edge != a.Anchor.Edge || !c.Started {
			continue
		}
		r = a.CircuitReservation
		shift := c.Start - a.Anchor.Started
		r.NotBefore, r.NotAfter = max(r.NotBefore+shift, v.Now), r.NotAfter+shift
		if r.Coflow == controller.AnyCoflow {
			return r, true
		}
		r.Coflow = c.ID
		in, out := southbound.RackID(v.Fabric.OCSRack(int32(r.In))), southbound.RackID(v.Fabric.OCSRack(int32(r.Out)))
		for row := range c.Src {
			if !c.Ended[row] && v.HostRack(c.Src[row]) == in && v.HostRack(c.Dst[row]) == out {
				return r, true
			}
		}
	}
	return r, false
}

// stands reports whether a reservation has been made already, perhaps cut short.
func stands(v *controller.View, r *controller.CircuitReservation) bool {
	return slices.ContainsFunc(v.Reserved, func(x controller.CircuitReservation) bool {
		cut := r.Coflow != controller.AnyCoflow && r.NotBefore < x.NotAfter && x.NotAfter < r.NotAfter
		return x.In == r.In && x.Out == r.Out && x.Coflow == r.Coflow && (x.NotAfter == r.NotAfter || cut)
	})
}
