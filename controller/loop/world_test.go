package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// world is what a scenario plays on: the replicated state, one leadership, and devices that follow the
// scenario.
type world struct {
	fabric *topo.Fabric
	paths  *pathmap.Map
	state  *state.State
	loop   *loop.Loop
	policy *script
	now    time.Duration
	in     loop.Inputs

	tables   *rollout.Fabric // what the switches hold, and what light passes
	made     []southbound.Port
	sets     []rollout.Set // not answered yet
	reads    []southbound.DeviceID
	lying    bool
	out      strings.Builder
	hostTags map[southbound.HostFlowKey]southbound.Tag
}

// script is a policy whose plans are written down beforehand.
type script struct {
	plans []*controller.Plan
	asked []controller.Event
	calls int
	calm  bool
}

func (s *script) Wants() controller.KindSet {
	if s.calm {
		return controller.Kinds(controller.JobArrived, controller.WakeReached)
	}
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded,
		controller.SlotsFreed,
		controller.CircuitReservationEnded, controller.CircuitInService, controller.FabricChanged, controller.WakeReached)
}

func (*script) Capabilities() controller.Capabilities { return controller.Capabilities{Circuits: true} }

func (s *script) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	s.calls++
	s.asked = slices.Clone(ev)
	if len(s.plans) == 0 {
		return &controller.Plan{Wake: southbound.Never}
	}
	p := s.plans[0]
	s.plans = s.plans[1:]
	return p
}

func newWorld(text string) (*world, error) {
	spec, err := topo.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	w := &world{policy: &script{}, hostTags: map[southbound.HostFlowKey]southbound.Tag{}}
	if w.fabric, err = topo.New(spec); err != nil {
		return nil, err
	}
	if w.paths, err = w.fabric.PathMap(spec.PathsKept(), 1); err != nil {
		return nil, err
	}
	w.state = state.New(w.fabric)
	dark := slices.Repeat([]southbound.Port{southbound.NoPort}, w.fabric.OCSPorts())
	w.made = slices.Clone(dark)
	w.tables = &rollout.Fabric{Fabric: w.fabric, Circuits: dark,
		Rules: make([][]southbound.Rule, len(w.fabric.Topology.Nodes()))}
	return w, nil
}

// pass is one Step: its entries are applied, its actions wait to be answered. It prints what happened,
// unless that is nothing.
func (w *world) pass() (again bool, err error) {
	before, calls := w.state.Digest(), w.policy.calls
	entries, act, wake := w.loop.Step(w.state, w.now, w.in)
	w.in = loop.Inputs{}
	if w.state.Digest() != before {
		return false, fmt.Errorf("step at %v has written to the state", w.now)
	}
	if w.policy.calls > calls {
		fmt.Fprintf(&w.out, "%v asks the policy:%s\n", w.now, eventsText(w.policy.asked))
	}
	for i := range entries {
		fmt.Fprintf(&w.out, "%v + %s\n", w.now, entryText(&entries[i]))
	}
	if err := w.state.ApplyAll(entries); err != nil {
		fmt.Fprintf(&w.out, "%v refused: %v\n", w.now, err)
	}
	w.do(act)
	if wake != w.now {
		fmt.Fprintf(&w.out, "wake %s\n", instant(wake))
		if err := w.nothing(wake); err != nil {
			return false, err
		}
	}
	return wake == w.now, w.verify()
}

// nothing runs another pass at the instant of a pass that reported no more work: there must be none.
func (w *world) nothing(wake time.Duration) error {
	entries, act, again := w.loop.Step(w.state, w.now, loop.Inputs{})
	n := len(act.Urgent) + len(act.Start) + len(act.Steer) + len(act.Run) + len(act.Sets) + len(act.Reads) + len(act.Errs)
	if len(entries)+n > 0 || act.Rates != nil || again != wake {
		return fmt.Errorf("at %v it said that it had nothing to do until %v, and then does %+v %+v and wakes at %v", w.now,
			wake, entries, *act, again)
	}
	return nil
}

// verify walks every packet through the tables as they are, once all switches have some.
func (w *world) verify() error {
	for n, node := range w.fabric.Topology.Nodes() {
		if (node.Role == pathmap.ToR || node.Role == pathmap.Switch) && len(w.tables.Rules[n]) == 0 {
			return nil
		}
	}
	return new(rollout.Checker).Check(w.tables)
}

