// Package explain writes why tasks and flows went where they did: on the simulator into the file that was asked for, on
// packets into one file that all replicas of the controller share.
package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Writer writes why tasks and host flows went where they did: a line of JSON each, or where the file's name ends in
// .txt a line to read.
type Writer struct {
	file  *os.File
	out   *bufio.Writer // nil: every line goes out at once
	lines bool          // of JSON
	by    Leadership
	err   error
}

// Leadership is the leadership that has decided, if a controller's replica did.
type Leadership struct {
	Leader string `json:"leader,omitempty"`
	Term   uint64 `json:"term,omitempty"`
}

// Create makes the file; an empty name makes none.
func Create(name string) (*Writer, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("explain decisions: %w", err)
	}
	return &Writer{file: f, out: bufio.NewWriter(f), lines: strings.ToLower(filepath.Ext(name)) != ".txt"}, nil
}

// Scale says, in a file that is read alone, that the run's rates are divided; nothing where they are not.
func (x *Writer) Scale(by float64) {
	if x == nil || by == 1 {
		return
	}
	line := fmt.Sprintf("rates and bytes are those of the run: --scale %v has divided them\n", by)
	if x.lines {
		line = fmt.Sprintf(`{"what":"scale","scale":%v}`+"\n", by)
	}
	if _, err := x.out.WriteString(line); err != nil && x.err == nil {
		x.err = err
	}
}

// Close writes what is left; nothing where there is no explainer.
func (x *Writer) Close() error {
	if x == nil {
		return nil
	}
	if x.out != nil {
		x.err = errors.Join(x.err, x.out.Flush())
	}
	if err := errors.Join(x.err, x.file.Close()); err != nil {
		return fmt.Errorf("explain decisions: %w", err)
	}
	return nil
}

// Teller returns the function that a policy reports its reasons to; nil disables explanations.
func (x *Writer) Teller(name string) route.Explainer {
	if x == nil {
		return nil
	}
	return func(v *controller.View, w route.Why) {
		line := Line{At: v.Now.Seconds(), Policy: policy.Shown(name), Leadership: x.by}
		line.why(v, w)
		x.Say(&line)
	}
}

func (l *Line) why(v *controller.View, w route.Why) {
	switch {
	case w.Slot != nil:
		l.slot(v, w)
	case w.Task != nil:
		l.task(v, w)
	case w.Rack != nil:
		l.rack(v, w)
	case w.Topology != nil:
		l.topology(w.Topology)
	case w.Clearance != nil:
		l.clearance(w.Clearance)
	case w.Proof != nil:
		l.proof(w)
	case w.Multihop != nil:
		l.multihop(v, w)
	default:
		l.flow(v, w)
	}
}

// Say writes a line. The first error is kept for close.
func (x *Writer) Say(l *Line) {
	w := io.Writer(x.file)
	if x.out != nil {
		w = x.out
	}
	if err := l.write(w, x.lines); err != nil && x.err == nil {
		x.err = err
	}
}

// Line is one line. What the next best would have cost is utility: bits a second over all sinks of all jobs.
type Line struct {
	At     float64 `json:"at_seconds"`
	Policy string  `json:"policy"`
	Leadership
	What string `json:"what"` // task, flow, racks, decision, topology or clearance

	Job    string  `json:"job,omitempty"`
	Stage  string  `json:"stage,omitempty"`
	Task   *int    `json:"task,omitempty"` // of the job
	Host   string  `json:"host,omitempty"`
	Here   int     `json:"partners_on_host,omitempty"`
	Rack   int     `json:"partners_in_rack,omitempty"`
	Apart  int     `json:"partners_elsewhere,omitempty"`
	Gained float64 `json:"job_gains_bits_per_second,omitempty"` // utility with the job less that without

	Coflow     *int32   `json:"coflow,omitempty"`
	From       string   `json:"from,omitempty"`
	To         string   `json:"to,omitempty"`
	Path       []string `json:"path,omitempty"` // switches
	Rate       float64  `json:"rate_bits_per_second,omitempty"`
	Bottleneck string   `json:"bottleneck,omitempty"`
	Others     int      `json:"others_at_bottleneck,omitempty"`

	Tried    int      `json:"tried"` // other places, or other paths
	Equal    int      `json:"as_good"`
	Next     string   `json:"next_best,omitempty"` // a host
	NextPath []string `json:"next_best_path,omitempty"`
	Cost     float64  `json:"next_best_costs_bits_per_second"`

	Decision
}

