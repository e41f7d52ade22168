package report

import (
	"fmt"
	"strings"

	"lightloom/lab/report/plot"
)

// drawnRacks bounds the picture; of a larger fabric only the first racks are drawn.
const drawnRacks = 20

// topology draws spines, ToRs with their hosts, and the OCS, from the figures of the fabric.
func topology(f Fabric) string {
	racks := min(f.Racks, drawnRacks)
	perRack := 0
	if f.Racks > 0 {
		perRack = f.Hosts / f.Racks
	}
	const w, tor, gap = 1120.0, 40.0, 8.0
	const spineY, torY, hostY, ocsY = 20.0, 130.0, 156.0, 250.0
	h := 226.0
	if f.OCSPorts > 0 {
		h = 306
	}
	pitch := (w - 2*gap) / float64(max(racks, 1))
	at := func(r int) float64 { return gap + pitch*(float64(r)+.5) }
	spineAt := func(i int) float64 { return w * (float64(i) + 1) / float64(f.Spines+1) }
	s := plot.NewSVG(w, h, fmt.Sprintf("%d racks of %d hosts, %d spines, %s of %d ports", f.Racks, perRack, f.Spines,
		counted(f.OCSes, "an optical switch", "optical switches"), f.OCSPorts*max(1, f.Waves)))
	for r := range racks {
		for i := range min(f.Spines, 16) {
			s.Line("eps", at(r), torY, spineAt(i), spineY+26)
		}
		if r < f.OCSPorts {
			side := at(r) + min(pitch-6, 84)/2 - 8 // beside the hosts
			s.Line("ocs", side, torY+24, side, ocsY)
		}
	}
	for i := range min(f.Spines, 16) {
		s.Box("switch", spineAt(i)-42, spineY, 84, 26, "packet switch")
		s.Text("label", "middle", spineAt(i), spineY+17, fmt.Sprintf("spine %d", i))
	}
	for r := range racks {
		rack(s, r, at(r), torY, min(pitch-6, 84), perRack)
	}
	if f.OCSPorts > 0 {
		name := counted(f.OCSes, "optical circuit switch", "optical circuit switches")
		s.Box("optical", gap+20, ocsY, w-2*gap-40, 30,
			fmt.Sprintf("%s, %d ports", name, f.OCSPorts*max(1, f.Waves)))
		s.Text("label", "middle", w/2, ocsY+20, fmt.Sprintf("%s · %d ports · %s each",
			name, f.OCSPorts*max(1, f.Waves), rate(f.OCS)))
	}
	s.Text("tick", "start", 8, h-5, captions(f, racks))
	return s.End()
}

// counted is the words for one thing, or for several with their number.
func counted(n int, one, several string) string {
	if n > 1 {
		return fmt.Sprintf("%d %s", n, several)
	}
	return one
}

// captions returns what the picture cannot show.
func captions(f Fabric, racks int) string {
	var parts []string
	if f.Spines > 0 && f.EPS > 0 {
		parts = append(parts, rate(f.EPS)+" a ToR–spine link")
	}
	if f.Spines == 0 && f.EPS > 0 {
		parts = append(parts, "how "+f.Spec+" joins its switches is not drawn")
	}
	if f.NIC > 0 {
		parts = append(parts, rate(f.NIC)+" a host")
	}
	if racks < f.Racks {
		parts = append(parts, fmt.Sprintf("%d more racks are not drawn", f.Racks-racks))
	}
	return strings.Join(parts, " · ")
}

// rack draws a ToR and a dot for each of its first hosts.
func rack(s *plot.SVG, r int, x, y, w float64, hosts int) {
	s.Box("switch", x-w/2, y, w, 24, fmt.Sprintf("rack %d: ToR and %d hosts", r, hosts))
	label := fmt.Sprintf("tor%d", r)
	if w < 44 {
		label = fmt.Sprint(r)
	}
	s.Text("label", "middle", x, y+16, label)
	n := min(hosts, 8)
	for i := range n {
		cx := x + (float64(i)-float64(n-1)/2)*min(14, w/float64(n))
		s.Line("host-link", x, y+24, cx, y+37)
		s.Box("host", cx-4, y+37, 8, 8, fmt.Sprintf("host %d of rack %d", i, r))
	}
}
