package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// SliceRequest asks for a slice of a pod, or to delete one.
type SliceRequest struct {
	Name    string
	Shape   torus.Shape
	Cubes   []int   // where to place it; nil for wherever there is room
	Hosts   []int32 // in place of a shape: join their racks to a ring
	Owner   string
	Request string // unique for each slice that is asked for
	Delete  bool   // the slice of that name, and nothing else of the above holds
	// MakeRoom, if not nil, has slices moved so that Shape fits, and nothing else of the above holds.
	MakeRoom *MakeRoom
	// Refused gets the reason why nothing is done, or nil where nothing is to be done; success shows in the state. Step
	// calls it, so it must not block; nil disables it.
	Refused func(error)
}

// MakeRoom asks which moves of slices make room for a shape.
type MakeRoom struct {
	Do bool // and does them
	// Planned gets the moves before they are done; nil where none make room. Step calls it.
	Planned func(*torus.Defragmentation)
}

// The errors of requests.
var (
	ErrNoSlice    = errors.New("no such slice")
	ErrSliceTaken = errors.New("another slice has that name")
	ErrSliceShape = errors.New("no slice has that shape here")
	ErrSliceBusy  = errors.New("another request for it came at the same time: try again")
)

// slicing is what was last settled for slices, and where cube switches steer to.
type slicing struct {
	settled bool
	version uint64 // of the state's slices
	away    []int  // cubes
	lacks   []torus.Lack
	racks   *torus.Racks          // of a fabric that is no pod
	gone    []southbound.DeviceID // its optical switches that are away
	// by OCS input: circuits in service as tables have them; nil before the first pass
	steered []southbound.Port
	rings   bool                                  // there are rings, or ports of theirs to give back
	silent  map[southbound.DeviceID]time.Duration // since when the streams of cubes' switches have been away
}

// silence is how long a cube's switch is silent before its cube counts as away.
const silence = 2 * time.Second

// requestSlices takes requests for slices, or refuses them.
func (l *Loop) requestSlices(s *state.State, now time.Duration, all []SliceRequest) {
	for i := range all {
		if err := l.requestSlice(s, now, &all[i]); err != nil && all[i].Refused != nil {
			all[i].Refused(err)
		}
	}
}

func (l *Loop) requestSlice(s *state.State, now time.Duration, a *SliceRequest) error {
	if a.MakeRoom != nil {
		return l.makeRoom(s, now, a)
	}
	old, known := s.Slice(a.Name)
	inPass := l.pass.has(func(e *state.Entry) bool {
		return e.Kind == state.SliceSet && e.Slice.Name == a.Name || e.Kind == state.SliceDeleted && e.Request == a.Name
	})
	e := state.Entry{Kind: state.SliceDeleted, At: now, Request: a.Name}
	switch {
	case state.IsJobSliceName(a.Name) && (!a.Delete || known && s.OfJob(&old)):
		return fmt.Errorf("slice %q: it is made for a job and ends with it: cancel the job, or take another name: %w", a.Name,
			ErrSliceTaken)
	case a.Delete && !known:
		return fmt.Errorf("delete slice %q: %w", a.Name, ErrNoSlice)
	case inPass:
		return fmt.Errorf("slice %q: %w", a.Name, ErrSliceBusy)
	case a.Delete:
	case known && a.Request != "" && old.Request == a.Request:
		return nil // answered already
	case known:
		return fmt.Errorf("create slice %q: %w", a.Name, ErrSliceTaken)
	case len(s.Slices()) >= state.MaxSlices:
		return fmt.Errorf("create slice %q: there are %d: delete some", a.Name, len(s.Slices()))
	case a.Hosts != nil:
		x, err := l.ringAsked(a, now)
		if err == nil {
			err = state.CheckSlice(l.fabric, x)
		}
		if err != nil {
			return err
		}
		e.Kind, e.Request, e.Slice = state.SliceSet, "", x
	default:
		x, err := l.shapeAsked(a, now)
		if err == nil {
			err = state.CheckSlice(l.fabric, x)
		}
		if err != nil {
			return err
		}
		e.Kind, e.Request, e.Slice = state.SliceSet, "", x
	}
	if !s.Admits(&e) {
		return fmt.Errorf("slice %q: some replica is too old for slices: %w", a.Name, state.ErrLevel)
	}
	l.pass.add(e)
	return nil
}

