package console

import (
	"io"
	"strings"
	"testing"
)

// TestTableWidth: no line is wider than the terminal, and no word of a cell is lost.
func TestTableWidth(t *testing.T) {
	for _, tc := range []struct {
		name  string
		width int
		lines int // at least
	}{
		{"no terminal", 0, 1},
		{"wide", 200, 1},
		{"80 columns", 80, 2},
		{"40 columns", 40, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table := newTable(io.Discard, tc.width, "figure", "value", "note")
			table.Right(2)
			note := strings.Repeat("a word of some length ", 6)
			table.Row("mean coflow completion time", "0.805 s", note)
			got := table.Render()
			if w := widest(got); tc.width > 0 && w > tc.width {
				t.Errorf("%d columns, want %d at most:\n%s", w, tc.width, got)
			}
			if n := strings.Count(got, "\n"); n < 3+tc.lines {
				t.Errorf("%d lines:\n%s", n, got)
			}
			if n := strings.Count(got, "length"); n != 6 {
				t.Errorf("a word stands %d times, want 6:\n%s", n, got)
			}
		})
	}
}
