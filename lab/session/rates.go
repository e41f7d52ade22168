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

// view returns the controller's view of links.
func view(ctx context.Context, client *api.Client, f *apiv1.Fabric) ([]emulated.LinkStatus, error) {
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
				Span: l.Span.Seconds()})
		}
	}
	return out, nil
}

// printRates prints the links that drop packets or carry at least a thousandth of their capacity, beside the
// controller's view of them.
func (s *Status) printRates(w io.Writer) error {
	seen := map[pathmap.LinkID]emulated.LinkStatus{}
	for _, l := range s.View {
		seen[l.Link] = l
	}
	t := console.NewTable(w, "link", "Mbit/s", "of", "drops/s", "policies see, Mbit/s", "drops/s")
	busy := 0
	for _, l := range s.Rates {
		rate, drops := "–", "–"
		v, known := seen[l.Link]
		if known {
			rate, drops = megabits(v.Rate), fmt.Sprint(v.Drops)
		}
		if l.Busy() || v.Busy() {
			busy++
			t.Row(l.From+"→"+l.To, megabits(l.Rate), l.Capacity, l.Drops, rate, drops)
		}
	}
	if busy == 0 {
		_, err := fmt.Fprintf(w, "links: none is busy\n")
		return err
	}
	return t.Print()
}

func megabits(r pathmap.BitsPerSecond) string { return fmt.Sprintf("%.3f", float64(r)/1e6) }
