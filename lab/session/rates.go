package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/lab/console"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
)

// viewWithin bounds the call to the leader. Without a leader, status still shows everything else.
const viewWithin = 2 * time.Second

// view returns the controller's view of links, as old as it is at that instant of the run.
func view(ctx context.Context, client *api.Client, f *apiv1.Fabric,
	now time.Duration) ([]emulated.LinkStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	links, err := client.Links(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller for what passes links: %w", err)
	}
	out := []emulated.LinkStatus{}
	for _, l := range links {
		if l.ID >= 0 && int(l.ID) < len(f.Links) {
			out = append(out, emulated.LinkStatus{Link: l.ID, From: l.From, To: l.To,
				Capacity: pathmap.BitsPerSecond(f.Links[l.ID].BitsPerSecond), Rate: l.Rate, Drops: l.Drops,
				Span: l.Span.Seconds(), Age: max(0, now-l.At).Seconds()})
		}
	}
	return out, nil
}

// printRates prints the links that drop packets or carry at least a thousandth of their capacity, beside the
// controller's view of them. Both are means, over spans that differ; too old ones are marked.
func (s *Status) printRates(w io.Writer) error {
	seen := map[pathmap.LinkID]emulated.LinkStatus{}
	for _, l := range s.View {
		seen[l.Link] = l
	}
	t := console.NewTable(w, "link", "Mbit/s", "of", "drops/s", "mean of", "policies see, Mbit/s",
		"drops/s", "mean of")
	busy, known := 0, 0
	for _, l := range s.Rates {
		v := seen[l.Link]
		if l.Span > 0 || v.Span > 0 {
			known++
		}
		if l.Busy() || v.Busy() {
			busy++
			rate, drops, span := rateCells(l)
			viewed, lost, over := rateCells(v)
			t.Row(l.From+"→"+l.To, rate, l.Capacity, drops, span, viewed, lost, over)
		}
	}
	switch {
	case busy > 0:
		return t.Print()
	case known == 0:
		_, err := fmt.Fprintf(w, "links: not known yet: nothing has counted twice\n")
		return err
	}
	_, err := fmt.Fprintf(w, "links: none is busy\n")
	return err
}

// rateCells are a link's rate, drops, and the span that they are means of, with their age once it counts.
func rateCells(l emulated.LinkStatus) (rate, drops, span string) {
	if l.Span == 0 {
		return "–", "–", "–"
	}
	rate, drops, span = megabits(l.Rate), fmt.Sprint(l.Drops), fmt.Sprintf("%.1f s", l.Span)
	switch {
	case l.Stale():
		span += fmt.Sprintf(", stale: %.0f s old", l.Age)
	case l.Age >= l.Span:
		span += fmt.Sprintf(", %.1f s ago", l.Age)
	}
	return rate, drops, span
}

func megabits(r pathmap.BitsPerSecond) string { return fmt.Sprintf("%.3f", float64(r)/1e6) }
