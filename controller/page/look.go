package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Look is what a page shows of one instant. Browsers are sent its fields one by one, as they change.
type Look struct {
	Head     Head      `json:"head"`
	Replicas []Replica `json:"replicas"`
	Warnings []Warning `json:"doubts"`
	Circuits []Circuit `json:"circuits"`
	Moves    []Move    `json:"moves"`
	Rates    []int64   `json:"rates"` // by link, in kb/s of layer 2; -1: not known; empty: none is
	Switches []Switch  `json:"switches"`
	Jobs     []Job     `json:"jobs"`
	Demand   Demand    `json:"demand"`
	Failed   []Failed  `json:"failed"`
}

// Head is what a page shows on top. Instants are seconds of the run, everywhere.
type Head struct {
	Now          float64 `json:"now"`
	Leader       string  `json:"leader"` // empty: none is known
	Term         uint64  `json:"term"`
	Changes      int     `json:"leader_changes"`
	Index        uint64  `json:"index"`
	Jobs         int     `json:"jobs"`
	JobsEnded    int     `json:"jobs_ended"`
	Coflows      int     `json:"coflows"`
	CoflowsEnded int     `json:"coflows_ended"`
}

// Replica is one replica of the controller.
type Replica struct {
	ID       string `json:"id"`
	Index    uint64 `json:"index"`
	Digest   string `json:"digest"`
	Restarts int    `json:"restarts"`
	Error    string `json:"error,omitempty"`
}

// Warning is something that is not as it should be, and where.
type Warning struct {
	About string `json:"about"` // a node, a replica or a job
	Text  string `json:"text"`
}

// Circuit is one that stands or is being made.
type Circuit struct {
	In     southbound.Port     `json:"in"`
	Out    southbound.Port     `json:"out"`
	Lit    bool                `json:"lit"` // in service
	Coflow southbound.CoflowID `json:"coflow"`
	Job    controller.JobID    `json:"job"` // -1: traffic that nobody announced
	Since  float64             `json:"since"`
}

// Move is a circuit from its intent on. Instants that have not come are -1.
type Move struct {
	In        southbound.Port  `json:"in"`
	Out       southbound.Port  `json:"out"`
	Job       controller.JobID `json:"job"`
	Intent    float64          `json:"intent"`
	Cleared   float64          `json:"cleared"`
	Drained   float64          `json:"drained"`
	Accepted  float64          `json:"accepted"`
	Connected float64          `json:"connected"`
	InService float64          `json:"in_service"`
	Ended     float64          `json:"ended"`
	Failed    bool             `json:"failed,omitempty"`
}

// Held is what a switch holds by one account.
type Held struct {
	Rules    int `json:"rules"` // -1: not known
	Circuits int `json:"circuits"`
}

// Switch is a switch: what the controller wants it to hold, has had accepted, and what the switch reports.
type Switch struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Claim    string `json:"claim,omitempty"` // as ClaimText says it
	Error    string `json:"error,omitempty"`
	Desired  *Held  `json:"desired,omitempty"`
	Accepted *Held  `json:"accepted,omitempty"`
	Seen     *Held  `json:"seen,omitempty"`
	Dark     []int  `json:"dark,omitempty"` // ports at or of the optical switch that no circuit lights
	Down     []int  `json:"down,omitempty"` // ports whose cable, or what is behind it, has failed
}

// Job is a job and where its tasks are.
type Job struct {
	ID       controller.JobID  `json:"id"`
	Name     string            `json:"name"`
	User     string            `json:"user,omitempty"`
	State    string            `json:"state"` // waiting, running, ended or cancelled
	Why      string            `json:"why,omitempty"`
	Phase    string            `json:"phase,omitempty"` // of a training job that runs, as its stages are called
	Arrived  float64           `json:"arrived"`
	Placed   float64           `json:"placed"`
	Started  float64           `json:"started"`
	Ended    float64           `json:"ended"`
	Deadline float64           `json:"deadline,omitempty"`
	Hosts    []int32           `json:"hosts"` // with tasks or flows of it, ascending
	Tasks    int               `json:"tasks"`
	TasksEnd int               `json:"tasks_ended"`
	Coflows  int               `json:"coflows"`
	Sent     int               `json:"coflows_ended"`
	Bytes    pathmap.Bytes     `json:"bytes"`
	Left     pathmap.Bytes     `json:"left"`
	Circuits []southbound.Port `json:"circuits"` // inputs of those that are made for it
	Here     []string          `json:"here,omitempty"`
}

