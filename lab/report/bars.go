package report

import (
	"fmt"

	"lightloom/lab/report/plot"
	"lightloom/pathmap"
)

// bytesPicture draws the bytes that each row sent between racks over circuits and over packets, to one
// scale.
func bytesPicture(policies []Policy) string {
	const w, left, right, lane = 1120.0, 250.0, 240.0, 30.0
	most := pathmap.Bytes(1)
	for i := range policies {
		most = max(most, policies[i].OCS+policies[i].EPS)
	}
	h := lane*float64(len(policies)) + 8
	s := plot.NewSVG(w, h, "Bytes between racks, over circuits and over packets")
	for i := range policies {
		p := &policies[i]
		y := lane*float64(i) + 4
		scale := (w - left - right) / float64(most)
		o, e := float64(p.OCS)*scale, float64(p.EPS)*scale
		s.Text("label", "end", left-10, y+17, p.Name)
		if p.OCS > 0 {
			s.Rect("bytes-ocs", left, y, o, lane-8,
				fmt.Sprintf("%s: %s over circuits", p.Name, megabytes(p.OCS)))
		}
		if p.EPS > 0 {
			s.Rect("bytes-eps", left+o, y, e, lane-8,
				fmt.Sprintf("%s: %s over packets", p.Name, megabytes(p.EPS)))
		}
		s.Text("tick", "start", left+o+e+8, y+16,
			fmt.Sprintf("%s (%s), %s optical", megabytes(p.OCS+p.EPS),
				p.Basis, percent(p.OCSShare)))
	}
	return s.End()
}
