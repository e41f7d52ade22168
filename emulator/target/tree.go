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
	root  *listEntry
	edits []edit
	full  bool // an entry or a leaf was put where maxEntries are

	counted []PortCount  // what portCounts put last
	heard   []lldp.Heard // what neighbors put last
}

// maxEntries bounds the entries of one list, and the leaves of one entry, after a Set, as each new one moves those
// behind it. A switch with a rule for each of 128 racks and 64 tags has an eighth of that.
const maxEntries = 1 << 16

// listEntry is the root, or one entry of a list. Containers are not kept: what is in them stands in the entry around
// them, by its steps from there, since a switch of a large fabric has thousands of leaves.
type listEntry struct {
	elem   schema.Elem
	schema *schema.Node
	leaves []leaf // by steps
	lists  []list // likewise
}

type leaf struct {
	schema *schema.Node
	value  schema.Value
}

type list struct {
	schema  *schema.Node
	entries []*listEntry // by keys, numbers by size
	last    int          // the place that was looked up last, mostly that of the next one too
}

// edit is one change of a leaf; nil stands for its absence.
type edit struct {
	path     schema.Path
	node     *schema.Node
	old, new schema.Value
}

func newTree(m *schema.Model) *tree {
	return &tree{model: m, root: &listEntry{schema: m.Root}}
}

// put sets a leaf, or removes it where v is nil. The path is of the model, with all its keys.
func (t *tree) put(p schema.Path, v schema.Value) {
	if old, n := t.swap(t.root, p, v); !schema.Equal(old, v) {
		t.edits = append(t.edits, edit{p, n, old, v})
	}
}

// swap sets the leaf below e and returns what it held and its schema. Entries and lists that are left empty go.
func (t *tree) swap(e *listEntry, rest schema.Path, v schema.Value) (schema.Value, *schema.Node) {
	n := toKeys(rest)
	if n == 0 {
		had := len(e.leaves)
		old, s := e.swap(rest, v)
		t.full = t.full || len(e.leaves) > max(had, maxEntries)
		return old, s
	}
	i, ok := e.searchList(rest[:n])
	if !ok {
		if v == nil {
			return nil, nil
		}
		e.lists = slices.Insert(e.lists, i, list{schema: e.below(rest[:n])})
	}
	l := &e.lists[i]
	k, ok := l.search(rest[n-1])
	if !ok {
		if v == nil {
			return nil, nil
		}
		t.full = t.full || len(l.entries) >= maxEntries
		l.entries = slices.Insert(l.entries, k, newEntry(l.schema, rest[n-1]))
	}
	x := l.entries[k]
	old, s := t.swap(x, rest[n:], v)
	if len(x.leaves)+len(x.lists) == 0 {
		if l.entries = slices.Delete(l.entries, k, k+1); len(l.entries) == 0 {
			e.lists = slices.Delete(e.lists, i, i+1)
		}
	}
	return old, s
}

// toKeys returns how many elements there are up to the first that has keys, and with it; 0 if none has.
func toKeys(p schema.Path) int {
	return 1 + slices.IndexFunc(p, func(e schema.Elem) bool { return len(e.Keys) > 0 })
}

// ofRule is how many leaves a rule has, configuration and state: most entries are rules.
const ofRule = 10

// newEntry makes an entry that shares the model's texts, and keeps nothing else of a request alive.
func newEntry(s *schema.Node, e schema.Elem) *listEntry {
	own := schema.Elem{Name: s.Name, Keys: slices.Clone(e.Keys)}
	for i := range own.Keys {
		if i < len(s.Keys) && s.Keys[i] == own.Keys[i].Name {
			own.Keys[i].Name = s.Keys[i]
		}
	}
	return &listEntry{elem: own, schema: s, leaves: make([]leaf, 0, ofRule)}
}

// swap sets a leaf of the entry itself.
func (e *listEntry) swap(steps schema.Path, v schema.Value) (old schema.Value, s *schema.Node) {
	i, ok := e.search(steps)
	switch {
	case !ok && v == nil:
		return nil, nil
	case !ok:
		s = e.below(steps)
		e.leaves = slices.Insert(e.leaves, i, leaf{named(s, steps), v})
		return nil, s
	}
	old, s = e.leaves[i].value, e.leaves[i].schema
	if e.schema.Table {
		s = e.below(steps)
	}
	if v == nil {
		e.leaves = slices.Delete(e.leaves, i, i+1)
	} else {
		e.leaves[i].value = v
	}
	return old, s
}

