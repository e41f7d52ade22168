package wiring

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// Sample is what a circuit lost at an instant, in dB.
type Sample struct {
	At time.Time `json:"at"`
	DB float64   `json:"db"`
}

// LossHistory is what the circuits of switches have lost, by the name of the switch and circuits such as "3>17", in the
// order of time. It is bounded: of a long past fewer samples are kept.
type LossHistory map[string]map[string][]Sample

// Bounds of a history.
const (
	maxSamples  = 64                   // of a circuit
	maxCircuits = 1 << 15              // of a switch
	keptUnseen  = 180 * 24 * time.Hour // of a circuit that is no longer measured
	maxHistory  = 64 << 20             // bytes of its file
)

// What makes a trend, and which is alarming.
const (
	firstSamples = 5                   // their median is what a circuit lost at first
	trendSamples = 4                   // at least
	trendSpan    = 24 * time.Hour      // over how long, at least
	trendLeast   = 0.1                 // in dB: measurements differ by as much
	trendHorizon = 30 * 24 * time.Hour // a limit that is farther away is none yet
)

func circuitKey(x southbound.CrossConnect) string { return fmt.Sprintf("%d>%d", x.In, x.Out) }

// ParseLosses reads a history.
func ParseLosses(data []byte) (LossHistory, error) {
	h := LossHistory{}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, err
	}
	for name, circuits := range h {
		for key, samples := range circuits {
			in, out, ok := strings.Cut(key, ">")
			_, ierr := strconv.ParseUint(in, 10, 31)
			_, oerr := strconv.ParseUint(out, 10, 31)
			sorted := slices.IsSortedFunc(samples, func(a, b Sample) int { return a.At.Compare(b.At) })
			if !ok || ierr != nil || oerr != nil || len(samples) > maxSamples || !sorted {
				return nil, fmt.Errorf("%q of switch %q is no history of a circuit", key, name)
			}
		}
	}
	return h, nil
}

// ReadLosses reads the file of a history; a missing file is an empty one.
func ReadLosses(path string) (LossHistory, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return LossHistory{}, nil
	}
	if err != nil {
		return nil, hint.Wrong(fmt.Errorf("read losses: %w", err))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxHistory+1))
	err = errors.Join(err, file.Close())
	if err == nil && len(data) > maxHistory {
		err = fmt.Errorf("longer than %d bytes", maxHistory)
	}
	var h LossHistory
	if err == nil {
		h, err = ParseLosses(data)
	}
	if err != nil {
		return nil, hint.Wrong(hint.Wrap(fmt.Errorf("read losses %s: %w", path, err),
			"name another file with --history, or remove this one"))
	}
	return h, nil
}

// Write replaces the file of a history. Of two that write at a time, one is kept.
func (h LossHistory) Write(path string) error {
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write losses: %w", err)
	}
	return durable.Replace(path, append(data, '\n'), false)
}

// Note adds what a switch measures now, and drops what is beyond the bounds.
func (h LossHistory) Note(name string, now time.Time, sides []southbound.Side) {
	circuits := h[name]
	if circuits == nil {
		circuits = map[string][]Sample{}
		h[name] = circuits
	}
	maps.DeleteFunc(circuits, func(_ string, s []Sample) bool {
		return len(s) == 0 || now.Sub(s[len(s)-1].At) > keptUnseen
	})
	for x, dB := range measured(sides) {
		key := circuitKey(x)
		old, known := circuits[key]
		if !known && len(circuits) >= maxCircuits || len(old) > 0 && now.Before(old[len(old)-1].At) {
			continue
		}
		circuits[key] = append(thinned(old), Sample{now.UTC().Truncate(time.Second), dB})
	}
}

// thinned leaves room for one more sample: of a full past every second one goes, but for the first and the newest.
func thinned(all []Sample) []Sample {
	if len(all) < maxSamples {
		return all
	}
	var out []Sample
	for i, s := range all {
		if i < firstSamples || i >= len(all)/2 || i%2 == 0 {
			out = append(out, s)
		}
	}
	if len(out) == len(all) {
		out = slices.Delete(out, firstSamples, firstSamples+1)
	}
	return out
}