// shapeAsked is a slice that is asked for by its shape.
func (l *Loop) shapeAsked(a *SliceRequest, now time.Duration) (*state.Slice, error) {
	pod, racks := state.PodOf(l.fabric), controller.RacksOf(l.fabric)
	switch {
	case pod != nil && a.Shape.Racks > 0:
		return nil, fmt.Errorf("create slice %q: %w: %w", a.Name, ErrSliceShape, pod.Check(a.Shape))
	case pod != nil:
		return &state.Slice{Slice: pod.Asked(a.Name, a.Shape, a.Cubes), Owner: a.Owner, Request: a.Request, Asked: now,
			Since: now, Readied: state.Unset}, nil
	case racks != nil && a.Shape.Racks == 0:
		return nil, fmt.Errorf("create slice %q: %w: %w", a.Name, ErrSliceShape, racks.Check(a.Shape))
	case racks != nil:
		return l.racksAsked(a, now), nil
	}
	return nil, fmt.Errorf("create slice %q: %w", a.Name, state.ErrNoPod)
}

// makeRoom plans moves of slices, and does them. Slices of jobs stay: tasks run there.
func (l *Loop) makeRoom(s *state.State, now time.Duration, a *SliceRequest) error {
	pod := state.PodOf(l.fabric)
	if pod == nil {
		return fmt.Errorf("defragment slices: %w", state.ErrNoPod)
	}
	if err := pod.Check(a.Shape); err != nil {
		return fmt.Errorf("defragment slices: %w: %w", ErrSliceShape, err)
	}
	if l.pass.has(func(e *state.Entry) bool { return e.Kind == state.SliceSet || e.Kind == state.SliceDeleted }) {
		return fmt.Errorf("defragment slices: %w", ErrSliceBusy)
	}
	for _, c := range AwayCubes(s, l.switchAway, l.silentCubes(now)...) {
		pod.SetAway(c, true)
	}
	plan := torus.MakeRoom(pod, state.SliceRule(), s.BareSlices(), a.Shape, func(x *torus.Slice) bool {
		of, _ := s.Slice(x.Name)
		return s.OfJob(&of) || x.State != torus.Ready
	})
	a.MakeRoom.Planned(plan)
	if !a.MakeRoom.Do || plan == nil || len(plan.Moves) == 0 {
		a.Refused(nil)
		return nil
	}
	for _, m := range plan.Moves {
		next, _ := s.Slice(m.Name)
		x := next.Slice
		x.Place, x.State, x.Reason = m.To, torus.Incomplete, torus.Moving
		l.changeSlice(s, now, x)
	}
	return nil
}

// settleJobSlices asks for the slices of jobs, ends those whose jobs have ended, and places jobs whose slices are
// Ready.
func (l *Loop) settleJobSlices(s *state.State, now time.Duration) {
	for i := range s.Slices() {
		if x := &s.Slices()[i]; s.OfJob(x) && s.JobOf(x) == nil {
			l.pass.add(state.Entry{Kind: state.SliceDeleted, At: now, Request: x.Name})
		}
	}
	for _, j := range s.SliceWaiters() {
		name := state.JobSliceName(j.ID)
		if _, known := s.Slice(name); !known && !j.Cancelled && len(s.Slices()) < state.MaxSlices {
			shape, err := torus.ParseShape(j.Slice)
			if err != nil {
				continue // it was checked when the job came
			}
			x, err := l.shapeAsked(&SliceRequest{Name: name, Shape: shape, Owner: j.User, Request: name}, now)
			if err == nil {
				l.pass.add(state.Entry{Kind: state.SliceSet, At: now, Planning: state.Planning{Slice: x}})
			}
			continue
		}
		if p, ok := s.OnSlice(j); ok {
			l.pending.note(controller.JobArrived, now, j.ID, -1, 0) // what it sends has no routes
			l.pass.add(state.Entry{Kind: state.Placed, At: now, Placement: p})
			return // others see what it takes
		}
	}
}

// settleSlices decides what becomes of slices, and then has the ledger hold a reservation for each of their circuits
// and for no others.
func (l *Loop) settleSlices(s *state.State, now time.Duration) {
	if !l.fabric.Spec.Pod() {
		l.settleRings(s, now)
		return
	}
	if l.settleJobSlices(s, now); len(l.pass.entries) > 0 {
		return
	}
	known := &l.slicing
	away := AwayCubes(s, l.switchAway, l.silentCubes(now)...)
	lacks := s.SliceLacks(l.switchAway)
	same := known.settled && known.version == s.SlicesVersion() && slices.Equal(known.away, away) &&
		slices.Equal(known.lacks, lacks)
	if !same {
		pod := state.PodOf(l.fabric)
		for _, c := range away {
			pod.SetAway(c, true)
		}
		for _, x := range torus.Settle(pod, state.SliceRule(), s.BareSlices(), lacks) {
			l.changeSlice(s, now, x)
		}
	}
	known.settled, known.version, known.lacks = true, s.SlicesVersion(), lacks
	if known.away == nil || !slices.Equal(known.away, away) {
		known.away = append([]int{}, away...)
	}
	if len(l.pass.entries) == 0 {
		l.reserveForSlices(s, now)
	}
}

