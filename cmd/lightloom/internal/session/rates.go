package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"lightloom/cmd/lightloom/internal/testbed/emulated"
	"lightloom/controller/api"
	"lightloom/pathmap"
)

// viewWithin bounds how long the leader is asked: while there is none, everything else is shown all the same.
const viewWithin = 2 * time.Second

// view returns what the controller's policies see of links.
func view(ctx context.Context, client *api.Client, t *pathmap.Topology) ([]emulated.LinkStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	links, err := client.Links(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller for what passes links: %w", err)
	}
	out := []emulated.LinkStatus{}
	for _, l := range links {
		if l.ID >= 0 && int(l.ID) < len(t.Links()) {
			out = append(out, emulated.LinkStatus{Link: l.ID, From: l.From, To: l.To, Capacity: t.Link(l.ID).Capacity,
				Rate:  l.Rate,
				Drops: l.Drops, Span: l.Span.Seconds()})
		}
	}
	return out, nil
}

// printRates shows the links that drop something, or carry a thousandth of what they could, and beside it what the
// controller's policies see of them.
func (s *Status) printRates(w io.Writer) {
	seen := map[pathmap.LinkID]emulated.LinkStatus{}
	for _, l := range s.View {
		seen[l.Link] = l
	}
	t := newTable(w, "link", "Mbit/s", "of", "drops/s", "policies see, Mbit/s", "drops/s")
	for _, l := range s.Rates {
		rate, drops := "–", "–"
		v, known := seen[l.Link]
		if known {
			rate, drops = megabits(v.Rate), fmt.Sprint(v.Drops)
		}
		if l.Busy() || v.Busy() {
			t.AppendRow(table.Row{l.From + "→" + l.To, megabits(l.Rate), l.Capacity, l.Drops, rate, drops})
		}
	}
	t.Render()
}

func megabits(r pathmap.BitsPerSecond) string { return fmt.Sprintf("%.3f", float64(r)/1e6) }
