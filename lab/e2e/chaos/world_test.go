package chaos

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// world is three controllers over one simulated fabric, all of it in one goroutine and on the
// simulator's clock: what happens depends on the seed alone, to the last byte of its history. Loop,
// state, rollout, simulator and device models are real. The log is one in memory that keeps raft's
// promises, and the queues of a leader are as package leader has them; raft and package leader
// themselves are under test in the other tests of this package, which do not repeat exactly.
type world struct {
	seed    uint64
	r       *rand.Rand
	policy  string
	fabric  *topo.Fabric
	paths   *pathmap.Map
	sim     *flowsim.Sim
	jobs    []controller.Job
	seats   []*seat
	log     memory
	doors   map[southbound.DeviceID]*door
	agents  agents
	clients clients
	faults  weather
	history history
	found   []string // what must never happen, and did
	slicer  *slicer  // nil: nobody asks for slices
}

const (
	answerWithin = time.Second // of a device
	retryAfter   = 20 * time.Millisecond
	snapshots    = 100 // entries between two of a replica
)

func newWorld(fabric string, seed uint64, policy string, minutes int, kinds weather) (*world, error) {
	spec, err := topo.ParseSpec(fabric)
	if err != nil {
		return nil, err
	}
	w := &world{seed: seed, r: rand.New(rand.NewPCG(seed, 71)), policy: policy, faults: kinds,
		doors: map[southbound.DeviceID]*door{}, agents: newAgents(), history: history{sum: sha256.New()}}
	if w.fabric, err = topo.New(spec); err != nil {
		return nil, err
	}
	if w.paths, err = w.fabric.PathMap(2, seed); err != nil {
		return nil, err
	}
	if w.sim, err = flowsim.New(w.fabric, flowsim.Options{Seed: seed}); err != nil {
		return nil, err
	}
	if w.jobs, err = jobsOf(seed, minutes); err != nil {
		return nil, err
	}
	for _, id := range w.sim.Devices() {
		w.doors[id] = &door{}
	}
	for i := range 3 {
		w.seats = append(w.seats, &seat{w: w, place: i, state: w.empty(), alive: true})
	}
	w.clients = newClients(len(w.jobs))
	w.log.replicas = len(w.seats)
	w.faults.names = fault.NewNames(w.fabric, len(w.seats))
	w.faults.damage = fault.NewDamage(w.faults.names)
	return w, nil
}

func (w *world) now() time.Duration { return w.sim.Now() }

// empty is the state of a replica before the first entry.
func (w *world) empty() *state.State {
	s := state.New(w.fabric)
	s.KeepEnded(state.Keep{Requests: w.faults.Known})
	return s
}

// after plans a call. Whatever happens in a world was planned here, or by the simulator.
func (w *world) after(d time.Duration, f func()) { w.sim.At(w.now()+d, f) }

// chance is true so often.
func (w *world) chance(p float64) bool { return w.r.Float64() < p }

// upTo draws a duration.
func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.r.Int64N(int64(d))) }

func (w *world) fail(format string, args ...any) {
	w.found = append(w.found, fmt.Sprintf("%v: ", w.now())+fmt.Sprintf(format, args...))
	w.note("FOUND "+format, args...)
}

// note adds a line to the history.
func (w *world) note(format string, args ...any) {
	w.history.add(fmt.Sprintf("%v ", w.now()) + fmt.Sprintf(format, args...))
}

// history is what happened: the last lines, and a digest of all of them.
type history struct {
	sum   hash.Hash
	lines []string
	n     int
}

const recent = 400

func (h *history) add(line string) {
	h.sum.Write([]byte(line))
	h.sum.Write([]byte{'\n'})
	if len(h.lines) < recent {
		h.lines = append(h.lines, line)
	} else {
		h.lines[h.n%recent] = line
	}
	h.n++
}

// last is the newest lines, oldest first.
func (h *history) last(n int) (out []string) {
	for i := max(0, h.n-min(n, recent)); i < h.n; i++ {
		out = append(out, h.lines[i%recent])
	}
	return out
}

// run lets faults happen for that long, then none, until all jobs have ended everywhere or it takes too
// long.
func (w *world) run(faulty time.Duration) {
	w.begin(faulty)
	const patience = 2 * time.Minute
	for limit := faulty + patience; ; {
		at, ok := w.sim.Next()
		if !ok || at > limit {
			w.fail("not all jobs have ended, or devices do not hold what they should: %s%s",
				unfinished(w.seats[0].state),
				w.unprogrammed())
			return
		}
		hosts, devices, err := w.sim.Advance(at, nil, nil)
		if err != nil {
			w.fail("the fabric found: %v", err)
		}
		for i := range hosts {
			w.agents.report(w, hosts[i])
		}
		for i := range devices {
			w.stream(devices[i])
		}
		if at > faulty && w.ended() && w.unprogrammed() == "" || len(w.found) > 0 {
			return
		}
	}
}

