package leader_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/southbound"
)

// TestRecabled moves, adds and takes out cables while jobs run, under leaders that die at any moment:
// every change is made once, every switch holds the tables of the fabric as it is then, and all jobs
// end.
func TestRecabled(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { recabled(t, seed) })
		})
	}
}

func recabled(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	l := newLab(t, seed, greedy{60 * time.Millisecond})
	if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
		Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}}); err != nil {
		t.Fatal(err)
	}
	for _, d := range l.devices {
		d.become(mood{slow: 5 * time.Millisecond})
	}
	term := uint64(1)
	l.run()
	changes := [][]cabling.Plug{{{From: "tor0:1", To: "spine1:4"}},
		{{From: "tor1:7", To: "spine0:6", Rate: pathmap.Gbps}},
		{{From: "tor2:2"}, {From: "tor3:3"}}, {{From: "tor0:1", To: "spine0:0"}, {From: "tor3:3", To: "ocs:3",
			Rate: pathmap.Gbps}}}
	for i, plugs := range changes {
		src := southbound.HostID(r.IntN(3))
		j := bare(fmt.Sprint("job", i), controller.Flow{Src: src, Dst: (src + 1) % 3, Bytes: 1000})
		if err := l.leader.Submit(t.Context(), offer(j)); err != nil {
			t.Fatal(err)
		}
		wait(t.Context(), time.Duration(r.IntN(60))*time.Millisecond)
		var next controller.FabricChange
		l.log.View(func(uint64) { next = l.state.Change() })
		next.Generation++
		var err error
		if next.Cabling, err = cabling.Next(l.state.Founded(), next.Cabling, plugs); err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			asked := make(chan error, 1)
			go func(to *leader.Leader) { asked <- to.Change(t.Context(), next) }(l.leader)
			wait(t.Context(), time.Duration(r.IntN(4))*time.Millisecond/2)
			l.stop()
			if err := <-l.ended; err != nil && !errors.Is(err, leader.ErrPolicy) {
				t.Fatal(err)
			}
			<-asked
			term++
			l.leadIn(term, seed)
		}
		made := false
		if l.log.View(func(uint64) { made = l.state.Change().Generation == next.Generation }); made {
			continue
		}
		if err := l.leader.Change(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if err := <-l.ended; !errors.Is(err, leader.ErrPolicy) {
			t.Fatal(err)
		}
		l.leadIn(term, seed)
	}
	l.until(5*time.Second, "all jobs to end", l.finished(len(changes)))
	last := ""
	defer func() {
		if t.Failed() {
			t.Log(last)
		}
	}()
	l.until(3*time.Second, "every device to hold what it should",
		func() bool { last = l.astray(); return last == "" })
	if n := len(l.fabric.Topology.Links()); n != len(l.state.Founded().Topology.Links())+2*4 {
		t.Errorf("the fabric has %d links", n)
	}
	l.end()
}

// leadIn begins a leadership over the fabric as it is now.
func (l *lab) leadIn(term, seed uint64) {
	l.t.Helper()
	l.stop()
	l.fabric = l.state.Fabric()
	var err error
	if l.paths, err = l.fabric.PathMap(2, 1); err != nil {
		l.t.Fatal(err)
	}
	for id, d := range l.devices {
		l.doors[id] = door{d, term}
	}
	l.leader = leader.New(l.config(greedy{60 * time.Millisecond}, seed))
	l.runIn(term)
}