// Preference is the rack that a stage prefers, and why.
type Preference struct {
	Rack        int     `json:"rack"`
	Traffic     int64   `json:"bytes_between_racks"`    // that the stage causes there
	ForChildren bool    `json:"for_children,omitempty"` // for the jobs that read what it writes
	Load        float64 `json:"uplink_load"`
	Saturated   bool    `json:"saturated,omitempty"`
}

// text is a preference to read.
func (p *Preference) text() string {
	why := "for what it reads"
	if p.ForChildren {
		why = "for the jobs that read what it writes"
	}
	state := "not saturated"
	if p.Saturated {
		state = "saturated"
	}
	return fmt.Sprintf("its stage prefers rack %d %s, with %.4g MB between racks; uplinks are %.0f %% used: %s", p.Rack,
		why, float64(p.Traffic)/1e6, 100*p.Load, state)
}

// Decision is how far one decision on several host flows is from the optimum at most, or why one task took a slot.
type Decision struct {
	Input  float64  `json:"input_bytes,omitempty"` // that the task receives
	Reason string   `json:"reason,omitempty"`
	Flows  int      `json:"flows,omitempty"`         // that were routed or had rates set together
	Tasks  int      `json:"tasks,omitempty"`         // that were placed and given vCPUs together
	Value  float64  `json:"value_seconds,omitempty"` // of the objective
	Bound  *float64 `json:"bound_seconds,omitempty"` // no decision is below it
	Gap    *float64 `json:"proven_gap,omitempty"`    // above the bound, as a part of it; nil: not proven
	// of a routing: the coflows that it routed, unless it is Coflow alone
	Coflows []int32 `json:"coflows,omitempty"`
	// of a task that goes where its data is; nil for others
	Preference *Preference `json:"preference,omitempty"`
	// of all that a rack has for another, and of the way that it takes
	Racks *Racks `json:"racks,omitempty"`
	// of circuits over all switches together; nil for others
	Topology *Topology `json:"topology,omitempty"`
	// of a schedule over all switches; nil for others
	Clearance *Clearance `json:"clearance,omitempty"`
}

// Racks is why what one rack has for another takes a path over several circuits, or packets again. The line's coflow
// is the one with most of it.
type Racks struct {
	Bytes   float64 `json:"bytes_left"`
	Takes   float64 `json:"seconds"`              // until the busiest link of its way has sent all that it has
	Packets float64 `json:"seconds_over_packets"` // likewise
}

// proof says how far a decision is from the optimum at most.
func (l *Line) proof(w route.Why) {
	l.What, l.Flows, l.Tasks, l.Value = "decision", w.Proof.Flows, w.Proof.Tasks, w.Proof.Value
	if gap, proven := w.Proof.Above(); proven {
		bound := w.Proof.Bound
		l.Bound, l.Gap = &bound, &gap
	}
	if w.Job != nil {
		l.Job = w.Job.Name
		return
	}
	id := int32(w.Coflow)
	l.Coflow = &id
	for _, c := range w.Proof.Coflows {
		l.Coflows = append(l.Coflows, int32(c))
	}
}

