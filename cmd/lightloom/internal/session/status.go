package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lightloom/cmd/lightloom/internal/testbed"
	"lightloom/cmd/lightloom/internal/testbed/emulated"
	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Status is the output of the command status.
type Status struct {
	Fabric    string          `json:"fabric"`
	Dataplane string          `json:"dataplane"`
	Policy    string          `json:"policy"`
	Up        float64         `json:"up_seconds"`
	Leader    string          `json:"leader"`
	Term      uint64          `json:"term"`
	Replicas  []ReplicaStatus `json:"replicas"`
	Switches  []SwitchStatus  `json:"switches"`
	Circuits  []CircuitStatus `json:"circuits"`
	Routes    []RouteStatus   `json:"routes"` // default routes between racks, at their first switch
	Jobs      int             `json:"jobs"`
	JobsEnded int             `json:"jobs_ended"`
	Open      []JobStatus     `json:"open_jobs"` // that have not ended
	// bandwidth reservations that stand
	Reservations []ReservationStatus   `json:"reservations"`
	Links        []string              `json:"links"`   // names of all cables
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
}

// SwitchStatus is one switch as its device reports it.
type SwitchStatus struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Ports    int32  `json:"ports"`
	Rules    int    `json:"rules"`
	Circuits int    `json:"circuits"`
	Dark     []int  `json:"dark_ports"`
	// how far the leader has come with it: unclaimed, fenced or unfenced, and why no further
	Claim      string `json:"claim,omitempty"`
	ClaimError string `json:"claim_error,omitempty"`
}

// CircuitStatus is one circuit of the ledger.
type CircuitStatus struct {
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
	st, err := s.Client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w", err)
	}
	out := &Status{Fabric: s.Config.Row.Spec.String(), Dataplane: s.Packets.Net.Settings().Dataplane,
		Policy: s.Config.Row.Policy,
		Up:     time.Since(s.Began).Seconds(), Leader: st.Leader, Term: st.Term, Jobs: st.Jobs, JobsEnded: st.JobsEnded,
		Circuits: []CircuitStatus{}, Routes: []RouteStatus{}}
	for i, id := range s.Cluster.IDs {
		r := ReplicaStatus{ID: id, Restarts: s.Cluster.Restarts(id)}
		if one, err := s.Client.DigestOf(ctx, i); err != nil {
			r.Error = err.Error()
		} else {
			r.Applied, r.Digest = one.Index, fmt.Sprintf("%x", one.Digest[:6])
		}
		out.Replicas = append(out.Replicas, r)
	}
	out.Links, out.Failed = s.Faults.Names.Known(fault.Link), s.Faults.Failed()
	if out.Failed == nil {
		out.Failed = []fault.Fault{}
	}
	s.switches(out)
	if out.Rates, err = s.Counters.Links(); err != nil {
		return nil, err
	}
	if out.View, err = view(ctx, s.Client, s.Topo.Topology); err != nil {
		out.View, out.ViewError = []emulated.LinkStatus{}, err.Error()
	} else {
		s.claims(ctx, out) // without a leader there are no claims
	}
	return out, s.circuits(ctx, s.Client, out)
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
			Rules: len(seen.Rules), Circuits: len(seen.Connections), Dark: []int{}}
		for _, p := range seen.Down {
			sw.Dark = append(sw.Dark, int(p))
		}
		out.Switches = append(out.Switches, sw)
		for _, r := range seen.Rules {
			if node.Role == pathmap.ToR && r.Tag == southbound.AnyTag && r.Src == southbound.AnyRack {
				out.Routes = append(out.Routes, RouteStatus{From: node.Name, To: s.Topo.Topology.Node(s.Topo.ToRNode[r.Dst]).
					Name,
					Via: s.behind(id, r.Primary), Backup: s.behind(id, r.Backup)})
			}
		}
	}
}

// claims adds the state of the leader's claim on each switch.
func (s *keeper) claims(ctx context.Context, out *Status) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	all, err := s.Client.Claims(ctx)
	if err != nil {
		return
	}
	for i := range out.Switches {
		sw := &out.Switches[i]
		for _, c := range all {
			if c.Device == sw.Name {
				sw.Claim, sw.ClaimError = c.State, c.Error
			}
		}
	}
}

// behind names the node at the other end of a port.
func (s *keeper) behind(id southbound.DeviceID, p southbound.Port) string {
	if l := s.Topo.Topology.OutPort(id, int32(p)); p != southbound.NoPort && l != pathmap.None {
		return s.Topo.Topology.Node(s.Topo.Topology.Link(l).To).Name
	}
	return ""
}

func (s *keeper) circuits(ctx context.Context, client *api.Client, out *Status) error {
	d, err := testbed.LiveStateOf(ctx, client)
	if err != nil {
		return err
	}
	s.waiting(d, out)
	all := s.jobs(d)
	out.Open = slices.DeleteFunc(all, func(j JobStatus) bool { return j.Ended != nil })
	out.Reservations = s.reservations(d)
	out.Streams = streams(d, s.Clock(), s.Packets.Agent.Remaining)
	for in, c := range d.Circuits {
		if c.Phase != controller.NoCircuit {
			phase := map[controller.CircuitPhase]string{controller.Reconfiguring: "reconfiguring",
				controller.InService: "in-service"}[c.Phase]
			out.Circuits = append(out.Circuits, CircuitStatus{In: southbound.Port(in), Out: c.Out, Phase: phase,
				Coflow: c.Coflow, Since: c.Since.Seconds()})
		}
	}
	return nil
}

// waiting lists the jobs that wait for a failed part.
func (s *keeper) waiting(d *state.Data, out *Status) {
	out.Waiting = []WaitingStatus{}
	why := s.reasons(d)
	for _, j := range d.Jobs {
		if text := why[j.ID]; text != "" {
			out.Waiting = append(out.Waiting, WaitingStatus{j.ID, j.Name, text})
		}
	}
}
