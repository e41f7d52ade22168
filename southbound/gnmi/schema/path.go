package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// Key is one key of a list entry.
type Key struct{ Name, Value string }

// Elem is one step of a path. Keys are sorted by name.
type Elem struct {
	Name string
	Keys []Key
}

// Path names a node, from the root.
type Path []Elem

// Any is the key value that stands for every value.
const Any = "*"

// Bounds of what a path can hold: far above any real one.
const (
	maxElems = 32
	maxText  = 1024
	maxNote  = 2 << 20
)

// Key returns the value of a key, or "".
func (e Elem) Key(name string) string {
	for _, k := range e.Keys {
		if k.Name == name {
			return k.Value
		}
	}
	return ""
}

func (e Elem) String() string {
	if len(e.Keys) == 0 {
		return e.Name
	}
	var room [96]byte
	return string(e.AppendText(room[:0]))
}

// AppendText appends what String returns, for frequent lookups without an allocation.
func (e Elem) AppendText(b []byte) []byte {
	b = append(b, e.Name...)
	for _, k := range e.Keys {
		b = append(append(append(b, '['), k.Name...), '=')
		for i := range len(k.Value) {
			if k.Value[i] == '\\' || k.Value[i] == ']' {
				b = append(b, '\\')
			}
			b = append(b, k.Value[i])
		}
		b = append(b, ']')
	}
	return b
}

// String is the usual text form, "/interfaces/interface[name=Ethernet3]/state/oper-status". Equal paths
// have equal text.
func (p Path) String() string {
	var room [256]byte
	return string(p.AppendText(room[:0]))
}

// AppendText appends what String returns.
func (p Path) AppendText(b []byte) []byte {
	if len(p) == 0 {
		return append(b, '/')
	}
	for _, e := range p {
		b = e.AppendText(append(b, '/'))
	}
	return b
}

// With returns p and more elements without keys, in memory of its own.
func (p Path) With(names ...string) Path {
	out := append(make(Path, 0, len(p)+len(names)), p...)
	for _, n := range names {
		out = append(out, Elem{Name: n})
	}
	return out
}

// Entry returns p and one list entry with a single key.
func (p Path) Entry(list, key, value string) Path {
	return append(append(make(Path, 0, len(p)+1), p...), Elem{Name: list, Keys: []Key{{key, value}}})
}

// Parse reads the text form.
func Parse(s string) (Path, error) {
	fail := func(format string, args ...any) (Path, error) {
		return nil, fmt.Errorf("parse path %q: %w: %w", s, fmt.Errorf(format, args...), ErrMalformed)
	}
	if !strings.HasPrefix(s, "/") {
		return fail("it does not begin with '/'")
	}
	if s == "/" {
		return nil, nil
	}
	var p Path
	for rest := s; rest != ""; {
		if rest[0] != '/' {
			return fail("want '/' before %q", rest)
		}
		var e Elem
		var err error
		if e, rest, err = parseElem(rest[1:]); err != nil {
			return fail("%w", err)
		}
		if p = append(p, e); len(p) > maxElems {
			return fail("more than %d elements", maxElems)
		}
	}
	return p, nil
}

func parseElem(s string) (e Elem, rest string, err error) {
	end := strings.IndexAny(s, "/[")
	if end < 0 {
		end = len(s)
	}
	if e.Name, rest = s[:end], s[end:]; e.Name == "" {
		return e, "", fmt.Errorf("an element has no name")
	}
	for strings.HasPrefix(rest, "[") {
		var k Key
		if k, rest, err = parseKey(rest[1:]); err != nil {
			return e, "", err
		}
		if slices.ContainsFunc(e.Keys, func(o Key) bool { return o.Name == k.Name }) {
			return e, "", fmt.Errorf("key %q is given twice", k.Name)
		}
		e.Keys = append(e.Keys, k)
	}
	sortKeys(e.Keys)
	return e, rest, nil
}

func parseKey(s string) (k Key, rest string, err error) {
	name, s, ok := strings.Cut(s, "=")
	if !ok || name == "" || strings.ContainsAny(name, "[]/") {
		return k, "", fmt.Errorf("want [name=value] at %q", s)
	}
	var v strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			v.WriteByte(s[i])
		case s[i] == ']':
			return Key{name, v.String()}, s[i+1:], nil
		default:
			v.WriteByte(s[i])
		}
	}
	return k, "", fmt.Errorf("the ']' of key %q is missing", name)
}

func sortKeys(keys []Key) {
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
}

// FromProto reads prefix and path, one after the other. Module prefixes of names ("oc-if:interfaces")
// are dropped.
func FromProto(prefix, path *gpb.Path) (Path, error) { return fromProto(nil, prefix, path) }

// fromProto is FromProto; of the tables below at, where it is known, keys are elements of their own.
func fromProto(at *Node, prefix, path *gpb.Path) (Path, error) {
	p := make(Path, 0, len(prefix.GetElem())+len(path.GetElem()))
	for _, part := range []*gpb.Path{prefix, path} {
		//nolint:staticcheck // deprecated: the old form is refused by name
		if len(part.GetElement()) > 0 {
			return nil, fmt.Errorf("read path: the old string form is not taken, use elem: %w", ErrMalformed)
		}
		for _, pe := range part.GetElem() {
			if at != nil && at.Table && len(p[len(p)-1].Keys) == 0 && len(pe.GetKey()) == 0 &&
				pe.GetName() != "" &&
				len(pe.GetName()) <= maxText {
				p[len(p)-1].Keys = []Key{{at.Keys[0], pe.GetName()}}
				continue
			}
			e := Elem{Name: bare(pe.GetName())}
			if at != nil {
				at = at.Kids[e.Name]
			}
			for name, value := range pe.GetKey() {
				if len(name) > maxText || len(value) > maxText {
					return nil, fmt.Errorf("read path: a key is longer than %d bytes: %w", maxText, ErrMalformed)
				}
				e.Keys = append(e.Keys, Key{bare(name), value})
			}
			sortKeys(e.Keys)
			if p = append(p, e); len(p) > maxElems || len(e.Name) > maxText || e.Name == "" {
				return nil, fmt.Errorf("read path: more than %d elements, or a name that is empty or too long: %w", maxElems,
					ErrMalformed)
			}
		}
	}
	return p, nil
}

// Proto returns the path as it travels.
func (p Path) Proto() *gpb.Path {
	out := &gpb.Path{Elem: make([]*gpb.PathElem, len(p))}
	for i, e := range p {
		pe := &gpb.PathElem{Name: e.Name}
		if len(e.Keys) > 0 {
			pe.Key = make(map[string]string, len(e.Keys))
			for _, k := range e.Keys {
				pe.Key[k.Name] = k.Value
			}
		}
		out.Elem[i] = pe
	}
	return out
}

// Match reports whether a path lies at or under the pattern, in which a key value Any, or a key that is
// left out, stands for every value.
func (pattern Path) Match(p Path) bool {
	return len(p) >= len(pattern) && pattern.Overlaps(p[:len(pattern)])
}

// Overlaps reports whether one of the two may lie at or under the other.
func (pattern Path) Overlaps(p Path) bool {
	for i := range min(len(pattern), len(p)) {
		if pattern[i].Name != p[i].Name {
			return false
		}
		for _, k := range pattern[i].Keys {
			if k.Value != Any && k.Value != p[i].Key(k.Name) {
				return false
			}
		}
	}
	return true
}

// bare drops a module prefix.
func bare(name string) string {
	if _, after, ok := strings.Cut(name, ":"); ok {
		return after
	}
	return name
}
