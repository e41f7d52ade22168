package hostagent

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

// TestSumIsBounded: whatever rates say, all hosts of an agent together send no faster than its bound,
// and no slower where one of many has the whole of it to itself.
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
		{"twelve fair host flows", mesh(1, 4, 300_000, 0), fair, 0},
		{"twelve host flows of fast classes", mesh(1, 4, 300_000, 0), classes, pathmap.Gbps},
		{"one fair host flow", one(1, 3_600_000, 0), fair, pathmap.Gbps},
		{"one host flow of a fast class", one(1, 3_600_000, 0), classes, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var sum pathmap.Bytes
			for _, n := range tc.start.Size {
				sum += n
			}
			noise.Measure(t, patience, func() error {
				a := newTestAgent(t, 4, func(c *Config) {
					c.MaxRate = most
					c.Line = func(_, _ southbound.HostID, _ southbound.Tag) pathmap.BitsPerSecond { return tc.line }
				})
				must(t, a.Start([]southbound.Start{tc.start}))
				began := a.cfg.Now()
				must(t, a.SetRates(tc.rates))
				ev := take(t, a, len(tc.start.Src))
				want := time.Duration(float64(sum) / payload(most) * 1e9) // 3.6 MB at 9.56 MB/s of payload: 376 ms
				// Early by what was saved and the last chunk of each, of at most 4 ms at the rate of one: 4 + 12 x 4 ms.
				return inTime(t, ev[len(ev)-1].At-began, want, 0.14)
			})
		})
	}
}

// TestCallsAreBounded: a leader that floods the agent is refused with the reason, one of another name
// is not, and what the driver has queued all comes through, in order and no faster than is allowed.
func TestCallsAreBounded(t *testing.T) {
	noise.Measure(t, patience, func() error { return boundCalls(t) })
}

// boundCalls returns errors that a busy machine can cause, and fails the test on others.
func boundCalls(t *testing.T) error {
	const rate, calls = 40, 4 * 40
	s := newSiteWith(t, 2, func(c *Config) { c.MaxRequests = rate })
	began := time.Now()
	l := s.lead(t, 1)
	_, err := l.Status(testContext(t))
	must(t, err)
	flooded := time.Now()
	refused, other := flood(t, s, l, calls)
	// A second's are saved, a second's wait, and some come due meanwhile.
	if refused > calls-2*rate+rate/2 {
		t.Errorf("%d of %d calls were refused", refused, calls)
	}
	if most := 2*rate + int(rate*time.Since(flooded).Seconds()) + 1; calls-refused > most {
		t.Errorf("%d of %d calls were refused, which leaves more than %d", refused, calls, most)
	}

	// The bucket is empty by now: calls of the driver wait, and come back where they are refused.
	must(t, l.SetRates(&southbound.Rates{Fair: true}))
	for i := range southbound.CoflowID(rate) {
		must(t, l.Start([]southbound.Start{one(1+i, 1000, 0)}))
	}
	must(t, l.Flush(testContext(t)))
	taken := 1 + calls - refused + rate
	if took := time.Since(began); took.Seconds() < float64(taken-1)/rate-callsSaved.Seconds() {
		t.Errorf("%d calls were taken within %v", taken, took)
	}
	take(t, s.Agent, rate)
	select {
	case err := <-l.errs:
		t.Errorf("the driver gave up: %v", err)
	default:
	}
	switch {
	case refused == 0:
		return fmt.Errorf("no call of %d was refused", calls)
	case other > time.Second:
		return fmt.Errorf("another leader waits for %v", other)
	}
	return nil
}

// flood makes the given number of calls at once, and one of another leader among them. It returns how
// many were refused, and how long the other leader waited.
func flood(t *testing.T, s *site, l *leader, calls int) (refused int, took time.Duration) {
	t.Helper()
	answers := make(chan error, calls)
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			_, err := l.Status(testContext(t))
			answers <- err
		})
	}
	other := *s
	var err error
	other.leader, err = s.ca.Issue(pki.Controller, "replica1")
	must(t, err)
	began := time.Now()
	_, err = other.lead(t, 1).Status(testContext(t))
	must(t, err)
	took = time.Since(began)
	wg.Wait()
	close(answers)
	for err := range answers {
		switch {
		case err == nil:
		case errors.Is(err, wire.ErrUnavailable) &&
			strings.Contains(err.Error(), `"replica0" makes more than 40 calls a second: wait for `):
			refused++
		default:
			t.Errorf("an answer is %v", err)
		}
	}
	return refused, took
}

// TestManyLeaders: names beyond those that are kept share a bucket, so that a caller cannot fill the
// memory with names.
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
