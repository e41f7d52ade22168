package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Status is the output of the command status.
type Status struct {
	Verdict   string          `json:"verdict"` // in one line; begins with ok, degraded or no leader
	Fabric    string          `json:"fabric"`
	Dataplane string          `json:"dataplane"`
	Policy    string          `json:"policy"`
	Up        float64         `json:"up_seconds"`
	Leader    string          `json:"leader"`
	Term      uint64          `json:"term"`
	Replicas  []ReplicaStatus `json:"replicas"`
	Switches  []SwitchStatus  `json:"switches"`
	Agents    []AgentStatus   `json:"agents"`
	Silent    []SilentStatus  `json:"silent"` // jobs with tasks that were to end long ago
	Circuits  []CircuitStatus `json:"circuits"`
	Routes    []RouteStatus   `json:"routes"` // default routes between racks, at their first switch
	Jobs      int             `json:"jobs"`
	JobsEnded int             `json:"jobs_ended"`
	Open      []JobStatus     `json:"open_jobs"` // that have not ended
	// bandwidth reservations that stand
	Reservations []ReservationStatus   `json:"reservations"`
	Links        []string              `json:"links"`   // names of all cables
	Drained      []string              `json:"drained"` // switches and hosts that get no new tasks, routes or circuits
	Failed       []fault.Fault         `json:"failed"`  // what has failed and has not recovered
	Waiting      []WaitingStatus       `json:"waiting"` // jobs that wait for something that has failed
	Streams      []StreamStatus        `json:"streams"` // jobs that run until they are cancelled
	Rates        []emulated.LinkStatus `json:"rates"`   // what passes links, as the ports count it
	// and as the controller's policies see it; links of which they know nothing are left out
	View      []emulated.LinkStatus `json:"view"`
	ViewError string                `json:"view_error,omitempty"`
}

// WaitingStatus is a job that cannot continue.
type WaitingStatus struct {
	Job  controller.JobID `json:"job"`
	Name string           `json:"name"`
	Why  string           `json:"why"`
}

// ReplicaStatus is one replica of the controller.
type ReplicaStatus struct {
	ID       string `json:"id"`
	Applied  uint64 `json:"applied"`
	Digest   string `json:"digest"`
	Restarts int    `json:"restarts"` // how often it has ended by itself
	Error    string `json:"error,omitempty"`
	// how far it takes part since it started, and why no further
	Standing string `json:"standing,omitempty"`
	Reason   string `json:"standing_reason,omitempty"`
	// that it is ahead of the leader or its state is another, and what it has seen of other replicas
	Trouble string `json:"trouble,omitempty"`
}

// SwitchStatus is one switch as its device reports it.
type SwitchStatus struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Ports    int32  `json:"ports"`
	Rules    int    `json:"rules"`
	Circuits int    `json:"circuits"`
	Dark     []int  `json:"dark_ports"` // at or of the optical switch: no circuit lights them
	Down     []int  `json:"down_ports"` // their cable, or what is behind it, has failed
	// how far the leader has come with it: unclaimed, fenced or unfenced, and why no further
	Claim      string `json:"claim,omitempty"`
	ClaimError string `json:"claim_error,omitempty"`
	Refused    string `json:"refused,omitempty"` // why it refused the last change that it was sent
}

// AgentStatus is one agent of hosts, as the leader knows it.
type AgentStatus struct {
	Address string   `json:"address"`
	Hosts   []string `json:"hosts"`
	Lost    bool     `json:"lost"`
	Error   string   `json:"error,omitempty"`
}

// SilentStatus is tasks of a job without a sign of life.
type SilentStatus struct {
	Job     controller.JobID `json:"job"`
	Name    string           `json:"name"`
	Tasks   int              `json:"tasks"`
	Longest float64          `json:"longest_seconds"`
	Host    string           `json:"host"`
}

// CircuitStatus is one circuit of the ledger.
type CircuitStatus struct {
	Switch string              `json:"switch"`
	In     southbound.Port     `json:"in"`
	Out    southbound.Port     `json:"out"`
	Phase  string              `json:"phase"`
	Coflow southbound.CoflowID `json:"coflow"` // -1: it is for traffic that nobody announced
	Since  float64             `json:"since_seconds"`
}

// RouteStatus is the default route from a rack to another.
type RouteStatus struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Via    string `json:"via"`
	Backup string `json:"backup,omitempty"`
}