// measured returns what circuits lose now.
func measured(sides []southbound.Side) map[southbound.CrossConnect]float64 {
	out := map[southbound.CrossConnect]float64{}
	for _, s := range sides {
		if !s.Input && s.Measured && s.Peer != southbound.NoPort {
			out[southbound.CrossConnect{In: s.Peer, Out: s.Port}] = s.Loss
		}
	}
	return out
}

// CircuitLoss is what is known of the loss of a circuit, in dB.
type CircuitLoss struct {
	In      southbound.Port `json:"in"`
	Out     southbound.Port `json:"out"`
	Loss    float64         `json:"loss"`
	Factory *float64        `json:"factory,omitempty"` // as the switch was made
	First   *float64        `json:"first,omitempty"`   // as the history begins
	PerDay  *float64        `json:"per_day,omitempty"` // by how much it grows
}

// Losses returns what the wanted circuits lose, where the switch measures it, and which of them are alarming: those
// that lose more by their link's MaxRise than when the switch was made, or else than at first, and those whose trend
// leads beyond the link's MaxLoss within 30 days. MaxLoss itself is Verify's.
func (w *Wiring) Losses(sides []southbound.Side, factory map[southbound.CrossConnect]southbound.Loss,
	past map[string][]Sample) (all []CircuitLoss, alarms []Finding) {
	now := measured(sides)
	for _, l := range w.Links {
		for _, x := range l.Circuits() {
			dB, known := now[x]
			if !known {
				continue
			}
			c := CircuitLoss{In: x.In, Out: x.Out, Loss: dB}
			samples := past[circuitKey(x)]
			if before := len(samples) - 1; before > 0 { // the newest is what is held against them
				first := median(samples[:min(before, firstSamples)])
				c.First = &first
			}
			if made, ok := factory[x]; ok {
				c.Factory = &made.DB
			}
			slope, trend := perDay(samples)
			if trend {
				c.PerDay = &slope
			}
			all = append(all, c)
			for _, problem := range c.alarming(l, factory[x].Accuracy, samples) {
				alarms = append(alarms, Finding{Link: l.String(), In: x.In, Out: x.Out, Problem: problem})
			}
		}
	}
	return all, alarms
}

// alarming returns what is alarming about a loss.
func (c *CircuitLoss) alarming(l Link, accuracy float64, samples []Sample) (out []string) {
	switch {
	case l.MaxRise <= 0:
	case c.Factory != nil && c.Loss-*c.Factory > l.MaxRise+accuracy:
		out = append(out, fmt.Sprintf("it loses %.2f dB, %.2f more than when the switch was made (%.2f ± %.2f)", c.Loss,
			c.Loss-*c.Factory, *c.Factory, accuracy))
	case c.Factory == nil && c.First != nil && c.Loss-*c.First > l.MaxRise:
		out = append(out, fmt.Sprintf("it loses %.2f dB, %.2f more than on %s", c.Loss, c.Loss-*c.First,
			samples[0].At.Format(time.DateOnly)))
	}
	if l.MaxLoss <= 0 || c.PerDay == nil || c.Loss > l.MaxLoss {
		return out
	}
	last := samples[len(samples)-1].At
	days := last.Sub(samples[0].At).Hours() / 24
	if *c.PerDay*days < trendLeast {
		return out
	}
	left := (l.MaxLoss - c.Loss) / *c.PerDay
	if left <= trendHorizon.Hours()/24 {
		out = append(out, fmt.Sprintf("it loses %.2f dB and %.2f more each day: more than %.2f from %s on", c.Loss,
			*c.PerDay, l.MaxLoss, last.AddDate(0, 0, int(left)).Format(time.DateOnly)))
	}
	return out
}

func median(samples []Sample) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, s.DB)
	}
	return middle(all)
}

// middle is the median of values, which it sorts.
func middle(all []float64) float64 {
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// perDay is the slope of samples in dB a day, the median of those between any two (Theil and Sen): single measurements
// that are wrong do not move it. It needs some samples over some time.
func perDay(samples []Sample) (float64, bool) {
	n := len(samples)
	if n < trendSamples || samples[n-1].At.Sub(samples[0].At) < trendSpan {
		return 0, false
	}
	var slopes []float64
	for i, a := range samples {
		for _, b := range samples[i+1:] {
			if days := b.At.Sub(a.At).Hours() / 24; days > 0 {
				slopes = append(slopes, (b.DB-a.DB)/days)
			}
		}
	}
	return middle(slopes), true
}
