package pods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Servers is how many servers the cluster of the public trace of faults has (InfiniteHBD, SIGCOMM 2025).
const Servers = 400

// mostTrace bounds the size of a trace of faults, in bytes.
const mostTrace = 64 << 20

// Change is a server that fails or is back, in days since the trace's origin.
type Change struct {
	Day    float64
	Server int
	Down   bool
}

// Trace is the faults of a cluster, in the order of time.
type Trace struct {
	From, To float64 // days
	Changes  []Change
}

// ReadFaults reads a trace of faults: a JSON list of {"node_id": "n007", "event_time": 13.25, "event_type":
// "fault_start"}, in the order of time, with times in days. Its errors name the file, line and column.
//
// A trace ends with its last event. It begins at day 0, unless a server's first event is the end of a fault: then it
// was cut out of a longer one, begins with its first event, and the server has failed from then on.
func ReadFaults(name string, r io.Reader) (*Trace, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostTrace+1))
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	if len(text) > mostTrace {
		return nil, fmt.Errorf("%s: it has more than %d MiB: take a trace of faults", name, mostTrace>>20)
	}
	d := &faultReader{name: name, text: text, json: json.NewDecoder(bytes.NewReader(text)), open: map[int]int{},
		seen: map[int]bool{}}
	if err := d.read(); err != nil {
		return nil, err
	}
	t := &Trace{Changes: append(d.before, d.changes...)}
	if n := len(d.changes); n > 0 {
		t.To = d.changes[n-1].Day
		if len(d.before) > 0 {
			t.From = d.changes[0].Day
		}
	}
	for i := range d.before {
		t.Changes[i].Day = t.From
	}
	return t, nil
}

// faultReader reads a trace event by event.
type faultReader struct {
	name    string
	text    []byte
	json    *json.Decoder
	before  []Change // servers that have failed before the trace begins
	changes []Change
	open    map[int]int // faults by server
	seen    map[int]bool
}

func (d *faultReader) read() error {
	if t, err := d.json.Token(); err != nil || t != json.Delim('[') {
		return d.fail(0, errors.New(`it is no list of events: begin it with [{"node_id": "n000", …`))
	}
	for d.json.More() {
		at := d.next()
		var e struct {
			Node  *string  `json:"node_id"`
			Time  *float64 `json:"event_time"`
			Event *string  `json:"event_type"`
		}
		if err := d.json.Decode(&e); err != nil {
			return d.fail(d.errorAt(err, at), err)
		}
		if e.Node == nil || e.Time == nil || e.Event == nil {
			return d.fail(at, errors.New(`an event has node_id, event_time and event_type`))
		}
		if err := d.event(*e.Node, *e.Time, *e.Event); err != nil {
			return d.fail(at, err)
		}
	}
	if _, err := d.json.Token(); err != nil {
		return d.fail(len(d.text), errors.New("the list of events does not end: add ]"))
	}
	if end := d.next(); end < len(d.text) {
		return d.fail(end, errors.New("something follows the list of events: delete it"))
	}
	return nil
}

// next returns where the next value begins.
func (d *faultReader) next() int {
	at := int(d.json.InputOffset())
	for at < len(d.text) && strings.IndexByte(" \t\r\n,", d.text[at]) >= 0 {
		at++
	}
	return at
}

// errorAt returns where the JSON is wrong, or at where it does not say so.
func (d *faultReader) errorAt(err error, at int) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return min(max(int(syntax.Offset)-1, at), len(d.text))
	case errors.As(err, &kind):
		return min(max(int(kind.Offset)-1, at), len(d.text))
	}
	return at
}

// fail returns an error with its place.
func (d *faultReader) fail(at int, err error) error {
	before := d.text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Errorf("%s:%d:%d: %w", d.name, line, at-bytes.LastIndexByte(before, '\n'), err)
}

func (d *faultReader) event(node string, day float64, kind string) error {
	digits, ok := strings.CutPrefix(node, "n")
	server, err := strconv.Atoi(digits)
	switch {
	case !ok || err != nil || server < 0 || server >= Servers || strings.HasPrefix(digits, "+"):
		return fmt.Errorf("node_id %q is no server: n000 to n%d", node, Servers-1)
	case !(day >= 0 && day < math.MaxInt32):
		return fmt.Errorf("event_time %g is no number of days from 0 on", day)
	case len(d.changes) > 0 && day < d.changes[len(d.changes)-1].Day:
		return fmt.Errorf("event_time %g comes after %g: sort the events by time", day, d.changes[len(d.changes)-1].Day)
	case kind != "fault_start" && kind != "fault_end":
		return fmt.Errorf(`event_type %q: write "fault_start" or "fault_end"`, kind)
	}
	down := kind == "fault_start"
	switch {
	case down:
		d.open[server]++
	case d.open[server] > 0:
		d.open[server]--
	case d.seen[server]:
		return fmt.Errorf("node_id %q: this fault_end has no fault_start: delete it, or add the start", node)
	default:
		d.before = append(d.before, Change{Server: server, Down: true})
	}
	d.seen[server] = true
	d.changes = append(d.changes, Change{day, server, down})
	return nil
}

