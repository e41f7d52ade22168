package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
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
				r.Pace = append(r.Pace, southbound.Pace{Coflow: southbound.CoflowID(rng.Int32()),
					Until: time.Duration(rng.Int64())})
			}
			fan(rng, &r)
			for range rng.IntN(3) * rng.IntN(ChunkRows) {
				r.Pairs = append(r.Pairs, southbound.PairRate{Src: southbound.HostID(rng.Int32()),
					Dst: southbound.HostID(rng.Int32()),
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
				got.Fair, got.Pace, got.Spread, got.Extra = part.Fair, part.Pace, part.Spread, part.Extra
			}
			got.Pairs = append(got.Pairs, part.Pairs...)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("seed %d: %d paces and %d pairs came out of %d and %d, or differ", seed,
				len(got.Pace), len(got.Pairs),
				len(r.Pace), len(r.Pairs))
		}
	}
}

// TestEvenRates: hosts are told what coflows that all have the same rates get, as those of a spread of each, and both
// are checked alike.
func TestEvenRates(t *testing.T) {
	r := southbound.Rates{Spread: []southbound.Spread{{Coflow: 3, To: []southbound.HostRate{{Host: 1, Rate: 4}}}},
		Even: southbound.EvenSpread{Coflows: []southbound.CoflowID{1, 5}, From: []pathmap.BitsPerSecond{0, 7},
			To: []pathmap.BitsPerSecond{8, 0, 9}},
		Extra: []southbound.Extra{{HostFlowKey: southbound.HostFlowKey{Coflow: 5}, Rate: 6}}}
	each := southbound.Spread{From: []southbound.HostRate{{Host: 1, Rate: 7}},
		To: []southbound.HostRate{{Host: 0, Rate: 8}, {Host: 2, Rate: 9}}}
	want := southbound.Rates{Spread: []southbound.Spread{r.Spread[0], each, each}, Extra: r.Extra}
	want.Spread[1].Coflow, want.Spread[2].Coflow = 1, 5
	reqs, err := SetRates(&r)
	if err != nil || len(reqs) != 1 {
		t.Fatalf("%d requests, %v", len(reqs), err)
	}
	if got, _, err := Rates(reqs[0]); err != nil || !reflect.DeepEqual(got, &want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// fan adds spreads and extras of coflows that occur nowhere else in r.
func fan(rng *rand.Rand, r *southbound.Rates) {
	for c := range southbound.CoflowID(rng.IntN(20)) {
		s := southbound.Spread{Coflow: -1 - c}
		for h := range southbound.HostID(rng.IntN(40)) {
			s.From = append(s.From, southbound.HostRate{Host: 2 * h, Rate: pathmap.BitsPerSecond(rng.Int64())})
			s.To = append(s.To, southbound.HostRate{Host: 3 * h, Rate: pathmap.BitsPerSecond(rng.Int64())})
		}
		r.Spread = append(r.Spread, s)
		for row := range int32(rng.IntN(30)) {
			r.Extra = append(r.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: -1 - c,
				Row: row}, Rate: 1 +
				pathmap.BitsPerSecond(rng.IntN(1e9))})
		}
	}
	slices.SortFunc(r.Extra, func(a, b southbound.Extra) int {
		return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.Row, b.Row))
	})
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
	for i := range int32(MaxExtras) {
		r.Extra = append(r.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: 1<<31 - 1,
			Row: 1<<31 - 1 - MaxExtras + i}, Rate: 1<<63 - 1})
	}
	s := southbound.Spread{Coflow: 1<<31 - 2}
	for i := range southbound.HostID(MaxHostRates - 1) {
		s.From = append(s.From, southbound.HostRate{Host: 1<<31 - 1 - MaxHostRates + i, Rate: 1<<63 - 1})
	}
	r.Spread = []southbound.Spread{s}
	for range ChunkRows {
		r.Pairs = append(r.Pairs, southbound.PairRate{Src: 1<<31 - 1, Dst: 1<<31 - 1, Tag: southbound.TagHold,
			Rate: 1<<63 - 1})
	}
	if reqs, err := SetRates(&r); err != nil || len(reqs) != 2 || proto.Size(reqs[0]) > MaxMessage {
		t.Errorf("with spreads and extras: %d requests, the first of %d bytes, %v", len(reqs),
			proto.Size(reqs[0]), err)
	}
	r = southbound.Rates{Pace: append(r.Pace, southbound.Pace{})}
	if _, err := SetRates(&r); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("one pace too many: %v", err)
	}
}

