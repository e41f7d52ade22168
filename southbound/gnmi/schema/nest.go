package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Nest returns the JSON_IETF value at a path that holds these leaves, for encoding/json: the inverse of Decode. Leaves
// that are not under the path are left out; entries of lists keep the order in which they come first.
func (m *Model) Nest(at Path, leaves []Leaf) (any, error) {
	n, err := m.Lookup(at, true)
	if err != nil {
		return nil, err
	}
	if n.Leaf {
		for _, l := range leaves {
			if at.Match(l.Path) {
				return n.Type.toJSON(l.Value), nil
			}
		}
		return nil, fmt.Errorf("encode %q: it has no value", at.String())
	}
	root := object{}
	if len(n.Keys) > 0 && !n.Table {
		if err := root.keys(n, at[len(at)-1]); err != nil {
			return nil, err
		}
	}
	for _, l := range leaves {
		if !at.Match(l.Path) {
			continue
		}
		if n.Table && len(at[len(at)-1].Keys) == 0 {
			if err := root.member(n, l.Path[len(at)-1:], l.Value); err != nil {
				return nil, fmt.Errorf("encode %q: %w", l.Path.String(), err)
			}
			continue
		}
		if err := root.put(n, l.Path[len(at):], l.Value); err != nil {
			return nil, fmt.Errorf("encode %q: %w", l.Path.String(), err)
		}
	}
	return root, nil
}

// object is a JSON object whose lists find their entries by key.
type object map[string]any

type list struct {
	items []object
	byKey map[string]object
}

// MarshalJSON writes the entries.
func (l *list) MarshalJSON() ([]byte, error) { return json.Marshal(l.items) }

func (o object) put(n *Node, rest Path, v Value) error {
	e := rest[0]
	kid := n.kid(e.Name)
	switch {
	case kid == nil:
		return ErrUnknown
	case kid.Leaf:
		o[e.Name] = kid.Type.toJSON(v)
		return nil
	case len(rest) == 1:
		return malformed("%q is no leaf", e.Name)
	case len(kid.Keys) == 0:
		return o.child(e.Name).put(kid, rest[1:], v)
	case kid.Table:
		return o.child(e.Name).member(kid, rest, v)
	}
	l, ok := o[e.Name].(*list)
	if !ok {
		l = &list{byKey: map[string]object{}}
		o[e.Name] = l
	}
	text := e.String()
	if l.byKey[text] == nil {
		sub := object{}
		if err := sub.keys(kid, e); err != nil {
			return err
		}
		l.byKey[text] = sub
		l.items = append(l.items, sub)
	}
	return l.byKey[text].put(kid, rest[1:], v)
}

// child returns the object of that name, made where there is none.
func (o object) child(name string) object {
	sub, ok := o[name].(object)
	if !ok {
		sub = object{}
		o[name] = sub
	}
	return sub
}

// member puts a leaf of a table's entry, which rest begins with, into the object that is the table.
func (o object) member(n *Node, rest Path, v Value) error {
	if len(rest) < 2 || len(rest[0].Keys) != 1 {
		return malformed("%q is no entry of a table", rest.String())
	}
	return o.child(rest[0].Keys[0].Value).put(n, rest[1:], v)
}

// keys writes an entry's key leaves, as numbers where the model has numbers.
func (o object) keys(n *Node, e Elem) error {
	for _, k := range n.Keys {
		text := e.Key(k)
		o[k] = text
		t, ok := n.keyType(k)
		if ok && t.base == baseIdentity {
			o[k] = t.toJSON(text)
		}
		if ok && t.base == baseUint {
			u, err := strconv.ParseUint(text, 10, t.bits)
			if err != nil {
				return malformed("key %q is %q: want %v", k, text, t)
			}
			o[k] = t.toJSON(u)
		}
	}
	return nil
}

// keyType returns the type of a key: that of the leaf it refers to, or is.
func (n *Node) keyType(key string) (Type, bool) {
	if c := n.Kids[key]; c != nil && c.Leaf {
		return c.Type, true
	}
	for _, where := range []string{"config", "state"} {
		if c := n.Kids[where]; c != nil && c.Kids[key] != nil {
			return c.Kids[key].Type, true
		}
	}
	return Type{}, false
}
