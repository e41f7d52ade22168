package target

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"lightloom/southbound/gnmi/schema"
)

// tree holds the leaves of one target, configuration and state, list entries found by their keys. Every
// change of a leaf is kept until it is committed, reported or undone.
type tree struct {
	model *schema.Model
	root  *node
	edits []edit
}

type node struct {
	elem   schema.Elem
	schema *schema.Node
	kids   map[string]*node // by Elem.String
	value  schema.Value     // of a leaf
}

// edit is one change of a leaf; nil stands for its absence.
type edit struct {
	path     schema.Path
	node     *schema.Node
	old, new schema.Value
}

func newTree(m *schema.Model) *tree {
	return &tree{model: m, root: &node{schema: m.Root, kids: map[string]*node{}}}
}

// put sets a leaf, or removes it where v is nil. The path is of the model, with all its keys.
func (t *tree) put(p schema.Path, v schema.Value) {
	if old, n := t.swap(t.root, p, v); !schema.Equal(old, v) {
		t.edits = append(t.edits, edit{p, n, old, v})
	}
}

// swap sets the leaf below n and returns what it held and its schema. Nodes that are left empty go.
func (t *tree) swap(n *node, rest schema.Path, v schema.Value) (schema.Value, *schema.Node) {
	if len(rest) == 0 {
		old := n.value
		n.value = v
		return old, n.schema
	}
	kid := n.kid(rest[0])
	if kid == nil {
		s := n.schema.Kid(rest[0].Name)
		if v == nil {
			return nil, s
		}
		kid = &node{elem: rest[0], schema: s, kids: map[string]*node{}}
		n.kids[rest[0].String()] = kid
	}
	old, s := t.swap(kid, rest[1:], v)
	if kid.value == nil && len(kid.kids) == 0 {
		delete(n.kids, rest[0].String())
	}
	return old, s
}

// kid returns the node of an element, or nil.
func (n *node) kid(e schema.Elem) *node {
	if len(e.Keys) == 0 {
		return n.kids[e.Name]
	}
	var room [96]byte
	return n.kids[string(e.AppendText(room[:0]))]
}

// undo takes back every edit since the last take.
func (t *tree) undo() {
	for _, e := range slices.Backward(t.edits) {
		t.swap(t.root, e.path, e.old)
	}
	t.edits = t.edits[:0]
}

// take returns the net edits since the last take, and forgets them.
func (t *tree) take() []edit {
	out := t.net()
	t.edits = nil
	return out
}

// net returns the edits since the last take, one a leaf at most, without those that cancelled out, in
// the order in which leaves were first touched.
func (t *tree) net() []edit {
	if len(t.edits) <= fewEdits {
		return withoutNothing(t.netOfFew())
	}
	at := make(map[string]int, len(t.edits))
	out := make([]edit, 0, len(t.edits))
	var text []byte
	for _, e := range t.edits {
		text = e.path.AppendText(text[:0])
		if i, ok := at[string(text)]; ok {
			out[i].new = e.new
			continue
		}
		at[string(text)] = len(out)
		out = append(out, e)
	}
	return withoutNothing(out)
}

// fewEdits is how many edits are compared one with the other: an event of a circuit makes no more.
const fewEdits = 16

func (t *tree) netOfFew() []edit {
	out := make([]edit, 0, len(t.edits))
	for _, e := range t.edits {
		if i := slices.IndexFunc(out, func(o edit) bool {
			return o.node == e.node &&
				samePath(o.path, e.path)
		}); i >= 0 {
			out[i].new = e.new
			continue
		}
		out = append(out, e)
	}
	return out
}

func samePath(a, b schema.Path) bool {
	return slices.EqualFunc(a, b, sameStep)
}

func sameStep(a, b schema.Elem) bool { return a.Name == b.Name && slices.Equal(a.Keys, b.Keys) }

func withoutNothing(edits []edit) []edit {
	return slices.DeleteFunc(edits, func(e edit) bool { return schema.Equal(e.old, e.new) })
}

// get returns the value of a leaf, or nil.
func (t *tree) get(p schema.Path) schema.Value {
	n := t.root
	for _, e := range p {
		if n = n.kid(e); n == nil {
			return nil
		}
	}
	return n.value
}

// exists reports whether a path holds anything.
func (t *tree) exists(p schema.Path) bool {
	n := t.root
	for _, e := range p {
		if n = n.kid(e); n == nil {
			return false
		}
	}
	return true
}

