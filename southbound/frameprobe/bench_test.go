package frameprobe

import (
	"testing"
	"time"

	"lightloom/southbound"
)

// TestSwitched: what frames say of a move, and when they say nothing.
func TestSwitched(t *testing.T) {
	const us = time.Microsecond
	begin := time.Unix(1000, 0)
	every := func(n int, gap time.Duration) (out []time.Time) {
		for i := range n {
			out = append(out, begin.Add(time.Duration(i)*gap))
		}
		return out
	}
	sent := every(100, 10*us)
	at := func(seq uint32, late time.Duration) Arrival { return Arrival{seq, sent[seq].Add(late)} }
	away := append(every(50, 10*us), every(60, 20*us)[27:]...) // 20 µs and more around frame 50
	for name, tt := range map[string]struct {
		sent []time.Time
		old  []Arrival
		lit  []Arrival
		dark time.Duration
		lost int // the last frame that was lost
		seen bool
	}{
		"a move": {sent, []Arrival{at(0, us), at(20, us)}, []Arrival{at(60, us), at(61, us)},
			400 * us, 59, true},
		"nothing of the old":          {sent, nil, []Arrival{at(60, us)}, 0, 0, false},
		"nothing of the new":          {sent, []Arrival{at(20, us)}, nil, 0, 0, false},
		"it arrives late":             {sent, []Arrival{at(20, us)}, []Arrival{at(60, 30*us)}, 429 * us, 59, false},
		"the last of the old is late": {sent, []Arrival{at(20, 30*us)}, []Arrival{at(60, us)}, 371 * us, 59, false},
		"in no order":                 {sent, []Arrival{at(60, us)}, []Arrival{at(20, us)}, 0, 0, false},
		"the prober was away":         {away, []Arrival{at(20, us)}, []Arrival{{50, away[50].Add(us)}}, 340 * us, 49, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Watched{Sent: tt.sent, Arrived: map[southbound.Port][]Arrival{1: tt.old, 2: tt.lit}}
			s, seen := w.Switched(1, 2)
			if seen != tt.seen || s.Dark != tt.dark || tt.lost > 0 && !s.Lost.Equal(tt.sent[tt.lost]) {
				t.Errorf("%+v, %v, want %v, %v", s, seen, tt.dark, tt.seen)
			}
		})
	}
}

// TestLost: a frame that arrives twice is one, and numbers of nobody are none.
func TestLost(t *testing.T) {
	w := &Watched{Sent: make([]time.Time, 5), Arrived: map[southbound.Port][]Arrival{
		3: {{Seq: 0}, {Seq: 2}, {Seq: 2}, {Seq: 77}}}}
	if got := w.Lost(3); got != 3 {
		t.Errorf("%d lost, want 3", got)
	}
	if got := w.Lost(4); got != 5 {
		t.Errorf("%d lost at a port where nothing arrives, want 5", got)
	}
}
