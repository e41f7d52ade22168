package topo

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"lightloom/pathmap"
)

// printer writes text and keeps the first error.
type printer struct {
	w   *bufio.Writer
	err error
}

func newPrinter(w io.Writer) *printer { return &printer{w: bufio.NewWriter(w)} }

func (p *printer) print(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s)
	}
}

func (p *printer) printf(format string, args ...any) { p.print(fmt.Sprintf(format, args...)) }

func (p *printer) flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// cablesOf gives the cables of t as a file names them, in the order in which they were added.
func cablesOf(t *pathmap.Topology) iter.Seq[sketchCable] {
	return func(yield func(sketchCable) bool) {
		for i := 0; i < len(t.Links()); i += 2 {
			l, back := t.Links()[i], t.Links()[i+1]
			c := sketchCable{from: t.Node(l.From).Name, to: t.Node(l.To).Name, fromPort: l.FromPort,
				toPort: l.ToPort,
				there:  l.Capacity, back: back.Capacity}
			if !yield(c) {
				return
			}
		}
	}
}

// differing returns the capacity of the way back where it is not that of the way there, else 0.
func (c sketchCable) differing() pathmap.BitsPerSecond {
	if c.back == c.there {
		return 0
	}
	return c.back
}
