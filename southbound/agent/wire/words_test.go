package wire

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

func TestRatesRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var r southbound.Rates
		if rng.IntN(4) == 0 {
			r.Fair = true
		} else {
			for range rng.IntN(3) * rng.IntN(ChunkRows) / 2 {
				r.Pace = append(r.Pace, southbound.Pace{Coflow: southbound.CoflowID(rng.Int32()), Until: time.Duration(rng.Int64())})
			}
			for range rng.IntN(3) * rng.IntN(ChunkRows) {
				r.Pairs = append(r.Pairs, southbound.PairRate{Src: southbound.HostID(rng.Int32()), Dst: southbound.HostID(rng.Int32()),
					Tag: southbound.Tag(rng.IntN(8)), Rate: pathmap.BitsPerSecond(rng.Int64())})
			}
		}
		reqs, err := SetRates(&r)
		if err != nil {
			t.Fatal(err)
		}
		var got southbound.Rates
		for i, req := range reqs {
			if size := proto.Size(req); size > MaxMessage {
				t.Fatalf("seed %d: a request of %d bytes", seed, size)
			}
			part, onlyPairs, err := Rates(req)
			if err != nil || onlyPairs != (i > 0) {
				t.Fatalf("seed %d: request %d: only pairs %v, %v", seed, i, onlyPairs, err)
			}
			if !onlyPairs {
				got.Fair, got.Pace = part.Fair, part.Pace
			}
			got.Pairs = append(got.Pairs, part.Pairs...)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("seed %d: %d paces and %d pairs came out of %d and %d, or differ", seed, len(got.Pace), len(got.Pairs),
				len(r.Pace), len(r.Pairs))
		}
	}
}

func TestLargestRatesFit(t *testing.T) {
	r := southbound.Rates{Pace: make([]southbound.Pace, MaxPaces)}
	for i := range r.Pace {
		r.Pace[i] = southbound.Pace{Coflow: 1<<31 - 1, Until: southbound.Never}
	}
	reqs, err := SetRates(&r)
	if err != nil || len(reqs) != 1 || proto.Size(reqs[0]) > MaxMessage {
		t.Errorf("%d requests, the first of %d bytes, %v", len(reqs), proto.Size(reqs[0]), err)
	}
	r.Pace = append(r.Pace, southbound.Pace{})
	if _, err := SetRates(&r); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("one pace too many: %v", err)
	}
}

func TestTasksAndSteersRoundTrip(t *testing.T) {
	var tasks []southbound.Task
	var steers []southbound.Steer
	for i := range int32(2*ChunkRows + 1) {
		tasks = append(tasks, southbound.Task{Task: southbound.TaskID(i), Host: southbound.HostID(i % 7), Compute: time.Duration(i)})
		steers = append(steers, southbound.Steer{BundleKey: southbound.BundleKey{Coflow: southbound.CoflowID(i), Row: i}, Tag: southbound.Tag(i % 8)})
	}
	var gotTasks []southbound.Task
	for _, m := range Runs(tasks) {
		gotTasks = append(gotTasks, Tasks(m)...)
	}
	var gotSteers []southbound.Steer
	for _, m := range Steers(steers) {
		s, err := Steerings(m)
		if err != nil {
			t.Fatal(err)
		}
		gotSteers = append(gotSteers, s...)
	}
	if !reflect.DeepEqual(gotTasks, tasks) || !reflect.DeepEqual(gotSteers, steers) {
		t.Error("tasks or steers came out changed")
	}
	if _, err := Steerings(&agentpb.SteerRequest{Steers: []*agentpb.Steering{{Tag: 300}}}); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("tag 300: %v", err)
	}
}

func TestEventAndStatusRoundTrip(t *testing.T) {
	e := southbound.Event{At: 5, Kind: southbound.BundleEnded, BundleKey: southbound.BundleKey{Coflow: 1, Row: 2}, Task: 3, Host: 4}
	if got, err := EventOf(EventMessage(e)); err != nil || got != e {
		t.Errorf("event %+v, %v", got, err)
	}
	for _, kind := range []uint32{0, 4, 300} {
		if _, err := EventOf(&agentpb.Event{Kind: kind}); err == nil {
			t.Errorf("kind %d was read", kind)
		}
	}
	s := Status{Incarnation: 1, Now: 2, FirstEvent: 3, NextEvent: 4, LiveBundles: 5, LiveTasks: 6, Stats: Stats{BundlesEnded: 7,
		BytesReceived: 8, Connections: 9, Redials: 10, Refused: 11, Corrupt: 12, Retransmissions: 13, TasksEnded: 14}}
	if got := StatusOf(s.Message()); got != s {
		t.Errorf("status %+v", got)
	}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	for _, sentinel := range []error{southbound.ErrNotLeader, southbound.ErrRefused, southbound.ErrUnsupported, ErrRestarted, ErrUnavailable} {
		if err := FromStatus(ToStatus(fmt.Errorf("do it: %w", sentinel))); !errors.Is(err, sentinel) {
			t.Errorf("%v became %v", sentinel, err)
		}
	}
	if FromStatus(ToStatus(nil)) != nil {
		t.Error("nothing became an error")
	}
	for _, code := range []codes.Code{codes.DeadlineExceeded, codes.Canceled, codes.ResourceExhausted} {
		if err := FromStatus(status.Error(code, "x")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v became %v", code, err)
		}
	}
	if err := FromStatus(ToStatus(errors.New("other"))); errors.Is(err, ErrUnavailable) || err == nil {
		t.Errorf("another error became %v", err)
	}
}

// FuzzRates reads requests made of bytes: what is let in obeys the rules of rates.
func FuzzRates(f *testing.F) {
	b, err := proto.Marshal(&agentpb.SetRatesRequest{Pace: []*agentpb.Pace{{Coflow: 1, UntilNs: 2}},
		Pairs: []*agentpb.PairRate{{Src: 1, Dst: 2, Tag: 7, BitsPerSecond: 5}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var m agentpb.SetRatesRequest
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		r, onlyPairs, err := Rates(&m)
		if err != nil {
			return
		}
		if onlyPairs && (r.Fair || len(r.Pace) > 0) {
			t.Error("only pairs, and more")
		}
		if err := CheckRates(r); err != nil {
			t.Error(err)
		}
	})
}

// TestUnknownWords: agents know neither spreads nor extras, and say so.
func TestUnknownWords(t *testing.T) {
	for _, r := range []southbound.Rates{{Spread: []southbound.Spread{{}}}, {Extra: []southbound.Extra{{Rate: 1}}}} {
		if _, err := SetRates(&r); !errors.Is(err, southbound.ErrUnsupported) {
			t.Errorf("%+v: %v, want %v", r, err, southbound.ErrUnsupported)
		}
	}
}
