package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"lightloom/pathmap/topo"
	"reflect"
	"slices"
	"strings"
	"time"

	"lightloom/controller/page"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/southbound"
)

// StatusOptions are the options of the command status.
type StatusOptions struct {
	To      northbound.Flags
	Section string        // one of Sections; empty: all
	Watch   time.Duration // show it again and again, at this distance; 0: once
	Output  string        // OutputTable or OutputJSON
	Stdout  io.Writer
}

// Section is a part of a status that can be shown alone.
type Section struct {
	Name, Short string
	Of          func(*Status) any // what it is as JSON
	print       func(*Status, io.Writer) error
}

// Sections are the parts of a status, in the order in which they are printed.
func Sections() []Section {
	return []Section{
		{"replicas", "Show the controller's replicas", func(s *Status) any { return s.Replicas },
			(*Status).printReplicas},
		{"switches", "Show the switches", func(s *Status) any { return s.Switches }, (*Status).printSwitches},
		{"agents", "Show the agents of hosts", func(s *Status) any { return s.Agents }, (*Status).printAgents},
		{"jobs", "Show the jobs that have not ended", func(s *Status) any { return s.Open },
			(*Status).printJobs},
		{"reservations", "Show the bandwidth reservations", func(s *Status) any { return s.Reservations },
			(*Status).printReservations},
		{"circuits", "Show the circuits", func(s *Status) any { return s.Circuits }, (*Status).printCircuits},
		{"links", "Show what passes links", func(s *Status) any { return s.Rates }, (*Status).printRates},
		{"routes", "Show the default routes between racks", func(s *Status) any { return s.Routes },
			(*Status).printRoutes},
	}
}

