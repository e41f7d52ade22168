package loop_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scenarios")

// TestScenarios plays testdata/*.txt: blocks of commands, a line of dashes, and what is expected of
// them. Beside what a file expects, Step must never write to the state, every entry must be taken, and
// the switches' tables must at no moment hold a loop, a black hole or a wrong way. Commands:
//
//	fabric SPEC                      an empty state; switches without rules
//	lead [patience=D] [backlog=D] [calm]  a new leadership on the state, as after a start or a takeover; the second has
//	                                 demand estimated, every D; a calm policy is called for new jobs only
//	at D                             the time
//	bare NAME FLOW...                a bare coflow arrives; a flow is SRC>DST:BYTES
//	shuffle NAME MAPS REDUCES BYTES  a map-reduce job arrives; every task computes for 10 ms
//	plan CLAUSE...                   what the policy answers at its next call; clauses as in scenario.plan
//	ended COFLOW/ROW[!HOST][@D]...   hosts report host flows, by their clock at D; task ID[~TRY][!HOST]... reports tasks;
//	                                 with !HOST from another host than the rightful one
//	cancel JOB [quiet]               a user cancels a job; quiet: without the reason of a refusal
//	ok|refuse|unreachable|deposed [NAME...]  devices (all without a name) answer the Sets and reads that wait for them
//	lie [NAME...]                    as ok, and the Sets have no effect
//	light IN>OUT, fail IN            the OCS reports a circuit, or its failure; ports have the fabric's numbers
//	gone IN>OUT                      the OCS reports a circuit as disconnected, true or not
//	stand IN>OUT                     the OCS has made a circuit that was not requested
//	port NAME PORT up|down, lost NAME, synced NAME
//	reboot NAME                      a switch loses what it held; its stream breaks and comes back
//	step                             passes until nothing more is due now
//	one                              one pass
//	pass                             one pass, then the controller dies: its actions are lost
//	hush                             forget the output so far
//	show                             the ledger, the circuits, and the tags sent to hosts
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(b))
			switch {
			case got == string(b):
			case *update:
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s (run with -update and read the difference):\n%s", name, firstDifference(string(b), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d:\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return "one is longer than the other"
}

// play runs a file and returns it with the output as it is.
func play(t *testing.T, text string) string {
	var out strings.Builder
	s := &scenario{}
	skip := false
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case line == "----":
			skip = true
			out.WriteString("----\n" + s.take())
			continue
		case line == "":
			skip = false
		case !skip && !strings.HasPrefix(line, "#"):
			if err := s.command(strings.Fields(line)); err != nil {
				t.Fatalf("line %d: %q: %v", i+1, line, err)
			}
		}
		if !skip {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

type scenario struct{ *world }

func (s *scenario) take() string {
	if s.world == nil {
		return ""
	}
	text := s.out.String()
	s.out.Reset()
	return text
}

func (s *scenario) command(f []string) (err error) {
	if f[0] != "fabric" && s.world == nil {
		return errors.New("no fabric yet")
	}
	switch args := f[1:]; f[0] {
	case "fabric":
		s.world, err = newWorld(args[0])
	case "lead":
		err = s.lead(args)
	case "at":
		s.now, err = time.ParseDuration(args[0])
	case "bare":
		err = s.bare(args[0], args[1:])
	case "shuffle":
		err = s.shuffle(args)
	case "stream":
		err = s.shuffle(args)
		j := s.in.Jobs[len(s.in.Jobs)-1].Job
		j.Edges[0].Stream = true
		for k := range j.Stages {
			clear(j.Stages[k].Tasks)
		}
	case "plan":
		err = s.plan(args)
	case "ended":
		err = s.ended(args)
	case "cancel":
		c := loop.Cancel{}
		_, err = fmt.Sscan(args[0], &c.Job)
		if len(args) == 1 {
			c.Refused = func(err error) { fmt.Fprintf(&s.out, "%v refused: %v\n", s.now, err) }
		}
		s.in.Cancels = append(s.in.Cancels, c)
	case "task":
		for _, a := range args {
			e := southbound.Event{At: s.now, Kind: southbound.TaskEnded}
			a, try, again := strings.Cut(a, "~")
			if again {
				if _, err := fmt.Sscan(try, &e.Try); err != nil {
					return err
				}
			}
			a, by, other := strings.Cut(a, "!")
			if _, err := fmt.Sscan(a, &e.Task); err != nil {
				return err
			}
			if d := s.state.Live(); e.Task >= 0 && int(e.Task) < len(d.Tasks) {
				e.Host = d.Tasks[e.Task].Host
			}
			if other {
				if _, err := fmt.Sscan(by, &e.Host); err != nil {
					return err
				}
			}
			s.in.Events = append(s.in.Events, e)
		}
	case "host":
		e := southbound.Event{At: s.now, Kind: southbound.HostLost}
		if args[1] == "found" {
			e.Kind = southbound.HostFound
		}
		_, err = fmt.Sscan(args[0], &e.Host)
		s.in.Events = append(s.in.Events, e)
	case "ok":
		s.answer(nil, args...)
	case "lie":
		s.lying = true
		s.answer(nil, args...)
		s.lying = false
	case "refuse":
		s.answer(fmt.Errorf("no such thing: %w", southbound.ErrRefused), args...)
	case "unreachable":
		s.answer(errors.New("no answer in time"), args...)
	case "deposed":
		s.answer(fmt.Errorf("another leads: %w", southbound.ErrNotLeader), args...)
	case "light", "fail", "stand":
		err = s.light(f[0], args[0])
	case "gone":
		var in, out southbound.Port
		if _, err := fmt.Sscanf(args[0], "%d>%d", &in, &out); err != nil {
			return err
		}
		s.tell(in, out, southbound.Disconnected)
	case "port", "lost", "synced", "reboot":
		err = s.device(f)
	case "step":
		err = s.step()
	case "one":
		_, err = s.pass()
	case "pass":
		_, err = s.pass()
		s.loop, s.sets, s.reads, s.in = nil, nil, nil, loop.Inputs{}
	case "found":
		err = s.state.Apply(&state.Entry{Kind: state.ClusterFounded, At: s.now,
			Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}})
	case "drain":
		err = s.drain(args)
	case "hush":
		s.out.Reset()
	case "show":
		s.show()
	default:
		err = errors.New("no such command")
	}
	return err
}