// status gathers the present state.
func (s *keeper) status(ctx context.Context) (*Status, error) {
	out, err := controllerStatus(ctx, s.Client, s.Cluster.IDs)
	if err != nil {
		return nil, err
	}
	out.Dataplane, out.Up = s.Packets.Net.Settings().Dataplane, time.Since(s.Began).Seconds()
	for i := range out.Replicas {
		out.Replicas[i].Restarts = s.Cluster.Restarts(out.Replicas[i].ID)
	}
	out.Links = s.Faults.Names.Known(fault.Link)
	out.Failed = append(out.Failed, s.Faults.Failed()...)
	claims := out.Switches
	out.Switches = nil
	s.switches(out)
	for i := range out.Switches {
		sw := &out.Switches[i]
		for _, c := range claims {
			if c.Name == sw.Name {
				sw.Claim, sw.ClaimError, sw.Refused = c.Claim, c.ClaimError, c.Refused
			}
		}
	}
	if out.Rates, err = s.Counters.Links(); err != nil {
		return nil, err
	}
	d, err := testbed.LiveStateOf(ctx, s.Client)
	if err != nil {
		return nil, err
	}
	out.Streams = streams(d, s.Clock(), s.Packets.Agent.Remaining)
	out.Verdict = out.verdict()
	return out, nil
}

// controllerStatus gathers what a controller tells of itself, and asks each of the replicas that the client has the
// addresses of; ids are their names where they do not answer.
func controllerStatus(ctx context.Context, client *api.Client, ids []string) (*Status, error) {
	st, err := client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w", err)
	}
	f, err := client.Fabric(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w", err)
	}
	out := &Status{Fabric: f.Spec, Policy: f.Policy, Up: st.Now.Seconds(), Leader: st.Leader,
		Term: st.Term, Jobs: st.Jobs,
		JobsEnded: st.JobsEnded, Switches: []SwitchStatus{}, Agents: []AgentStatus{}, Silent: []SilentStatus{},
		Circuits: []CircuitStatus{}, Routes: []RouteStatus{},
		Links: []string{}, Failed: []fault.Fault{}, Streams: []StreamStatus{}, Rates: []emulated.LinkStatus{},
		Drained: append([]string{}, f.Drained...)}
	for i, id := range ids {
		r := ReplicaStatus{ID: id}
		if one, err := client.DigestOf(ctx, i); err != nil {
			r.Error = err.Error()
		} else {
			r.ID, r.Applied, r.Digest = one.Replica, one.Index, fmt.Sprintf("%x", one.Digest[:6])
			r.Standing, r.Reason, r.Trouble = one.Standing, one.StandingReason, one.Troubles
		}
		out.Replicas = append(out.Replicas, r)
	}
	if i := slices.IndexFunc(out.Replicas, func(r ReplicaStatus) bool { return r.ID == st.Leader }); i >= 0 {
		if now, err := client.DigestOf(ctx, i); err == nil && now.Leader == now.Replica {
			out.holdAgainst(now.Replica, now.Index, fmt.Sprintf("%x", now.Digest[:6]))
		}
	}
	if out.View, err = view(ctx, client, f, st.Now); err != nil {
		out.View, out.ViewError = []emulated.LinkStatus{}, err.Error()
	} else {
		health(ctx, client, f, out) // without a leader nobody knows
	}
	if err := out.addState(ctx, client, f); err != nil {
		return nil, err
	}
	out.Verdict = out.verdict()
	return out, nil
}

// holdAgainst notes which replicas are ahead of a leader that was asked after them, or apart from it.
func (s *Status) holdAgainst(leader string, index uint64, digest string) {
	for i := range s.Replicas {
		r := &s.Replicas[i]
		trouble := ""
		switch {
		case r.Error != "" || r.ID == leader:
		case r.Applied > index:
			trouble = fmt.Sprintf("ahead of the leader, which is at %d", index)
		case r.Applied == index && r.Digest != digest:
			trouble = fmt.Sprintf("apart: the leader's state has digest %s", digest)
		}
		if trouble != "" {
			r.Trouble = strings.TrimPrefix(r.Trouble+"; "+trouble, "; ")
		}
	}
}

func (s *keeper) switches(out *Status) {
	for i, node := range s.Topo.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		id := southbound.DeviceID(i)
		var seen southbound.Seen
		s.Packets.Switches[id].Door.Do(func(now time.Duration, d *device.Device) { seen = d.Seen(now) })
		sw := SwitchStatus{Name: node.Name, Kind: node.Role.String(), Ports: s.Topo.Topology.Ports(id),
			Rules: len(seen.Rules), Circuits: len(seen.Connections)}
		sw.Dark, sw.Down = s.unlit(id, seen.Down)
		out.Switches = append(out.Switches, sw)
		for _, r := range seen.Rules {
			if node.Role == pathmap.ToR && r.Tag == southbound.AnyTag && r.Src == southbound.AnyRack {
				out.Routes = append(out.Routes, RouteStatus{From: node.Name,
					To: s.Topo.Topology.Node(s.Topo.ToRNode[r.Dst]).
						Name,
					Via: s.behind(id, r.Primary), Backup: s.behind(id, r.Backup)})
			}
		}
	}
}

