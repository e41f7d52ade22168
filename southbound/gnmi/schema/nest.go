package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Nest returns the JSON_IETF value at a path that holds these leaves, for encoding/json: the inverse of
// Decode. Leaves that are not under the path are left out; entries of lists keep the order in which
// they come first.
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
	root := &object{}
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

// object is a JSON object whose members, and lists whose entries, are found by name. Leaves come
// sorted, mostly: what is looked for is the last one, or one of few.
type object struct {
	members []member
	at      map[string]int // of members; nil while they are few
}

type list struct {
	items []*object
	byKey map[string]*object
	last  string // the text of the entry that was added last
}

// fewMembers are found without a table.
const fewMembers = 16

// find returns the value of that name, or nil.
func (o *object) find(name string) any {
	if o.at != nil {
		if i, ok := o.at[name]; ok {
			return o.members[i].value
		}
		return nil
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return o.members[i].value
		}
	}
	return nil
}

func (o *object) set(name string, v any) {
	if i := slices.IndexFunc(o.members, func(m member) bool { return m.name == name }); o.at == nil && i >= 0 {
		o.members[i].value = v
		return
	}
	if i, ok := o.at[name]; ok {
		o.members[i].value = v
		return
	}
	o.members = append(o.members, member{name, v})
	switch {
	case o.at != nil:
		o.at[name] = len(o.members) - 1
	case len(o.members) > fewMembers:
		o.at = make(map[string]int, 4*fewMembers)
		for i, m := range o.members {
			o.at[m.name] = i
		}
	}
}

// MarshalJSON writes the members by name.
func (o *object) MarshalJSON() ([]byte, error) { return o.appendJSON(nil) }

func (o *object) appendJSON(b []byte) (_ []byte, err error) {
	all := o.members
	if !slices.IsSortedFunc(all, byName) {
		all = slices.SortedFunc(slices.Values(all), byName)
	}
	b = append(b, '{')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendString(b, m.name); err != nil {
			return nil, err
		}
		if b, err = appendJSON(append(b, ':'), m.value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func byName(a, b member) int { return cmp.Compare(a.name, b.name) }

func (o *object) put(n *Node, rest Path, v Value) error {
	e := rest[0]
	kid := n.kid(e.Name)
	switch {
	case kid == nil:
		return ErrUnknown
	case kid.Leaf:
		o.set(e.Name, kid.Type.toJSON(v))
		return nil
	case len(rest) == 1:
		return malformed("%q is no leaf", e.Name)
	case len(kid.Keys) == 0:
		return o.child(e.Name).put(kid, rest[1:], v)
	case kid.Table:
		return o.child(e.Name).member(kid, rest, v)
	}
	l, ok := o.find(e.Name).(*list)
	if !ok {
		l = &list{}
		o.set(e.Name, l)
	}
	sub, err := l.entry(kid, e)
	if err != nil {
		return err
	}
	return sub.put(kid, rest[1:], v)
}

// entry returns the object of an entry, made where there is none.
func (l *list) entry(n *Node, e Elem) (*object, error) {
	text := e.String()
	if len(l.items) > 0 && l.last == text {
		return l.items[len(l.items)-1], nil
	}
	if l.byKey == nil {
		l.byKey = map[string]*object{}
	}
	if sub := l.byKey[text]; sub != nil {
		return sub, nil
	}
	sub := &object{}
	if err := sub.keys(n, e); err != nil {
		return nil, err
	}
	l.byKey[text], l.last = sub, text
	l.items = append(l.items, sub)
	return sub, nil
}

// child returns the object of that name, made where there is none.
func (o *object) child(name string) *object {
	sub, ok := o.find(name).(*object)
	if !ok {
		sub = &object{}
		o.set(name, sub)
	}
	return sub
}

// member puts a leaf of a table's entry, which rest begins with, into the object that is the table.
func (o *object) member(n *Node, rest Path, v Value) error {
	if len(rest) < 2 || len(rest[0].Keys) != 1 {
		return malformed("%q is no entry of a table", rest.String())
	}
	return o.child(rest[0].Keys[0].Value).put(n, rest[1:], v)
}

// keys writes an entry's key leaves, as numbers where the model has numbers.
func (o *object) keys(n *Node, e Elem) error {
	for _, k := range n.Keys {
		v, err := n.keyValue(k, e.Key(k))
		if err != nil {
			return err
		}
		o.set(k, v)
	}
	return nil
}

func (n *Node) keyValue(key, text string) (any, error) {
	t, ok := n.keyType(key)
	switch {
	case ok && t.base == baseIdentity:
		return t.toJSON(text), nil
	case ok && t.base == baseUint:
		u, err := strconv.ParseUint(text, 10, t.bits)
		if err != nil {
			return nil, malformed("key %q is %q: want %v", key, text, t)
		}
		return t.toJSON(u), nil
	}
	return text, nil
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