func TestTasksAndSteersRoundTrip(t *testing.T) {
	var tasks []southbound.Task
	var steers []southbound.Steer
	for i := range int32(2*ChunkRows + 1) {
		tasks = append(tasks, southbound.Task{Task: southbound.TaskID(i), Host: southbound.HostID(i % 7),
			Compute: time.Duration(i)})
		steers = append(steers, southbound.Steer{HostFlowKey: southbound.HostFlowKey{Coflow: southbound.CoflowID(i), Row: i},
			Tag: southbound.Tag(i % 8)})
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
	if _, err := Steerings(&agentpb.SteerRequest{Steers: []*agentpb.Steering{{Tag: 300}}}); !errors.Is(err,
		southbound.ErrRefused) {
		t.Errorf("tag 300: %v", err)
	}
}

func TestEventAndStatusRoundTrip(t *testing.T) {
	e := southbound.Event{At: 5, Kind: southbound.HostFlowEnded,
		HostFlowKey: southbound.HostFlowKey{Coflow: 1, Row: 2},
		Task:        3,
		Try:         5, Host: 4}
	if got, err := EventOf(EventMessage(e)); err != nil || got != e {
		t.Errorf("event %+v, %v", got, err)
	}
	for _, kind := range []uint32{0, 5, 300} {
		if _, err := EventOf(&agentpb.Event{Kind: kind}); err == nil {
			t.Errorf("kind %d was read", kind)
		}
	}
	s := Status{Incarnation: 1, Now: 2, FirstEvent: 3, NextEvent: 4, LiveHostFlows: 5, LiveTasks: 6,
		Stats: Stats{HostFlowsEnded: 7,
			BytesReceived: 8, Connections: 9, Redials: 10, Refused: 11, Corrupt: 12, Retransmissions: 13, TasksEnded: 14,
			Reordered: 15, Marked: 16}}
	if got := StatusOf(s.Message()); got != s {
		t.Errorf("status %+v", got)
	}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	for _, sentinel := range []error{southbound.ErrNotLeader, southbound.ErrRefused, southbound.ErrUnsupported,
		ErrRestarted, ErrUnavailable} {
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
		Pairs: []*agentpb.PairRate{{Src: 1, Dst: 2, Tag: 7, BitsPerSecond: 5}},
		Spread: []*agentpb.Spread{{Coflow: 2, From: []*agentpb.HostRate{{Host: 1, BitsPerSecond: 3}},
			To: []*agentpb.HostRate{{Host: 2, BitsPerSecond: 3}}}},
		Extra: []*agentpb.Extra{{Coflow: 2, Row: 1, BitsPerSecond: 9}}})
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
		if onlyPairs && (r.Fair || len(r.Pace)+len(r.Spread)+len(r.Extra) > 0) {
			t.Error("only pairs, and more")
		}
		if err := CheckRates(r); err != nil {
			t.Error(err)
		}
	})
}

// TestBadRates: what cannot be meant is refused in both directions.
func TestBadRates(t *testing.T) {
	row := func(c southbound.CoflowID, r int32) southbound.HostFlowKey {
		return southbound.HostFlowKey{Coflow: c, Row: r}
	}
	for _, tc := range []struct {
		name string
		r    southbound.Rates
	}{
		{"fair and a spread", southbound.Rates{Fair: true, Spread: []southbound.Spread{{}}}},
		{"a pace and a spread", southbound.Rates{Pace: []southbound.Pace{{Coflow: 1}},
			Spread: []southbound.Spread{{Coflow: 1}}}},
		{"two spreads", southbound.Rates{Spread: []southbound.Spread{{Coflow: 1}, {Coflow: 1}}}},
		{"fair and an even spread", southbound.Rates{Fair: true,
			Even: southbound.EvenSpread{Coflows: []southbound.CoflowID{1}}}},
		{"a spread and an even one", southbound.Rates{Spread: []southbound.Spread{{Coflow: 1}},
			Even: southbound.EvenSpread{Coflows: []southbound.CoflowID{1}}}},
		{"a host twice", southbound.Rates{Spread: []southbound.Spread{{From: []southbound.HostRate{{Host: 1}, {Host: 1}}}}}},
		{"a rate below zero", southbound.Rates{Spread: []southbound.Spread{{To: []southbound.HostRate{{Host: 1,
			Rate: -1}}}}}},
		{"a host below zero", southbound.Rates{Spread: []southbound.Spread{{To: []southbound.HostRate{{Host: -1}}}}}},
		{"too many hosts", southbound.Rates{Spread: []southbound.Spread{{To: manyHosts()}}}},
		{"an extra of an unknown coflow", southbound.Rates{Extra: []southbound.Extra{{HostFlowKey: row(1, 0), Rate: 1}}}},
		{"an extra of nothing", southbound.Rates{Pace: []southbound.Pace{{Coflow: 1}},
			Extra: []southbound.Extra{{HostFlowKey: row(1, 0)}}}},
		{"extras unsorted", southbound.Rates{Pace: []southbound.Pace{{Coflow: 1}},
			Extra: []southbound.Extra{{HostFlowKey: row(1, 1), Rate: 1}, {HostFlowKey: row(1, 0), Rate: 1}}}},
		{"an extra twice", southbound.Rates{Pace: []southbound.Pace{{Coflow: 1}},
			Extra: []southbound.Extra{{HostFlowKey: row(1, 1), Rate: 1}, {HostFlowKey: row(1, 1), Rate: 1}}}},
	} {
		if _, err := SetRates(&tc.r); !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%s: %v, want %v", tc.name, err, southbound.ErrRefused)
		}
	}
}

func manyHosts() (all []southbound.HostRate) {
	for h := range southbound.HostID(MaxHostRates) {
		all = append(all, southbound.HostRate{Host: h})
	}
	return all
}
