package page

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Source says what there is to show.
type Source interface {
	Fabric() Fabric
	// Look is called again and again while somebody watches, by one goroutine at a time.
	Look(ctx context.Context) (*Look, error)
}

// Controller is the source of a running controller: what its API tells.
type Controller struct {
	Client   *api.Client
	Of       *topo.Fabric // as the controller was started for it
	About    Fabric
	Seed     uint64   // of the paths between racks
	Replicas []string // in the order of the client's addresses
	// More adds what a testbed knows beyond the controller; nil: nothing.
	More func(context.Context, *Look) error
	// Left returns what a coflow has still to send; nil: it is not known.
	Left func(southbound.CoflowID) (southbound.Remaining, bool)

	mu     sync.Mutex
	data   *state.Data // as last read
	cables pathmap.Cabling
	at     uint64 // the entry that it is of
	read   time.Time
	rare   time.Time // when what is costly was read last
	answer []Replica
	health api.Health
	why    map[controller.JobID]string
	now    *topo.Fabric
	paths  *pathmap.Map // of now; nil: not needed yet
}

// How often what is costly is read: digests and claims, and state, which has a size.
const (
	rarely     = time.Second
	stateEvery = 200 * time.Millisecond
	within     = 2 * time.Second
	staleAfter = 5 * time.Second // what is older says nothing of now: switches count every second
)

// Fabric implements Source.
func (c *Controller) Fabric() Fabric {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || len(c.now.Topology.Nodes()) == len(c.Of.Topology.Nodes()) {
		return c.About
	}
	return FabricOf(c.now, c.About.Policy, c.About.Testbed) // racks have been added: who opens the page sees them
}

// Cancel ends a job, for Actions.
func (c *Controller) Cancel(ctx context.Context, id controller.JobID) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	e, err := c.Client.Cancel(ctx, id)
	switch {
	case err != nil:
		return "", err
	case !e.Cancelled:
		return fmt.Sprintf("job %d had ended by itself", id), nil
	}
	return fmt.Sprintf("job %d is cancelled", id), nil
}

// Why asks for what the policy has said of a job, for Actions.
func (c *Controller) Why(ctx context.Context, id controller.JobID) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return c.Client.WhyHere(ctx, id)
}

// Look implements Source.
func (c *Controller) Look(ctx context.Context) (*Look, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := c.Client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w", err)
	}
	if err := c.readState(ctx, st.Index); err != nil {
		return nil, err
	}
	l := &Look{Head: Head{Now: st.Now.Seconds(), Leader: st.Leader, Term: st.Term, Changes: st.LeaderChanges,
		Index: st.Index, Jobs: st.Jobs, JobsEnded: st.JobsEnded, Coflows: st.Coflows, CoflowsEnded: st.CoflowEnded},
		Rates: []int64{}, Failed: []Failed{}, Warnings: []Warning{}}
	l.FromState(c.now, c.data, st.Now, c.Left)
	for i := range l.Jobs {
		l.Jobs[i].Why = c.why[l.Jobs[i].ID]
	}
	if time.Since(c.rare) >= rarely {
		c.readRarely(ctx, st)
	}
	l.Replicas = slices.Clone(c.answer)
	c.switches(l)
	if c.More == nil {
		c.links(ctx, l, st.Leader, st.Now)
	} else if err := c.More(ctx, l); err != nil {
		return nil, err
	}
	l.warn(c.now, st, c.health)
	return l, nil
}

// readState reads the state if it has changed.
func (c *Controller) readState(ctx context.Context, index uint64) error {
	if c.data != nil && (index == c.at || time.Since(c.read) < stateEvery) {
		return nil
	}
	snap, err := c.Client.LiveState(ctx)
	if err != nil {
		return fmt.Errorf("ask the controller for its state: %w", err)
	}
	whole := state.New(c.Of)
	if err := whole.Restore(snap.JSON); err != nil {
		return fmt.Errorf("read the controller's state: %w", err)
	}
	if now := whole.Change().Cabling; c.now == nil || !now.Equal(c.cables) {
		c.now, c.cables, c.paths = whole.Fabric(), now, nil
	}
	c.why = whole.Reasons()
	c.data, c.at, c.read = steeredNow(whole), snap.Index, time.Now()
	return nil
}

// readRarely asks every replica for itself, and the leader for its claims.
func (c *Controller) readRarely(ctx context.Context, st api.Status) {
	c.answer = make([]Replica, len(c.Replicas))
	var wg sync.WaitGroup
	for i, id := range c.Replicas {
		wg.Go(func() {
			r := Replica{ID: id}
			if one, err := c.Client.DigestOf(ctx, i); err != nil {
				r.Error = err.Error()
			} else {
				r.Index, r.Digest = one.Index, fmt.Sprintf("%x", one.Digest[:6])
			}
			c.answer[i] = r
		})
	}
	wg.Wait()
	if st.Leader != "" {
		if all, err := c.Client.Health(ctx); err == nil {
			c.health = all
		}
	}
	c.rare = time.Now()
}

