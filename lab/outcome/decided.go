package outcome

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/lab/report"
	"lightloom/pathmap"
)

// decided lists what a run has decided: where jobs were placed, which paths coflows took, and which circuits
// were set up for whom.
func (o *Outcome) decided() []report.Decision {
	out := []report.Decision{}
	for _, j := range o.State.Jobs {
		if len(j.Hosts) > 0 && j.Placed != state.Unset {
			out = append(out, report.Decision{At: j.Placed, Kind: report.DecidedPlace, Job: nameOf(j),
				What: hosts(j)})
		}
	}
	for _, c := range o.State.Coflows {
		if c.Routes != 0 && c.Started != state.Unset {
			out = append(out, report.Decision{At: c.Started, Kind: report.DecidedRoute,
				Job:  nameOf(o.State.Job(c.Job)),
				Edge: c.Edge, What: strconv.FormatUint(c.Routes, 16)})
		}
	}
	for i := range o.Usages {
		if u := &o.Usages[i]; u.Begun == 0 && u.Made > 0 {
			continue // its coflow ended before its circuit was asked for
		}
		out = append(out, o.circuitDecision(&o.Usages[i]))
	}
	return out
}

func (o *Outcome) circuitDecision(u *loop.Usage) report.Decision {
	d := report.Decision{At: u.Made, Kind: report.DecidedCircuit, What: report.Ports(u.In, u.Out)}
	if u.Coflow != controller.AnyCoflow {
		d.Edge = u.Anchor.Edge
		if j := o.State.Job(u.Anchor.Job); j != nil {
			d.Job = nameOf(j)
		}
	}
	d.Circuit = report.CircuitDecision{In: u.In, Out: u.Out, NotBefore: u.NotBefore, NotAfter: u.NotAfter,
		Delta: u.Delta, Begun: u.Begun, InService: u.InService, Ended: u.Ended, Cause: u.Cause.String(),
		Made: knownOf(u.AtMade), End: knownOf(u.AtEnd)}
	return d
}

func knownOf(c loop.Count) report.Known {
	return report.Known{Bytes: pathmap.Bytes(c.Bytes), Age: c.Age.Round(time.Nanosecond),
		Actual: pathmap.Bytes(c.Actual)}
}

// nameOf names a job in any run of the same jobs.
func nameOf(j *state.Job) string {
	if j.Name != "" {
		return j.Name
	}
	return strconv.Itoa(int(j.ID))
}

func hosts(j *state.Job) string {
	var b strings.Builder
	for i, h := range j.Hosts {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, int(h))
	}
	return b.String()
}
