package loop_test

import (
	"fmt"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

func instant(t time.Duration) string {
	switch t {
	case southbound.Never:
		return "never"
	case state.Unset:
		return "unset"
	}
	return t.String()
}

func tagText(t southbound.Tag) string {
	switch t {
	case southbound.TagDefault:
		return "default"
	case southbound.TagCircuit:
		return "circuit"
	case southbound.TagHold:
		return "hold"
	case southbound.AnyTag:
		return "any"
	}
	return fmt.Sprintf("path%d", t-1)
}

// sourceText names the rack that packets of a rule come from, if it names one.
func sourceText(r southbound.RackID) string {
	if r == southbound.AnyRack {
		return ""
	}
	return fmt.Sprintf(" from %d", r)
}

// changeText writes a change: rules for circuits one by one, the others as a number.
func changeText(c *southbound.Change) string {
	var out []string
	for _, m := range c.Drop {
		out = append(out, fmt.Sprintf("drop rack %d %s%s", m.Dst, tagText(m.Tag), sourceText(m.Src)))
	}
	base := 0
	for _, r := range c.Rules {
		if r.Tag != southbound.TagCircuit && r.Tag != southbound.TagDefault {
			base++
			continue
		}
		out = append(out, fmt.Sprintf("rack %d %s%s → port %d, else %d", r.Dst, tagText(r.Tag), sourceText(r.Src),
			r.Primary, r.Backup))
	}
	if base > 0 {
		out = append(out, fmt.Sprintf("%d rules for packets", base))
	}
	for _, x := range c.Connect {
		word := ""
		if x.Off {
			word = " off"
		}
		out = append(out, fmt.Sprintf("%d→%d%s", x.In, x.Out, word))
	}
	return strings.Join(out, "; ")
}

func entryText(e *state.Entry) string {
	s := e.Kind.String()
	switch e.Kind {
	case state.JobAccepted:
		return fmt.Sprintf("%s %q", s, e.Job.Name)
	case state.Placed:
		return fmt.Sprintf("%s job %d on %v", s, e.Placement.Job, e.Placement.Hosts)
	case state.Routed:
		var tags []string
		for _, t := range e.Routing.Tags {
			tags = append(tags, tagText(t))
		}
		return fmt.Sprintf("%s coflow %d by %s", s, e.Routing.Coflow, strings.Join(tags, " "))
	case state.StageStarted:
		return fmt.Sprintf("%s %d of job %d", s, e.Stage, e.JobID)
	case state.CoflowStarted, state.Withdrawn:
		return fmt.Sprintf("%s %d", s, e.Coflow)
	case state.TaskEnded:
		return fmt.Sprintf("%s %d at %v", s, e.Task, e.At)
	case state.HostFlowEnded:
		return fmt.Sprintf("%s %d/%d at %v", s, e.Coflow, e.Row, e.At)
	case state.CircuitReserved:
		r := e.CircuitReservation
		return fmt.Sprintf("%s %d→%d [%v, %v) for coflow %d%s", s, r.In, r.Out, r.NotBefore,
			r.NotAfter, r.Coflow,
			fallbackText(r.Fallback))
	case state.CircuitReservationBegun:
		return fmt.Sprintf("%s of input %d", s, e.Port)
	case state.CircuitReservationEnded:
		return fmt.Sprintf("%s of input %d: %v", s, e.Port, e.Cause)
	case state.CircuitIntended:
		return fmt.Sprintf("%s %d→%d for coflow %d", s, e.Port, e.Out, e.Coflow)
	case state.CircuitDropped:
		return fmt.Sprintf("%s %d→%d", s, e.Port, e.Out)
	case state.CircuitSettled:
		return fmt.Sprintf("%s %d→%d ok=%v%s", s, e.Port, e.Out, e.OK, stagesText(e.Stages))
	case state.Planned:
		return fmt.Sprintf("%s wake %s", s, instant(e.Wake))
	case state.HostSeen:
		return fmt.Sprintf("%s %d up=%v", s, e.Host, e.OK)
	case state.PortSeen:
		return fmt.Sprintf("%s device %d port %d lit=%v", s, e.Device, e.Port, e.OK)
	}
	return s
}

func fallbackText(w controller.Fallback) string {
	if w == controller.Hold {
		return ", fallback hold"
	}
	return ""
}

func stagesText(s *state.Stages) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" (drained %v, accepted %v, connected %v)", s.Drained, s.Accepted, s.Connected)
}

func eventsText(ev []controller.Event) string {
	names := [...]string{controller.JobArrived: "JobArrived", controller.CoflowStarted: "CoflowStarted",
		controller.HostFlowEnded: "HostFlowEnded", controller.CoflowEnded: "CoflowEnded", controller.SlotsFreed: "SlotsFreed",
		controller.CircuitReservationEnded: "CircuitReservationEnded", controller.CircuitInService: "CircuitInService",
		controller.FabricChanged: "FabricChanged", controller.WakeReached: "WakeReached"}
	out := ""
	for _, e := range ev {
		out += " " + names[e.Kind]
		switch {
		case e.Coflow >= 0:
			out += fmt.Sprintf("(coflow %d)", e.Coflow)
		case e.Job >= 0:
			out += fmt.Sprintf("(job %d)", e.Job)
		}
	}
	return out
}