func (l *Line) multihop(v *controller.View, w route.Why) {
	m, t, id := w.Multihop, v.Fabric.Topology, int32(w.Coflow)
	l.What, l.Coflow, l.Tried = "racks", &id, m.Tried
	l.From, l.To = t.Node(v.Fabric.ToRNode[m.From]).Name, t.Node(v.Fabric.ToRNode[m.To]).Name
	l.Racks = &Racks{m.Bytes, m.Takes, m.Packets}
	if len(m.Links) > 0 {
		l.Path = t.NodeNames(m.Links)
	}
}

// text is what racks do, to read.
func (r *Racks) text(l *Line) string {
	by := "packets again"
	if len(l.Path) > 0 {
		by = strings.Join(l.Path, " ")
	}
	return fmt.Sprintf("%.4g MB from %s to %s, most of it of coflow %d, by %s: %.4g s, over packets %.4g s, of %d paths "+
		"over circuits", r.Bytes/1e6, l.From, l.To, *l.Coflow, by, r.Takes, r.Packets, l.Tried)
}

func (l *Line) task(v *controller.View, w route.Why) {
	t := w.Task
	l.What, l.Job, l.Stage, l.Task = "task", w.Job.Name, w.Job.Stages[t.Stage].Name, &t.Task
	l.Host, l.Here, l.Rack, l.Apart = hostName(v, t.Host), t.Here, t.Rack, t.Apart
	l.Gained, l.Tried, l.Equal, l.Cost = float64(t.Objective-t.Before), t.Tried, t.Equal, float64(t.Cost)
	if t.Next >= 0 {
		l.Next = hostName(v, t.Next)
	}
}

func (l *Line) slot(v *controller.View, w route.Why) {
	s := w.Slot
	l.What, l.Job, l.Stage, l.Task = "task", w.Job.Name, w.Job.Stages[s.Stage].Name, &s.Task
	l.Host, l.Input, l.Reason = hostName(v, s.Host), s.Input, s.Reason
}

func (l *Line) rack(v *controller.View, w route.Why) {
	t := w.Rack
	l.What, l.Job, l.Stage, l.Task = "task", w.Job.Name, w.Job.Stages[t.Stage].Name, &t.Task
	l.Host = hostName(v, t.Host)
	l.Preference = &Preference{Rack: t.Preferred, Traffic: int64(t.Traffic),
		ForChildren: t.ForChildren, Load: t.Load,
		Saturated: t.Saturated}
}

func (l *Line) flow(v *controller.View, w route.Why) {
	f := w.Flow
	id := int32(w.Coflow)
	l.What, l.Coflow, l.From, l.To = "flow", &id, hostName(v, w.Src), hostName(v, w.Dst)
	l.Rate, l.Others, l.Tried, l.Equal, l.Cost = float64(f.Rate), f.Others, f.Tried, f.Equal, float64(f.Cost)
	s, d := v.HostRack(w.Src), v.HostRack(w.Dst)
	l.Path = switches(v, s, d, f.Path)
	if f.Next >= 0 {
		l.NextPath = switches(v, s, d, f.Next)
	}
	if f.Bottleneck != pathmap.None {
		t := v.Fabric.Topology
		link := t.Link(f.Bottleneck)
		l.Bottleneck = t.Node(link.From).Name + "→" + t.Node(link.To).Name
	}
}

func hostName(v *controller.View, h southbound.HostID) string {
	return v.Fabric.Topology.Node(v.Fabric.HostNode[h]).Name
}

// switches names those on a path of the map.
func switches(v *controller.View, s, d southbound.RackID, path int) []string {
	t := v.Fabric.Topology
	if s == d {
		return []string{t.Node(v.Fabric.ToRNode[s]).Name}
	}
	return t.NodeNames(v.Paths.AppendPath(nil, int(s), int(d), path))
}

func (l *Line) write(w io.Writer, lines bool) error {
	if lines {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	}
	_, err := io.WriteString(w, l.text())
	return err
}

