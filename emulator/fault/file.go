package fault

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"lightloom/pathmap/plaintext"
)

// Format describes the format of a fault file.
const Format = "" +
	`A file of faults has a line an event, in any order: when, what happens, to what kind of thing, and its name.

  # seconds since the run began, or a duration with its unit
  2s     fail  link        tor0-spine1   # both directions are dark; either end first
  2.5s   fail  port        tor3:2        # one end, which darkens the cable
  3s     fail  switch      spine0        # forwards nothing, answers no calls
  3s     fail  host        h2-1          # its tasks and transfers are void
  4s     fail  controller  controller0   # one replica of the controller is killed
  4s     fail  fibre       swap:0:2      # of two ports of the optical switch; :in or :out after it for one direction
  4s     fail  fibre       pull:3:in     # the fibre that leads into port 3 is unplugged
  5s     heal  link        tor0-spine1

What follows a # after a blank or at the beginning of a line is passed over, and so are empty lines. Of parallel cables
the second is tor0-spine1~1. A thing that has failed may fail again only after it has been healed.`

// Bounds of a file.
const (
	maxEvents = 100_000
	maxLine   = 1024
	maxAt     = 30 * 24 * time.Hour
)

// Error is a place in a file and what is wrong there.
type Error struct {
	File         string
	Line, Column int // from 1; columns count bytes
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// line is an event with the place where it stands.
type line struct {
	Event
	number int
	column int // of the name
}

// Read reads a file of faults; see Format. The events come sorted by instant, equal ones in the order
// of the file. name is what errors call the file, and names, where it is not nil, the fabric that they
// must exist on.
func Read(name string, r io.Reader, names *Names) ([]Event, error) {
	lines, err := scan(name, r)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(min(max(a.At-b.At, -1), 1)) })
	if names != nil {
		if err := rehearse(name, lines, names); err != nil {
			return nil, err
		}
	}
	out := make([]Event, len(lines))
	for i := range lines {
		out[i] = lines[i].Event
	}
	return out, nil
}

func scan(name string, r io.Reader) ([]line, error) {
	var out []line
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, maxLine)
	n := 0
	for in.Scan() {
		n++
		l, ok, column, err := parse(in.Text())
		if err == nil && ok && len(out) == maxEvents {
			err = fmt.Errorf("more than %d events", maxEvents)
		}
		if err != nil {
			return nil, &Error{File: name, Line: n, Column: column, Err: err}
		}
		if ok {
			l.number = n
			out = append(out, l)
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &Error{File: name, Line: n + 1, Column: maxLine,
			Err: fmt.Errorf("a line of more than %d bytes", maxLine)}
	} else if err != nil {
		return nil, fmt.Errorf("read faults %q: %w", name, err)
	}
	return out, nil
}

// word is a field of a line and the column where it begins, from 1.
type word struct {
	text   string
	column int
}

// split cuts a line into words, without its comment.
func split(s string) []word {
	var out []word
	for i := 0; i < len(s); {
		switch {
		case blank(s[i]):
			i++
		case s[i] == '#':
			return out
		default:
			end := i
			for end < len(s) && !blank(s[end]) {
				end++
			}
			out = append(out, word{s[i:end], i + 1})
			i = end
		}
	}
	return out
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// parse reads one line; false for one without an event. column is where an error is.
func parse(s string) (l line, ok bool, column int, err error) {
	if !utf8.ValidString(s) {
		return l, false, 1, errors.New("the line is not UTF-8")
	}
	w := split(s)
	if len(w) == 0 {
		return l, false, 0, nil
	}
	if len(w) < 4 {
		return l, false, len(s) + 1, fmt.Errorf("%d words: write such as 2s fail link tor0-spine1", len(w))
	}
	if len(w) > 4 {
		return l, false, w[4].column, fmt.Errorf("%q is one word too many: write such as 2s fail link tor0-spine1", w[4].text)
	}
	if l.At, err = instant(w[0].text); err != nil {
		return l, false, w[0].column, err
	}
	switch w[1].text {
	case "fail":
	case "heal":
		l.Heal = true
	default:
		return l, false, w[1].column, fmt.Errorf("%q is neither fail nor heal", w[1].text)
	}
	if l.Kind, err = KindNamed(w[2].text); err != nil {
		return l, false, w[2].column, err
	}
	l.Name, l.column = w[3].text, w[3].column
	return l, true, 0, nil
}

// instant reads a duration; a number without a unit counts seconds.
func instant(s string) (time.Duration, error) {
	text := s
	if last := s[len(s)-1]; last >= '0' && last <= '9' || last == '.' {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no instant: write such as 2s, 1m30s or 500ms", s)
	}
	if d < 0 || d > maxAt {
		return 0, fmt.Errorf("%q is not within 0s to %v", s, maxAt)
	}
	return d, nil
}

// rehearse finds names that the fabric does not have, and events that would change nothing: they are
// mistakes.
func rehearse(file string, lines []line, names *Names) error {
	d := NewDamage(names)
	for _, l := range lines {
		_, changed, err := d.Inject(l.Event)
		if err == nil && !changed {
			err = fmt.Errorf("%v has failed already at %v", l.Fault, l.At)
			if l.Heal {
				err = fmt.Errorf("%v has not failed before %v: there is nothing to heal", l.Fault, l.At)
			}
		}
		if err != nil {
			return &Error{File: file, Line: l.number, Column: l.column, Err: err}
		}
	}
	return nil
}