// switches lists what the controller knows of switches: its claims, and the circuits that it wants.
func (c *Controller) switches(l *Look) {
	claim := map[string]api.Claim{}
	for _, x := range c.health.Claims {
		claim[x.Device] = x
	}
	l.Switches = []Switch{}
	for n, node := range c.now.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		x := Switch{Name: node.Name, Kind: node.Role.String(), Claim: ClaimText(claim[node.Name].State),
			Error: claim[node.Name].Error}
		x.hold(claim[node.Name].Holds)
		if id := pathmap.NodeID(n); c.now.IsOCS(id) { // what the state says is newer
			x.Desired, x.Accepted, x.Seen = &Held{Rules: -1}, &Held{Rules: -1}, nil
			of := func(in southbound.Port) bool {
				ocs, _ := c.now.OCSAt(int32(in))
				return ocs == id
			}
			for _, k := range l.Circuits {
				if of(k.In) {
					x.Desired.Circuits++
				}
			}
			for _, m := range l.Moves {
				if m.Ended < 0 && m.Accepted >= 0 && of(m.In) {
					x.Accepted.Circuits++
				}
			}
		}
		l.Switches = append(l.Switches, x)
	}
}

// ClaimText says how far a leader has come with a switch; most are claimed, and nothing is to be said of them.
func ClaimText(state string) string {
	switch state {
	case "fenced":
		return "claimed"
	case "unfenced":
		return "claimed, but takes writes of past leaders"
	}
	return state
}

// hold fills in what the leader has asked a switch for, what that has accepted, and what it reported
// when it was read last; nil: the leader does not say.
func (x *Switch) hold(h *api.DeviceHolding) {
	if h == nil {
		return
	}
	held := func(d api.DeviceHolds) *Held { return &Held{d.Rules, d.Circuits} }
	x.Desired, x.Accepted, x.Seen = held(h.Desired), held(h.Accepted), held(h.Seen)
}

// links fills in what the leader's policies see of links.
func (c *Controller) links(ctx context.Context, l *Look, leader string, now time.Duration) {
	if leader == "" {
		return
	}
	all, err := c.Client.Links(ctx)
	if err != nil || len(all) == 0 {
		return
	}
	l.Rates = make([]int64, len(c.now.Topology.Links()))
	for i := range l.Rates {
		l.Rates[i] = -1
	}
	for _, x := range all {
		if x.ID >= 0 && int(x.ID) < len(l.Rates) && now-x.At < staleAfter {
			l.Rates[x.ID] = int64(x.Rate) / 1000
		}
	}
}

// warn lists what is not as it should be.
func (l *Look) warn(f *topo.Fabric, st api.Status, h api.Health) {
	add := func(about, format string, args ...any) {
		l.Warnings = append(l.Warnings, Warning{about, fmt.Sprintf(format, args...)})
	}
	if st.Leader == "" {
		add("controller", "no leader is known: jobs and reservations wait")
	}
	digests := map[uint64]Replica{}
	for _, r := range l.Replicas {
		if r.Error != "" {
			add(r.ID, "it does not answer: %s", r.Error)
			continue
		}
		if other, ok := digests[r.Index]; ok && other.Digest != r.Digest {
			add(r.ID, "after entry %d its state is not that of %s", r.Index, other.ID)
		}
		digests[r.Index] = r
	}
	for _, c := range h.Claims {
		if c.Refused != "" {
			add(c.Device, "it has refused its last change: %s", c.Refused)
		}
	}
	for _, a := range h.Agents {
		switch {
		case a.Lost:
			add("agent "+a.Address, "it is lost, and %d hosts with it: %s", len(a.Hosts), a.Error)
		case a.Error != "":
			add("agent "+a.Address, "it does not do what it is asked: %s", a.Error)
		}
	}
	for _, x := range h.Silent {
		add(fmt.Sprintf("job %d", x.Job), "%d tasks were to end long ago: one has run for %v on %s", x.Tasks,
			x.Longest.Round(time.Second), x.Host)
	}
	for _, s := range l.Switches {
		switch {
		case s.Claim == "unclaimed" && s.Error == "":
			add(s.Name, "the leader has not claimed it yet")
		case s.Claim == "unclaimed":
			add(s.Name, "the leader cannot claim it: %s", s.Error)
		case s.Claim == ClaimText("unfenced"):
			add(s.Name, "it does not refuse leaders of the past: %s", s.Error)
		}
		if s.Seen != nil && s.Desired != nil && s.Kind == pathmap.OCS.String() &&
			s.Seen.Circuits != s.Desired.Circuits {
			add(s.Name, "the controller wants %d circuits, and the switch reports %d", s.Desired.Circuits,
				s.Seen.Circuits)
		}
	}
}

// steeredNow returns the data of a state that nobody else has, in which open host flows have the tags that they are
// sent with now in place of those that the policy chose for packets.
func steeredNow(s *state.State) *state.Data {
	d := s.Data()
	for _, c := range d.Coflows {
		if c.Started != state.Unset && c.Ended == state.Unset {
			c.Tag = s.AppendTags(nil, c.ID)
		}
	}
	return d
}
