package switches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lightloom/lab/console"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/wiring"
)

// losses adds to a report what circuits lose and which of it is alarming, and keeps it in the history.
func (f *wireFlags) losses(ctx context.Context, w *wiring.Wiring, d southbound.Device, sides []southbound.Side,
	r *wireReport) error {
	rises := slices.ContainsFunc(w.Links, func(l wiring.Link) bool { return l.MaxRise > 0 })
	var factory map[southbound.CrossConnect]southbound.Loss
	if m, ok := d.(southbound.FactoryMeasured); ok && rises {
		var err error
		if factory, err = m.FactoryLosses(ctx); err != nil && !errors.Is(err, southbound.ErrUnsupported) {
			return err
		}
	}
	if rises && factory == nil && f.history == "" {
		return hint.Wrong(hint.New("verify losses: the switch has no table of what its circuits lost when it was made, "+
			"which max-rise is held against", "add --history FILE: it is held against the first measurements there"))
	}
	history := wiring.LossHistory{}
	if f.history != "" {
		var err error
		if history, err = wiring.ReadLosses(f.history); err != nil {
			return err
		}
		history.Note(r.Switch, time.Now(), sides)
		if err := history.Write(f.history); err != nil {
			return err
		}
	}
	var alarms []wiring.Finding
	r.Losses, alarms = w.Losses(sides, factory, history[r.Switch])
	r.Findings = append(r.Findings, alarms...)
	return nil
}

// showLosses prints what circuits lose, where a history is kept.
func (r *wireReport) showLosses(out io.Writer) error {
	t := console.NewTable(out, "circuit", "dB", "when made", "at first", "more each day")
	text := func(dB *float64) string {
		if dB == nil {
			return ""
		}
		return fmt.Sprintf("%.2f", *dB)
	}
	for _, c := range r.Losses {
		t.Row(fmt.Sprintf("%d→%d", c.In, c.Out), fmt.Sprintf("%.2f", c.Loss), text(c.Factory), text(c.First),
			text(c.PerDay))
	}
	return t.Print()
}
