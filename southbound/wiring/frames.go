package wiring

import (
	"fmt"
	"slices"
	"strings"

	"lightloom/southbound"
	"lightloom/southbound/lldp"
)

// Heard is an announcement that arrived at a port of a device.
type Heard struct {
	Device, Port string
	Said         lldp.Announcement
}

// Frames is what the ends of links hear.
type Frames struct {
	Heard []Heard
	Deaf  map[string]string // ends (End.String) that cannot be asked what they hear, and why
}

// FrameCheck is what frames say of links, one direction after the other.
type FrameCheck struct {
	Arrived  int       `json:"arrived"`  // directions whose frames arrive, and no others
	Findings []Finding `json:"findings"` // directions in which nothing or something else arrives
	Untried  []Finding `json:"untried"`  // directions of which nothing can be said, and why
}

// way is one direction of a link.
type way struct {
	link     Link
	from, to End
}

func (l Link) ways() []way {
	out := []way{{l, l.A, l.B}}
	if !l.OneWay {
		out = append(out, way{l, l.B, l.A})
	}
	return out
}

func (x way) finding(problem string) Finding {
	return Finding{Link: x.link.String(), In: x.from.Fibres[0], Out: x.to.Fibres[0], Problem: problem}
}

// Ends returns the ends of the links, in their order.
func (w *Wiring) Ends() []End {
	var out []End
	for _, l := range w.Links {
		out = append(out, l.A, l.B)
	}
	return out
}

// VerifyFrames holds what arrives at the ends of links against what should. Where the circuits are as they should be,
// what arrives at a wrong end tells which fibres are swapped.
func (w *Wiring) VerifyFrames(f Frames) FrameCheck {
	c := newListener(w, f)
	out := FrameCheck{Findings: []Finding{}, Untried: []Finding{}}
	for _, l := range w.Links {
		for _, x := range l.ways() {
			from, to := x.from.String(), x.to.String()
			why, deaf := f.Deaf[to]
			_, mute := f.Deaf[from]
			got := c.arrived[to]
			switch {
			case deaf:
				out.Untried = append(out.Untried, x.finding(fmt.Sprintf("%s cannot be asked what arrives: %s", to, why)))
			case slices.Equal(got, []string{from}):
				out.Arrived++
			case len(got) > 0:
				out.Findings = append(out.Findings, x.finding(c.instead(x, got)))
			case mute && !c.spoke[x.from.Device]:
				out.Untried = append(out.Untried, x.finding(fmt.Sprintf(
					"nothing arrives at %s, and nothing shows that %s sends", to, from)))
			default:
				out.Findings = append(out.Findings, x.finding(fmt.Sprintf("nothing of %s arrives at %s", from, to)))
			}
		}
	}
	return out
}

// listener looks up who is heard where.
type listener struct {
	w       *Wiring
	arrived map[string][]string // by end that hears: who sends, sorted
	spoke   map[string]bool     // devices that are heard anywhere
	plugged map[string]southbound.Port
	toOf    map[string]string // by end that sends: who should hear it
}

func newListener(w *Wiring, f Frames) *listener {
	c := &listener{w, map[string][]string{}, map[string]bool{}, map[string]southbound.Port{}, map[string]string{}}
	for p, name := range w.names {
		if old, several := c.plugged[name]; !several || p < old {
			c.plugged[name] = p
		}
	}
	for _, l := range w.Links {
		for _, x := range l.ways() {
			c.toOf[x.from.String()] = x.to.String()
		}
	}
	for _, h := range f.Heard {
		at := h.Device + " " + h.Port
		who, device := c.sender(h.Said)
		if !slices.Contains(c.arrived[at], who) {
			c.arrived[at] = append(c.arrived[at], who)
		}
		c.spoke[device] = true
	}
	for _, all := range c.arrived {
		slices.Sort(all)
	}
	return c
}

// sender returns the end that an announcement is of, as the wiring calls it, and its device. Devices say their names as
// that of the system or of the chassis, and those of ports as their id or their description.
func (c *listener) sender(a lldp.Announcement) (end, device string) {
	for _, device := range []string{a.System, a.Chassis} {
		for _, port := range []string{a.Port, a.Description} {
			if _, known := c.plugged[device+" "+port]; known {
				return device + " " + port, device
			}
		}
	}
	if a.System != "" {
		return a.System + " " + a.Port, a.System
	}
	return a.Chassis + " " + a.Port, a.Chassis
}

// instead tells of a direction in which something else arrives, and which fibres can be the cause.
func (c *listener) instead(x way, got []string) string {
	from, to := x.from.String(), x.to.String()
	text := fmt.Sprintf("what arrives at %s is of %s", to, strings.Join(got, " and "))
	if len(got) > 1 || got[0] == from {
		return text
	}
	other := got[0]
	port, plugged := c.plugged[other]
	there := c.toOf[other]
	switch {
	case !plugged:
		return text + ", which has no port at the switch in this file"
	case there != "" && slices.Contains(c.arrived[there], from):
		return fmt.Sprintf("%s: the fibres of %s and %s at the switch are swapped, or those of %s and %s", text,
			c.w.Name(x.from.Fibres[0]), c.w.Name(port), c.w.Name(x.to.Fibres[0]), c.w.Name(c.plugged[there]))
	}
	return fmt.Sprintf("%s: the fibre of %s is at input %s", text, other, c.w.Name(x.from.Fibres[0]))
}
