package hostagent

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestChaos replays coflows and tasks under leaders that come and go, cables that are cut, host flows
// that are steered and held, rates of every kind, and connections that break in mid-flow. However it
// goes, each host flow and task ends once, with all its bytes, and the events of all leaders put
// together are those of the agent.
func TestChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			chaos(t, rand.New(rand.NewPCG(seed, 8)))
		})
	}
}

type run struct {
	*site
	t      *testing.T
	rng    *rand.Rand
	hosts  int
	starts []southbound.Start // as the log has them
	tasks  []southbound.Task
	want   int
	bytes  pathmap.Bytes
	events map[uint64]southbound.Event
}

func chaos(t *testing.T, rng *rand.Rand) {
	r := &run{site: newSite(t, 4), t: t, rng: rng, hosts: 4, events: map[uint64]southbound.Event{}}
	for term := range uint64(4) {
		r.reign(term + 1)
	}
	last := r.lead(t, 9)
	r.takeOver(last)
	must(t, last.SetRates(&southbound.Rates{Fair: true}))
	var steers []southbound.Steer
	for _, s := range r.starts {
		for row := range s.Src {
			steers = append(steers, southbound.Steer{HostFlowKey: southbound.HostFlowKey{Coflow: s.Coflow,
				Row: int32(row)},
				Tag: 1})
		}
	}
	must(t, last.Steer(steers))
	got, stop := last.watch(1)
	until(t, "all events come", func() bool { return len(got()) >= r.want })
	must(t, stop())
	r.note(1, got())
	r.check(got())
}

// reign is the time of one leader.
func (r *run) reign(term uint64) {
	l := r.lead(r.t, term)
	r.takeOver(l)
	from := uint64(len(r.events))/2 + 1 // a leader can have committed less than it received
	got, stop := l.watch(from)
	for range 8 {
		r.step(l)
		tick := time.NewTimer(time.Duration(r.rng.IntN(15)) * time.Millisecond)
		<-tick.C
	}
	l.cable.cut(true)
	_ = stop() // the cable is cut: whatever it says
	r.note(from, got())
}

// takeOver repeats what the log holds.
func (r *run) takeOver(l *leader) {
	must(r.t, l.Start(r.starts))
	must(r.t, l.Run(r.tasks))
}

func (r *run) step(l *leader) {
	switch r.rng.IntN(8) {
	case 0, 1:
		r.arrive(l)
	case 2:
		must(r.t, l.SetRates(&southbound.Rates{Fair: true}))
	case 3:
		rates := &southbound.Rates{}
		for _, s := range r.starts {
			rates.Pace = append(rates.Pace, southbound.Pace{Coflow: s.Coflow,
				Until: r.cfg.Now() + time.Duration(r.rng.IntN(100))*time.Millisecond})
		}
		must(r.t, l.SetRates(rates))
	case 4:
		must(r.t, l.SetRates(&southbound.Rates{Pairs: []southbound.PairRate{{Src: southbound.HostID(r.rng.IntN(4)),
			Dst: southbound.HostID(r.rng.IntN(4)), Tag: southbound.Tag(r.rng.IntN(3)),
			Rate: pathmap.BitsPerSecond(r.rng.IntN(300)) * pathmap.Mbps}}}))
	case 5:
		l.cable.cut(false)
	case 6:
		if len(r.starts) == 0 {
			return
		}
		s := r.starts[r.rng.IntN(len(r.starts))]
		tag := []southbound.Tag{0, 1, southbound.TagCircuit, southbound.TagHold}[r.rng.IntN(4)]
		must(r.t, l.Steer([]southbound.Steer{{HostFlowKey: southbound.HostFlowKey{Coflow: s.Coflow,
			Row: int32(r.rng.IntN(len(s.Src)))}, Tag: tag}}))
	case 7:
		if len(r.starts) > 0 {
			s := r.starts[r.rng.IntN(len(r.starts))]
			cutReceiver(r.Agent, southbound.HostFlowKey{Coflow: s.Coflow, Row: int32(r.rng.IntN(len(s.Src)))})
		}
	}
}

// arrive commits a coflow and a task to the log and hands them over.
func (r *run) arrive(l *leader) {
	s := mesh(southbound.CoflowID(len(r.starts)), r.hosts, pathmap.Bytes(1+r.rng.IntN(400_000)),
		southbound.Tag(r.rng.IntN(2)))
	task := southbound.Task{Task: southbound.TaskID(len(r.tasks)), Host: 1,
		Compute: time.Duration(r.rng.IntN(60)) * time.Millisecond}
	r.starts, r.tasks = append(r.starts, s), append(r.tasks, task)
	r.want += len(s.Src) + 1
	for _, n := range s.Size {
		r.bytes += n
	}
	must(r.t, l.Start([]southbound.Start{s}))
	must(r.t, l.Run([]southbound.Task{task}))
}

// note adds the events that a leader received; those of two leaders must agree.
func (r *run) note(from uint64, events []southbound.Event) {
	for i, e := range events {
		num := from + uint64(i)
		if old, ok := r.events[num]; ok && old != e {
			r.t.Errorf("event %d was %+v to one leader and %+v to another", num, old, e)
		}
		r.events[num] = e
	}
}

func (r *run) check(events []southbound.Event) {
	type what struct {
		kind southbound.EventKind
		key  southbound.HostFlowKey
		task southbound.TaskID
	}
	seen := map[what]bool{}
	for _, e := range events {
		w := what{e.Kind, e.HostFlowKey, e.Task}
		if seen[w] {
			r.t.Errorf("%+v came twice", e)
		}
		seen[w] = true
	}
	if len(events) != r.want || len(r.events) != r.want {
		r.t.Errorf("%d events (%d known to leaders), want %d", len(events), len(r.events), r.want)
	}
	until(r.t, "senders hear of the end", func() bool { return r.Status().LiveHostFlows == 0 })
	if st := r.Stats(); st.BytesReceived != r.bytes || st.Corrupt != 0 {
		r.t.Errorf("stats %+v, want %d bytes", st, r.bytes)
	}
}
