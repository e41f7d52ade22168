package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// Leaf is a leaf with its value.
type Leaf struct {
	Path  Path
	Value Value
}

// form is how strictly JSON is read.
type form struct {
	ietf    bool // 64-bit integers and decimals are strings, identities carry their module
	lenient bool // what the model does not know is passed over

	state *Path         // takes the first leaf that is read-only
	room  *pieces[Elem] // of the paths of leaves
}

// Decode reads the value at a path into leaves, in the order of the model, and checks names, keys and
// types. The value at a container holds the container's children, unwrapped. Encodings: JSON_IETF, JSON
// and, for leaves, PROTO.
func (m *Model) Decode(p Path, tv *gpb.TypedValue) ([]Leaf, error) {
	return m.decode(p, tv, form{ietf: true})
}

// DecodeConfig is Decode for configuration: it refuses leaves of state.
func (m *Model) DecodeConfig(p Path, tv *gpb.TypedValue) ([]Leaf, error) {
	var state Path
	leaves, err := m.decode(p, tv, form{ietf: true, state: &state})
	if err == nil && state != nil {
		return nil, fmt.Errorf("set %q: %w", state.String(), ErrReadOnly)
	}
	return leaves, err
}

// DecodeKnown is Decode for state from a device: devices know more leaves than our models, and strip or
// add module prefixes. It skips unknown leaves; known leaves must still have their type.
func (m *Model) DecodeKnown(p Path, tv *gpb.TypedValue) ([]Leaf, error) {
	leaves, err := m.decode(p, tv, form{lenient: true})
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	return leaves, err
}

func (m *Model) decode(p Path, tv *gpb.TypedValue, f form) ([]Leaf, error) {
	n, err := m.Lookup(p, true)
	if err != nil {
		return nil, err
	}
	f.room = &pieces[Elem]{}
	leaves, err := n.decodeTyped(p, tv, f)
	if err != nil {
		return nil, fmt.Errorf("decode %q: %w", p.String(), err)
	}
	return leaves, nil
}

func (n *Node) decodeTyped(p Path, tv *gpb.TypedValue, f form) ([]Leaf, error) {
	switch x := tv.GetValue().(type) {
	case *gpb.TypedValue_JsonIetfVal:
		return n.decodeJSON(p, x.JsonIetfVal, f)
	case *gpb.TypedValue_JsonVal:
		f.ietf = false
		return n.decodeJSON(p, x.JsonVal, f)
	}
	if !n.Leaf {
		if tv.GetValue() == nil {
			return nil, malformed("no value")
		}
		return nil, fmt.Errorf("a container as %T: %w", tv.GetValue(), ErrEncoding)
	}
	v, err := n.Type.fromScalar(tv)
	if err != nil {
		return nil, err
	}
	n.note(p, f)
	return []Leaf{{p, v}}, nil
}

// note keeps the path of a leaf that is the first of state.
func (n *Node) note(p Path, f form) {
	if n.ReadOnly && f.state != nil && *f.state == nil {
		*f.state = slices.Clone(p)
	}
}

func (n *Node) decodeJSON(p Path, data []byte, f form) ([]Leaf, error) {
	v, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	const ofLeaf = 40 // bytes, at least, of most
	return n.decode(make([]Leaf, 0, len(data)/ofLeaf+1), append(make(Path, 0, len(p)+spareSteps), p...), v, f)
}

// spareSteps are room for the steps below what a value is given for: an entry of a list has few levels.
const spareSteps = 6

