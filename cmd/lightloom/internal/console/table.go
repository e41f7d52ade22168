package console

import (
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Table is a table in the style of all commands. On a terminal it wraps its widest cells so that its lines fit.
type Table struct {
	table.Writer
	out     io.Writer
	width   int // of the terminal; 0: no bound
	configs []table.ColumnConfig
}

// NewTable returns a table for w with that header.
func NewTable(w io.Writer, header ...any) *Table { return newTable(w, Width(w), header...) }

func newTable(w io.Writer, width int, header ...any) *Table {
	t := &Table{Writer: table.NewWriter(), out: w, width: width, configs: make([]table.ColumnConfig, len(header))}
	t.SetStyle(table.StyleRounded)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	for i := range t.configs {
		t.configs[i] = table.ColumnConfig{Number: i + 1, WidthMaxEnforcer: text.WrapSoft}
	}
	return t
}

// Right aligns columns, from 1, as numbers are.
func (t *Table) Right(columns ...int) {
	for _, c := range columns {
		t.configs[c-1].Align, t.configs[c-1].AlignHeader = text.AlignRight, text.AlignRight
	}
}

// Most bounds the width of a column, whatever the terminal.
func (t *Table) Most(column, width int) { t.configs[column-1].WidthMax = width }

// Row adds a row.
func (t *Table) Row(cells ...any) { t.AppendRow(cells) }

// Render returns the table. If it is too wide it takes the largest bound of all columns that makes it fit.
func (t *Table) Render() string {
	t.SetColumnConfigs(t.configs)
	whole := t.Writer.Render()
	if t.width == 0 || widest(whole) <= t.width {
		return whole
	}
	const least = 4 // of a column: narrower ones cannot be read
	less := sort.Search(t.width-least, func(less int) bool { return widest(t.bounded(t.width-less)) <= t.width })
	return t.bounded(t.width - less)
}

func (t *Table) bounded(most int) string {
	configs := append([]table.ColumnConfig(nil), t.configs...)
	for i := range configs {
		if c := &configs[i]; c.WidthMax == 0 || c.WidthMax > most {
			c.WidthMax = most
		}
	}
	t.SetColumnConfigs(configs)
	return t.Writer.Render()
}

// Print writes the table and ends its last line.
func (t *Table) Print() error {
	if _, err := fmt.Fprintln(t.out, t.Render()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func widest(s string) (n int) {
	for line := range strings.SplitSeq(s, "\n") {
		n = max(n, text.StringWidthWithoutEscSequences(line))
	}
	return n
}

// Width is the number of columns of the terminal that w is, or says that it is written for; 0 where there is none.
func Width(w io.Writer) int {
	if x, ok := w.(interface{ Width() int }); ok {
		return x.Width()
	}
	width, _ := size(w)
	return width
}

// Height is the number of lines of the terminal that w is; 0 where it is none.
func Height(w io.Writer) int {
	_, height := size(w)
	return height
}

func size(w io.Writer) (width, height int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
