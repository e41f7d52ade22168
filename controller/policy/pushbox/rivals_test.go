package pushbox

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestLinkEnds: 10 bytes of a coflow of 50 over a link of 10 bytes a second, which has 5 bytes left of a
// coflow of 5, and 20 of one of 100.
func TestLinkEnds(t *testing.T) {
	for _, tc := range []struct {
		name    string
		network Network
		want    float64
		longer  bool
	}{
		{"smallest first", SmallestFirst, 1.5, false}, // 10 + 5
		{"equal shares", EqualShares, 2.5, false},     // 10 + 5 + 10
		{"first come", FirstCome, 3.5, false},         // 10 + 5 + 20
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := Link{Rate: 10, Left: []Inflow{{5, 5}, {100, 20}}}
			x := Inflow{50, 10}
			if got, longer := l.ends(tc.network, x), l.longer(tc.network, x); got != tc.want || longer != tc.longer {
				t.Errorf("ends after %v s, all longer: %v; want %v, %v", got, longer, tc.want, tc.longer)
			}
		})
	}
}

// receiver is a job with one task that receives so much, all of it from one machine.
func receiver(bytes float64, from int) *Job {
	j := &Job{Queue: &Queue{}, Weight: 1, Coflow: bytes, Hosts: []southbound.HostID{-1}}
	j.Stages = []*Stage{{End: 1, Input: bytes, Compute: func(int, bool) time.Duration { return 0 },
		Outputs: func() []Output { return []Output{{from, bytes}} }}}
	j.Queue.Jobs = []*Job{j}
	return j
}

// TestNEATBothEnds: where a task goes that receives 10 bytes from machine 0, all links at one byte a
// second.
func TestNEATBothEnds(t *testing.T) {
	for _, tc := range []struct {
		name    string
		network Network
		racks   []southbound.RackID
		full    []int // machines without a slot
		links   func(l *Links)
		want    int
	}{
		// There 3 bytes come in before, and nothing of its own; elsewhere its own 10 come in.
		{"the sender itself, though others are idle", EqualShares, []southbound.RackID{0, 1, 2}, nil,
			func(l *Links) { l.Down[0].Left = []Inflow{{3, 3}} }, 0},
		// 1 takes 10 + 1 seconds, 2 takes 10 + 10: but 1 receives what is smaller.
		{"none that receives less than the task", EqualShares, []southbound.RackID{0, 1, 2}, []int{0},
			func(l *Links) {
				l.Down[1].Left, l.Down[2].Left = []Inflow{{1, 1}}, []Inflow{{1000, 1000}}
			}, 2},
		{"none that receives a smaller coflow", SmallestFirst, []southbound.RackID{0, 1, 2}, []int{0},
			func(l *Links) {
				l.Down[1].Left, l.Down[2].Left = []Inflow{{9, 1}}, []Inflow{{11, 1}}
			}, 2},
		// 1 is in the rack of 0; the core to 2 and 3 is as fast, but busy.
		{"the rack of the sender where the core is busy", EqualShares, []southbound.RackID{0, 0, 1, 1}, []int{0},
			func(l *Links) {
				l.Down[1].Left = []Inflow{{20, 20}}
				l.RackUp[0].Left = []Inflow{{20, 20}, {20, 20}}
			}, 1},
		// First come: 30 before it in 1, 25 in 2.
		{"the shortest queue", FirstCome, []southbound.RackID{0, 1, 2}, []int{0},
			func(l *Links) {
				l.Down[1].Left, l.Down[2].Left = []Inflow{{30, 30}}, []Inflow{{11, 12}, {11, 13}}
			}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opt := Defaults(NEAT)
			opt.Network = tc.network
			j := receiver(10, 0)
			o := &Scheduler{Options: opt, Queues: []*Queue{j.Queue}, Links: idle(len(tc.racks))}
			for _, all := range [][]Link{o.Links.Up, o.Links.Down, o.Links.RackUp, o.Links.RackDown} {
				for i := range all {
					all[i].Rate = 1
				}
			}
			tc.links(&o.Links)
			for i, r := range tc.racks {
				m := Machine{Rack: r, Free: 1, Rate: 1}
				if slices.Contains(tc.full, i) {
					m.Free = 0
				}
				o.Machines = append(o.Machines, m)
			}
			got := -1
			o.TaskArrival(func(c Choice) { got = c.Machine })
			if got != tc.want {
				t.Errorf("on machine %d, want %d", got, tc.want)
			}
		})
	}
}

// TestNEATPredicts holds the predicted time against all links of the way, one by one.
func TestNEATPredicts(t *testing.T) {
	for seed := range tries.Of[uint64](300, 10000) {
		r := rand.New(rand.NewPCG(seed, 5))
		opt := Defaults(NEAT)
		opt.Network = Network(r.IntN(3))
		o := crowd(r, opt, 2+r.IntN(6), 1+r.IntN(6))
		for i := range o.Links.Up {
			o.Links.Up[i].Rate, o.Links.RackUp[i].Rate = 1+r.Float64(), 1+r.Float64()
			o.Links.Up[i].Left = []Inflow{{float64(r.IntN(20)) * 1e9, r.Float64() * 1e10}}
			o.Machines[i].Rack = southbound.RackID(i / 2)
		}
		for _, q := range o.Queues {
			for _, j := range q.Jobs {
				s, first := j.critical()
				if s.Reads {
					continue
				}
				task := j.task(s, first, true)
				way := o.senders(j, task)
				for i := range o.Machines {
					if got, _ := way.receive(o, i); got != slowTransfer(o, j, task, i) {
						t.Fatalf("seed %d: %v seconds, want %v", seed, got, slowTransfer(o, j, task, i))
					}
				}
			}
		}
	}
}

