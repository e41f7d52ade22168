package schedule

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// Limits of a schedule file.
const (
	MaxPorts    = 1 << 14
	MaxSlots    = 1 << 16
	MaxSwitches = 16
	MaxCells    = 1 << 24 // slots × ports
	MaxTime     = 24 * time.Hour
)

// Parse reads a schedule that is repeated without end:
//
//	# a comment
//	ports 4
//	night 10ms
//	day 90ms 0>1 1>0 2>3 3>2
//	night 10ms
//	day 40ms 0>2 2>0 ocs1:1>3
//
// A day has a length and its circuits, input>output; no port is lit twice in it. A night is the time
// before a day in which mirrors move: it belongs to the day after it, a last one to the first. A
// circuit of two consecutive days stays lit through the night between.
//
// Of several parallel switches, each with that many ports, a circuit names its own: ocs1 is the second.
// Without a name it is the first's, ocs0. Two ports are joined by one of them only, in the whole file.
// Errors name file, line and column.
func Parse(r io.Reader, name string) (*Schedule, error) {
	p := parser{name: name, slots: &Schedule{}, switches: 1, by: map[[2]int]int{}}
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.line++
		if err := p.read(in.Text()); err != nil {
			return nil, err
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read schedule %q: line %d: %w", name, p.line+1, plaintext.LineError(err))
	}
	p.line++
	switch {
	case p.ports == 0:
		return nil, p.fail(1, "there is no schedule here: begin with ports N, then night and day lines")
	case len(p.slots.Slots) == 0:
		return nil, p.fail(1, "there is no day: write a line such as day 90ms 0>1 1>0")
	}
	p.slots.Slots[0].Long += p.night
	if p.switches > 1 {
		p.widen()
	}
	return p.slots, nil
}

// widen gives every day the ports of all switches.
func (p *parser) widen() {
	p.slots.OfSwitch = p.ports
	for i := range p.slots.Slots {
		out := &p.slots.Slots[i].Out
		for len(*out) < p.switches*p.ports {
			*out = append(*out, southbound.NoPort)
		}
	}
}

type parser struct {
	name     string
	line     int
	ports    int
	switches int            // that are named, and those before them
	by       map[[2]int]int // the switch that joins two ports
	night    time.Duration  // before the day to come
	slots    *Schedule
}

func (p *parser) fail(col int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", p.name, p.line, col, fmt.Sprintf(format, args...))
}

// word is a part of a line and where it begins, from 1.
type word struct {
	text string
	col  int
}

func words(line string) (all []word) {
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	for at := 0; at < len(line); {
		if c := line[at]; c == ' ' || c == '\t' || c == '\r' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '\t' && line[end] != '\r' {
			end++
		}
		all = append(all, word{line[at:end], at + 1})
		at = end
	}
	return all
}

func (p *parser) read(line string) error {
	w := words(line)
	if len(w) == 0 {
		return nil
	}
	first := w[0]
	switch {
	case p.ports == 0 && first.text != "ports":
		return p.fail(first.col, "%q comes before the number of ports: begin with ports N", first.text)
	case p.ports == 0:
		return p.readPorts(w)
	case first.text == "night":
		return p.readNight(w)
	case first.text == "day":
		return p.readDay(w)
	case first.text == "ports":
		return p.fail(first.col, "the number of ports is %d already: leave this line out", p.ports)
	}
	return p.fail(first.col, "%q is neither night nor day", first.text)
}

func (p *parser) readPorts(w []word) error {
	if len(w) != 2 {
		return p.fail(w[0].col, "write ports and a number, such as ports 8")
	}
	n, err := strconv.Atoi(w[1].text)
	if err != nil || n < 2 || n > MaxPorts {
		return p.fail(w[1].col, "%q is no number of ports: take 2 to %d", w[1].text, MaxPorts)
	}
	p.ports = n
	return nil
}

func (p *parser) readTime(w []word) (time.Duration, error) {
	if len(w) < 2 {
		return 0, p.fail(w[0].col, "%s has no length: write %s 10ms", w[0].text, w[0].text)
	}
	d, err := time.ParseDuration(w[1].text)
	if err != nil || d <= 0 || d > MaxTime {
		return 0, p.fail(w[1].col, "%q is no length: write one above zero and up to %v, such as 10ms",
			w[1].text, MaxTime)
	}
	return d, nil
}

