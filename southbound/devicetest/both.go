package devicetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"lightloom/southbound"
)

func beginsEmpty(t *testing.T, b *Bench) {
	s := b.read(t)
	if len(s.Rules) != 0 || len(s.Connections) != 0 || len(s.Down) != 0 {
		t.Errorf("a fresh device says %+v", s)
	}
	if w := b.watch(t); len(w.begin) != 0 {
		t.Errorf("a fresh device's stream begins with %+v", w.begin)
	}
}

func emptyChange(t *testing.T, b *Bench) {
	b.set(t, &southbound.Change{})
	b.settle(t, "nothing", func(s southbound.Seen) error {
		return errors.Join(rulesAre()(s),
			circuitsAre()(s))
	})
}

func cancelledSet(t *testing.T, b *Bench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Device.Set(ctx, b.good()); err == nil {
		t.Error("a change was taken with an ended context")
	}
}

// good is a change that the device takes.
func (b *Bench) good() *southbound.Change {
	if b.Optical {
		return connect(0, 1)
	}
	return &southbound.Change{Rules: []southbound.Rule{rule(1, 0, 0, 1)}}
}

func (b *Bench) goodStands(s southbound.Seen) error {
	if b.Optical {
		return circuitsAre(0, 1)(s)
	}
	return rulesAre(rule(1, 0, 0, 1))(s)
}

func watchEnds(t *testing.T, b *Bench) {
	ctx, cancel := context.WithCancel(t.Context())
	synced := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.Device.Watch(ctx, func(e southbound.DeviceEvent) {
			if e.Kind == southbound.Synced {
				close(synced)
			}
			if e.Kind == southbound.Lost {
				t.Error("Lost although the caller ended the watch")
			}
		})
	}()
	<-synced
	cancel()
	if err := <-done; err != nil {
		t.Errorf("watch: %v", err)
	}
}

func refusesWhole(t *testing.T, b *Bench) {
	b.set(t, b.good())
	b.settle(t, "before", b.goodStands)
	for name, c := range b.wrong() {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, b.Device.Set(t.Context(), c))
		})
	}
	b.settle(t, "after", b.goodStands)
	b.set(t, b.good()) // and the device goes on
}

// wrong returns changes of which a part is wrong; the rest would change something.
func (b *Bench) wrong() map[string]*southbound.Change {
	if b.Optical {
		return map[string]*southbound.Change{
			"rules":               {Rules: []southbound.Rule{rule(1, 0, 0, 1)}, Connect: connect(2, 3).Connect},
			"input out of range":  connect(2, 3, southbound.Port(b.Ports), 4),
			"output out of range": connect(2, 3, 4, southbound.Port(b.Ports)),
			"negative output":     connect(2, 3, 4, -7),
			"input twice":         connect(2, 3, 2, 4),
			"output twice":        connect(2, 3, 4, 3),
			"off out of range":    connect(2, 3, southbound.Port(b.Ports), southbound.NoPort),
		}
	}
	ok := rule(2, 0, 2, 3)
	rules := func(rs ...southbound.Rule) *southbound.Change {
		return &southbound.Change{Rules: append([]southbound.Rule{ok}, rs...)}
	}
	return map[string]*southbound.Change{
		"circuit":             {Rules: []southbound.Rule{ok}, Connect: connect(2, 3).Connect},
		"rack out of range":   rules(rule(southbound.RackID(b.Racks), 0, 0, 1)),
		"negative rack":       rules(rule(-2, 0, 0, 1)),
		"source out of range": rules(from(southbound.RackID(b.Racks), rule(3, 0, 0, 1))),
		"tag out of range":    rules(rule(3, 8, 0, 1)),
		"port out of range":   rules(rule(3, 0, southbound.Port(b.Ports), 1)),
		"no primary":          rules(rule(3, 0, southbound.NoPort, 1)),
		"backup out of range": rules(rule(3, 0, 0, southbound.Port(b.Ports))),
		"its own backup":      rules(rule(3, 0, 2, 2)),
		"rule twice":          rules(rule(3, 0, 0, 1), rule(3, 0, 1, 0)),
		"drop out of range": {Rules: []southbound.Rule{ok},
			Drop: []southbound.Match{{Dst: southbound.RackID(b.Racks)}}},
	}
}