func (w *world) do(a *loop.Actions) {
	say := func(format string, args ...any) {
		fmt.Fprintf(&w.out, "%v > "+format+"\n", append([]any{w.now}, args...)...)
	}
	for _, s := range a.Start {
		var rows []string
		for i := range s.Src {
			key := southbound.HostFlowKey{Coflow: s.Coflow, Row: int32(i)}
			if _, known := w.hostTags[key]; !known {
				w.hostTags[key] = s.Tag[i]
			}
			rows = append(rows, fmt.Sprintf("%d→%d %d bytes %s", s.Src[i], s.Dst[i], s.Size[i], tagText(s.Tag[i])))
		}
		say("start coflow %d: %s", s.Coflow, strings.Join(rows, ", "))
	}
	for _, s := range a.Steer {
		w.hostTags[s.HostFlowKey] = s.Tag
		say("steer %d/%d %s", s.Coflow, s.Row, tagText(s.Tag))
	}
	if a.Rates != nil {
		say("rates fair=%v paces=%v pairs=%v", a.Rates.Fair, a.Rates.Pace, a.Rates.Pairs)
	}
	for _, t := range a.Run {
		again := ""
		if t.Try > 0 {
			again = fmt.Sprintf(", try %d", t.Try)
		}
		say("run task %d on host %d for %v%s", t.Task, t.Host, t.Compute, again)
	}
	for _, s := range slices.Concat(a.Urgent, a.Sets) {
		say("set %s: %s", w.name(s.Device), changeText(&s.Change))
		w.sets = append(w.sets, s)
	}
	if len(a.Reads) > 0 {
		var names []string
		for _, d := range a.Reads {
			names = append(names, w.name(d))
			w.reads = append(w.reads, d)
		}
		say("read %s", strings.Join(names, " "))
	}
	for _, err := range a.Errs {
		say("error: %v", err)
	}
}

// answer has the devices named (all without a name) take the Sets and reads that wait for them. With an
// err they refuse or are not reached, and nothing has changed.
func (w *world) answer(err error, names ...string) {
	meant := func(d southbound.DeviceID) bool { return len(names) == 0 || slices.Contains(names, w.name(d)) }
	for _, s := range w.sets {
		if !meant(s.Device) {
			continue
		}
		if err == nil && !w.lying {
			w.effect(&s)
		}
		w.in.Done = append(w.in.Done, loop.SetDone{Device: s.Device, Token: s.Token, Err: err})
	}
	w.sets = slices.DeleteFunc(w.sets, func(s rollout.Set) bool { return meant(s.Device) })
	for _, d := range w.reads {
		if meant(d) {
			w.in.Seen = append(w.in.Seen, loop.DeviceSeen{Device: d, Seen: w.seen(d), Err: err})
		}
	}
	w.reads = slices.DeleteFunc(w.reads, meant)
}

func (w *world) effect(s *rollout.Set) {
	if !w.fabric.IsOCS(s.Device) {
		w.tables.Rules[s.Device] = merge(w.tables.Rules[s.Device], &s.Change)
		return
	}
	for _, c := range s.Change.Connect {
		c.In = southbound.Port(w.fabric.OCSPort(s.Device, int32(c.In)))
		c.Out = southbound.Port(w.fabric.OCSPort(s.Device, int32(c.Out)))
		if !c.Off && w.made[c.In] == c.Out {
			continue
		}
		for in, out := range w.made {
			if out != southbound.NoPort && (southbound.Port(in) == c.In || !c.Off && out == c.Out) {
				w.lose(southbound.Port(in), southbound.Disconnected)
			}
		}
		if !c.Off {
			w.made[c.In] = c.Out
		}
	}
}

// lose ends a circuit, and the device reports it.
func (w *world) lose(in southbound.Port, s southbound.Status) {
	w.tell(in, w.made[in], s)
	w.made[in], w.tables.Circuits[in] = southbound.NoPort, southbound.NoPort
}

func (w *world) tell(in, out southbound.Port, s southbound.Status) {
	ocs, c := w.own(in, out)
	w.in.Devices = append(w.in.Devices, southbound.DeviceEvent{At: w.now, Device: ocs,
		Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out, Status: s})
}

// own returns the OCS of two ports, and the numbers that it has for them.
func (w *world) own(in, out southbound.Port) (southbound.DeviceID, southbound.CrossConnect) {
	ocs, i := w.fabric.OCSAt(int32(in))
	_, o := w.fabric.OCSAt(int32(out))
	return ocs, southbound.CrossConnect{In: southbound.Port(i), Out: southbound.Port(o)}
}

func (w *world) seen(d southbound.DeviceID) (s southbound.Seen) {
	if !w.fabric.IsOCS(d) {
		return southbound.Seen{Rules: w.tables.Rules[d]}
	}
	for in, out := range w.made {
		ocs, c := w.own(southbound.Port(in), out)
		if out == southbound.NoPort || ocs != d {
			continue
		}
		status := southbound.PendingConnection
		if w.tables.Circuits[in] == out {
			status = southbound.Connected
		}
		s.Connections = append(s.Connections, southbound.Connection{In: c.In, Out: c.Out, Status: status})
	}
	return s
}

func (w *world) name(d southbound.DeviceID) string { return w.fabric.Topology.Node(d).Name }

// merge is the plain meaning of a change to a rule table.
func merge(rules []southbound.Rule, c *southbound.Change) []southbound.Rule {
	gone := func(m southbound.Match) bool {
		return slices.Contains(c.Drop, m) || slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool {
			return r.Match == m
		})
	}
	out := slices.DeleteFunc(slices.Clone(rules), func(r southbound.Rule) bool { return gone(r.Match) })
	out = append(out, c.Rules...)
	slices.SortFunc(out, func(a, b southbound.Rule) int {
		return (int(a.Dst)-int(b.Dst))*1_000_000 + (int(a.Tag)-int(b.Tag))*1000 + int(a.Src-b.Src)
	})
	return out
}
