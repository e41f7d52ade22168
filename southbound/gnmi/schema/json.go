package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// member is one member of a JSON object, and members are an object, in the order in which it was
// written. An entry of a list has a handful: they need no map.
type member struct {
	name  string
	value any
}

type members []member

// maxDepth bounds how deep JSON values may nest: twice what a path can hold.
const maxDepth = 2 * maxElems

// jsonReader reads one JSON text into nil, bool, json.Number, string, []any and members, as
// encoding/json does but for objects. Texts of a Set are short and many: reflection and maps would cost
// more than all else that is done to them. Strings share the text's memory.
type jsonReader struct {
	text string
	at   int

	members stack[member] // of the objects that are open
	items   stack[any]    // of the arrays that are open
	digit   [10][10]any   // numbers of two digits that have been read: DSCPs, of which a table has many
}

// stack gathers the parts of values that are not complete, and keeps those of complete ones.
type stack[T any] struct {
	open []T
	done pieces[T]
}

// take takes the parts from base on.
func (s *stack[T]) take(base int) []T {
	out := s.done.copy(s.open[base:])
	s.open = s.open[:base]
	return out
}

// pieces are copies of short slices, many in one piece of memory, which goes with the last of them.
type pieces[T any] struct {
	free []T
	size int // of the piece
}

func (p *pieces[T]) copy(s []T) []T {
	if len(p.free) < len(s) {
		p.size = max(len(s), min(2*p.size, 512))
		p.free = make([]T, p.size)
	}
	out := p.free[:len(s):len(s)]
	p.free = p.free[len(s):]
	copy(out, s)
	return out
}

// readJSON reads a text that holds one value and nothing else.
func readJSON(data []byte) (any, error) {
	r := jsonReader{text: string(data)}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if r.space(); r.at < len(r.text) {
		return nil, malformed("something follows the JSON value")
	}
	return v, nil
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// wrong returns an error with what was found and what was wanted.
func (r *jsonReader) wrong(want string) error {
	if r.at >= len(r.text) {
		return malformed("the JSON text ends where %s is wanted", want)
	}
	return malformed("byte %d of the JSON text is %q: %s is wanted", r.at+1, r.text[r.at], want)
}

// next skips space and reports whether a byte comes next; it takes it then.
func (r *jsonReader) next(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, malformed("the JSON text nests deeper than %d levels", maxDepth)
	}
	r.space()
	if r.at >= len(r.text) {
		return nil, r.wrong("a value")
	}
	switch c := r.text[r.at]; {
	case c == '{':
		r.at++
		return r.object(depth)
	case c == '[':
		r.at++
		return r.array(depth)
	case c == '"':
		s, err := r.string()
		return s, err
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	}
	for _, w := range [...]struct {
		word string
		v    any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if strings.HasPrefix(r.text[r.at:], w.word) {
			r.at += len(w.word)
			return w.v, nil
		}
	}
	return nil, r.wrong("a value")
}

func (r *jsonReader) object(depth int) (any, error) {
	if r.next('}') {
		return members{}, nil
	}
	for base := len(r.members.open); ; {
		if r.space(); r.at >= len(r.text) || r.text[r.at] != '"' {
			return nil, r.wrong("a name")
		}
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		if !r.next(':') {
			return nil, r.wrong("':'")
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		r.members.open = append(r.members.open, member{name, v})
		if r.next('}') {
			return members(r.members.take(base)), nil
		}
		if !r.next(',') {
			return nil, r.wrong("',' or '}'")
		}
	}
}

func (r *jsonReader) array(depth int) (any, error) {
	if r.next(']') {
		return []any{}, nil
	}
	for base := len(r.items.open); ; {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		r.items.open = append(r.items.open, v)
		if r.next(']') {
			return r.items.take(base), nil
		}
		if !r.next(',') {
			return nil, r.wrong("',' or ']'")
		}
	}
}

// string reads a string. Those with escapes or other than ASCII are left to encoding/json.
func (r *jsonReader) string() (string, error) {
	from, plain := r.at, true
	for i := from + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			if plain {
				return r.text[from+1 : i], nil
			}
			var s string
			if err := json.Unmarshal([]byte(r.text[from:r.at]), &s); err != nil {
				return "", malformed("%w", err)
			}
			return s, nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			r.at = i
			return "", r.wrong("a character of a string")
		case c >= 0x80:
			plain = false
		}
	}
	r.at = len(r.text)
	return "", r.wrong(`'"'`)
}

// number reads a number: an integer part without leading zeros, perhaps a fraction, perhaps an exponent.
func (r *jsonReader) number() (any, error) {
	from := r.at
	if r.text[r.at] == '-' {
		r.at++
	}
	if r.at < len(r.text) && r.text[r.at] == '0' {
		r.at++
	} else if !r.digits() {
		return nil, r.wrong("a digit")
	}
	if r.at < len(r.text) && r.text[r.at] == '.' {
		if r.at++; !r.digits() {
			return nil, r.wrong("a digit")
		}
	}
	if r.at < len(r.text) && r.text[r.at]|0x20 == 'e' {
		if r.at++; r.at < len(r.text) && (r.text[r.at] == '+' || r.text[r.at] == '-') {
			r.at++
		}
		if !r.digits() {
			return nil, r.wrong("a digit")
		}
	}
	n := json.Number(r.text[from:r.at])
	if len(n) != 2 || n[0] == '-' {
		return n, nil
	}
	known := &r.digit[n[0]-'0'][n[1]-'0']
	if *known == nil {
		*known = n
	}
	return *known, nil
}

func (r *jsonReader) digits() bool {
	from := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > from
}

// AppendValue appends the value of a leaf as JSON_IETF has it, which is what Nest's takes.
func (n *Node) AppendValue(b []byte, v Value) ([]byte, error) { return n.Type.appendJSON(b, v) }

// AppendKey appends the key of an entry likewise, as a number where the model has numbers.
func (n *Node) AppendKey(b []byte, key, text string) ([]byte, error) {
	v, err := n.keyValue(key, text)
	if err != nil {
		return nil, err
	}
	return appendJSON(b, v)
}

func (t Type) appendJSON(b []byte, v Value) (_ []byte, err error) {
	switch x := v.(type) {
	case uint64:
		if t.bits == 64 {
			return append(strconv.AppendUint(append(b, '"'), x, 10), '"'), nil
		}
	case []Value:
		b = append(b, '[')
		for i, e := range x {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = t.of.appendJSON(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return appendJSON(b, t.toJSON(v))
}

// appendJSON writes what Nest makes and what leaves hold. Names are sorted, so equal values have equal
// bytes.
func appendJSON(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case *object:
		return x.appendJSON(b)
	case *list:
		return appendItems(b, x.items)
	case []any:
		return appendItems(b, x)
	case string:
		return appendString(b, x)
	case uint64:
		return strconv.AppendUint(b, x, 10), nil
	}
	out, err := json.Marshal(v)
	return append(b, out...), err
}

func appendItems[T any](b []byte, items []T) (_ []byte, err error) {
	b = append(b, '[')
	for i, x := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, x); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendString(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			out, err := json.Marshal(s)
			return append(b, out...), err
		}
	}
	return append(append(append(b, '"'), s...), '"'), nil
}
