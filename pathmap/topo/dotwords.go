package topo

import (
	"bytes"
	"regexp"
	"slices"
)

// dotWords finds positions in a DOT file for errors, which the parser's tree does not have. Words are
// searched for in the file's order, each search starting at the last hit, since the reader goes through
// the tree in that order.
type dotWords struct {
	data    []byte
	words   [][]byte
	offsets []int
	lines   []int // the offset at which each line begins
	next    int
}

func newDOTWords(data []byte) *dotWords {
	w := &dotWords{data: data, lines: []int{0}}
	for at, b := range data {
		if b == '\n' {
			w.lines = append(w.lines, at+1)
		}
	}
	// comments and preprocessor lines, quoted and bare identifiers, edge operators; everything else is a
	// letter.
	word := regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|-[->]|` +
		`-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[A-Za-z_\x80-\xff][A-Za-z_0-9\x80-\xff]*`)
	for at := 0; at < len(data); {
		m := word.FindIndex(data[at:])
		if m == nil {
			break
		}
		if text := data[at+m[0] : at+m[1]]; text[0] != '/' {
			w.words, w.offsets = append(w.words, text), append(w.offsets, at+m[0])
		}
		at += m[1]
	}
	return w
}

// How many words a search looks at: a chain's ends are named before the chain is, and large files must
// stay fast.
const (
	wordsBack  = 8
	wordsAhead = 1 << 10
)

// find returns the place of the first of words, which follow each other; "--" stands for either
// operator. Where they are not found, it is that of the words found last.
func (w *dotWords) find(words ...string) place {
	begin := w.next
	if len(words) > 1 {
		begin = max(0, begin-wordsBack)
	}
	for i := begin; i < min(w.next+wordsAhead, len(w.words)); i++ {
		if w.here(i, words) {
			w.next = max(w.next, i)
			return w.place(w.offsets[i])
		}
	}
	if w.next < len(w.words) {
		return w.place(w.offsets[w.next])
	}
	return place{}
}

// first returns the place of the first word that is this one.
func (w *dotWords) first(word string) place {
	for i, text := range w.words {
		if string(text) == word {
			return w.place(w.offsets[i])
		}
	}
	return place{}
}

func (w *dotWords) here(i int, words []string) bool {
	for j, word := range words {
		if i+j >= len(w.words) {
			return false
		}
		text := w.words[i+j]
		if word == "--" && bytes.Equal(text, []byte("->")) {
			continue
		}
		if string(text) != word {
			return false
		}
	}
	return true
}

// place is the line and column of an offset.
func (w *dotWords) place(offset int) place {
	line, found := slices.BinarySearch(w.lines, offset)
	if !found {
		line--
	}
	return place{line + 1, offset - w.lines[line] + 1}
}
