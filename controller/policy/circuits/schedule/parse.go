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
	MaxPorts = 1 << 14
	MaxSlots = 1 << 16
	MaxCells = 1 << 24 // slots × ports
	MaxTime  = 24 * time.Hour
)

// Parse reads a schedule that is repeated without end:
//
//	# a comment
//	ports 4
//	night 10ms
//	day 90ms 0>1 1>0 2>3 3>2
//	night 10ms
//	day 40ms 0>2 2>0
//
// A day has a length and its circuits, input>output; no port is lit twice in it. A night is the time
// before a day in which mirrors move: it belongs to the day after it, a last one to the first. A
// circuit of two consecutive days stays lit through the night between. Errors name file, line and
// column.
func Parse(r io.Reader, name string) (*Schedule, error) {
	p := parser{name: name, slots: &Schedule{}}
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.line++
		if err := p.read(in.Text()); err != nil {
			return nil, err
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read schedule %q: line %d: %w", name, p.line+1, err)
	}
	p.line++
	switch {
	case p.ports == 0:
		return nil, p.fail(1, "there is no schedule here: begin with ports N, then night and day lines")
	case len(p.slots.Slots) == 0:
		return nil, p.fail(1, "there is no day: write a line such as day 90ms 0>1 1>0")
	}
	p.slots.Slots[0].Long += p.night
	return p.slots, nil
}

type parser struct {
	name  string
	line  int
	ports int
	night time.Duration // before the day to come
	slots *Schedule
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
	n := len(p.slots.Slots) + 1
	if n > MaxSlots || n*p.ports > MaxCells {
		return p.fail(w[0].col, "more than %d days, or %d days times ports: write fewer", MaxSlots, MaxCells)
	}
	out := make([]southbound.Port, p.ports)
	by := make([]int, p.ports)
	for i := range out {
		out[i], by[i] = southbound.NoPort, -1
	}
	for _, c := range w[2:] {
		in, o, err := p.circuit(c)
		switch {
		case err != nil:
			return err
		case out[in] != southbound.NoPort:
			return p.fail(c.col, "%s lights input %d twice: it leads to %d already", c.text, in, out[in])
		case by[o] >= 0:
			return p.fail(c.col, "%s lights output %d twice: input %d leads there already", c.text, o, by[o])
		}
		out[in], by[o] = southbound.Port(o), in
	}
	p.slots.Slots = append(p.slots.Slots, Slot{p.night + d, out})
	p.night = 0
	return nil
}

func (p *parser) circuit(w word) (in, out int, err error) {
	a, b, ok := strings.Cut(w.text, ">")
	in, err1 := strconv.Atoi(a)
	out, err2 := strconv.Atoi(b)
	switch {
	case !ok || err1 != nil || err2 != nil:
		return 0, 0, p.fail(w.col, "%q is no circuit: write input>output, such as 0>1", w.text)
	case in < 0 || out < 0 || in >= p.ports || out >= p.ports:
		return 0, 0, p.fail(w.col, "%s: ports are 0 to %d", w.text, p.ports-1)
	case in == out:
		return 0, 0, p.fail(w.col, "%s leads a rack to itself", w.text)
	}
	return in, out, nil
}

// String writes a schedule in the form that Parse reads, each slot as one day.
func (s *Schedule) String() string {
	var b strings.Builder
	if len(s.Slots) > 0 {
		fmt.Fprintf(&b, "ports %d\n", len(s.Slots[0].Out))
	}
	for _, slot := range s.Slots {
		fmt.Fprintf(&b, "day %v", slot.Long)
		for in, o := range slot.Out {
			if o != southbound.NoPort {
				fmt.Fprintf(&b, " %d>%d", in, o)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