// named returns the schema of a leaf with its own name and steps, where it is that of any field of a table.
func named(s *schema.Node, steps schema.Path) *schema.Node {
	if name := steps[len(steps)-1].Name; s.Name != name {
		c := *s
		c.Name, c.Steps = name, slices.Clone(steps)
		return &c
	}
	return s
}

// below returns the schema of what is so many steps below the entry.
func (e *listEntry) below(steps schema.Path) *schema.Node {
	n := e.schema
	for i := 0; i < len(steps) && n != nil; i++ {
		n = n.Kid(steps[i].Name)
	}
	return n
}

// search returns the place of a leaf, and whether it is there.
func (e *listEntry) search(steps schema.Path) (int, bool) {
	return slices.BinarySearchFunc(e.leaves, steps, func(l leaf, p schema.Path) int {
		return compareSteps(l.schema.Steps, p)
	})
}

func (e *listEntry) searchList(steps schema.Path) (int, bool) {
	return slices.BinarySearchFunc(e.lists, steps, func(l list, p schema.Path) int {
		return compareSteps(l.schema.Steps, p)
	})
}

// search returns the place of an entry, and whether it is there.
func (l *list) search(e schema.Elem) (i int, ok bool) {
	switch n := len(l.entries); {
	case l.last < n && sameStep(l.entries[l.last].elem, e):
		return l.last, true
	case l.last+1 < n && sameStep(l.entries[l.last+1].elem, e):
		l.last++
		return l.last, true
	case n > 0 && compareElems(l.entries[n-1].elem, e) < 0: // entries come in their order, mostly
		l.last = n
		return n, false
	}
	i, ok = slices.BinarySearchFunc(l.entries, e, func(x *listEntry, e schema.Elem) int { return compareElems(x.elem, e) })
	l.last = i
	return i, ok
}