// slowTransfer is when the last link of the way is through.
func slowTransfer(o *Scheduler, j *Job, t Task, machine int) float64 {
	up, rackUp := make([]float64, len(o.Machines)), make([]float64, len(o.Machines))
	in, core, to := t.Input, t.Input, o.Machines[machine].Rack
	for _, x := range t.stage.Outputs() {
		if rack := o.Machines[x.Machine].Rack; rack == to {
			core -= x.Bytes
		} else {
			rackUp[rack] += x.Bytes
		}
		if x.Machine == machine {
			in -= x.Bytes
		} else {
			up[x.Machine] += x.Bytes
		}
	}
	end := max(o.Links.Down[machine].ends(o.Network, Inflow{j.Coflow, in}),
		o.Links.RackDown[to].ends(o.Network, Inflow{j.Coflow, core}))
	for i := range up {
		end = max(end, o.Links.Up[i].ends(o.Network, Inflow{j.Coflow, up[i]}),
			o.Links.RackUp[i].ends(o.Network, Inflow{j.Coflow, rackUp[i]}))
	}
	return end
}

// watched is machines of two slots, each a rack, for ShuffleWatcher.
func watched(machines int, jobs ...*Job) *Scheduler {
	opt := Defaults(ShuffleWatcher)
	opt.Skips = machines + 1
	o := &Scheduler{Options: opt}
	for i := range machines {
		o.Machines = append(o.Machines, Machine{Rack: southbound.RackID(i), Free: 2, Rate: 1})
	}
	for i, j := range jobs {
		j.ID = i
		o.Queues = append(o.Queues, j.Queue)
	}
	return o
}

// TestShuffleWatcherMaps: maps whose blocks have copies on these racks go to as few as can be, and only
// where others receive what they make.
func TestShuffleWatcherMaps(t *testing.T) {
	for _, tc := range []struct {
		name   string
		copies []southbound.RackID
		sends  bool
		ran    []southbound.HostID
		want   []southbound.HostID
	}{
		{"one rack has all", []southbound.RackID{0, 1, 5, 2, 3, 5}, true, nil, []southbound.HostID{5, 5}},
		{"output stands there already", []southbound.RackID{0, 1, 5, 2, 3, 5, 1, 2, 4}, true,
			[]southbound.HostID{1}, []southbound.HostID{1, 2, 1}},
		{"nobody receives", []southbound.RackID{0, 1, 5, 2, 3, 5}, false, nil, []southbound.HostID{0, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := len(tc.copies) / Replicas
			j := &Job{Queue: &Queue{}, Weight: 1, Copies: tc.copies, Hosts: slices.Repeat([]southbound.HostID{-1}, n)}
			copy(j.Hosts, tc.ran)
			j.Stages = []*Stage{{End: n, Reads: true, Sends: tc.sends,
				Compute: func(int, bool) time.Duration { return 0 }}}
			j.Queue.Jobs = []*Job{j}
			watched(6, j).TaskArrival(func(Choice) {})
			if !slices.Equal(j.Hosts, tc.want) {
				t.Errorf("on machines %v, want %v", j.Hosts, tc.want)
			}
		})
	}
}

// TestShuffleWatcherReduces: where five reduces go, one after the other, whose maps left 6 bytes on machine
// 3 and 3 on machine 4. Each has two slots.
func TestShuffleWatcherReduces(t *testing.T) {
	for _, tc := range []struct {
		name string
		busy int // a machine; below zero: none
		want []southbound.HostID
	}{
		{"in proportion: 6 before 3, then 6/2 and 3 each, then elsewhere", -1, []southbound.HostID{3, 3, 4, 4, 0}},
		{"not to a busy machine", 3, []southbound.HostID{4, 4, 0, 1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := &Job{Queue: &Queue{}, Weight: 1, Hosts: slices.Repeat([]southbound.HostID{-1}, 5)}
			for k := range 5 {
				j.Stages = append(j.Stages, &Stage{First: k, End: k + 1, Input: 9,
					Compute: func(int, bool) time.Duration { return 0 },
					Outputs: func() []Output { return []Output{{3, 6}, {4, 3}} }})
			}
			j.Queue.Jobs = []*Job{j}
			o := watched(6, j)
			if tc.busy >= 0 {
				o.Machines[tc.busy].Use = 0.8
			}
			o.TaskArrival(func(Choice) {})
			if !slices.Equal(j.Hosts, tc.want) {
				t.Errorf("on machines %v, want %v", j.Hosts, tc.want)
			}
		})
	}
}