// Demand is what racks have to send each other, the most first, by rack: columns, as there can be many.
type Demand struct {
	From    []int32         `json:"from"`
	To      []int32         `json:"to"`
	Bytes   []pathmap.Bytes `json:"bytes"`
	Granted []int           `json:"granted"` // circuits: 0 none, 1 reserved, 2 being made, 3 lit
	Total   pathmap.Bytes   `json:"total"`   // of all pairs, those that are left out too
	OnLight pathmap.Bytes   `json:"on_light"`
	Pairs   int             `json:"pairs"`
}

// Failed is a part that was made to fail.
type Failed struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Most of what a page is sent.
const (
	mostMoves  = 600
	mostEnded  = 30   // jobs that have ended
	mostDemand = 4000 // pairs of racks
	movesOf    = 90 * time.Second
)

// FromState fills a look with what follows from replicated state. left returns what a coflow still has to send by rows;
// nil: nobody knows.
func (l *Look) FromState(f *topo.Fabric, d *state.Data, now time.Duration,
	left func(southbound.CoflowID) (southbound.Remaining, bool)) {
	l.circuits(f, d)
	l.moves(d, now)
	bytes := map[controller.JobID]pathmap.Bytes{}
	l.demand(f, d, left, bytes)
	l.jobs(f, d, bytes)
}

func jobOf(d *state.Data, c southbound.CoflowID) controller.JobID {
	if c >= 0 {
		if x := d.Coflow(c); x != nil {
			return x.Job
		}
	}
	return -1
}

func (l *Look) circuits(f *topo.Fabric, d *state.Data) {
	l.Circuits = []Circuit{}
	var users map[pair]controller.JobID
	for in, c := range d.Circuits {
		if c.Phase == controller.NoCircuit {
			continue
		}
		job := jobOf(d, c.Coflow)
		if x := d.Coflow(c.Coflow); c.Coflow < 0 || x == nil || x.Ended != state.Unset {
			if users == nil {
				users = steered(f, d)
			}
			if user, ok := users[pair{f.OCSRack(int32(in)), f.OCSRack(int32(c.Out))}]; ok {
				job = user
			}
		}
		l.Circuits = append(l.Circuits, Circuit{In: southbound.Port(in), Out: c.Out,
			Lit: c.Phase == controller.InService, Coflow: c.Coflow, Job: job, Since: c.Since.Seconds()})
	}
}

// steered returns, for racks between which open host flows are steered to light, the job that those are
// of; of several the first. It can be another than the one that the circuit was made for, or made for none.
func steered(f *topo.Fabric, d *state.Data) map[pair]controller.JobID {
	out, circuits := map[pair]controller.JobID{}, southbound.CircuitTags(f)
	for _, c := range d.Coflows {
		if c.Started == state.Unset || c.Ended != state.Unset {
			continue
		}
		for i, tag := range c.Tag {
			if !slices.Contains(circuits, tag) || i < len(c.Done) && c.Done[i] {
				continue
			}
			p := pair{f.RackOf(int32(c.Columns.Src[i])), f.RackOf(int32(c.Columns.Dst[i]))}
			if old, ok := out[p]; !ok || c.Job < old {
				out[p] = c.Job
			}
		}
	}
	return out
}

