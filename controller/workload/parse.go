package workload

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// Bounds of a trace: far above any published one, low enough that a hostile file cannot exhaust the reader.
const (
	MaxLine      = 8 << 20 // bytes of one line
	MaxCoflows   = 1 << 20
	maxArrivalMS = 100 * 365 * 24 * 3600 * 1000 // a century
	maxMB        = int64(controller.MaxBytes / Megabyte)
)

// SyntaxError is where a trace is wrong, and how to correct it.
type SyntaxError struct {
	File      string
	Line, Col int // from 1; columns count bytes
	Problem   string
	Mend      string
	What      string // was being read; empty: a trace
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("read %s: %s:%d:%d: %s", cmp.Or(e.What, "trace"), e.File, e.Line, e.Col, e.Problem)
}

// Hint returns what to type instead.
func (e *SyntaxError) Hint() string { return e.Mend }

// ReadTrace reads the coflow-benchmark format: a header `<racks> <coflows>`, then a line a coflow:
//
//	id arrival_ms #mappers rack… #reducers rack:MB …
//
// Fields are separated by spaces or tabs, racks count from 0, megabytes are decimal numbers, perhaps with an exponent,
// and rounded to the byte. A coflow can have no reducers, and a reducer no bytes. Whole megabytes ("48" or "48.0") are
// split into whole megabytes where there is one for every mapper; another amount is split to the byte. Lines can be in
// any order of ids and of arrivals: coflows of one arrival keep the order of the file. The last line can lack its
// newline. Anything else is a *SyntaxError.
func ReadTrace(r io.Reader, name string) (*Trace, error) {
	in, err := unzipped(r)
	if err != nil {
		return nil, fmt.Errorf("read trace %q: %w", name, err)
	}
	p := &parser{name: name, ids: map[int]int{}, in: in}
	t, err := p.trace()
	if err != nil {
		return nil, err
	}
	return t, nil
}

// unzipped returns a reader of the text, which can be compressed by gzip and have a byte order mark.
func unzipped(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, err := in.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return plaintext.NewReader(in), nil // what is wrong with it is found when it is read
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return plaintext.NewReader(z), nil
}

// parser holds the line being read. Its methods report the first thing that is wrong by panicking with *SyntaxError
// or ioError, which trace turns into an error: a grammar of fields then reads as a list of fields.
type parser struct {
	in   *bufio.Reader
	name string
	line int
	text string
	at   int         // byte offset of what follows in text
	tok  int         // byte offset of the last field taken
	ids  map[int]int // id → line

	rackMend string // what to do about a rack that is not there
}

type ioError struct{ err error }

func (p *parser) trace() (t *Trace, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
			t, err = nil, e
		case ioError:
			t, err = nil, e.err
		default:
			panic(e)
		}
	}()
	racks, coflows := p.header()
	p.rackMend = fmt.Sprintf("write a rack from 0 to %d, or raise the number of racks in line 1", racks-1)
	t = &Trace{Name: p.name, Racks: racks}
	for p.next() {
		if len(t.Coflows) == coflows {
			p.fail(0, fmt.Sprintf("the header says %d coflows, and here is another", coflows),
				fmt.Sprintf("write the number of lines that follow it in line 1: `%d N`", racks))
		}
		t.Coflows = append(t.Coflows, p.coflow(racks))
	}
	if len(t.Coflows) < coflows {
		p.line, p.text = p.line+1, ""
		p.fail(0, fmt.Sprintf("the file ends after %d of %d coflows", len(t.Coflows), coflows),
			fmt.Sprintf("fetch the whole file, or write `%d %d` in line 1", racks, len(t.Coflows)))
	}
	return t, nil
}

func (p *parser) header() (racks, coflows int) {
	const mend = "write `<racks> <coflows>` in line 1, such as `150 526`"
	if !p.next() {
		p.line = 1
		p.fail(0, "the file is empty", mend)
	}
	racks = int(p.integer("the number of racks", 1, southbound.MaxRacks, mend))
	coflows = int(p.integer("the number of coflows", 1, MaxCoflows, mend))
	p.end("the header")
	return racks, coflows
}

func (p *parser) coflow(racks int) TraceCoflow {
	const shape = "a line is `id arrival_ms #mappers rack… #reducers rack:MB…`"
	c := TraceCoflow{Line: p.line}
	c.ID = int(p.integer("the coflow's id", 0, math.MaxInt32, shape))
	if first, dup := p.ids[c.ID]; dup {
		p.fail(p.tok, fmt.Sprintf("id %d was used in line %d", c.ID, first),
			"give every coflow an id of its own")
	}
	p.ids[c.ID] = p.line
	c.Arrival = time.Duration(p.integer("the arrival in milliseconds", 0, maxArrivalMS,
		shape)) * time.Millisecond
	c.Mappers = make([]int32, 0, 8)
	for i, n := 0, int(p.integer("the number of mappers", 1, controller.MaxFlows, shape)); i < n; i++ {
		what := "the rack of mapper " + strconv.Itoa(i+1) + " of " + strconv.Itoa(n)
		c.Mappers = append(c.Mappers, int32(p.integer(what, 0, int64(racks-1), p.rackMend)))
	}
	n := int(p.integer("the number of reducers", 0, controller.MaxFlows, shape))
	if n > controller.MaxFlows/len(c.Mappers) {
		p.fail(p.tok, fmt.Sprintf("%d mappers times %d reducers make too many flows", len(c.Mappers), n),
			fmt.Sprintf("keep a coflow to %d flows", controller.MaxFlows))
	}
	for i := range n {
		c.Reducers = append(c.Reducers, p.reducer(i, n, racks, len(c.Mappers)))
	}
	p.end("the last reducer")
	if c.Bytes() > controller.MaxBytes {
		p.fail(0, fmt.Sprintf("the coflow holds %d MB", c.Bytes()/Megabyte),
			fmt.Sprintf("keep a coflow to %d MB", maxMB))
	}
	return c
}

