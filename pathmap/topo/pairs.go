package topo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
)

// Pair is two nodes that paths are asked for.
type Pair struct{ Source, Target pathmap.NodeID }

// maxPairs bounds a pairs file.
const maxPairs = 1 << 22

// ReadPairs reads pairs of node names, two a line, separated by blanks. A name with blanks, or that
// begins with a quote or #, stands in double quotes, as in Go. Empty lines and what follows # are
// passed over. Errors name file, line and column, file being what they call it.
func ReadPairs(file string, r io.Reader, t *pathmap.Topology) ([]Pair, error) {
	in := bufio.NewScanner(plaintext.NewReader(r))
	in.Buffer(nil, 4096)
	var pairs []Pair
	for line := 1; in.Scan(); line++ {
		names, columns, err := splitNames(in.Text())
		if err != nil {
			return nil, fileError(file, place{line, columns[len(columns)-1]}, err)
		}
		if len(names) == 0 {
			continue
		}
		if len(names) != 2 {
			return nil, fileError(file, place{line, columns[min(len(columns), 3)-1]},
				fmt.Errorf("%d where two node names are due: write one pair a line, names with blanks in quotes", len(names)))
		}
		var ends [2]pathmap.NodeID
		for i, name := range names {
			n, ok := t.Named(name)
			if !ok {
				return nil, fileError(file, place{line, columns[i]},
					fmt.Errorf("there is no node %q%s", name, suggestNode(name, t)))
			}
			if t.Node(n).Role == pathmap.OCS {
				return nil, fileError(file, place{line, columns[i]},
					fmt.Errorf("%q is an optical circuit switch, and no packet "+
						"path begins, ends or passes there: name a tor, switch or host", name))
			}
			ends[i] = n
		}
		if len(pairs) == maxPairs {
			return nil, fileError(file, place{line, 1}, fmt.Errorf("more than %d pairs: split the file", maxPairs))
		}
		pairs = append(pairs, Pair{ends[0], ends[1]})
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s: a line is longer than 4096 bytes: write two node names a line", file)
	case err != nil:
		return nil, fmt.Errorf("read pairs: %w", err)
	case len(pairs) == 0:
		return nil, fmt.Errorf("%s: no pairs: write two node names a line", file)
	}
	return pairs, nil
}

func suggestNode(name string, t *pathmap.Topology) string {
	names := make([]string, len(t.Nodes()))
	for i, n := range t.Nodes() {
		names[i] = n.Name
	}
	if near, ok := nearest(name, names); ok {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": lightloom topology show lists what there is"
}

// splitNames returns the names of a line and the columns, from 1, in which they begin; with an error,
// the last column is its place.
func splitNames(line string) (names []string, columns []int, err error) {
	for at := 0; ; {
		rest := strings.TrimLeft(line[at:], " \t\r")
		at = len(line) - len(rest)
		if rest == "" || rest[0] == '#' {
			return names, columns, nil
		}
		columns = append(columns, at+1)
		if rest[0] != '"' {
			end := strings.IndexAny(rest, " \t\r")
			if end < 0 {
				end = len(rest)
			}
			names = append(names, rest[:end])
			at += end
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return names, columns, errors.New("a name in quotes without end: close it with \"")
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return names, columns, fmt.Errorf("%s is no quoted name", quoted)
		}
		names = append(names, name)
		at += len(quoted)
	}
}