func arbitration(t *testing.T, b *Bench) {
	if b.Rival == nil {
		t.Skip("this driver knows no arbitration")
	}
	b.set(t, &southbound.Change{})
	smaller := b.Rival(t, false)
	if err := smaller.Set(t.Context(), b.good()); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("a smaller id: %v", err)
	}
	b.set(t, b.good())
	b.settle(t, "the first leader's", b.goodStands)
	larger := b.Rival(t, true)
	if err := larger.Set(t.Context(), &southbound.Change{}); err != nil {
		t.Fatalf("claim with a larger id: %v", err)
	}
	if err := b.Device.Set(t.Context(), &southbound.Change{Replace: true}); !errors.Is(err,
		southbound.ErrNotLeader) {
		t.Errorf("the deposed leader: %v", err)
	}
	b.settle(t, "what the deposed leader did not touch", b.goodStands)
	if err := larger.Set(t.Context(), &southbound.Change{Replace: true}); err != nil {
		t.Errorf("the new leader: %v", err)
	}
	b.settle(t, "the new leader's", func(s southbound.Seen) error {
		return errors.Join(rulesAre()(s),
			circuitsAre()(s))
	})
}

// claim: a claim holds a device against smaller election ids and loses it to larger ones. It changes no
// state, even as the first request of a driver.
func claim(t *testing.T, b *Bench) {
	d, ok := b.Device.(southbound.Claiming)
	if !ok || b.Rival == nil {
		t.Skip("this driver knows no arbitration")
	}
	if err := d.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	smaller, larger := b.Rival(t, false), b.Rival(t, true)
	if err := southbound.Claim(t.Context(), smaller); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("a smaller id claims it: %v", err)
	}
	if err := smaller.Set(t.Context(), b.good()); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("a smaller id sets it: %v", err)
	}
	b.set(t, b.good())
	b.settle(t, "the first leader's", b.goodStands)
	if err := southbound.Claim(t.Context(), larger); err != nil {
		t.Fatalf("claim with a larger id: %v", err)
	}
	if err := b.Device.Set(t.Context(), &southbound.Change{Replace: true}); !errors.Is(err,
		southbound.ErrNotLeader) {
		t.Errorf("the deposed leader sets it: %v", err)
	}
	if err := d.Claim(t.Context()); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("the deposed leader claims it: %v", err)
	}
	b.settle(t, "the unchanged state", b.goodStands)
	if err := larger.Set(t.Context(), &southbound.Change{Replace: true}); err != nil {
		t.Errorf("the new leader: %v", err)
	}
	b.settle(t, "the new leader's", func(s southbound.Seen) error {
		return errors.Join(rulesAre()(s),
			circuitsAre()(s))
	})
}

func concurrentSets(t *testing.T, b *Bench) {
	var wg sync.WaitGroup
	n := southbound.Port(b.Ports / 2)
	var want []southbound.Port
	var rules []southbound.Rule
	for i := range n {
		c := connect(i, n+i)
		want = append(want, i, n+i)
		if !b.Optical {
			r := rule(southbound.RackID(int32(i)%b.Racks), southbound.Tag(i%8), i, n+i)
			rules = append(rules, r)
			c = &southbound.Change{Rules: []southbound.Rule{r}}
		}
		wg.Go(func() {
			if err := b.Device.Set(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b.Optical {
		b.settle(t, "all circuits", circuitsAre(want...))
	} else {
		b.settle(t, "all rules", rulesAre(rules...))
	}
}