func (l *Loop) changeSlice(s *state.State, now time.Duration, x torus.Slice) {
	next, _ := s.Slice(x.Name)
	if next.State != x.State {
		next.Since = now
	}
	if x.State == torus.Ready && next.Readied == state.Unset {
		next.Readied = now
	}
	next.Slice = x
	l.pass.add(state.Entry{Kind: state.SliceSet, At: now, Planning: state.Planning{Slice: &next}})
}

// reserveForSlices ends reservations of circuits that no slice wants, and makes those that are missing.
func (l *Loop) reserveForSlices(s *state.State, now time.Duration) {
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		want, has := s.SliceCircuit(in), s.First(in)
		switch {
		case has != nil && has.Out != want:
			l.endReservation(s, now, has, state.Preempted)
		case has == nil && want != southbound.NoPort && l.canLight(s, in, want):
			r := &controller.CircuitReservation{In: in, Out: want, NotBefore: now, NotAfter: southbound.Never,
				Coflow: controller.AnyCoflow}
			if s.CheckCircuitReservation(r) == nil {
				l.pass.put(state.CircuitReserved, now).CircuitReservation = r
				l.noteMade(s, now, r)
			}
		}
	}
}

// canLight reports whether it makes sense to ask for a circuit now.
func (l *Loop) canLight(s *state.State, in, out southbound.Port) bool {
	ocs, _ := l.fabric.OCSAt(int32(in))
	return !l.switchAway(ocs) && !l.circuits.failing.byIn[in].pauses && !l.portDown(s, in) && !l.portDown(s, out) &&
		s.Taker(out) == southbound.NoPort
}

// AwayCubes returns the cubes that slices could not use when they were last settled, silent ones too; nil before.
// Nobody writes to it.
func (l *Loop) AwayCubes() []int { return l.slicing.away }

// AwaySwitches returns the optical switches that were away when slices of racks were last settled. Nobody writes to it.
func (l *Loop) AwaySwitches() []southbound.DeviceID { return l.slicing.gone }

// noteGone notes which optical switches are away, for those who ask.
func (l *Loop) noteGone() {
	var gone []southbound.DeviceID
	for i := range southbound.DeviceID(l.fabric.OCSes()) {
		if d := l.fabric.OCSNode + i; l.switchAway(d) {
			gone = append(gone, d)
		}
	}
	if !slices.Equal(gone, l.slicing.gone) {
		l.slicing.gone = gone
	}
}

func (l *Loop) switchAway(d southbound.DeviceID) bool { return l.devices.away[d] }

// silentCubes returns the cubes whose switches have been silent for a while. Where most are, it is rather the
// controller that has lost its way to them, and none counts.
func (l *Loop) silentCubes(now time.Duration) (out []int) {
	if 2*len(l.slicing.silent) > l.fabric.Racks {
		return nil
	}
	for rack, d := range l.fabric.ToRNode {
		if since, ok := l.slicing.silent[d]; ok && now >= since+silence {
			out = append(out, rack)
		}
	}
	return out
}

// nextSilent is when the next silent cube counts as away.
func (l *Loop) nextSilent(now time.Duration) time.Duration {
	at := southbound.Never
	if !l.fabric.Spec.Pod() && !l.slicing.rings {
		return at // nobody asks
	}
	for _, since := range l.slicing.silent {
		if since+silence > now {
			at = min(at, since+silence)
		}
	}
	return at
}

// hear notes that the switch of a cube is heard again, or no longer.
func (l *Loop) hear(now time.Duration, d southbound.DeviceID, heard bool) {
	_, silent := l.slicing.silent[d]
	switch {
	case heard:
		delete(l.slicing.silent, d)
	case l.fabric.HasOCS() && !silent && l.fabric.Topology.Node(d).Role == pathmap.ToR:
		if l.slicing.silent == nil {
			l.slicing.silent = map[southbound.DeviceID]time.Duration{}
		}
		l.slicing.silent[d] = now
	}
}