// drain has the fabric changed so that those nodes are drained, and no others.
func (s *scenario) drain(names []string) error {
	c := s.state.Change()
	c.Generation++
	c.Drained = nil
	for _, name := range names {
		n := slices.IndexFunc(s.fabric.Topology.Nodes(), func(n pathmap.Node) bool { return n.Name == name })
		if n < 0 {
			return fmt.Errorf("no node is called %s", name)
		}
		c.Drained = append(c.Drained, pathmap.NodeID(n))
	}
	slices.Sort(c.Drained)
	s.in.Changes = append(s.in.Changes, loop.ChangeRequest{Change: &c, Refused: func(err error) {
		fmt.Fprintf(&s.out, "%v refused: %v\n", s.now, err)
	}})
	return nil
}

func (s *scenario) step() error {
	for n := 0; ; n++ {
		again, err := s.pass()
		if err != nil || !again {
			return err
		}
		if n == 100 {
			return errors.New("a hundred passes at one instant")
		}
	}
}

func (s *scenario) lead(args []string) error {
	cfg := loop.Config{Policy: s.policy, Paths: s.paths, Seed: 1, Delta: 15 * time.Millisecond,
		ElephantThreshold: 1000,
		Verify:            true, Used: s.used,
		Rollout: rollout.Options{Drain: 2 * time.Millisecond, Timeout: 50 * time.Millisecond,
			Retry: 5 * time.Millisecond}}
	s.policy.calm = slices.Contains(args, "calm")
	for _, a := range args {
		if a == "calm" {
			continue
		}
		key, value, _ := strings.Cut(a, "=")
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return err
		case key == "backlog":
			cfg.Demand = demand.Options{Source: demand.FromBacklog, Period: d}
		default:
			cfg.Patience = d
		}
	}
	// A new leader has what the log has, no more.
	snap, err := s.state.Snapshot()
	if err != nil {
		return err
	}
	s.state = state.New(s.fabric)
	if err := s.state.Restore(snap); err != nil {
		return err
	}
	s.sets, s.reads, s.in = nil, nil, loop.Inputs{}
	s.loop = loop.New(s.fabric, cfg)
	return nil
}

// used prints how a circuit reservation was used.
func (s *scenario) used(u loop.Usage) {
	fmt.Fprintf(&s.out, "%v used %d>%d for coflow %d: made %v begun %v connected %v in service %v steered %v ended %v "+
		"(%v)", s.now, u.In, u.Out, u.Coflow, u.Made, u.Begun, u.Connected, u.InService, u.Steered, u.Ended, u.Cause)
	fmt.Fprintf(&s.out, ", delta %v, from edge %d of job %d at %v; left %v %v, %v %v, %v %v\n",
		u.Delta, u.Anchor.Edge,
		u.Anchor.Job, u.Anchor.Started, u.AtMade.Bytes, u.AtMade.Age, u.AtService.Bytes, u.AtService.Age, u.AtEnd.Bytes,
		u.AtEnd.Age)
}

func (s *scenario) offer(j *controller.Job) {
	s.in.Jobs = append(s.in.Jobs, controller.Offer{Job: j, Request: j.Name, Recorded: true})
}

