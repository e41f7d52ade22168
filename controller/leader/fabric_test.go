package leader_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/state"
	"lightloom/pathmap"
)

// TestChange: a drained switch gets no rules that lead to it, a change of the policy ends the
// leadership with ErrPolicy while jobs run, and one that begins anew finishes them.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
			Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}}); err != nil {
			t.Fatal(err)
		}
		l.run()
		<-l.leader.Ready()
		spine := l.fabric.Topology.Nodes()
		drained := pathmap.NodeID(-1)
		for i := range spine {
			if spine[i].Name == "spine1" {
				drained = pathmap.NodeID(i)
			}
		}
		one := controller.FabricChange{Generation: 1, Drained: []pathmap.NodeID{drained}}
		if err := l.leader.Change(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		if err := l.leader.Change(t.Context(), one); err == nil {
			t.Error("the same generation is taken twice")
		}
		if err := l.leader.Submit(t.Context(), offer(bare("a",
			controller.Flow{Src: 0, Dst: 2, Bytes: 1e6}))); err != nil {
			t.Fatal(err)
		}
		two := controller.FabricChange{Generation: 2, Policy: "other"}
		if err := l.leader.Change(t.Context(), two); err != nil {
			t.Fatal(err)
		}
		if err := <-l.ended; !errors.Is(err, leader.ErrPolicy) {
			t.Fatal(err)
		}
		l.stop()
		cfg := l.config(greedy{time.Second}, 1)
		cfg.Policy = "other"
		l.leader = leader.New(cfg)
		l.run()
		l.until(time.Minute, "the job to end", l.finished(1))
		l.end()
	})
}