// AwayCubes returns the cubes that slices cannot use, ascending: those that are silent, and those of which a host is
// lost, that are drained, or of which a fibre is dark at a switch that sees light from others. A switch all of whose
// fibres are dark has failed itself.
func AwayCubes(s *state.State, gone func(southbound.DeviceID) bool, silent ...int) (away []int) {
	f := s.Fabric()
	if !f.Spec.Pod() {
		return awayRacks(s, silent...)
	}
	away = awayRacks(s, silent...)
	dark := map[southbound.DeviceID][]int{}
	for _, p := range s.Live().Down {
		if port := f.OCSPort(p.Device, int32(p.Port)); f.IsOCS(p.Device) && port != pathmap.None && !gone(p.Device) {
			dark[p.Device] = append(dark[p.Device], int(f.OCSRack(port)))
		}
	}
	for _, cubes := range dark {
		if len(cubes) < 2*f.Racks || f.Racks == 1 {
			away = append(away, cubes...)
		}
	}
	slices.Sort(away)
	return slices.Compact(away)
}

// awayRacks returns the racks that are silent, and those of which a host is lost or that are drained.
func awayRacks(s *state.State, silent ...int) (away []int) {
	f := s.Fabric()
	away = append(away, silent...)
	for _, h := range s.Live().Lost {
		away = append(away, int(f.RackOf(int32(h))))
	}
	for _, n := range s.Change().Drained {
		if node := f.Topology.Node(n); node.Role == pathmap.ToR {
			away = append(away, int(node.Rack))
		}
	}
	slices.Sort(away)
	return slices.Compact(away)
}

// uplink notes whether a port of a ToR that faces an optical switch has light. Where there are slices, a circuit whose
// switch has gone silent and whose light has gone is lost.
func (l *Loop) uplink(s *state.State, now time.Duration, e *southbound.DeviceEvent) {
	if !l.fabric.Spec.Pod() && l.fabric.OCSes() < 2 {
		return
	}
	l.cables.told(state.PortRef{Device: e.Device, Port: e.In}, e.Kind == southbound.PortUp)
	id := l.fabric.Topology.OutPort(e.Device, int32(e.In))
	if id == pathmap.None || e.Kind == southbound.PortUp {
		return
	}
	at := l.fabric.Topology.Link(id)
	if in := l.fabric.OCSPort(at.To, at.ToPort); l.switchAway(at.To) && in != pathmap.None {
		l.lostLight(s, now, southbound.Port(in))
	}
}

// switchGone gives up the circuits of one of several optical switches that has gone silent whose light is gone.
func (l *Loop) switchGone(s *state.State, now time.Duration, ocs southbound.DeviceID) {
	if !l.fabric.IsOCS(ocs) || l.fabric.OCSes() < 2 {
		return
	}
	for _, id := range l.fabric.Topology.Out(ocs) {
		at := l.fabric.Topology.Link(id)
		if l.cables.dark[state.PortRef{Device: at.To, Port: southbound.Port(at.ToPort)}] {
			l.lostLight(s, now, southbound.Port(l.fabric.OCSPort(ocs, at.FromPort)))
		}
	}
}

func (l *Loop) lostLight(s *state.State, now time.Duration, in southbound.Port) {
	if c := s.Circuit(in); c.Phase == controller.InService && (l.fabric.Spec.Pod() || s.SliceCircuit(in) == c.Out) {
		l.giveUp(s, now, in, c.Out)
	}
}

// resteer has cube switches send to the circuits that are in service. Their rules have a backup, so that a circuit that
// goes dark first costs no packet more than its light.
func (l *Loop) resteer(s *state.State) {
	if !l.fabric.Spec.Pod() {
		return
	}
	before, now := l.slicing.steered, l.wantedCircuits(s)
	if l.slicing.steered = now; before == nil || slices.Equal(before, now) {
		return // at first every switch is read
	}
	for rack, d := range l.fabric.ToRNode {
		changes := false
		for in := rack; in < len(now); in += l.fabric.Racks {
			changes = changes || before[in] != now[in]
		}
		if !changes || !l.devices.known(d) {
			continue // what is not known is read, and then brought into its state
		}
		if c := rollout.Diff(l.base.Rules(d, now), l.base.Rules(d, before)); !c.Empty() {
			l.pass.act.Sets = append(l.pass.act.Sets, rollout.Set{Device: d, Token: l.circuits.mover.Token(), Change: c})
		}
	}
}
