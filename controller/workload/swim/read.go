package swim

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/pathmap"
)

// Record is one line of a trace.
type Record struct {
	Name                   string
	Submit                 time.Duration // since the trace began; whole seconds, many equal
	Input, Shuffle, Output pathmap.Bytes
	Line                   int // of the file, from 1
}

// Bounds of a trace: far above any published one, low enough that a hostile file cannot exhaust the reader.
const (
	MaxRecords = 1 << 20
	maxLine    = 1 << 12
	maxSubmit  = 100 * 365 * 24 * 3600 // seconds: a century
)

// Read reads a trace, compressed by gzip or not: a line a job, six fields separated by tabs, no header:
//
//	id  submit_s  gap_s  map_input_bytes  shuffle_bytes  reduce_output_bytes
//
// The gap is that to the job before, and is not used. Jobs stand in order of submission, equal ones as
// in the file. Empty lines are skipped, and the last line can lack its newline. Anything else is a
// *workload.SyntaxError.
func Read(r io.Reader, name string) ([]Record, error) {
	in := bufio.NewReaderSize(r, maxLine)
	if magic, err := in.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("read trace: %s: decompress: %w", name, err)
		}
		in = bufio.NewReaderSize(z, maxLine)
	}
	p := parser{name: name, lines: map[string]int{}}
	for {
		text, err := in.ReadSlice('\n')
		if len(text) > 0 || err == nil {
			if err := p.take(text, errors.Is(err, bufio.ErrBufferFull)); err != nil {
				return nil, err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if len(p.records) == 0 {
				p.line = 1
				return nil, p.fail(1, "the file holds no job", shape)
			}
			return p.records, nil
		case err != nil:
			return nil, fmt.Errorf("read trace: %s: %w", name, err)
		}
	}
}

const shape = "a line is `id submit_s gap_s map_input_bytes shuffle_bytes reduce_output_bytes`, separated by tabs"

// fields are what a line has, in order.
var fields = [...]struct {
	name string
	most int64
}{{name: "the job's id"}, {"the instant of submission in seconds",
	maxSubmit}, {"the gap in seconds", maxSubmit},
	{"the input in bytes", int64(controller.MaxBytes)}, {"the shuffle in bytes", int64(controller.MaxBytes)},
	{"the output in bytes", int64(controller.MaxBytes)}}

type parser struct {
	name    string
	line    int
	lines   map[string]int // id → line
	records []Record
}

func (p *parser) fail(col int, problem, mend string) error {
	return &workload.SyntaxError{File: p.name, Line: p.line, Col: col, Problem: problem, Mend: mend}
}

func (p *parser) take(text []byte, long bool) error {
	p.line++
	if long {
		return p.fail(1, fmt.Sprintf("the line is longer than %d bytes", maxLine), shape)
	}
	line := strings.TrimRight(string(text), "\r\n")
	if strings.TrimSpace(line) == "" {
		return nil
	}
	words := strings.Split(line, "\t")
	if len(words) != len(fields) {
		return p.fail(1, fmt.Sprintf("the line has %d fields, not %d", len(words), len(fields)), shape)
	}
	if len(p.records) == MaxRecords {
		return p.fail(1, fmt.Sprintf("more than %d jobs", MaxRecords), "cut the file")
	}
	var n [len(fields)]int64
	col := 1 + len(words[0]) + 1
	for i := 1; i < len(fields); i++ {
		v, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || v < 0 || v > fields[i].most {
			return p.fail(col, fmt.Sprintf("%s: %q is not a whole number from 0 to %d", fields[i].name,
				clip(words[i]),
				fields[i].most), shape)
		}
		n[i] = v
		col += len(words[i]) + 1
	}
	return p.add(Record{Name: words[0], Submit: time.Duration(n[1]) * time.Second, Input: pathmap.Bytes(n[3]),
		Shuffle: pathmap.Bytes(n[4]), Output: pathmap.Bytes(n[5]), Line: p.line})
}

func (p *parser) add(r Record) error {
	if r.Name == "" {
		return p.fail(1, "the job has no id", shape)
	}
	if first, dup := p.lines[r.Name]; dup {
		return p.fail(1, fmt.Sprintf("id %q was used in line %d", clip(r.Name), first),
			"give every job an id of its own")
	}
	if k := len(p.records); k > 0 && r.Submit < p.records[k-1].Submit {
		return p.fail(len(r.Name)+2, fmt.Sprintf("submitted at %v, before the job of line %d at %v", r.Submit,
			p.records[k-1].Line, p.records[k-1].Submit),
			"sort the file by its second field")
	}
	p.lines[r.Name] = p.line
	p.records = append(p.records, r)
	return nil
}

// clip keeps a message from repeating a hostile line.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