// decode appends the leaves of v at p to out. It writes behind the end of p, which leaves copy.
func (n *Node) decode(out []Leaf, p Path, v any, f form) ([]Leaf, error) {
	if n.Table && len(p[len(p)-1].Keys) == 0 {
		return n.decodeTable(out, p[:len(p)-1], v, f)
	}
	if n.Leaf {
		x, err := n.Type.fromJSON(v, f.ietf)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", p.String(), err)
		}
		n.note(p, f)
		return append(out, Leaf{f.room.copy(p), x}), nil
	}
	obj, ok := v.(members)
	if !ok {
		return nil, malformed("%q: want a JSON object", p.String())
	}
	obj, err := n.known(p, obj, f)
	if err != nil {
		return nil, err
	}
	if err := n.checkKeyLeaves(p, obj); err != nil {
		return nil, err
	}
	for _, m := range obj {
		switch kid := n.kid(m.name); {
		case kid == nil: // a key, which was checked
		case kid.Table:
			out, err = kid.decodeTable(out, p, m.value, f)
		case len(kid.Keys) > 0:
			out, err = kid.decodeList(out, p, m.value, f)
		default:
			out, err = kid.decode(out, append(p, Elem{Name: kid.named(m.name)}), m.value, f)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// named returns the name of a child in memory that outlives the text which it was read from.
func (n *Node) named(name string) string {
	if n.Name == name {
		return n.Name
	}
	return strings.Clone(name) // the field "*" of a table
}

// known returns what of an object's members the model has, without module prefixes, in the order of the
// model; what only stands under "*" comes last. It reuses the object's memory.
func (n *Node) known(p Path, obj members, f form) (members, error) {
	if n.inOrder(obj) {
		return obj, nil
	}
	out := obj[:0]
	for _, m := range obj {
		name := m.name
		if n.kid(name) == nil { // only annotations keep their module
			name = bare(name)
		}
		if n.kid(name) == nil && (n.Table || !slices.Contains(n.Keys, name)) {
			if f.lenient {
				continue
			}
			return nil, fmt.Errorf("%q: child %q: %w", p.String(), name, ErrUnknown)
		}
		out = append(out, member{name, m.value})
	}
	slices.SortStableFunc(out, func(a, b member) int { return n.compare(a.name, b.name) })
	for i := range out[:max(len(out)-1, 0)] {
		if out[i].name == out[i+1].name {
			return nil, malformed("%q: %q stands twice", p.String(), out[i].name)
		}
	}
	return out, nil
}

// inOrder reports whether members are such as known would return them, as those of our own tables are.
func (n *Node) inOrder(obj members) bool {
	for i, m := range obj {
		if n.Table || n.Kids[m.name] == nil && !slices.Contains(n.Keys, m.name) || i > 0 && obj[i-1].name >= m.name {
			return false
		}
	}
	return true
}

// compare orders the names of children.
func (n *Node) compare(a, b string) int {
	if n.Table && (n.Kids[a] == nil) != (n.Kids[b] == nil) {
		if n.Kids[a] == nil {
			return 1
		}
		return -1
	}
	return cmp.Compare(a, b)
}

func (n *Node) decodeList(out []Leaf, p Path, v any, f form) ([]Leaf, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, malformed("%q: list %q wants a JSON array", p.String(), n.Name)
	}
	for i, item := range items {
		obj, _ := item.(members)
		e := Elem{Name: n.Name, Keys: make([]Key, 0, len(n.Keys))}
		for _, k := range n.Keys {
			text, err := n.keyText(obj, k)
			if err != nil {
				return nil, fmt.Errorf("%q: %s number %d: %w", p.String(), n.Name, i+1, err)
			}
			e.Keys = append(e.Keys, Key{k, text})
		}
		var err error
		if out, err = n.decode(out, append(p, e), item, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeTable reads a table below p: an object whose members are its entries. Entries come sorted by key.
func (n *Node) decodeTable(out []Leaf, p Path, v any, f form) ([]Leaf, error) {
	obj, ok := v.(members)
	if !ok {
		return nil, malformed("%q: table %q wants a JSON object", p.String(), n.Name)
	}
	slices.SortStableFunc(obj, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	for i, m := range obj {
		if m.name == "" || m.name == Any || len(m.name) > maxText {
			return nil, malformed("%q: table %q: %q is no key", p.String(), n.Name, m.name)
		}
		if i > 0 && obj[i-1].name == m.name {
			return nil, malformed("%q: table %q: %q stands twice", p.String(), n.Name, m.name)
		}
		if fields, ok := m.value.(members); ok && len(fields) == 0 && !f.lenient {
			return nil, malformed("%q: table %q: the entry %q has no field", p.String(), n.Name, m.name)
		}
		var err error
		if out, err = n.decode(out, p.Entry(n.Name, n.Keys[0], strings.Clone(m.name)), m.value, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkKeyLeaves holds the key leaves of an entry, where they are given, against its path.
func (n *Node) checkKeyLeaves(p Path, obj members) error {
	for _, k := range n.Keys {
		if n.Table || !slices.ContainsFunc(obj, func(m member) bool { return m.name == k }) {
			continue
		}
		text, err := n.keyText(obj, k)
		if err != nil {
			return fmt.Errorf("%q: %w", p.String(), err)
		}
		if want := p[len(p)-1].Key(k); text != want {
			return malformed("%q: key %q is %q in the value", p.String(), k, text)
		}
	}
	return nil
}

// keyText returns a key of an entry as a path has it: identities without their module.
func (n *Node) keyText(obj members, key string) (string, error) {
	text, err := keyText(obj, key)
	if strings.Contains(text, ":") {
		if t, ok := n.keyType(key); ok && t.base == baseIdentity {
			text = bare(text)
		}
	}
	return text, err
}

func keyText(obj members, key string) (string, error) {
	for _, m := range obj {
		if m.name != key && bare(m.name) != key {
			continue
		}
		switch x := m.value.(type) {
		case string:
			if x != "" && len(x) <= maxText {
				return strings.Clone(x), nil
			}
		case json.Number:
			return strings.Clone(x.String()), nil
		}
		return "", malformed("key %q is %v", key, m.value)
	}
	return "", malformed("key %q is missing", key)
}

// Encode returns a leaf's value in an encoding.
func (n *Node) Encode(v Value, enc gpb.Encoding) (*gpb.TypedValue, error) {
	switch enc {
	case gpb.Encoding_PROTO:
		if text, ok := v.(string); ok && n.Type.base == baseDecimal {
			f, err := strconv.ParseFloat(text, 64)
			return &gpb.TypedValue{Value: &gpb.TypedValue_DoubleVal{DoubleVal: f}}, err
		}
		return toScalar(v), nil
	case gpb.Encoding_JSON, gpb.Encoding_JSON_IETF:
		return JSON(n.Type.toJSON(v), enc)
	}
	return nil, fmt.Errorf("encoding %v: %w", enc, ErrEncoding)
}

// JSON wraps a JSON value. Names inside it are sorted, so equal values have equal bytes.
func JSON(v any, enc gpb.Encoding) (*gpb.TypedValue, error) {
	b, err := appendJSON(make([]byte, 0, 256), v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return JSONText(b, enc), nil
}

// JSONText is JSON for a value that is written already.
func JSONText(b []byte, enc gpb.Encoding) *gpb.TypedValue {
	if enc == gpb.Encoding_JSON {
		return &gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: b}}
	}
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: b}}
}

// Text returns a value as it is written in a key.
func Text(v Value) string {
	if n, ok := v.(uint64); ok {
		return strconv.FormatUint(n, 10)
	}
	return strings.TrimSpace(fmt.Sprint(v))
}
