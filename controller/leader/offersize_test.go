package leader

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestOfferSize: no entry of an offer is larger than said, and one of many flows or tasks is hardly smaller.
func TestOfferSize(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 43))
		number := func() int64 { return r.Int64N(1<<r.IntN(62)+1) * int64(1-2*r.IntN(2)) }
		text := func() string {
			return strings.Repeat([]string{"a", "\x00", "é", "<", "\u2028", "\xff"}[r.IntN(6)], r.IntN(9))
		}
		j := &controller.Job{Name: text(), User: text(), Arrival: math.MinInt64, Deadline: math.MinInt64,
			Lifetime: math.MinInt64, Weight: -1.2345678901234567e-300, Incremental: true, ID: math.MinInt32,
			FirstTask: math.MinInt32, FirstCoflow: math.MinInt32, Predicted: &controller.Prediction{Input: math.MinInt64,
				Shuffle: math.MinInt64, Maps: math.MinInt64, Reduces: math.MinInt64, MapTime: math.MinInt64,
				RedTime: math.MinInt64}}
		for range r.IntN(5) {
			s := controller.Stage{Name: text()}
			for range r.IntN(1 + 50) {
				s.Tasks = append(s.Tasks, controller.Task{Compute: time.Duration(number()), Slots: int32(number()),
					Input: pathmap.Bytes(number()), NonLocal: time.Duration(number())})
				for range r.IntN(4) {
					x := &s.Tasks[len(s.Tasks)-1]
					x.Replicas = append(x.Replicas, southbound.RackID(number()))
				}
			}
			j.Stages = append(j.Stages, s)
			e := controller.Edge{Kind: 255, From: math.MinInt64, To: math.MinInt64,
				Bytes: math.MinInt64, Stream: true,
				Rate: math.MinInt64, Keys: math.MinInt32, KeepLocal: true}
			for range r.IntN(1 + 50) {
				e.Flows = append(e.Flows, controller.Flow{Src: southbound.HostID(number()),
					Dst:   southbound.HostID(number()),
					Bytes: pathmap.Bytes(number()), Count: int32(number())})
			}
			if r.IntN(2) == 0 {
				e.Reads = &controller.Read{Job: strings.Repeat(text(), 1+r.IntN(50)), Kind: 255}
				for range r.IntN(50) {
					e.Reads.Hosts = append(e.Reads.Hosts, southbound.HostID(number()))
				}
			}
			j.Edges = append(j.Edges, e)
		}
		o := controller.Offer{Job: j, Request: text()}
		b, err := state.Encode([]state.Entry{{Kind: state.JobAccepted, At: math.MinInt64, Job: j,
			Request: o.Request}})
		if err != nil {
			t.Fatal(err)
		}
		said := offerSize(&o)
		if len(b) > said {
			t.Fatalf("seed %d: %d bytes, said to be at most %d: %s", seed, len(b), said, b)
		}
		if slack := sizeEntry + sizeJob + 64*(sizeStage+sizeEdge); said-len(b) > slack {
			t.Errorf("seed %d: %d bytes, said to be %d", seed, len(b), said)
		}
	}
}
