package wiring

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

func day(n float64) time.Time {
	return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * 24 * float64(time.Hour)))
}

// lit is a switch that measures a loss at its outputs 0, 1 and so on, joined to inputs of the same numbers, by pairs
// swapped: 0 to 1, 1 to 0.
func lit(dB ...float64) (out []southbound.Side) {
	for i, v := range dB {
		out = append(out, southbound.Side{Port: southbound.Port(i), Peer: southbound.Port(i ^ 1), Tuned: true, Loss: v,
			Measured: true})
	}
	return out
}

// TestLosses: what is alarming about losses, and what is not.
func TestLosses(t *testing.T) {
	x, y := southbound.CrossConnect{In: 1, Out: 0}, southbound.CrossConnect{In: 0, Out: 1}
	factory := map[southbound.CrossConnect]southbound.Loss{x: {DB: 1.5, Accuracy: 0.1}, y: {DB: 1.5, Accuracy: 0.1}}
	for name, tt := range map[string]struct {
		maxLoss, maxRise float64
		now              float64 // of 1→0; 0→1 loses 1.5
		factory          bool
		past             []Sample // of 1→0, before now at day 10
		says             string
	}{
		"as made":         {0, 0.5, 1.5, true, nil, ""},
		"within accuracy": {0, 0.5, 2.09, true, nil, ""},
		"above the factory": {0, 0.5, 2.2, true, nil,
			"it loses 2.20 dB, 0.70 more than when the switch was made (1.50 ± 0.10)"},
		"no limit":                {0, 0, 9, true, nil, ""},
		"nothing to hold against": {0, 0.5, 2.2, false, nil, ""},
		"above the first": {0, 0.5, 2.2, false, []Sample{{day(0), 1.5}, {day(1), 1.5}},
			"it loses 2.20 dB, 0.70 more than on 2026-11-01"},
		"the first is wrong": {0, 0.5, 1.5, false, []Sample{{day(0), 0.2}, {day(1), 1.5}, {day(2), 1.5}}, ""},
		"a trend": {3, 0, 2, false, []Sample{{day(0), 1}, {day(3), 1.3}, {day(6), 1.6}},
			"it loses 2.00 dB and 0.10 more each day: more than 3.00 from 2026-11-21 on"},
		"a trend that is slow": {9, 0, 2, false, []Sample{{day(0), 1.9}, {day(3), 1.93}, {day(6), 1.96}}, ""},
		"one that is wrong": {3, 0, 1.5, false, []Sample{{day(0), 1.5}, {day(3), 0.1}, {day(6), 1.5},
			{day(7), 1.5}}, ""},
		"one that falls":            {3, 0, 1, false, []Sample{{day(0), 2}, {day(3), 1.7}, {day(6), 1.4}}, ""},
		"too few":                   {3, 0, 2.9, false, []Sample{{day(0), 1}, {day(9), 2}}, ""},
		"too short":                 {3, 0, 2.9, false, []Sample{{day(9.9), 1}, {day(9.95), 1.5}, {day(9.97), 2}}, ""},
		"beyond, which Verify says": {2, 0, 2.4, false, []Sample{{day(0), 1}, {day(3), 1.3}, {day(6), 1.6}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := rack(t, 1)
			w.Links[0].MaxLoss, w.Links[0].MaxRise = tt.maxLoss, tt.maxRise
			h := LossHistory{}
			for _, s := range tt.past {
				h.Note("sw", s.At, lit(s.DB, 1.5))
			}
			h.Note("sw", day(10), lit(tt.now, 1.5))
			past := h["sw"]
			if len(tt.past) == 0 {
				past = nil
			}
			made := factory
			if !tt.factory {
				made = nil
			}
			all, alarms := w.Losses(lit(tt.now, 1.5), made, past)
			says := ""
			for _, a := range alarms {
				says += a.Problem
			}
			if says != tt.says || len(all) != 2 || all[1].Loss != tt.now {
				t.Errorf("%+v, %v, want %q", all, alarms, tt.says)
			}
		})
	}
}

// TestLossHistory: a history is bounded, keeps its first and newest samples, and comes back from its file.
func TestLossHistory(t *testing.T) {
	h := LossHistory{}
	const n = 500
	for i := range n {
		h.Note("sw", day(float64(i)), lit(float64(i)/100))
		s := h["sw"]["1>0"]
		if len(s) > maxSamples || s[0].DB != 0 || s[len(s)-1].DB != float64(i)/100 {
			t.Fatalf("%d: %v", i, s)
		}
	}
	if slope, ok := perDay(h["sw"]["1>0"]); !ok || math.Abs(slope-0.01) > 1e-9 {
		t.Errorf("%v a day, %v, want 0.01", slope, ok)
	}
	h.Note("sw", day(n-2), lit(9)) // a clock that was put back
	if s := h["sw"]["1>0"]; s[len(s)-1].DB == 9 {
		t.Error("the past was changed")
	}
	path := filepath.Join(t.TempDir(), "losses.json")
	if err := h.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLosses(path)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(h) {
		t.Errorf("%v, %v, want %v", got, err, h)
	}
	h.Note("sw", day(n+200), nil)
	if len(h["sw"]) != 0 {
		t.Errorf("what is gone stays: %v", h)
	}
	if none, err := ReadLosses(path + "x"); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if err := os.WriteFile(path, []byte(`{"sw": {"x": []}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLosses(path); err == nil || !strings.Contains(err.Error(), `"x" of switch "sw" is no history`) {
		t.Error(err)
	}
}

// TestTrend: the slope is that of the slow reference, a line through samples whose third at most is wrong.
func TestTrend(t *testing.T) {
	for seed := range tries.Of[uint64](50, 2000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		slope := rnd.Float64() - 0.5
		var all []Sample
		for i := range 12 + rnd.IntN(40) {
			s := Sample{day(float64(i)), 5 + slope*float64(i)}
			if rnd.IntN(6) == 0 {
				s.DB = 20 * rnd.Float64()
			}
			all = append(all, s)
		}
		if got, ok := perDay(all); !ok || math.Abs(got-slope) > 0.35 {
			t.Errorf("seed %d: %v, want %v", seed, got, slope)
		}
	}
}

func FuzzLosses(f *testing.F) {
	f.Add([]byte(`{"sw": {"1>0": [{"at": "2026-11-01T00:00:00Z", "db": 1.5}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseLosses(data)
		if err != nil {
			return
		}
		for name := range h {
			h.Note(name, day(400), lit(1, 2))
		}
		text, err := json.Marshal(h)
		if err != nil {
			return // a year beyond 9999
		}
		if _, err := ParseLosses(text); err != nil {
			t.Errorf("%v of %s", err, text)
		}
	})
}
