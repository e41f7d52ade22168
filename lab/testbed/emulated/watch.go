package emulated

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/lab/outcome"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
)

// watch records what the host flows of a run really had left, and what TCP did to them. The agent tells it.
type watch struct {
	circuits []southbound.Tag

	mu      sync.Mutex
	flows   map[southbound.HostFlowKey]*watched
	retired []outcome.HostFlow
}

// watched is a host flow, and the instants at which it had something else left than before.
type watched struct {
	hostagent.HostFlowLeft
	readings []reading
	steered  []time.Duration // when it began to take a circuit
}

// reading is what a host flow had left at an instant.
type reading struct {
	at   time.Duration
	left int64
}

var _ hostagent.Watch = (*watch)(nil)

func newWatch(circuits []southbound.Tag) *watch {
	return &watch{flows: map[southbound.HostFlowKey]*watched{}, circuits: circuits}
}

// Left implements hostagent.Watch.
func (w *watch) Left(now time.Duration, f hostagent.HostFlowLeft) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.flows[f.HostFlowKey]
	if x == nil {
		x = &watched{HostFlowLeft: f}
		w.flows[f.HostFlowKey] = x
	}
	if f.Tag != x.Tag {
		x.Tag = f.Tag
		if slices.Contains(w.circuits, f.Tag) {
			x.steered = append(x.steered, now)
		}
	}
	x.readings = append(x.readings, reading{now, f.Left})
}

// Retired implements hostagent.Watch.
func (w *watch) Retired(k southbound.HostFlowKey, n hostagent.Carried) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := w.flows[k]; x != nil {
		w.retired = append(w.retired, outcome.HostFlow{HostFlowKey: k, Src: x.Src, Dst: x.Dst,
			Bytes: x.Size, Carried: n})
	}
}

// at returns what a host flow had left at an instant: between two readings on the line between them.
func (x *watched) at(t time.Duration) float64 {
	all := x.readings
	i, _ := slices.BinarySearchFunc(all, t, func(r reading, t time.Duration) int {
		return cmp.Compare(r.at, t)
	})
	switch {
	case i == 0:
		return float64(x.Size)
	case i == len(all):
		return float64(all[i-1].left)
	}
	a, b := all[i-1], all[i]
	return float64(a.left) + float64(b.left-a.left)*float64(t-a.at)/float64(b.at-a.at)
}

// usageName is the name of the file of reservations in the directory of the replicas.
const usageName = "usage.jsonl"

// usageFile returns the file of reservations of replicas with their disks in dir; empty if there is to
// be none.
func (o *ChildConfig) usageFile(dir string) string {
	if !o.Reservations {
		return ""
	}
	return filepath.Join(dir, usageName)
}

// watched adds to an outcome what was recorded of reservations and host flows.
func (s *Testbed) watched(o *outcome.Outcome) error {
	w := s.Packets.watch
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Config.Rules.PerHostFlow != "" {
		o.HostFlows = w.retired
	}
	all, err := readUsages(s.Config.usageFile(s.Cluster.State.Dir))
	if err != nil {
		return err
	}
	for i := range all {
		u := &all[i]
		u.AtMade.Actual = s.actual(&u.CircuitReservation, u.Made)
		u.AtService.Actual = s.actual(&u.CircuitReservation, u.InService)
		u.Steered = s.steered(u)
		u.AtEnd.Actual = s.actual(&u.CircuitReservation, u.Ended)
	}
	o.Usages = all
	return nil
}

// steered returns when the last of a reservation's host flows took its circuit; 0 if none did.
func (s *Testbed) steered(u *loop.Usage) (last time.Duration) {
	for _, x := range s.Packets.watch.flows {
		if s.carries(&u.CircuitReservation, x) {
			for _, t := range x.steered {
				if t >= u.InService && t <= u.Ended {
					last = max(last, t)
				}
			}
		}
	}
	return last
}

// carries reports whether a reservation is for a host flow.
func (s *Testbed) carries(r *controller.CircuitReservation, x *watched) bool {
	return (r.Coflow == controller.AnyCoflow || r.Coflow == x.Coflow) &&
		s.Topo.RackOf(int32(x.Src)) == int32(r.In) && s.Topo.RackOf(int32(x.Dst)) == int32(r.Out)
}

// actual sums up what the host flows of a reservation had left at an instant.
func (s *Testbed) actual(r *controller.CircuitReservation, t time.Duration) (sum float64) {
	for _, x := range s.Packets.watch.flows {
		if s.carries(r, x) {
			sum += x.at(t)
		}
	}
	return sum
}

// readUsages reads what leaders have written; nothing if there is no file, or no leader wrote any.
func readUsages(name string) (all []loop.Usage, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read reservations: %w", err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var u loop.Usage
		if err := d.Decode(&u); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil // a killed leader can leave half a line
		} else if err != nil {
			return nil, fmt.Errorf("read reservations: %w", err)
		}
		all = append(all, u)
	}
}
