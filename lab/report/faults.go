package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/lab/report/plot"
	"lightloom/pathmap"
)

// FaultInterval is a fault and its duration.
type FaultInterval struct {
	Kind, Name string
	From, To   time.Duration
	Lasts      bool // it had not been healed when the run ended
	// Rerouted is how long after From the last table that was changed for it became effective, Restored the same after
	// To; where tables were changed at all.
	Rerouted, Restored       time.Duration
	WasRerouted, WasRestored bool
}

// Received is the payload that all hosts received in an interval.
type Received struct {
	From, To time.Duration
	Bytes    pathmap.Bytes
}

// FaultRow is a fault in report.json.
type FaultRow struct {
	Kind  string  `json:"kind"` // link, port, switch, host, controller or fibre
	Name  string  `json:"name"`
	From  float64 `json:"from_seconds"`
	To    float64 `json:"to_seconds"`      // the run's end where it lasted
	Lasts bool    `json:"lasts,omitempty"` // it was never healed
	// from its beginning until the last table changed for it was effective
	Rerouted *float64 `json:"rerouted_milliseconds,omitempty"`
	Restored *float64 `json:"restored_milliseconds,omitempty"` // from its end likewise
}

func faultRows(p *PolicyResult) []FaultRow {
	var out []FaultRow
	for _, f := range p.Faults {
		row := FaultRow{Kind: f.Kind, Name: f.Name, From: f.From.Seconds(), To: f.To.Seconds(), Lasts: f.Lasts}
		if f.WasRerouted {
			row.Rerouted = milliseconds(f.Rerouted)
		}
		if f.WasRestored {
			row.Restored = milliseconds(f.Restored)
		}
		out = append(out, row)
	}
	return out
}

func milliseconds(d time.Duration) *float64 {
	ms := float64(d) / 1e6
	return &ms
}

// ReceivedRow is an interval of the timeline in report.json.
type ReceivedRow struct {
	From float64 `json:"from_seconds"`
	Bits float64 `json:"bits_per_second"`
}

func receivedRows(p *PolicyResult) []ReceivedRow {
	var out []ReceivedRow
	for _, r := range p.Received {
		out = append(out, ReceivedRow{r.From.Seconds(), r.rate()})
	}
	return out
}

func (r *Received) rate() float64 { return float64(r.Bytes) * 8 / max(r.To-r.From, 1).Seconds() }

// lanes gives every failed part a lane, in the order of kinds, then names.
func lanes(faults []FaultInterval) []FaultInterval {
	var out []FaultInterval
	for _, f := range faults {
		if !slices.ContainsFunc(out, func(o FaultInterval) bool {
			return o.Kind == f.Kind &&
				o.Name == f.Name
		}) {
			out = append(out, f)
		}
	}
	rank := func(kind string) int {
		return slices.Index([]string{"link", "port", "switch", "host", "controller", "fibre"}, kind)
	}
	slices.SortFunc(out, func(a, b FaultInterval) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// faultPicture draws the faults, a lane each, above the bytes that all hosts received in the same time.
func faultPicture(p *PolicyResult, span time.Duration) string {
	const w, left, right, top, lane, high = 1120.0, 150.0, 16.0, 8.0, 18.0, 120.0
	rows := lanes(p.Faults)
	h := top + lane*float64(len(rows)) + high + 48
	axis := timeAxis(span)
	x := func(d time.Duration) float64 { return left + (w-left-right)*axis.Part(float64(d)) }
	s := plot.NewSVG(w, h, fmt.Sprintf("Faults and throughput under %s", p.Name))
	timeGrid(s, &axis, left, w-right, top, h-32)
	for i, r := range rows {
		y := top + lane*float64(i)
		s.Line("grid", left, y+lane, w-right, y+lane)
		s.Text("tick", "end", left-6, y+13, r.Kind+" "+r.Name)
		for _, f := range p.Faults {
			if f.Kind == r.Kind && f.Name == r.Name {
				s.Rect("fault", x(f.From), y+2, max(x(f.To)-x(f.From), 1), lane-4, f.title())
			}
		}
	}
	p.throughput(s, x, top+lane*float64(len(rows))+8, high)
	s.Text("tick", "start", left, h-4, "time since the run began; bars: what had failed; line: payload that all hosts "+
		"received")
	return s.End()
}

func (f *FaultInterval) title() string {
	t := fmt.Sprintf("%s %s failed at %v", f.Kind, f.Name, f.From.Round(time.Microsecond))
	if f.WasRerouted {
		t += fmt.Sprintf(", tables changed within %v", f.Rerouted.Round(time.Microsecond))
	}
	if f.Lasts {
		return t + ", never healed"
	}
	t += fmt.Sprintf(", healed at %v", f.To.Round(time.Microsecond))
	if f.WasRestored {
		t += fmt.Sprintf(", tables changed within %v", f.Restored.Round(time.Microsecond))
	}
	return t
}

// throughput draws the line of received bytes.
func (p *PolicyResult) throughput(s *plot.SVG, x func(time.Duration) float64, top, high float64) {
	most := 0.0
	for i := range p.Received {
		most = max(most, p.Received[i].rate())
	}
	if most == 0 {
		return
	}
	y := func(rate float64) float64 { return top + high*(1-rate/most) }
	var line []plot.Point
	for i := range p.Received {
		r := &p.Received[i]
		line = append(line, plot.Point{X: x(r.From), Y: y(r.rate())}, plot.Point{X: x(r.To), Y: y(r.rate())})
	}
	s.Curve(plot.CurveStyle(3), line, "payload received")
	s.Text("tick", "end", x(0)-6, top+6, sig(most/1e6)+" Mb/s")
	s.Text("tick", "end", x(0)-6, top+high, "0")
}

// faultWords describes in a line how quickly the network recovered.
func faultWords(p *PolicyResult) string {
	n, worst := 0, time.Duration(0)
	for _, f := range p.Faults {
		if f.WasRerouted {
			n, worst = n+1, max(worst, f.Rerouted)
		}
	}
	if n == 0 {
		return fmt.Sprintf("%d faults; no table had to be changed for them.", len(p.Faults))
	}
	return fmt.Sprintf("%d faults; for %d of them tables were changed, at the latest %v after the fault.", len(p.Faults),
		n, worst.Round(time.Microsecond))
}