// show prints the section; one line where it is empty.
func (x *Section) show(s *Status, w io.Writer) error {
	if reflect.ValueOf(x.Of(s)).Len() > 0 {
		return x.print(s, w)
	}
	none := "none"
	if x.Name == "jobs" && s.Jobs > 0 {
		none = fmt.Sprintf("none is open; of %d that have ended tells lightloom jobs", s.JobsEnded)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", x.Name, none)
	return err
}

// NotWell is the exit status of a whole status whose verdict is not ok.
const NotWell = 10

// ShowStatus prints the status of this user's running fabric, once or until ctx ends. Once, and of the
// whole, it returns an error with NotWell if not all is well.
func ShowStatus(ctx context.Context, opt StatusOptions) error {
	if opt.Watch == 0 {
		well, err := showOnce(ctx, opt, opt.Stdout)
		if err == nil && !well && opt.Section == "" {
			err = &console.ExitError{Code: NotWell}
		}
		return err
	}
	tick := time.NewTicker(opt.Watch)
	defer tick.Stop()
	for {
		if err := again(ctx, opt); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// again shows a status in place of the last one: on a terminal over it, elsewhere below.
func again(ctx context.Context, opt StatusOptions) error {
	if !console.IsTerminal(opt.Stdout) {
		_, err := showOnce(ctx, opt, opt.Stdout)
		return err
	}
	const home, toLineEnd, toEnd = "\x1b[H", "\x1b[K\n", "\x1b[J"
	var b strings.Builder
	if _, err := showOnce(ctx, opt, &sized{console.Text(&b), opt.Stdout}); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	if high := console.Height(opt.Stdout); high > 1 && len(lines) >= high {
		lines = append(lines[:high-2], fmt.Sprintf("… %d lines more: a larger terminal shows them",
			len(lines)-high+2))
	}
	_, err := io.WriteString(console.Raw(opt.Stdout), home+strings.Join(lines, toLineEnd)+toLineEnd+toEnd)
	return err
}

// sized is text that is written for a terminal's width.
type sized struct {
	io.Writer
	terminal io.Writer
}

// Width implements console's interface of writers that know their width.
func (s *sized) Width() int { return console.Width(s.terminal) }

func showOnce(ctx context.Context, opt StatusOptions, w io.Writer) (well bool, err error) {
	s, err := readStatus(ctx, opt.To)
	if err != nil {
		return false, err
	}
	return strings.HasPrefix(s.Verdict, wellWord), s.show(opt, w)
}

// readStatus asks the running fabric, which knows more than its controller, or a controller.
func readStatus(ctx context.Context, to northbound.Flags) (*Status, error) {
	c, err := to.Find()
	if err != nil {
		return nil, err
	}
	if c.Name == northbound.Up {
		r, err := ask(request{Status: true})
		if err == nil && r.Status == nil {
			err = errors.New("ask the fabric: the answer holds no status")
		}
		return r.Status, err
	}
	client, err := c.Dial()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ids := c.Servers
	if len(ids) == 0 {
		ids = []string{c.Socket}
	}
	s, err := controllerStatus(ctx, client, ids)
	return s, northbound.WithStatus(err)
}

func (s *Status) show(opt StatusOptions, w io.Writer) error {
	asJSON := opt.Output == console.OutputJSON
	if opt.Section == "" && asJSON {
		return console.WriteJSON(w, s)
	}
	for _, one := range Sections() {
		if one.Name == opt.Section && asJSON {
			return console.WriteJSON(w, one.Of(s))
		}
		if one.Name == opt.Section {
			return one.show(s, w)
		}
	}
	return s.print(w)
}

// print writes the verdict, then all but the routes, of which there are too many.
func (s *Status) print(w io.Writer) error {
	on := ""
	if s.Dataplane != "" {
		on = " on " + s.Dataplane
	}
	_, err := fmt.Fprintf(w, "%s\n%s%s, policy %s, up %.0f s; %s, %d of them open\n", s.Verdict, s.Fabric,
		on, s.Policy, s.Up, console.Count(s.Jobs, "job"), s.Jobs-s.JobsEnded)
	errs := []error{err, s.printDrained(w), s.printFailed(w), s.printSilent(w)}
	for _, one := range Sections() {
		if one.Name != "routes" {
			errs = append(errs, one.show(s, w))
		}
	}
	if len(s.Routes) == 0 {
		return errors.Join(errs...)
	}
	_, err = fmt.Fprintf(w, "%s: lightloom status routes\n", console.Count(len(s.Routes), "default route"))
	return errors.Join(append(errs, err)...)
}

// wellWord is what the verdict begins with where all is well.
const wellWord = "ok:"

// verdict says in one line whether all is well, and what to do if not.
func (s *Status) verdict() string {
	answer, waits := 0, 0
	var bad []string
	for _, r := range s.Replicas {
		if r.Error == "" {
			answer++
		}
		switch r.Standing {
		case "waiting":
			waits++
			bad = append(bad, fmt.Sprintf("%s waits (%s)", r.ID, r.Reason))
		case "learning":
			bad = append(bad, fmt.Sprintf("%s learns (%s)", r.ID, r.Reason))
		}
		if r.Trouble != "" {
			bad = append(bad, fmt.Sprintf("%s: %s", r.ID, r.Trouble))
		}
	}
	need := len(s.Replicas)/2 + 1
	add := func(n int, of, what string) {
		if n > 0 {
			bad = append(bad, console.Count(n, of)+" "+what)
		}
	}
	if answer < len(s.Replicas) {
		bad = append(bad, fmt.Sprintf("%d of %s answer", answer, console.Count(len(s.Replicas), "replica")))
	}
	add(count(s.Switches, func(x SwitchStatus) bool { return x.Claim == "unclaimed" }), "switch", "unclaimed")
	add(count(s.Switches, func(x SwitchStatus) bool { return x.Refused != "" }), "switch",
		"refused a change (lightloom status switches)")
	add(count(s.Agents, func(a AgentStatus) bool { return a.Lost }), "agent", "lost (lightloom status agents)")
	add(count(s.Agents, func(a AgentStatus) bool { return !a.Lost && a.Error != "" }), "agent",
		"in trouble (lightloom status agents)")
	add(len(s.Silent), "job", "with tasks that should have ended")
	add(len(s.Failed), "part", "failed (lightloom heal all)")
	add(len(s.Waiting), "job", "waiting for them")
	switch {
	case answer < need: // the leader that was may not know it yet
		return fmt.Sprintf("no leader: %d of %d replicas answer, and %d must: jobs and reservations wait; lightloom heal "+
			"controller NAME", answer, len(s.Replicas), need)
	case s.Leader == "" && waits > 0:
		return "no leader: " + strings.Join(bad, ", ")
	case s.Leader == "":
		return "no leader: an election is under way"
	case len(bad) > 0:
		return fmt.Sprintf("degraded: %s; leader %s in term %d", strings.Join(bad, ", "), s.Leader, s.Term)
	}
	return fmt.Sprintf("%s leader %s in term %d, %s at work, nothing has failed", wellWord, s.Leader, s.Term,
		console.Count(answer, "replica"))
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

// printDrained says what is drained, and what still goes over it.
func (s *Status) printDrained(w io.Writer) error {
	if len(s.Drained) == 0 {
		return nil
	}
	names := slices.Clone(s.Drained)
	for i, name := range names {
		lit := 0
		for _, c := range s.Circuits {
			if c.Switch == name {
				lit++
			}
		}
		if lit > 0 {
			names[i] += " (" + console.Count(lit, "circuit") + " still lit)"
		}
	}
	_, err := fmt.Fprintf(w, "drained: %s\n", strings.Join(names, ", "))
	return err
}

func (s *Status) printFailed(w io.Writer) error {
	if len(s.Failed) == 0 {
		return nil
	}
	t := console.NewTable(w, "failed", "name")
	for _, f := range s.Failed {
		t.Row(f.Kind.String(), f.Name)
	}
	return t.Print()
}

func (s *Status) printReplicas(w io.Writer) error {
	t := console.NewTable(w, "replica", "applied", "restarts", "state")
	t.Right(2, 3)
	for _, r := range s.Replicas {
		t.Row(r.ID, r.Applied, r.Restarts, strings.TrimSpace(r.Digest+r.Error+" "+r.Trouble))
	}
	return t.Print()
}

func (s *Status) printSwitches(w io.Writer) error {
	t := console.NewTable(w, "switch", "kind", "ports", "rules", "circuits", "dark ports",
		"failed ports", "leader")
	t.Right(3, 4, 5)
	names := func(of string, ports []int) string {
		var all []string
		for _, p := range ports {
			all = append(all, portName(of, southbound.Port(p)))
		}
		return strings.Join(all, " ")
	}
	for _, x := range s.Switches {
		t.Row(x.Name, x.Kind, x.Ports, x.Rules, x.Circuits, names(x.Name, x.Dark),
			names(x.Name, x.Down), x.leader())
	}
	return t.Print()
}

// leader says how far the leader has come with a switch, and what keeps it from going on.
func (x *SwitchStatus) leader() string {
	claim := page.ClaimText(x.Claim)
	switch {
	case x.Refused != "":
		return claim + ", refused a change: " + x.Refused
	case x.Claim == "unclaimed" && x.ClaimError != "":
		return claim + ": " + x.ClaimError
	}
	return claim
}

func (s *Status) printAgents(w io.Writer) error {
	t := console.NewTable(w, "agent", "hosts", "state")
	for _, a := range s.Agents {
		state := "answers"
		if a.Lost {
			state = "lost"
		}
		if a.Error != "" {
			state += ": " + a.Error
		}
		t.Row(a.Address, shortList(a.Hosts, len(a.Hosts)), state)
	}
	return t.Print()
}

func (s *Status) printSilent(w io.Writer) error {
	if len(s.Silent) == 0 {
		return nil
	}
	t := console.NewTable(w, "silent", "name", "tasks", "longest, s", "on")
	t.Right(1, 3, 4)
	for _, x := range s.Silent {
		t.Row(x.Job, x.Name, x.Tasks, fmt.Sprintf("%.0f", x.Longest), x.Host)
	}
	return t.Print()
}

func (s *Status) printJobs(w io.Writer) error {
	if err := printJobs(w, s.Open); err != nil || len(s.Streams) == 0 {
		return err
	}
	t := console.NewTable(w, "stream", "name", "runs, s", "ends in, s", "delivered, bytes")
	t.Right(1, 3, 4, 5)
	for _, x := range s.Streams {
		ends := "lightloom cancel"
		if x.Left > 0 {
			ends = fmt.Sprintf("%.1f", x.Left)
		}
		t.Row(x.Job, x.Name, fmt.Sprintf("%.1f", x.Running), ends, x.Delivered)
	}
	return t.Print()
}

func (s *Status) printReservations(w io.Writer) error {
	return printReservations(w, s.Reservations)
}

func (s *Status) printCircuits(w io.Writer) error {
	t := console.NewTable(w, "circuit", "phase", "for", "since, s")
	t.Right(4)
	for _, c := range s.Circuits {
		whom := fmt.Sprintf("coflow %d", c.Coflow)
		if c.Coflow < 0 {
			if whom = "unannounced traffic"; strings.HasPrefix(s.Fabric, topo.PodKind+":") {
				whom = "a slice"
			}
		}
		t.Row(circuitName(c.Switch, c.In, c.Out), c.Phase, whom, fmt.Sprintf("%.2f", c.Since))
	}
	return t.Print()
}

func (s *Status) printRoutes(w io.Writer) error {
	t := console.NewTable(w, "from", "to", "via", "backup")
	for _, r := range s.Routes {
		t.Row(r.From, r.To, r.Via, r.Backup)
	}
	return t.Print()
}