func (l *Look) moves(d *state.Data, now time.Duration) {
	l.Moves = []Move{}
	for _, m := range slices.Backward(d.Moves) {
		if len(l.Moves) == mostMoves {
			break
		}
		if m.Ended != state.Unset && m.Ended < now-movesOf {
			continue
		}
		l.Moves = append(l.Moves, Move{In: m.In, Out: m.Out, Job: jobOf(d, m.Coflow), Intent: m.Intent.Seconds(),
			Cleared: set(m.Stages.Cleared), Drained: set(m.Stages.Drained), Accepted: set(m.Stages.Accepted),
			Connected: set(m.Stages.Connected), InService: instant(m.InService), Ended: instant(m.Ended),
			Failed: m.Failed})
	}
	slices.Reverse(l.Moves)
}

// instant is -1 before it comes.
func instant(t time.Duration) float64 {
	if t == state.Unset {
		return -1
	}
	return t.Seconds()
}

// set is instant of a stage, which is 0 before it comes.
func set(t time.Duration) float64 { return instant(cmp.Or(t, state.Unset)) }

func (l *Look) jobs(f *topo.Fabric, d *state.Data, left map[controller.JobID]pathmap.Bytes) {
	l.Jobs = []Job{}
	ended := 0
	for _, j := range slices.Backward(d.Jobs) {
		if j.Ended != state.Unset {
			if ended++; ended > mostEnded {
				continue
			}
		}
		l.Jobs = append(l.Jobs, jobOn(f, d, j))
		x := &l.Jobs[len(l.Jobs)-1]
		x.Left = left[j.ID]
		for _, c := range l.Circuits {
			if c.Job == j.ID {
				x.Circuits = append(x.Circuits, c.In)
			}
		}
	}
}

func jobOn(f *topo.Fabric, d *state.Data, j *state.Job) Job {
	x := Job{ID: j.ID, Name: j.Name, User: j.User, State: "waiting", Arrived: j.Arrival.Seconds(),
		Placed: instant(j.Placed), Started: instant(j.Started), Ended: instant(j.Ended), Deadline: j.Deadline.Seconds(),
		Tasks: j.Tasks(), Coflows: len(j.Edges), Circuits: []southbound.Port{}, Hosts: []int32{}}
	switch {
	case j.Cancelled:
		x.State = "cancelled"
	case j.Ended != state.Unset:
		x.State = "ended"
	case j.Started != state.Unset:
		x.State = "running"
	}
	if x.State == "running" && j.Ranks() != nil {
		x.Phase = phaseOf(d, j)
	}
	hosts := map[southbound.HostID]bool{}
	for _, t := range d.TasksOf(j) {
		if t.Host >= 0 && int(t.Host) < f.Hosts() {
			hosts[t.Host] = true
		}
		if t.Ended != state.Unset {
			x.TasksEnd++
		}
	}
	for i := range j.Edges {
		c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i))
		if c == nil {
			continue
		}
		x.Bytes += c.Bytes + c.Local
		if c.Ended != state.Unset {
			x.Sent++
		}
		for k := range c.Columns.Src {
			hosts[c.Columns.Src[k]], hosts[c.Columns.Dst[k]] = true, true
		}
	}
	for h := range hosts { // sorted below
		x.Hosts = append(x.Hosts, int32(h))
	}
	slices.Sort(x.Hosts)
	if j.Placed != state.Unset || len(x.Hosts) > 0 {
		x.Here = here(f, d, j, x.Hosts)
	}
	return x
}