func (p *parser) readNight(w []word) error {
	d, err := p.readTime(w)
	switch {
	case err != nil:
		return err
	case len(w) > 2:
		return p.fail(w[2].col, "%q: no circuit is lit at night", w[2].text)
	case p.night > 0:
		return p.fail(w[0].col, "a night follows a night: make them one")
	}
	p.night = d
	return nil
}

func (p *parser) readDay(w []word) error {
	d, err := p.readTime(w)
	if err != nil {
		return err
	}
	var out []southbound.Port
	var by []int
	for _, c := range w[2:] {
		ocs, in, o, err := p.circuit(c)
		if err != nil {
			return err
		}
		p.switches = max(p.switches, ocs+1)
		for len(out) < p.switches*p.ports {
			out, by = append(out, southbound.NoPort), append(by, -1)
		}
		switch first := ocs * p.ports; {
		case out[first+in] != southbound.NoPort:
			return p.fail(c.col, "%s lights input %d twice: it leads to %d already", c.text, in, int(out[first+in])-first)
		case by[first+o] >= 0:
			return p.fail(c.col, "%s lights output %d twice: input %d leads there already", c.text, o, by[first+o])
		default:
			out[first+in], by[first+o] = southbound.Port(first+o), in
		}
	}
	n := len(p.slots.Slots) + 1
	if n > MaxSlots || n*p.ports*p.switches > MaxCells {
		return p.fail(w[0].col, "more than %d days, or %d days times ports: write fewer", MaxSlots, MaxCells)
	}
	for len(out) < p.ports {
		out = append(out, southbound.NoPort)
	}
	p.slots.Slots = append(p.slots.Slots, Slot{p.night + d, out})
	p.night = 0
	return nil
}

// circuit reads a circuit and the number of its switch.
func (p *parser) circuit(w word) (ocs, in, out int, err error) {
	text := w.text
	if name, rest, named := strings.Cut(w.text, ":"); named {
		if ocs, err = p.ocs(w, name); err != nil {
			return 0, 0, 0, err
		}
		text = rest
	}
	a, b, ok := strings.Cut(text, ">")
	in, err1 := strconv.Atoi(a)
	out, err2 := strconv.Atoi(b)
	switch {
	case ok && err1 == nil && strings.Contains(b, ":"):
		_, own, _ := strings.Cut(b, ":")
		return 0, 0, 0, p.fail(w.col, "%s names the port of a switch at the end: a circuit joins two ports of one switch: "+
			"write ocs%d:%d>%s", w.text, ocs, in, own)
	case !ok || err1 != nil || err2 != nil:
		return 0, 0, 0, p.fail(w.col, "%q is no circuit: write input>output, such as 0>1", w.text)
	case in < 0 || out < 0 || in >= p.ports || out >= p.ports:
		return 0, 0, 0, p.fail(w.col, "%s: ports are 0 to %d", w.text, p.ports-1)
	case in == out:
		return 0, 0, 0, p.fail(w.col, "%s leads a rack to itself", w.text)
	}
	pair := [2]int{in, out}
	if other, joined := p.by[pair]; joined && other != ocs {
		return 0, 0, 0, p.fail(w.col, "%s: ocs%d joins %d and %d in this file: a ToR sends all that goes to one rack "+
			"into one circuit", w.text, other, in, out)
	}
	p.by[pair] = ocs
	return ocs, in, out, nil
}

// ocs reads the name of a switch.
func (p *parser) ocs(w word, name string) (int, error) {
	digits, ok := strings.CutPrefix(name, "ocs")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= MaxSwitches || name != fmt.Sprintf("ocs%d", n) {
		return 0, p.fail(w.col, "%q is no switch: write ocs0 to ocs%d before a colon, as in ocs1:0>2", name, MaxSwitches-1)
	}
	return n, nil
}

// String writes a schedule in the form that Parse reads, each slot as one day.
func (s *Schedule) String() string {
	var b strings.Builder
	each := s.OfSwitch
	if each == 0 && len(s.Slots) > 0 {
		each = len(s.Slots[0].Out)
	}
	if len(s.Slots) > 0 {
		fmt.Fprintf(&b, "ports %d\n", each)
	}
	for _, slot := range s.Slots {
		fmt.Fprintf(&b, "day %v", slot.Long)
		for in, o := range slot.Out {
			switch {
			case o == southbound.NoPort:
			case in >= each:
				fmt.Fprintf(&b, " ocs%d:%d>%d", in/each, in%each, int(o)%each)
			default:
				fmt.Fprintf(&b, " %d>%d", in, o)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