// compareSteps orders steps by their names, one after the other.
func compareSteps(a, b schema.Path) int {
	for i := range min(len(a), len(b)) {
		if c := strings.Compare(a[i].Name, b[i].Name); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// at returns the leaves and lists of the entry that are at or below some steps.
func (e *listEntry) at(steps schema.Path) ([]leaf, []list) {
	if len(steps) == 0 {
		return e.leaves, e.lists
	}
	within := func(n *schema.Node) bool {
		return len(n.Steps) >= len(steps) && compareSteps(n.Steps[:len(steps)], steps) == 0
	}
	i, _ := e.search(steps)
	k := i
	for k < len(e.leaves) && within(e.leaves[k].schema) {
		k++
	}
	m, _ := e.searchList(steps)
	n := m
	for n < len(e.lists) && within(e.lists[n].schema) {
		n++
	}
	return e.leaves[i:k], e.lists[m:n]
}

// undo takes back every edit since the last take.
func (t *tree) undo() {
	for _, e := range slices.Backward(t.edits) {
		t.swap(t.root, e.path, e.old)
	}
	t.edits = t.edits[:0]
}

// take forgets the edits since the last take, and returns the net edits of the parts of the tree that are followed.
func (t *tree) take(followed func(top string) bool) []edit {
	top, is := "", false
	out := netEdits(slices.DeleteFunc(t.edits, func(e edit) bool {
		if len(e.path) > 0 && (e.path[0].Name != top || top == "") {
			top = e.path[0].Name
			is = followed(top)
		}
		return len(e.path) > 0 && !is
	}))
	t.edits = nil
	return out
}

// forget forgets the edits.
func (t *tree) forget() { t.edits = nil }

// netEdits returns edits, one a leaf at most, without those that cancelled out, in the order in which leaves were first
// touched.
func netEdits(edits []edit) []edit {
	if len(edits) <= fewEdits {
		return withoutNothing(netOfFew(edits))
	}
	at := make(map[string]int, len(edits))
	out := make([]edit, 0, len(edits))
	var text []byte
	for _, e := range edits {
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

func netOfFew(edits []edit) []edit {
	out := make([]edit, 0, len(edits))
	for _, e := range edits {
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

// around returns the innermost entry that a path leads through, and the steps from there; nil if there is none.
func (t *tree) around(p schema.Path) (*listEntry, schema.Path) {
	e := t.root
	for n := toKeys(p); n > 0; n = toKeys(p) {
		i, ok := e.searchList(p[:n])
		if !ok {
			return nil, nil
		}
		k, ok := e.lists[i].search(p[n-1])
		if !ok {
			return nil, nil
		}
		e, p = e.lists[i].entries[k], p[n:]
	}
	return e, p
}

// get returns the value of a leaf, or nil.
func (t *tree) get(p schema.Path) schema.Value {
	if e, steps := t.around(p); e != nil {
		return e.get(steps)
	}
	return nil
}

func (e *listEntry) get(steps schema.Path) schema.Value {
	if i, ok := e.search(steps); ok {
		return e.leaves[i].value
	}
	return nil
}

// exists reports whether a path holds anything.
func (t *tree) exists(p schema.Path) bool {
	e, steps := t.around(p)
	return e != nil && e.has(steps)
}

// has reports whether there is anything at or below some steps.
func (e *listEntry) has(steps schema.Path) bool {
	leaves, lists := e.at(steps)
	return len(leaves)+len(lists) > 0
}

// configured reports whether there is any configuration at or below some steps.
func (e *listEntry) configured(steps schema.Path) bool {
	leaves, lists := e.at(steps)
	return slices.ContainsFunc(leaves, func(l leaf) bool { return isConfig(l.schema) }) ||
		slices.ContainsFunc(lists, func(l list) bool {
			return slices.ContainsFunc(l.entries, func(x *listEntry) bool { return x.configured(nil) })
		})
}

// found is what a path leads to: an entry, or what is some steps below one.
type found struct {
	path   schema.Path
	schema *schema.Node
	entry  *listEntry
	steps  schema.Path
}

// find returns what a pattern names, in the order of the tree.
func (t *tree) find(pattern schema.Path) []found {
	at := []found{{nil, t.root.schema, t.root, nil}}
	for _, e := range pattern {
		var next []found
		for _, f := range at {
			next = f.appendKids(next, e)
		}
		at = next
	}
	return at
}

// appendKids appends what one more element of a pattern names.
func (f found) appendKids(out []found, e schema.Elem) []found {
	s, steps := f.schema.Kid(e.Name), f.steps.With(e.Name)
	switch {
	case s == nil || len(s.Keys) == 0 && len(e.Keys) > 0:
		return out
	case len(s.Keys) == 0:
		if f.entry.has(steps) {
			out = append(out, found{join(f.path, e), s, f.entry, steps})
		}
		return out
	}
	i, ok := f.entry.searchList(steps)
	if !ok {
		return out
	}
	l := &f.entry.lists[i]
	if full(e, s) {
		if k, ok := l.search(e); ok {
			out = append(out, found{join(f.path, l.entries[k].elem), s, l.entries[k], nil})
		}
		return out
	}
	for _, x := range l.entries {
		if (schema.Path{e}).Overlaps(schema.Path{x.elem}) {
			out = append(out, found{join(f.path, x.elem), s, x, nil})
		}
	}
	return out
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

// leaves appends the leaves at and below what was found that keep wants, in the order of the tree.
func (f found) leaves(out []schema.Leaf, keep func(*schema.Node) bool) []schema.Leaf {
	of := len(f.path) - len(f.steps)
	return f.entry.appendLeaves(out, append(make(schema.Path, 0, of+8), f.path[:of]...), f.steps, keep)
}

// appendLeaves appends the leaves at or below some steps. It writes behind the end of at, which leaves copy.
func (e *listEntry) appendLeaves(out []schema.Leaf, at, steps schema.Path,
	keep func(*schema.Node) bool) []schema.Leaf {
	leaves, lists := e.at(steps)
	for len(leaves)+len(lists) > 0 {
		if len(lists) == 0 || len(leaves) > 0 &&
			compareSteps(leaves[0].schema.Steps, lists[0].schema.Steps) < 0 {
			if l := leaves[0]; keep(l.schema) {
				out = append(out, schema.Leaf{Path: slices.Concat(at, l.schema.Steps), Value: l.value})
			}
			leaves = leaves[1:]
			continue
		}
		within := append(at, lists[0].schema.Steps...)
		for _, x := range lists[0].entries {
			within[len(within)-1] = x.elem
			out = x.appendLeaves(out, within, nil, keep)
		}
		lists = lists[1:]
	}
	return out
}

// under returns the leaves that a pattern names.
func (t *tree) under(pattern schema.Path, keep func(*schema.Node) bool) []schema.Leaf {
	if !wild(t.model, pattern) && !t.exists(pattern) { // rules that are new are not there
		return nil
	}
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