// here says where a job is and what that saves: what a policy gains by a place is bytes that cross less of the network.
func here(f *topo.Fabric, d *state.Data, j *state.Job, hosts []int32) []string {
	racks := map[int32]bool{}
	for _, h := range hosts {
		racks[f.RackOf(h)] = true
	}
	out := []string{fmt.Sprintf("it is on %s of %s", plural(len(hosts), "host"), plural(len(racks), "rack"))}
	var all, local, rack pathmap.Bytes
	flows, light, circuits := 0, 0, southbound.CircuitTags(f)
	for i := range j.Edges {
		c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i))
		if c == nil {
			continue
		}
		all, local, rack = all+c.Bytes+c.Local, local+c.Local, rack+c.Rack
		for k, t := range c.Tag {
			if k < len(c.Done) && !c.Done[k] {
				flows++
				if slices.Contains(circuits, t) {
					light++
				}
			}
		}
	}
	if all > 0 {
		part := func(b pathmap.Bytes) float64 { return 100 * float64(b) / float64(all) }
		out = append(out, fmt.Sprintf("of its bytes so far %.0f %% stay in a host, %.0f %% in a rack, %.0f %% cross racks",
			part(local), part(rack), part(all-local-rack)))
	}
	if flows > 0 {
		out = append(out, fmt.Sprintf("%d of %s are steered to light", light, plural(flows, "open host flow")))
	}
	return out
}

// pair is an ordered pair of racks.
type pair struct{ from, to int32 }

// demand adds up what host flows have left, by racks, and by job.
func (l *Look) demand(f *topo.Fabric, d *state.Data,
	left func(southbound.CoflowID) (southbound.Remaining, bool),
	byJob map[controller.JobID]pathmap.Bytes) {
	sum := map[pair]pathmap.Bytes{}
	for _, c := range d.Coflows {
		if c.Started == state.Unset || c.Ended != state.Unset {
			continue
		}
		var rest southbound.Remaining
		known := false
		if left != nil {
			rest, known = left(c.ID)
			known = known && len(rest.Base) == len(c.Columns.Src)
		}
		for i := range c.Columns.Src {
			if i < len(c.Done) && c.Done[i] {
				continue
			}
			bytes := c.Columns.Size[i]
			if known {
				bytes = pathmap.Bytes(rest.Row(int32(i)))
			}
			byJob[c.Job] += bytes
			if p := (pair{f.RackOf(int32(c.Columns.Src[i])), f.RackOf(int32(c.Columns.Dst[i]))}); p.from != p.to {
				sum[p] += bytes
			}
		}
	}
	l.Demand = demandOf(sum, granted(f, d, l.Circuits))
}

// granted tells how far the circuits between racks have come.
func granted(f *topo.Fabric, d *state.Data, circuits []Circuit) map[pair]int {
	out := map[pair]int{}
	note := func(in, to southbound.Port, n int) {
		p := pair{f.OCSRack(int32(in)), f.OCSRack(int32(to))}
		out[p] = max(out[p], n)
	}
	for i := range d.Ledger {
		note(d.Ledger[i].In, d.Ledger[i].Out, 1)
	}
	for _, c := range circuits {
		n := 2
		if c.Lit {
			n = 3
		}
		note(c.In, c.Out, n)
	}
	return out
}

func demandOf(sum map[pair]pathmap.Bytes, granted map[pair]int) Demand {
	for p := range granted {
		sum[p] += 0 // a circuit is shown without demand, too
	}
	all := make([]pair, 0, len(sum))
	out := Demand{From: []int32{}, To: []int32{}, Bytes: []pathmap.Bytes{}, Granted: []int{}, Pairs: len(sum)}
	for p, b := range sum { // sorted below
		all = append(all, p)
		out.Total += b
		if granted[p] == 3 {
			out.OnLight += b
		}
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(granted[b], granted[a]), cmp.Compare(sum[b], sum[a]),
			cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to))
	})
	for _, p := range all[:min(len(all), mostDemand)] {
		out.From, out.To = append(out.From, p.from), append(out.To, p.to)
		out.Bytes, out.Granted = append(out.Bytes, sum[p]), append(out.Granted, granted[p])
	}
	return out
}

// phaseOf returns the stage before the first coflow that has not ended.
func phaseOf(d *state.Data, j *state.Job) string {
	for i := range j.Edges {
		if c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i)); c != nil && c.Ended == state.Unset {
			return j.Job.Stages[j.Edges[i].From].Name
		}
	}
	return ""
}