// unlit parts a switch's ports without a signal: dark ones wait for a circuit, the others are down.
func (s *keeper) unlit(id southbound.DeviceID, ports []southbound.Port) (dark, down []int) {
	dark, down = []int{}, []int{}
	t := s.Topo.Topology
	for _, p := range ports {
		l := t.OutPort(id, int32(p))
		if l != pathmap.None && (s.Topo.IsOCS(id) || s.Topo.IsOCS(t.Link(l).To)) && !s.Faults.Cut(l) {
			dark = append(dark, int(p))
		} else {
			down = append(down, int(p))
		}
	}
	return dark, down
}

// health adds how agents and tasks are, and the switches with the state of the leader's claim on each, the ports that
// the fabric uses, and what they reported when they were read last.
func health(ctx context.Context, client *api.Client, f *apiv1.Fabric, out *Status) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	all, err := client.Health(ctx)
	if err != nil {
		return
	}
	for _, a := range all.Agents {
		out.Agents = append(out.Agents, AgentStatus{a.Address, append([]string{}, a.Hosts...), a.Lost, a.Error})
	}
	for _, x := range all.Silent {
		out.Silent = append(out.Silent, SilentStatus{x.Job, x.Name, x.Tasks, x.Longest.Seconds(), x.Host})
	}
	for _, c := range all.Claims {
		sw := SwitchStatus{Name: c.Device, Claim: c.State, ClaimError: c.Error, Refused: c.Refused,
			Dark: []int{}, Down: []int{}}
		at := slices.IndexFunc(f.Nodes, func(n *apiv1.Node) bool { return n.Name == c.Device })
		if at >= 0 {
			sw.Kind = f.Nodes[at].Role
		}
		for _, l := range f.Links {
			if int(l.From) == at && !l.Unplugged {
				sw.Ports++
			}
		}
		if c.Holds != nil {
			sw.Rules, sw.Circuits = c.Holds.Seen.Rules, c.Holds.Seen.Circuits
		}
		out.Switches = append(out.Switches, sw)
	}
}

// behind names the node at the other end of a port.
func (s *keeper) behind(id southbound.DeviceID, p southbound.Port) string {
	if l := s.Topo.Topology.OutPort(id, int32(p)); p != southbound.NoPort && l != pathmap.None {
		return s.Topo.Topology.Node(s.Topo.Topology.Link(l).To).Name
	}
	return ""
}

// addState adds what the replicated state holds.
func (s *Status) addState(ctx context.Context, client *api.Client, f *apiv1.Fabric) error {
	d, err := testbed.LiveStateOf(ctx, client)
	if err != nil {
		return err
	}
	s.Waiting = []WaitingStatus{}
	if s.Reservations, err = readReservations(ctx, client); err != nil {
		return err
	}
	if s.Open, err = listJobs(ctx, client, &apiv1.ListJobsRequest{Filter: open()}, 0); err != nil {
		return err
	}
	for _, j := range s.Open {
		if j.Why != "" {
			s.Waiting = append(s.Waiting, WaitingStatus{j.Job, j.Name, j.Why})
		}
	}
	s.addCircuits(d, f)
	return nil
}

// addCircuits adds the circuits by their switch, with its own numbers of ports: the ledger numbers those of all OCSes
// one after the other.
func (s *Status) addCircuits(d *state.Data, f *apiv1.Fabric) {
	var ocses []string
	for _, n := range f.Nodes {
		if n.Role == pathmap.OCS.String() {
			ocses = append(ocses, n.Name)
		}
	}
	if len(ocses) == 0 {
		return
	}
	at := portsBy(s.Fabric, len(d.Circuits)/len(ocses))
	for in, c := range d.Circuits {
		if c.Phase != controller.NoCircuit {
			phase := map[controller.CircuitPhase]string{controller.Reconfiguring: "reconfiguring",
				controller.InService: "in-service"}[c.Phase]
			ocs, in := at(in)
			_, out := at(int(c.Out))
			s.Circuits = append(s.Circuits, CircuitStatus{Switch: ocses[ocs], In: in, Out: out, Phase: phase,
				Coflow: c.Coflow, Since: c.Since.Seconds()})
		}
	}
}

// portsBy returns what tells the switch of an OCS port of a fabric, and the port's number there. The switches of all
// fabrics but pods number their ports as the fabric does, so many each.
func portsBy(fabric string, each int) func(port int) (ocs int, at southbound.Port) {
	if spec, err := topo.ParseSpec(fabric); err == nil && spec.Pod() {
		if f, err := topo.New(spec); err == nil {
			return func(port int) (int, southbound.Port) {
				n, at := f.OCSAt(int32(port))
				return int(n - f.OCSNode), southbound.Port(at)
			}
		}
	}
	return func(port int) (int, southbound.Port) { return port / each, southbound.Port(port % each) }
}
