package target

import (
	"cmp"
	"slices"
	"strings"

	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/lldp"
)

// tree holds the leaves of one target, configuration and state, list entries found by their keys. Every
// change of a leaf is kept until it is committed, reported or undone.
type tree struct {
	model *schema.Model
	root  *node
	edits []edit
	full  bool // an entry was put where maxEntries are

	counted []PortCount  // what portCounts put last
	heard   []lldp.Heard // what neighbors put last
}

// maxEntries bounds what one node can have below it after a Set, as each new entry moves those behind it. A switch with
// a rule for each of 128 racks and 64 tags has an eighth of that.
const maxEntries = 1 << 16

type node struct {
	elem   schema.Elem
	schema *schema.Node
	kids   []*node      // by name, then by keys, numbers by size
	value  schema.Value // of a leaf
}

// edit is one change of a leaf; nil stands for its absence.
type edit struct {
	path     schema.Path
	node     *schema.Node
	old, new schema.Value
}

func newTree(m *schema.Model) *tree {
	return &tree{model: m, root: &node{schema: m.Root}}
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
	i, ok := n.search(rest[0])
	if !ok {
		s := n.schema.Kid(rest[0].Name)
		if v == nil {
			return nil, s
		}
		t.full = t.full || len(n.kids) >= maxEntries
		n.kids = slices.Insert(n.kids, i, &node{elem: rest[0], schema: s})
	}
	kid := n.kids[i]
	old, s := t.swap(kid, rest[1:], v)
	if kid.value == nil && len(kid.kids) == 0 {
		n.kids = slices.Delete(n.kids, i, i+1)
	}
	return old, s
}

// search returns the place of an element among the kids, and whether it is there.
func (n *node) search(e schema.Elem) (int, bool) {
	return slices.BinarySearchFunc(n.kids, e, func(k *node, e schema.Elem) int { return compareElems(k.elem, e) })
}

// kid returns the node of an element, or nil.
func (n *node) kid(e schema.Elem) *node {
	if i, ok := n.search(e); ok {
		return n.kids[i]
	}
	return nil
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
			for _, kid := range f.node.kids {
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

// compareElems orders elements by name, then by keys, numbers by size. Only equal ones compare as 0.
func compareElems(a, b schema.Elem) int {
	c := cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.Keys), len(b.Keys)))
	for i := 0; c == 0 && i < len(a.Keys); i++ {
		c = cmp.Or(compareKeys(a.Keys[i].Value, b.Keys[i].Value), cmp.Compare(a.Keys[i].Name, b.Keys[i].Name))
	}
	return c
}

// compareKeys orders numbers by size, before texts. Leading zeros make another key.
func compareKeys(a, b string) int {
	switch x, y := digits(a), digits(b); {
	case x && y:
		m, n := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a, b)
}

// digits reports whether a text is a number.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
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
	for _, kid := range n.kids {
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
