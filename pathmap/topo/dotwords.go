package topo

import (
	"bytes"
	"regexp"
)

// dotWords finds positions in a DOT file for errors, which the parser's tree does not have. Words are
// searched for in the file's order, each search starting at the last hit, since the reader goes through
// the tree in that order.
type dotWords struct {
	data    []byte
	words   [][]byte
	offsets []int
	next    int
	counted int // bytes whose lines are counted
	at      place
}

func newDOTWords(data []byte) *dotWords {
	w := &dotWords{data: data, at: place{1, 1}}
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

// place counts lines up to an offset, which is seldom before the last one.
func (w *dotWords) place(offset int) place {
	if offset < w.counted {
		w.counted, w.at = 0, place{1, 1}
	}
	for _, b := range w.data[w.counted:offset] {
		w.at.col++
		if b == '\n' {
			w.at = place{w.at.line + 1, 1}
		}
	}
	w.counted = offset
	return w.at
}