func (s *scenario) bare(name string, flows []string) error {
	e := controller.Edge{Kind: controller.Fixed}
	for _, text := range flows {
		var f controller.Flow
		if _, err := fmt.Sscanf(text, "%d>%d:%d", &f.Src, &f.Dst, &f.Bytes); err != nil {
			return err
		}
		e.Flows = append(e.Flows, f)
	}
	s.offer(&controller.Job{Name: name, Edges: []controller.Edge{e}})
	return nil
}

func (s *scenario) shuffle(args []string) error {
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[1+i]); err != nil {
			return err
		}
	}
	tasks := func(k int) []controller.Task {
		return slices.Repeat([]controller.Task{{Compute: 10 * time.Millisecond}}, k)
	}
	s.offer(&controller.Job{Name: args[0], Stages: []controller.Stage{{Name: "map", Tasks: tasks(n[0])},
		{Name: "reduce", Tasks: tasks(n[1])}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: pathmap.Bytes(n[2])}}})
	return nil
}

func (s *scenario) ended(rows []string) error {
	for _, text := range rows {
		e := southbound.Event{At: s.now, Kind: southbound.HostFlowEnded}
		text, at, told := strings.Cut(text, "@")
		if told {
			var err error
			if e.At, err = time.ParseDuration(at); err != nil {
				return err
			}
		}
		if _, err := fmt.Sscanf(text, "%d/%d", &e.Coflow, &e.Row); err != nil {
			return err
		}
		if d := s.state.Live(); e.Coflow >= 0 && int(e.Coflow) < len(d.Coflows) {
			if dst := d.Coflows[e.Coflow].Columns.Dst; e.Row >= 0 && int(e.Row) < len(dst) {
				e.Host = dst[e.Row]
			}
		}
		if _, by, other := strings.Cut(text, "!"); other {
			if _, err := fmt.Sscan(by, &e.Host); err != nil {
				return err
			}
		}
		s.in.Events = append(s.in.Events, e)
	}
	return nil
}

func (s *scenario) light(word, text string) error {
	var in, out southbound.Port
	if word == "fail" {
		if _, err := fmt.Sscan(text, &in); err != nil {
			return err
		}
		s.lose(in, southbound.Failed)
		return nil
	}
	if _, err := fmt.Sscanf(text, "%d>%d", &in, &out); err != nil {
		return err
	}
	if word == "stand" {
		ocs, c := s.own(in, out)
		s.effect(&rollout.Set{Device: ocs, Change: southbound.Change{Connect: []southbound.CrossConnect{c}}})
	}
	if s.made[in] != out {
		return fmt.Errorf("the OCS was not asked for it: input %d goes to %d", in, s.made[in])
	}
	s.tables.Circuits[in] = out
	s.tell(in, out, southbound.Connected)
	return nil
}

func (s *scenario) device(f []string) error {
	d, ok := s.fabric.Topology.Named(f[1])
	if !ok {
		return fmt.Errorf("no device %q", f[1])
	}
	tell := func(k southbound.DeviceEventKind, port int) {
		s.in.Devices = append(s.in.Devices, southbound.DeviceEvent{At: s.now, Device: d, Kind: k,
			In:  southbound.Port(port),
			Out: southbound.NoPort})
	}
	switch f[0] {
	case "port":
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return err
		}
		kind := southbound.PortUp
		if f[3] == "down" {
			kind = southbound.PortDown
		}
		tell(kind, n)
	case "lost":
		tell(southbound.Lost, -1)
	case "synced":
		tell(southbound.Synced, -1)
	case "reboot":
		tell(southbound.Lost, -1)
		s.tables.Rules[d] = nil
		for in := range s.made {
			if ocs, _ := s.fabric.OCSAt(int32(in)); ocs == d {
				s.made[in], s.tables.Circuits[in] = southbound.NoPort, southbound.NoPort
			}
		}
		tell(southbound.Synced, -1)
	}
	return nil
}

func (s *scenario) show() {
	d := s.state.Data()
	for _, r := range d.Ledger {
		fmt.Fprintf(&s.out, "reserved %d→%d [%v, %v) for coflow %d begun=%v%s\n", r.In, r.Out,
			r.NotBefore, r.NotAfter,
			r.Coflow, r.Begun, fallbackText(r.Fallback))
	}
	phases := [...]string{controller.NoCircuit: "none", controller.Reconfiguring: "reconfiguring",
		controller.InService: "in service"}
	for in, c := range d.Circuits {
		if c.Out != southbound.NoPort {
			fmt.Fprintf(&s.out, "circuit %d→%d %s\n", in, c.Out, phases[c.Phase])
		}
	}
	for _, id := range s.state.Active() {
		for row, done := range s.state.Coflow(id).Done {
			tag, known := s.hostTags[southbound.HostFlowKey{Coflow: id, Row: int32(row)}]
			if known && !done {
				fmt.Fprintf(&s.out, "host flow %d/%d %s\n", id, row, tagText(tag))
			}
		}
	}
	fmt.Fprintf(&s.out, "%d of %d jobs ended\n", s.state.Finished(), len(d.Jobs))
}