// Outage is how long so many cubes are away at once.
type Outage struct {
	From, To float64 // days
	Away     []int   // cubes, ascending
}

// Outages returns the times between two changes of a pod of so many cubes, of which server i of 400 stands in cube
// ⌊cubes·i/400⌋. A cube is away while any of its servers has an open fault.
func (t *Trace) Outages(cubes int) []Outage {
	var out []Outage
	faults, at := make([]int, cubes), t.From
	add := func(to float64) {
		if to > at {
			o := Outage{From: at, To: to}
			for c, n := range faults {
				if n > 0 {
					o.Away = append(o.Away, c)
				}
			}
			out = append(out, o)
			at = to
		}
	}
	for _, c := range t.Changes {
		add(c.Day)
		if c.Down {
			faults[cubes*c.Server/Servers]++
		} else {
			faults[cubes*c.Server/Servers]--
		}
	}
	add(t.To)
	return out
}

// Cabling is how the cubes of a pod are joined.
type Cabling string

// The cablings.
const (
	Electrical Cabling = "electrical"  // by packet switches: any cube reaches any other
	FixedTorus Cabling = "fixed torus" // by cables: no spare cube can stand where another one does
	Rewired    Cabling = "re-wired"    // by optical switches: circuits lead to a spare cube instead
)

// Losses is what faults cost a pod.
type Losses struct {
	Available float64 // share of the time in which all its cubes are there
	NodeHours float64 // lost: 64 nodes for each cube that is away and that no spare stands for
	Swaps     int     // of a cube that is away for a spare
	// Outside is the mean number of nodes of cubes outside of the largest box of whole cubes: a slice cannot have them
	// together with the box.
	Outside float64
}

// Lost returns what faults cost a pod of 4×4×4 cubes, so many of which are spare, besides the 64 that faults are known
// of. Spares do not fail.
func (t *Trace) Lost(cabling Cabling, spares int) Losses {
	const side, cubes, nodes = 4, 64, 64
	var l Losses
	if cabling == FixedTorus {
		spares = 0
	}
	whole, stands := 0.0, map[int]bool{} // cubes that a spare stands for
	for _, o := range t.Outages(cubes) {
		days := o.To - o.From
		lost := max(0, len(o.Away)-spares)
		if lost == 0 {
			whole += days
		}
		l.NodeHours += float64(lost*nodes) * 24 * days
		outside := lost
		if cabling == FixedTorus {
			outside = cubes - largestBox(o.Away, side)
		}
		l.Outside += float64(outside*nodes) * days
		l.Swaps += swap(stands, o.Away, spares)
	}
	if cabling != Rewired {
		l.Swaps = 0
	}
	if all := t.To - t.From; all > 0 {
		l.Available, l.Outside = whole/all, l.Outside/all
	}
	return l
}

// swap frees the spares of cubes that are back, gives free ones to cubes that are away, and returns how many it gave.
func swap(stands map[int]bool, away []int, spares int) (swaps int) {
	maps.DeleteFunc(stands, func(c int, _ bool) bool { return !slices.Contains(away, c) })
	for _, c := range away {
		if !stands[c] && len(stands) < spares {
			stands[c] = true
			swaps++
		}
	}
	return swaps
}

// largestBox returns how many cubes the largest box has, which may wrap, of a torus of side³ cubes without some.
func largestBox(away []int, side int) int {
	gone := make([]bool, side*side*side)
	for _, c := range away {
		gone[c] = true
	}
	free := func(at, box [3]int) bool {
		for x := range box[0] {
			for y := range box[1] {
				for z := range box[2] {
					if gone[((at[0]+x)%side*side+(at[1]+y)%side)*side+(at[2]+z)%side] {
						return false
					}
				}
			}
		}
		return true
	}
	best := 0
	for n := range side * side * side {
		box := [3]int{n/side/side + 1, n/side%side + 1, n%side + 1}
		if size := box[0] * box[1] * box[2]; size > best {
			for c := range side * side * side {
				if free([3]int{c / side / side, c / side % side, c % side}, box) {
					best = size
					break
				}
			}
		}
	}
	return best
}