func (l *Line) text() string {
	head := fmt.Sprintf("%10.3f s  %-20s", l.At, l.Policy)
	if l.Leader != "" {
		head += fmt.Sprintf("  %s in term %d", l.Leader, l.Term)
	}
	return head + "  " + l.says() + "\n"
}

// says is what was decided and why.
func (l *Line) says() string {
	rest := fmt.Sprintf("%d of %d others as good", l.Equal, l.Tried)
	if l.Reason != "" {
		return fmt.Sprintf("task %d of %s (%s) on %s, receiving %.4g MB: %s", *l.Task, l.Job, l.Stage,
			l.Host, l.Input/1e6,
			l.Reason)
	}
	if l.Racks != nil {
		return l.Racks.text(l)
	}
	if l.Preference != nil {
		return fmt.Sprintf("task %d of %s (%s) on %s: %s", *l.Task, l.Job, l.Stage, l.Host, l.Preference.text())
	}
	if l.Topology != nil {
		return l.Topology.String()
	}
	if l.Clearance != nil {
		return l.Clearance.String()
	}
	if l.What == "task" {
		if l.Next != "" {
			rest += fmt.Sprintf("; the best of them, %s, costs %s", l.Next, mbps(l.Cost))
		}
		return fmt.Sprintf("task %d of %s (%s) on %s: partners %d on it, %d in its rack, %d elsewhere; the job brings %s; %s",
			*l.Task, l.Job, l.Stage, l.Host, l.Here, l.Rack, l.Apart, mbps(l.Gained), rest)
	}
	if l.What == "decision" && l.Coflow == nil {
		return fmt.Sprintf("%d tasks of %s placed with vCPUs: %.4g s, %s", l.Tasks, l.Job, l.Value, l.above())
	}
	if l.What == "decision" {
		return fmt.Sprintf("%d host flows decided on with coflow %d: %.4g s, %s", l.Flows, *l.Coflow,
			l.Value, l.above())
	}
	at := "held back by nothing"
	if l.Bottleneck != "" {
		at = fmt.Sprintf("held back at %s by %d others", l.Bottleneck, l.Others)
	}
	if len(l.NextPath) > 0 {
		rest += fmt.Sprintf("; the best of them, %s, costs %s", strings.Join(l.NextPath, " "), mbps(l.Cost))
	}
	return fmt.Sprintf("flow of coflow %d, %s to %s, by %s: %s, %s; %s", *l.Coflow, l.From, l.To,
		strings.Join(l.Path, " "), mbps(l.Rate), at, rest)
}

func mbps(bits float64) string { return fmt.Sprintf("%.4g Mb/s", bits/1e6) }

// Join opens the file that replicas share, for what one of them decides in a term; an empty name opens none.
func Join(name string, by Leadership) (*Writer, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("explain decisions: %w", err)
	}
	x := &Writer{file: f, lines: true, by: by}
	if _, err := f.WriteString("\n"); err != nil { // ends the line in which a leader before was killed
		x.err = err
	}
	return x, nil
}

// Read returns what replicas have said, begin being the instant 0 of the run, and how many lines their writers have
// not ended.
func Read(name string, begin time.Duration) (why []Line, cut int, err error) {
	all, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil // no replica has led yet
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read why tasks and flows went where they did: %w", err)
	}
	for line := range bytes.Lines(all) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var l Line
		if json.Unmarshal(line, &l) != nil {
			cut++
			continue
		}
		l.At = max(0, l.At-begin.Seconds())
		why = append(why, l)
	}
	return why, cut, nil
}

// Add writes what replicas have said.
func (x *Writer) Add(why []Line) {
	if x == nil {
		return
	}
	for i := range why {
		x.Say(&why[i])
	}
}

// above says how far a decision's value is above the optimum at most.
func (l *Line) above() string {
	if l.Gap == nil {
		return "with nothing proven"
	}
	return fmt.Sprintf("at most %.2f %% above the optimum", 100**l.Gap)
}
