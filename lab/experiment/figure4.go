package experiment

import (
	"context"
	"fmt"
	"math"
	"time"

	"lightloom/controller/policy/guideline"
	"lightloom/pathmap"
)

func scaleBytes(b pathmap.Bytes, by float64) pathmap.Bytes { return pathmap.Bytes(float64(b) * by) }

func scaleTime(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// figure4Row are some cells of the printed matrix, R_map by R_red, in seconds.
var figure4Cells = []struct {
	maps, reduces int
	seconds       float64
}{{1, 1, 630}, {2, 1, 379}, {2, 2, 373}, {3, 3, 287}, {5, 5, 285}, {6, 1, 211}, {6, 12, 201}, {6, 13, 401},
	{7, 10, 201}, {7, 11, 372},
	{10, 7, 201}, {10, 8, 320}, {13, 5, 202}, {13, 6, 292}, {15, 5, 202}, {15, 6, 280}, {15, 15, 280}}

// runFigure4 computes the printed matrix in both readings of the shuffle's time. The rows show some
// cells; a test of package guideline checks all 225.
func runFigure4(_ context.Context, b *Bench) (*Result, error) {
	shuffle := pathmap.Bytes(85_500_000_000)
	c := &guideline.Cluster{Racks: 15, Slots: 600, Elephant: 1_125_000_000,
		OCS: pathmap.BitsPerSecond(float64(shuffle) * 8 / 12.2), EPS: pathmap.BitsPerSecond(float64(shuffle) * 8 / 1212)}
	j := &guideline.Job{Shuffle: shuffle, Maps: 3472, Reduces: 169, MapTime: 83_750 * time.Millisecond,
		RedTime: 115_400 * time.Millisecond}
	out := b.Result(
		"3472 maps, 169 reduces, 600 slots a rack, 15 racks as printed; 83.75 s a map, 115.4 s a reduce, 85.5 GB of " +
			"shuffle, 56 Gb/s and 0.56 Gb/s are inferred from the cells",
	)
	for _, f := range []guideline.Form{guideline.Figure4, guideline.Equation10} {
		for _, cell := range figure4Cells {
			got := c.Latency(f, j, cell.maps, cell.reduces).Seconds()
			h := out.At("Figure 4", fmt.Sprintf("%v, R_map %d, R_red %d", f, cell.maps, cell.reduces),
				"the figure was not made with Equation 10, which rises with R_red where the printed rows are flat or fall")
			// The figure is rounded to whole seconds, and what was inferred from it may be off by as much.
			h.Exactly("latency", "s", cell.seconds, math.Nextafter(0.6, 1), got)
		}
	}
	return out, nil
}