// begin plans the arrivals, the first election and the faults.
func (w *world) begin(faulty time.Duration) {
	for i := range w.jobs {
		w.sim.At(w.jobs[i].Arrival, func() { w.clients.submit(w, i) })
	}
	w.elect()
	w.faults.begin(w, faulty)
	if w.slicer != nil {
		w.slicer.begin(faulty)
	}
}

// ended reports whether every job has ended on every replica.
func (w *world) ended() bool {
	for _, s := range w.seats {
		if !s.alive || s.applied != len(w.log.entries) || s.state.Finished() != len(w.jobs) {
			return false
		}
	}
	return true
}

// unprogrammed names a switch that does not hold what the leader wants, and what it lacks; it is empty
// if all do.
func (w *world) unprogrammed() string {
	r := w.log.chosen
	if r == nil || r.over {
		return "no replica leads"
	}
	if w.slicer != nil && w.slicer.unsettled() != "" {
		return w.slicer.unsettled()
	}
	circuits := make([]southbound.Port, w.fabric.OCSPorts())
	for in := range circuits {
		circuits[in] = southbound.NoPort
		if c := r.seat.state.Circuit(southbound.Port(in)); c.Phase == controller.InService {
			circuits[in] = c.Out
		}
	}
	for _, id := range w.sim.Devices() {
		seen, err := w.sim.Device(id).Read(context.Background())
		if err != nil {
			return fmt.Sprintf("switch %d: %v", id, err)
		}
		if !w.fabric.IsOCS(id) {
			if c := rollout.Diff(r.loop.Base().Rules(id, circuits), seen.Rules); !c.Empty() {
				return fmt.Sprintf("switch %d lacks %+v", id, c)
			}
			continue
		}
		if lit, want := w.connections(id, seen), w.circuitsOf(id, circuits); !slices.Equal(lit, want) {
			return fmt.Sprintf("optical switch %d has %v and not %v", id, lit, want)
		}
	}
	return ""
}

// connections returns where an OCS has its inputs lead, by the fabric's numbers of all ports.
func (w *world) connections(ocs southbound.DeviceID, seen southbound.Seen) []southbound.Port {
	lit := slices.Repeat([]southbound.Port{southbound.NoPort}, w.fabric.OCSPorts())
	for _, x := range seen.Connections {
		lit[w.fabric.OCSPort(ocs, int32(x.In))] = southbound.Port(w.fabric.OCSPort(ocs, int32(x.Out)))
	}
	return lit
}

// circuitsOf returns those of all circuits that are of one OCS.
func (w *world) circuitsOf(ocs southbound.DeviceID, circuits []southbound.Port) []southbound.Port {
	own := slices.Clone(circuits)
	for in := range own {
		if of, _ := w.fabric.OCSAt(int32(in)); of != ocs {
			own[in] = southbound.NoPort
		}
	}
	return own
}

// policyOf returns a fresh policy for a leader.
func (w *world) policyOf() controller.Policy {
	p, err := policy.New(w.policy, policy.Options{})
	if err != nil {
		panic(err)
	}
	if w.seed%3 != 0 {
		p = holding{p}
	}
	return p
}

// rolled is how leaders order changes.
func (w *world) rolled() rollout.Control { return rollout.DefaultControl() }

// check adds what the end of a run shows to what was found.
func (w *world) check(t *testing.T) {
	t.Helper()
	for _, what := range w.found {
		t.Error(what)
	}
	if len(w.found) > 0 {
		return
	}
	for _, s := range w.seats[1:] {
		if s.state.Digest() != w.seats[0].state.Digest() {
			t.Errorf("replicas 0 and %d hold different states in the end", s.place)
		}
	}
	w.agents.tally.check(t, w)
	w.checkPlanes(t)
}

// checkPlanes checks that no port was lit twice at once, and that all light was of a circuit of the log, which joins
// ports of one OCS.
func (w *world) checkPlanes(t *testing.T) {
	t.Helper()
	counts := w.sim.Counters()
	if err := device.CheckLit(counts.Lit); err != nil {
		t.Errorf("light: %v", err)
	}
	for _, what := range unowned(w.fabric, w.seats[0].state, counts.Lit) {
		t.Error(what)
	}
	for _, m := range w.seats[0].state.Data().Moves {
		if !w.fabric.SamePlane(int32(m.In), int32(m.Out)) {
			t.Errorf("a circuit from port %d to port %d", m.In, m.Out)
		}
	}
}

// described says what a run was, and what all of it digests to.
func (w *world) described() string {
	refused := w.agents.refused
	for _, id := range w.sim.Devices() {
		refused += w.doors[id].refused
	}
	d := w.seats[0].state.Data()
	return fmt.Sprintf("%s: %v, %d terms, %d entries, %d moves of circuits, %d calls of former leaders refused, %s; "+
		"%d lines of history, sha256 %x", w.policy, w.now(), w.log.term, len(w.log.entries), len(d.Moves), refused,
		w.faults.described(), w.history.n, w.history.sum.Sum(nil))
}