// configured reports whether there is any configuration at or below a path.
func (t *tree) configured(p schema.Path) bool {
	n := t.root
	for _, e := range p {
		if n = n.kid(e); n == nil {
			return false
		}
	}
	return n.configured()
}

func (n *node) configured() bool {
	if n.schema.Leaf {
		return n.value != nil && isConfig(n.schema)
	}
	for _, kid := range n.kids {
		if kid.configured() {
			return true
		}
	}
	return false
}

// found is a node with its path.
type found struct {
	path schema.Path
	node *node
}

// find returns the nodes that a pattern names, in the order of the tree.
func (t *tree) find(pattern schema.Path) []found {
	at := []found{{nil, t.root}}
	for _, e := range pattern {
		var next []found
		for _, f := range at {
			if full(e, f.node.schema.Kid(e.Name)) {
				if kid := f.node.kid(e); kid != nil {
					next = append(next, found{join(f.path, kid.elem), kid})
				}
				continue
			}
			for _, kid := range f.node.sorted() {
				if (schema.Path{e}).Overlaps(schema.Path{kid.elem}) {
					next = append(next, found{join(f.path, kid.elem), kid})
				}
			}
		}
		at = next
	}
	return at
}

// full reports whether an element names one entry.
func full(e schema.Elem, n *schema.Node) bool {
	return n != nil && len(e.Keys) == len(n.Keys) && !slices.ContainsFunc(e.Keys, func(k schema.Key) bool {
		return k.Value == schema.Any
	})
}

func join(p schema.Path, e schema.Elem) schema.Path {
	return append(append(make(schema.Path, 0, len(p)+1), p...), e)
}

// sorted returns the kids by name, then by keys, numbers by size.
func (n *node) sorted() []*node {
	out := make([]*node, 0, len(n.kids))
	for _, k := range n.kids {
		out = append(out, k)
	}
	if len(out) < 2 {
		return out
	}
	slices.SortFunc(out, func(a, b *node) int {
		c := cmp.Compare(a.elem.Name, b.elem.Name)
		for i := 0; c == 0 && i < min(len(a.elem.Keys), len(b.elem.Keys)); i++ {
			c = compareKeys(a.elem.Keys[i].Value, b.elem.Keys[i].Value)
		}
		return c
	})
	return out
}

func compareKeys(a, b string) int {
	if !digits(a) || !digits(b) {
		return cmp.Compare(a, b)
	}
	x, xerr := strconv.ParseUint(a, 10, 64)
	y, yerr := strconv.ParseUint(b, 10, 64)
	if xerr == nil && yerr == nil && x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// digits reports whether a text can be a number: to find out by parsing it makes an error of each that is none.
func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// leaves appends the leaves at and below a node that keep wants, in the order of the tree.
func (f found) leaves(out []schema.Leaf, keep func(*schema.Node) bool) []schema.Leaf {
	return f.node.leaves(out, append(make(schema.Path, 0, len(f.path)+8), f.path...), keep)
}

// leaves writes paths into at, which a leaf copies.
func (n *node) leaves(out []schema.Leaf, at schema.Path, keep func(*schema.Node) bool) []schema.Leaf {
	if n.schema.Leaf {
		if n.value != nil && keep(n.schema) {
			out = append(out, schema.Leaf{Path: slices.Clone(at), Value: n.value})
		}
		return out
	}
	for _, kid := range n.sorted() {
		out = kid.leaves(out, append(at, kid.elem), keep)
	}
	return out
}

// under returns the leaves that a pattern names.
func (t *tree) under(pattern schema.Path, keep func(*schema.Node) bool) []schema.Leaf {
	var out []schema.Leaf
	for _, f := range t.find(pattern) {
		out = f.leaves(out, keep)
	}
	return out
}

func isConfig(n *schema.Node) bool { return !n.ReadOnly }
func isState(n *schema.Node) bool  { return n.ReadOnly }
func isAny(*schema.Node) bool      { return true }

// isCounter reports whether a leaf changes all the time.
func isCounter(n *schema.Node) bool { return n.Counter }

// remove removes the leaves that a pattern names and keep wants.
func (t *tree) remove(pattern schema.Path, keep func(*schema.Node) bool) {
	for _, l := range t.under(pattern, keep) {
		t.put(l.Path, nil)
	}
}
