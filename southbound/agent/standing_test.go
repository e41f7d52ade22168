package agent

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// TestStanding: rates of classes of pairs merge, and a rate of zero takes one out; all else is what was
// said last, in memory of its own.
func TestStanding(t *testing.T) {
	pair := func(src, dst southbound.HostID, tag southbound.Tag, rate pathmap.BitsPerSecond) southbound.PairRate {
		return southbound.PairRate{Src: src, Dst: dst, Tag: tag, Rate: rate}
	}
	s := newStanding()
	first := &southbound.Rates{Pace: []southbound.Pace{{Coflow: 1, Until: 5}},
		Priority: []southbound.Priority{{Coflow: 2}}, Spread: []southbound.Spread{{Coflow: 3,
			From: []southbound.HostRate{{Host: 1, Rate: 7}}, To: []southbound.HostRate{{Host: 2, Rate: 8}}}},
		Even: southbound.EvenSpread{Coflows: []southbound.CoflowID{5}, From: []pathmap.BitsPerSecond{0, 3},
			To: []pathmap.BitsPerSecond{4}},
		Extra: []southbound.Extra{{HostFlowKey: southbound.HostFlowKey{Coflow: 4, Row: 1}, Rate: 9}},
		Pairs: []southbound.PairRate{pair(1, 0, 2, 10), pair(0, 1, 3, 20), pair(0, 1, 2, 30), pair(0, 0, 1, 40)}}
	s.set(first)
	got := s.all()
	want := *first
	want.Spread, want.Even = append(slices.Clip(first.Spread), southbound.Spread{Coflow: 5,
		From: []southbound.HostRate{{Host: 1, Rate: 3}}, To: []southbound.HostRate{{Rate: 4}}}), southbound.EvenSpread{}
	want.Pairs = []southbound.PairRate{pair(0, 0, 1, 40), pair(0, 1, 2, 30), pair(0, 1, 3, 20),
		pair(1, 0, 2, 10)}
	if !reflect.DeepEqual(got, &want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	first.Pace[0].Until, first.Spread[0].From[0].Rate, first.Spread[0].To[0].Rate, first.Extra[0].Rate = 0, 0, 0, 0
	if got := s.all(); got.Pace[0].Until != 5 || got.Spread[0].From[0].Rate != 7 ||
		got.Spread[0].To[0].Rate != 8 ||
		got.Extra[0].Rate != 9 {
		t.Errorf("the caller's memory is in %+v", got)
	}
	s.set(&southbound.Rates{Fair: true, Pairs: []southbound.PairRate{pair(0, 1, 2, 0), pair(1, 0, 2, 11)}})
	got = s.all()
	if !got.Fair || len(got.Pace)+len(got.Spread)+len(got.Extra)+len(got.Priority) > 0 ||
		!reflect.DeepEqual(got.Pairs,
			[]southbound.PairRate{pair(0, 0, 1, 40), pair(0, 1, 3, 20), pair(1, 0, 2, 11)}) {
		t.Errorf("after it %+v", got)
	}
}

// TestAckOfFleet: a number of the row is acknowledged to the agent whose event it is, by that agent's
// own number; one that was not given yet is refused.
func TestAckOfFleet(t *testing.T) {
	tell := func(host int32) []*agentpb.WatchReply {
		x := &agentpb.WatchReply{First: 1, Incarnation: 1}
		for range 3 {
			x.Events = append(x.Events, &agentpb.Event{Kind: uint32(southbound.TaskEnded), Host: host})
		}
		return []*agentpb.WatchReply{x}
	}
	good, other := &peer{watch: tell(0)}, &peer{watch: tell(2)}
	p := newPair(t, good, other)
	for range 6 {
		p.take()
	}
	if err := p.fleet.Ack(7); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("acknowledge what was not told: %v", err)
	}
	must(t, p.fleet.Ack(1))
	until(t, "one acknowledgement of one event", func() bool {
		good.mu.Lock()
		defer good.mu.Unlock()
		other.mu.Lock()
		defer other.mu.Unlock()
		return good.acked+other.acked == 1
	})
	must(t, p.fleet.Ack(6))
	must(t, p.fleet.Ack(6)) // nothing more
	for _, agent := range []*peer{good, other} {
		until(t, "the acknowledgement", func() bool {
			agent.mu.Lock()
			defer agent.mu.Unlock()
			return agent.acked == 3
		})
	}
	p.fleet.out.mu.Lock()
	defer p.fleet.out.mu.Unlock()
	if n := len(p.fleet.out.sent); n != 0 || p.fleet.out.first != 7 {
		t.Errorf("%d events are kept, from number %d on", n, p.fleet.out.first)
	}
}
