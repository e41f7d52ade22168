package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Row is one line of a model's table: a leaf. Lists are written with their keys,
// "/interfaces/interface[name]/...", and tables, whose entries are members of a JSON object and whose
// key travels as an element of its own, with their one key in braces,
// "/CONFIG_DB/localhost/ACL_RULE{key}/...". The field "*" of a table stands for those that have no row.
// A leaf below "state" is read-only; State makes others so.
type Row struct {
	Path    string
	Type    Type
	State   bool
	Counter bool // changes all the time: sampled, never sent on change
}

// Node is a container, a list or a leaf of a model.
type Node struct {
	Name     string
	Steps    Path     // from the list entry that it is in, or from the root; without keys
	Keys     []string // of a list, sorted
	Table    bool     // a list in the form of a table, with one key
	Kids     map[string]*Node
	Order    []string // of Kids, sorted
	Type     Type     // of a leaf
	Leaf     bool
	ReadOnly bool // of a leaf
	Counter  bool // of a leaf
}

// Module names a model as Capabilities does.
type Module struct{ Name, Organization, Version string }

// Model is a table made into a tree.
type Model struct {
	Name    string
	Modules []Module
	Root    *Node
	Rows    []Row
	Origins map[string]string // of paths, by their first element; those that are not here go without
}

// Join makes one model of several that share no path, as a device that speaks all of them has it.
func Join(name string, all ...*Model) *Model {
	out := &Model{Name: name, Root: &Node{Kids: map[string]*Node{}}, Origins: map[string]string{}}
	for _, m := range all {
		out.Modules = append(out.Modules, m.Modules...)
		out.Rows = append(out.Rows, m.Rows...)
		for _, top := range m.Root.Order {
			if out.Root.Kids[top] != nil {
				panic(fmt.Sprintf("schema: join %s: /%s stands in two models", name, top))
			}
			out.Root.Kids[top] = m.Root.Kids[top]
			out.Root.Order = append(out.Root.Order, top)
			if o, ok := m.Origins[top]; ok {
				out.Origins[top] = o
			}
		}
	}
	slices.Sort(out.Root.Order)
	return out
}

// DefaultOrigin is the origin of paths that name none.
const DefaultOrigin = "openconfig"

// Origin reports whether paths of that origin are of this model.
func (m *Model) Origin(name string) bool {
	if name == "" || name == DefaultOrigin || name == m.Name {
		return true
	}
	for _, o := range m.Origins {
		if o == name {
			return true
		}
	}
	return false
}

// newModel builds a tree. A table that contradicts itself is a mistake of this package: it panics.
func newModel(name string, modules []Module, rows []Row) *Model {
	m := &Model{Name: name, Modules: modules, Root: &Node{Kids: map[string]*Node{}}, Rows: rows}
	for _, r := range rows {
		n, readOnly := m.Root, r.State
		for _, step := range strings.Split(strings.TrimPrefix(r.Path, "/"), "/") {
			name, keys, table := splitKeys(step)
			kid := n.Kids[name]
			if kid == nil {
				kid = &Node{Name: name, Steps: Path{{Name: name}}, Keys: keys, Table: table, Kids: map[string]*Node{}}
				if len(n.Keys) == 0 {
					kid.Steps = n.Steps.With(name)
				}
				n.Kids[name] = kid
				n.Order = append(n.Order, name)
			}
			if !slices.Equal(kid.Keys, keys) {
				panic(fmt.Sprintf("schema: %s: the keys of %s differ from an earlier row's", r.Path, name))
			}
			readOnly = readOnly || name == "state"
			n = kid
		}
		if n.Leaf || len(n.Kids) > 0 {
			panic(fmt.Sprintf("schema: %s stands twice", r.Path))
		}
		n.Leaf, n.Type, n.ReadOnly, n.Counter = true, r.Type, readOnly, r.Counter
	}
	m.Root.sort()
	return m
}

func (n *Node) sort() {
	slices.Sort(n.Order)
	for _, name := range n.Order {
		n.Kids[name].sort()
	}
}

func splitKeys(step string) (name string, keys []string, table bool) {
	if name, rest, ok := strings.Cut(step, "{"); ok {
		return name, []string{strings.TrimSuffix(rest, "}")}, true
	}
	name, rest, ok := strings.Cut(step, "[")
	if !ok {
		return step, nil, false
	}
	keys = strings.Split(strings.TrimSuffix(rest, "]"), "][")
	slices.Sort(keys)
	return name, keys, false
}

// Tables reports whether the model has lists in the form of tables.
func (m *Model) Tables() bool {
	return slices.ContainsFunc(m.Rows, func(r Row) bool { return strings.Contains(r.Path, "{") })
}

// Lookup returns the node of a path. The keys it gives must be the model's; all says that all of them
// must be given, none of them Any: what an update needs. The root is a node, and so is a whole table.
func (m *Model) Lookup(p Path, all bool) (*Node, error) {
	n := m.Root
	for i, e := range p {
		kid := n.kid(e.Name)
		if kid == nil {
			return nil, fmt.Errorf("look up %q: %w (at %q)", p.String(), ErrUnknown, e.Name)
		}
		whole := kid.Table && len(e.Keys) == 0 && i == len(p)-1
		if err := kid.checkKeys(e, all && !whole); err != nil {
			return nil, fmt.Errorf("look up %q: %w", p[:i+1].String(), err)
		}
		n = kid
	}
	return n, nil
}

// Kid returns the node of that name; of a table that takes any field, that one's; nil if there is none.
func (n *Node) Kid(name string) *Node { return n.kid(name) }

func (n *Node) kid(name string) *Node {
	if k := n.Kids[name]; k != nil || !n.Table {
		return k
	}
	return n.Kids[Any]
}

func (n *Node) checkKeys(e Elem, all bool) error {
	for _, k := range e.Keys {
		if !slices.Contains(n.Keys, k.Name) {
			return malformed("%q has no key %q; its keys are %v", n.Name, k.Name, n.Keys)
		}
		if all && (k.Value == Any || k.Value == "") {
			return malformed("key %q of %q is %q: name one entry", k.Name, n.Name, k.Value)
		}
	}
	if all && len(e.Keys) != len(n.Keys) {
		return malformed("%q needs its keys %v", n.Name, n.Keys)
	}
	return nil
}

// IsState reports whether a row is state: below a container of that name, or marked as state.
func IsState(r Row) bool { return r.State || strings.Contains(r.Path, "/state/") }
