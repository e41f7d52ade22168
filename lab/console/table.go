package console

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Table is a table in the style of all commands. On a terminal it wraps its widest cells so that its
// lines fit; where that would break words, it lists the cells of each row below each other.
type Table struct {
	table.Writer
	out     io.Writer
	width   int // of the terminal; 0: no bound
	configs []table.ColumnConfig
	rows    [][]string // the header first
}

// NewTable returns a table for w with that header.
func NewTable(w io.Writer, header ...any) *Table { return newTable(w, Width(w), header...) }

func newTable(w io.Writer, width int, header ...any) *Table {
	t := &Table{Writer: table.NewWriter(), out: w, width: width,
		configs: make([]table.ColumnConfig, len(header))}
	t.SetStyle(table.StyleRounded)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	t.keep(header)
	for i := range t.configs {
		t.configs[i] = table.ColumnConfig{Number: i + 1, WidthMaxEnforcer: wrap}
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

// Row adds a row. Cells are shown as Line does.
func (t *Table) Row(cells ...any) { t.AppendRow(cells) }

// AppendRow implements table.Writer.
func (t *Table) AppendRow(row table.Row, configs ...table.RowConfig) {
	row = slices.Clone(row)
	for i, c := range row {
		if s, ok := c.(string); ok { // numbers have nothing to hide
			row[i] = Line(s)
		}
	}
	t.keep(row)
	t.Writer.AppendRow(row, configs...)
}

func (t *Table) keep(cells []any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// Render returns the table. If it is too wide it takes the largest bound of all columns that makes it fit.
func (t *Table) Render() string {
	t.SetColumnConfigs(t.configs)
	whole := t.Writer.Render()
	if t.width == 0 || widest(whole) <= t.width {
		return whole
	}
	least := t.leasts()
	if widest(t.bounded(0, least)) > t.width {
		return t.listed()
	}
	less := sort.Search(t.width, func(less int) bool {
		return widest(t.bounded(t.width-less,
			least)) <= t.width
	})
	return t.bounded(t.width-less, least)
}

// leasts are the widths below which a column would break words.
func (t *Table) leasts() []int {
	out := make([]int, len(t.configs))
	for _, row := range t.rows {
		for i := range out {
			for line := range strings.SplitSeq(row[i], "\n") {
				for _, p := range pieces(line) {
					out[i] = max(out[i], text.StringWidthWithoutEscSequences(strings.TrimRight(p, " ")))
				}
			}
		}
	}
	return out
}

func (t *Table) bounded(most int, least []int) string {
	configs := append([]table.ColumnConfig(nil), t.configs...)
	for i := range configs {
		bound := max(most, least[i], 1)
		if c := &configs[i]; c.WidthMax == 0 || c.WidthMax > bound {
			c.WidthMax = bound
		}
	}
	t.SetColumnConfigs(configs)
	return t.Writer.Render()
}

// listed returns the rows one after the other, a line a cell that is not empty.
func (t *Table) listed() string {
	names := 0
	for _, name := range t.rows[0] {
		names = max(names, text.StringWidthWithoutEscSequences(name))
	}
	names = min(names, t.width/2)
	var rows []string
	for _, row := range t.rows[1:] {
		var b strings.Builder
		for i, cell := range row {
			if cell == "" {
				continue
			}
			name := strings.Split(wrap(t.rows[0][i], names), "\n")
			value := strings.Split(wrap(cell, max(1, t.width-names-2)), "\n")
			for k := range max(len(name), len(value)) {
				fmt.Fprintf(&b, "%s  %s\n", text.Pad(at(name, k), names, ' '), at(value, k))
			}
		}
		rows = append(rows, b.String())
	}
	return strings.TrimSuffix(strings.Join(rows, "\n"), "\n")
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// pieces are the parts of a line between which it can be broken: words with the spaces after them, and
// what ends with a sign that joins words, as in a+b.
func pieces(line string) []string {
	var out []string
	from := 0
	for i, r := range line {
		end := i + len(string(r))
		next := byte(0)
		if end < len(line) {
			next = line[end]
		}
		digit := next >= '0' && next <= '9'
		if r == ' ' && next != ' ' || strings.ContainsRune("+,/_→", r) && next != ' ' && !digit {
			out, from = append(out, line[from:end]), end
		}
	}
	if from < len(line) {
		out = append(out, line[from:])
	}
	return out
}

// wrap breaks lines between pieces, and within one only if it is too wide by itself.
func wrap(s string, width int) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		now := ""
		for _, p := range pieces(line) {
			both := text.StringWidthWithoutEscSequences(strings.TrimRight(now+p, " "))
			if now != "" && both > width {
				out, now = append(out, strings.TrimRight(now, " ")), ""
			}
			for now += p; text.StringWidthWithoutEscSequences(strings.TrimRight(now, " ")) > width; {
				head := text.Trim(now, width)
				if head == "" {
					break // a sign that is wider than the line
				}
				out, now = append(out, head), strings.TrimPrefix(now, head)
			}
		}
		out = append(out, strings.TrimRight(now, " "))
	}
	return strings.Join(out, "\n")
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

// Width is the number of columns of the terminal that w is, or says that it is written for; 0 where
// there is none.
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
	f, ok := file(w)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
