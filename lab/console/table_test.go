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

// TestTableListed: where no table fits without broken words, each row is a list.
func TestTableListed(t *testing.T) {
	table := newTable(io.Discard, 40, "switch", "kind", "ports", "rules", "circuits", "dark ports", "leader")
	table.Right(3, 4, 5)
	table.Row("tor0", "tor", 5, 14, 0, "tor0:4 tor0:5", "fenced")
	table.Row("ocs", "ocs", 8, 0, 3, "", "a reason that is longer than the line is wide")
	const want = `switch      tor0
kind        tor
ports       5
rules       14
circuits    0
dark ports  tor0:4 tor0:5
leader      fenced

switch      ocs
kind        ocs
ports       8
rules       0
circuits    3
leader      a reason that is longer than
            the line is wide`
	if got := table.Render(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	wide := newTable(io.Discard, 60, "figure", "random+ecmp+sunflow", "crosslayer+sunflow",
		"random+ecmp", "joint")
	wide.Row("mean CCT, s", 0.137, 0.075, 0.79, 0.035)
	got := wide.Render()
	if w := widest(got); w > 60 {
		t.Errorf("%d columns:\n%s", w, got)
	}
	for _, piece := range []string{"random+", "ecmp+", "sunflow", "crosslayer+", "0.137", "0.035"} {
		if !strings.Contains(got, piece) {
			t.Errorf("%q is broken:\n%s", piece, got)
		}
	}
}

// TestWrap: lines break between words and after signs that join them, never before a digit.
func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		width      int
	}{
		{"one two three", "one two\nthree", 8},
		{"random+ecmp", "random+\necmp", 8},
		{"1,234,567", "1,234,567", 9},
		{"a, b", "a,\nb", 2},
		{"h0-0→h1-0", "h0-0→\nh1-0", 6},
		{"unbreakable", "unbre\nakabl\ne", 5},
		{"", "", 5},
	} {
		if got := wrap(tc.text, tc.width); got != tc.want {
			t.Errorf("wrap(%q, %d) is %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}
