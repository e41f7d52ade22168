package agent

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/pki"
)

// TestSumIsBounded: whatever rates say, all hosts of an agent together send no faster than its bound, and no slower
// where one of many has the whole of it to itself.
func TestSumIsBounded(t *testing.T) {
	const most = 80 * pathmap.Mbps
	fair := &southbound.Rates{Fair: true}
	classes := &southbound.Rates{}
	for src := range southbound.HostID(4) {
		for dst := range southbound.HostID(4) {
			if src != dst {
				classes.Pairs = append(classes.Pairs, southbound.PairRate{Src: src, Dst: dst, Rate: pathmap.Gbps})
			}
		}
	}
	for _, tc := range []struct {
		name  string
		start southbound.Start
		rates *southbound.Rates
		line  pathmap.BitsPerSecond
	}{
		{"twelve fair bundles", mesh(1, 4, 300_000, 0), fair, 0},
		{"twelve bundles of fast classes", mesh(1, 4, 300_000, 0), classes, pathmap.Gbps},
		{"one fair bundle", one(1, 3_600_000, 0), fair, pathmap.Gbps},
		{"one bundle of a fast class", one(1, 3_600_000, 0), classes, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newTestAgent(t, 4, func(c *Config) {
				c.MaxRate = most
				c.Line = func(_, _ southbound.HostID, _ southbound.Tag) pathmap.BitsPerSecond { return tc.line }
			})
			var sum pathmap.Bytes
			for _, n := range tc.start.Size {
				sum += n
			}
			must(t, a.Start([]southbound.Start{tc.start}))
			began := a.cfg.Now()
			must(t, a.SetRates(tc.rates))
			ev := take(t, a, len(tc.start.Src))
			took := ev[len(ev)-1].At - began
			want := time.Duration(float64(sum) / payload(most) * 1e9) // 3.6 MB at 9.56 MB/s of payload: 376 ms
			// Early by what was saved and the last chunk of each, of at most 4 ms at the rate of one: 4 + 12 x 4 ms.
			if off := took.Seconds()/want.Seconds() - 1; off < -0.14 || off > late {
				t.Errorf("took %v, want %v: %.1f %% off", took, want, 100*off)
			}
		})
	}
}

// TestCallsAreBounded: a leader that floods the agent is refused with the reason, one of another name is not, and what the
// driver has queued all comes through, in order and no faster than is allowed.
func TestCallsAreBounded(t *testing.T) {
	const rate = 40
	s := newSiteWith(t, 2, func(c *Config) { c.MaxRequests = rate })
	l := s.lead(t, 1)
	_, err := l.Status(testContext(t))
	must(t, err)

	const flood = 4 * rate
	answers := make(chan error, flood)
	var wg sync.WaitGroup
	for range flood {
		wg.Go(func() {
			_, err := l.Status(testContext(t))
			answers <- err
		})
	}
	other := *s
	other.leader, err = s.ca.Issue(pki.Controller, "replica1")
	must(t, err)
	began := time.Now()
	_, err = other.lead(t, 1).Status(testContext(t))
	must(t, err)
	if took := time.Since(began); took > time.Second {
		t.Errorf("another leader waits for %v", took)
	}
	wg.Wait()
	close(answers)
	refused := 0
	for err := range answers {
		switch {
		case err == nil:
		case errors.Is(err, wire.ErrUnavailable) && strings.Contains(err.Error(), `"replica0" makes more than 40 calls a second: wait for `):
			refused++
		default:
			t.Errorf("an answer is %v", err)
		}
	}
	if refused == 0 || refused > flood-2*rate+rate/2 { // a second's are saved, and a second's wait
		t.Errorf("%d of %d calls were refused", refused, flood)
	}

	// The bucket owes a second by now: calls of the driver wait, and come back where they are refused.
	began = time.Now()
	must(t, l.SetRates(&southbound.Rates{Fair: true}))
	for i := range southbound.CoflowID(rate) {
		must(t, l.Start([]southbound.Start{one(1+i, 1000, 0)}))
	}
	must(t, l.Flush(testContext(t)))
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("%d calls took %v", rate, took)
	}
	take(t, s.Agent, rate)
	select {
	case err := <-l.errs:
		t.Errorf("the driver gave up: %v", err)
	default:
	}
}

// TestManyLeaders: names beyond those that are kept share a bucket, so that nobody fills the memory with names.
func TestManyLeaders(t *testing.T) {
	l := newLimit(1)
	for i := range 10 * maxLeaders {
		l.bucket(strings.Repeat("x", i))
	}
	if len(l.of) > maxLeaders+1 {
		t.Errorf("%d names are kept", len(l.of))
	}
	if l.bucket("new") != l.bucket("newer") || l.bucket("x") == l.bucket("xx") {
		t.Error("buckets are shared otherwise than they should be")
	}
}
