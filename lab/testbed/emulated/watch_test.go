package emulated

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/hostagent"
)

// TestWatchedLeft: between two readings what is left lies on the line between them.
func TestWatchedLeft(t *testing.T) {
	const ms = time.Millisecond
	w := newWatch([]southbound.Tag{southbound.TagCircuit, southbound.PathTag(2)})
	key := southbound.HostFlowKey{Coflow: 3, Row: 1}
	left := func(at time.Duration, tag southbound.Tag, n int64) {
		w.Left(at, hostagent.HostFlowLeft{HostFlowKey: key, Src: 1, Dst: 2, Tag: tag, Size: 1000, Left: n})
	}
	left(10*ms, 1, 1000)
	left(20*ms, 1, 900)
	left(25*ms, southbound.PathTag(2), 900) // another circuit of a pod
	left(30*ms, southbound.PathTag(2), 400)
	left(40*ms, southbound.PathTag(2), 0)
	for _, tc := range []struct {
		name string
		at   time.Duration
		want float64
	}{{"before its start", 5 * ms, 1000}, {"at a reading", 20 * ms, 900}, {"between",
		27500 * time.Microsecond, 650},
		{"at its end", 40 * ms, 0}, {"after it", time.Second, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			if got := w.flows[key].at(tc.at); got != tc.want {
				t.Errorf("%v bytes left at %v, want %v", got, tc.at, tc.want)
			}
		})
	}
	if s := w.flows[key].steered; len(s) != 1 || s[0] != 25*ms {
		t.Errorf("took its circuit at %v", s)
	}
	w.Retired(key, hostagent.Carried{Retransmitted: 7})
	w.Retired(southbound.HostFlowKey{Coflow: 9}, hostagent.Carried{})
	if len(w.retired) != 1 || w.retired[0].Bytes != 1000 || w.retired[0].Retransmitted != 7 {
		t.Errorf("retired: %+v", w.retired)
	}
}

// TestReadUsages: a killed leader can leave half a line, and a run without circuits no file.
func TestReadUsages(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       int
		fails      bool
	}{
		{"two", "{\"in\":1,\"out\":2,\"ended_ns\":5}\n{\"in\":2}\n", 2, false},
		{"half a line", "{\"in\":1}\n{\"in\":", 1, false},
		{"another file", "in,out\n", 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), usageName)
			if err := os.WriteFile(name, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if all, err := readUsages(name); len(all) != tc.want && !tc.fails || (err != nil) != tc.fails {
				t.Errorf("%d read, %v", len(all), err)
			}
		})
	}
	if all, err := readUsages(filepath.Join(t.TempDir(), "none")); all != nil || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// TestLateness: timers that were waited for are never early.
func TestLateness(t *testing.T) {
	l := watchTimers(t.Context())
	<-time.After(5 * timerEvery)
	if mean, p99 := l.end(); mean <= 0 || p99 < mean {
		t.Errorf("mean %v, p99 %v", mean, p99)
	}
}
