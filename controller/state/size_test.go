package state

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestEncodeWithin: batches are as large as they may be and no larger, hold every entry once and in order, and are what
// Encode writes. An entry that fits nowhere is left out and named.
func TestEncodeWithin(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 41))
		var all []Entry
		for range r.IntN(40) {
			all = append(all, Entry{Kind: HostFlowEnded, At: time.Duration(r.Int64N(1 << r.IntN(60))), Coflow: southbound.
				CoflowID(r.IntN(1e6)), Row: int32(r.IntN(1000))})
		}
		most := 120 + r.IntN(400)
		batches, err := EncodeWithin(all, most)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var back []Entry
		for i, b := range batches {
			got, err := Decode(b)
			if err != nil || len(b) > most {
				t.Fatalf("seed %d: a batch of %d bytes, at most %d are asked for: %v", seed, len(b), most, err)
			}
			if whole, err := Encode(got); err != nil || !bytes.Equal(whole, b) {
				t.Fatalf("seed %d: %s, where Encode writes %s: %v", seed, b, whole, err)
			}
			if i > 0 {
				first, err := json.Marshal(&got[0])
				if err != nil || len(batches[i-1])+1+len(first) <= most {
					t.Fatalf("seed %d: batch %d begins with what the one before had room for (%v)", seed, i, err)
				}
			}
			back = append(back, got...)
		}
		want, _ := Encode(all)
		if got, _ := Encode(back); len(all) > 0 && !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %s, want %s", seed, got, want)
		}
	}
	job := &controller.Job{Name: strings.Repeat("x", 200)}
	odd := &controller.Job{Name: "odd", Weight: math.NaN()}
	batches, err := EncodeWithin([]Entry{{Kind: Planned}, {Kind: JobAccepted, Job: job}, {Kind: JobAccepted, Job: odd},
		{Kind: Withdrawn}}, 100)
	if err == nil || !strings.Contains(err.Error(), "JobAccepted: 2") || !strings.Contains(err.Error(), "NaN") ||
		len(batches) != 1 {
		t.Errorf("%d batches, %v", len(batches), err)
	}
	if got, err := Decode(batches[0]); err != nil || len(got) != 2 || got[1].Kind != Withdrawn {
		t.Errorf("%v, %v", got, err)
	}
}

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
			}
			j.Stages = append(j.Stages, s)
			e := controller.Edge{Kind: 255, From: math.MinInt64, To: math.MinInt64, Bytes: math.MinInt64, Stream: true,
				Rate: math.MinInt64, Keys: math.MinInt32, KeepLocal: true}
			for range r.IntN(1 + 50) {
				e.Flows = append(e.Flows, controller.Flow{Src: southbound.HostID(number()), Dst: southbound.HostID(number()),
					Bytes: pathmap.Bytes(number()), Count: int32(number())})
			}
			j.Edges = append(j.Edges, e)
		}
		o := controller.Offer{Job: j, Request: text()}
		b, err := Encode([]Entry{{Kind: JobAccepted, At: math.MinInt64, Job: j, Request: o.Request}})
		if err != nil {
			t.Fatal(err)
		}
		said := OfferSize(&o)
		if len(b) > said {
			t.Fatalf("seed %d: %d bytes, said to be at most %d: %s", seed, len(b), said, b)
		}
		if slack := sizeEntry + sizeJob + 64*(sizeStage+sizeEdge); said-len(b) > slack {
			t.Errorf("seed %d: %d bytes, said to be %d", seed, len(b), said)
		}
	}
}