func (p *parser) reducer(i, n, racks, mappers int) Reducer {
	what := "reducer " + strconv.Itoa(i+1) + " of " + strconv.Itoa(n)
	const shape = "write a reducer as rack:MB, such as 140:48.0"
	f := p.field(what, shape)
	rack, mb, ok := strings.Cut(f, ":")
	if !ok {
		p.fail(p.tok, fmt.Sprintf("%s: %q has no colon", what, f), shape)
	}
	r := p.number(p.tok, what+": rack", rack, 0, int64(racks-1), p.rackMend)
	col := p.tok + len(rack) + 1
	return Reducer{Rack: int32(r), Bytes: p.megabytes(col, what, mb)}
}

// megabytes reads a decimal number of megabytes, to the nearest byte, but at least one of what is above zero.
func (p *parser) megabytes(col int, what, s string) pathmap.Bytes {
	const mend = "write megabytes from zero, such as 48, 48.0, 0.5 or 4.8e1"
	if !strings.ContainsAny(s, ".eE") { // an error takes longer than a number
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 && n <= maxMB {
			return pathmap.Bytes(n) * Megabyte
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case strings.Trim(s, "0123456789.eE+-") != "" || err != nil && !errors.Is(err, strconv.ErrRange):
		p.fail(col, fmt.Sprintf("%s: megabytes: %q is no decimal number", what, clip(s)), mend)
	case !(v >= 0 && v <= float64(maxMB)):
		p.fail(col, fmt.Sprintf("%s: megabytes: %s is not within 0 to %d", what, clip(s), maxMB), mend)
	}
	n := pathmap.Bytes(math.Round(v * float64(Megabyte)))
	if v > 0 {
		n = max(n, 1)
	}
	return n
}

// integer takes the next field as a number from lo to hi.
func (p *parser) integer(what string, lo, hi int64, mend string) int64 {
	f := p.field(what, mend)
	return p.number(p.tok, what, f, lo, hi, mend)
}

func (p *parser) number(col int, what, s string, lo, hi int64, mend string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && (n < lo || n > hi):
		p.fail(col, fmt.Sprintf("%s: %s is not within %d to %d", what, clip(s), lo, hi), mend)
	case err != nil || s[0] == '+':
		p.fail(col, fmt.Sprintf("%s: %q is not a whole number", what, clip(s)), mend)
	}
	return n
}

// clip keeps a message from repeating a hostile line.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// field takes the next field of the line.
func (p *parser) field(what, mend string) string {
	for p.at < len(p.text) && blank(p.text[p.at]) {
		p.at++
	}
	p.tok = p.at
	for p.at < len(p.text) && !blank(p.text[p.at]) {
		p.at++
	}
	if p.tok == p.at {
		p.fail(p.tok, "the line ends before "+what, mend)
	}
	return p.text[p.tok:p.at]
}

func (p *parser) end(after string) {
	if rest := strings.TrimLeft(p.text[p.at:], " \t"); rest != "" {
		p.fail(len(p.text)-len(rest), fmt.Sprintf("%q stands after %s", clip(rest), after),
			"make the counts on the line equal to what follows them, and begin each coflow on a line of its own")
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// next reads the next line that is not the empty end of the file; false when there is none.
func (p *parser) next() bool {
	for skipped := 0; ; skipped++ {
		text, ok := p.read()
		switch {
		case ok && strings.TrimLeft(text, " \t") == "":
			continue
		case ok && skipped > 0:
			p.line, p.text = p.line-1, ""
			p.fail(0, "the line is empty", "take empty lines out; only the end of the file may have them")
		case !ok:
			p.line -= skipped
			return false
		}
		p.text, p.at, p.tok = text, 0, 0
		return true
	}
}

// read returns one line without its end; false at the end of the file.
func (p *parser) read() (string, bool) {
	var b []byte
	for {
		part, err := p.in.ReadSlice('\n')
		b = append(b, part...)
		switch {
		case len(b) > MaxLine:
			p.line++
			p.text = ""
			p.fail(0, "the line is too long", fmt.Sprintf("keep lines under %d bytes", MaxLine))
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			panic(ioError{fmt.Errorf("read trace %q: line %d: %w", p.name, p.line+1, err)})
		case err != nil && len(b) == 0:
			return "", false
		}
		p.line++
		return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), true
	}
}

func (p *parser) fail(offset int, problem, mend string) {
	panic(&SyntaxError{File: p.name, Line: p.line, Col: offset + 1, Problem: problem, Mend: mend})
}
