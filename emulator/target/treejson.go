package target

import "lightloom/southbound/gnmi/schema"

// jsonWriter writes parts of a tree as schema.Model.Nest has them written, without the leaves and objects in between:
// a controller reads all rules of a switch at once.
type jsonWriter struct {
	out  []byte
	keep func(*schema.Node) bool
	err  error // the first
}

// appendJSON appends what was found, as far as keep wants it; false where that is nothing. It is not for models with
// tables.
func (f found) appendJSON(out []byte, keep func(*schema.Node) bool) (_ []byte, any bool, err error) {
	w := jsonWriter{out: out, keep: keep}
	leaves, lists := f.entry.at(f.steps)
	switch {
	case f.schema.Leaf:
		any = w.leaf(leaves[0])
	case len(f.steps) == 0:
		any = w.entry(f.entry)
	default:
		any = w.object(leaves, lists, len(f.steps), nil)
	}
	return w.out, any, w.err
}

// entry writes the object of an entry, with its keys. Like all that follow it reports whether there is a leaf.
func (w *jsonWriter) entry(e *listEntry) bool { return w.object(e.leaves, e.lists, 0, e) }

// object writes what is so many steps below an entry; of is that entry where it is the object itself.
func (w *jsonWriter) object(leaves []leaf, lists []list, depth int, of *listEntry) bool {
	w.out = append(w.out, '{')
	any, members := false, len(w.out)
	var keys []schema.Key
	if of != nil {
		keys = of.elem.Keys
	}
	for len(leaves)+len(lists) > 0 {
		name, i, k := group(leaves, lists, depth)
		for len(keys) > 0 && keys[0].Name < name {
			w.key(of.schema, keys[0], members)
			keys = keys[1:]
		}
		before := len(w.out)
		w.member(name, members)
		if w.group(leaves[:i], lists[:k], depth) {
			any = true
			if len(keys) > 0 && keys[0].Name == name {
				keys = keys[1:]
			}
		} else {
			w.out = w.out[:before]
		}
		leaves, lists = leaves[i:], lists[k:]
	}
	for _, k := range keys {
		w.key(of.schema, k, members)
	}
	w.out = append(w.out, '}')
	return any
}

// group returns the name of the next member of an object, and how many leaves and lists are in it.
func group(leaves []leaf, lists []list, depth int) (name string, i, k int) {
	if len(lists) == 0 || len(leaves) > 0 && compareSteps(leaves[0].schema.Steps, lists[0].schema.Steps) < 0 {
		name = leaves[0].schema.Steps[depth].Name
	} else {
		name = lists[0].schema.Steps[depth].Name
	}
	for i < len(leaves) && leaves[i].schema.Steps[depth].Name == name {
		i++
	}
	for k < len(lists) && lists[k].schema.Steps[depth].Name == name {
		k++
	}
	return name, i, k
}

// group writes the value of one member: a leaf, a list or a container.
func (w *jsonWriter) group(leaves []leaf, lists []list, depth int) bool {
	switch {
	case len(leaves) > 0 && len(leaves[0].schema.Steps) == depth+1:
		return w.leaf(leaves[0])
	case len(lists) > 0 && len(lists[0].schema.Steps) == depth+1:
		return w.list(lists[0])
	}
	return w.object(leaves, lists, depth+1, nil)
}

func (w *jsonWriter) leaf(l leaf) bool {
	if w.err != nil || !w.keep(l.schema) {
		return false
	}
	w.out, w.err = l.schema.AppendValue(w.out, l.value)
	return true
}

func (w *jsonWriter) list(l list) (any bool) {
	w.out = append(w.out, '[')
	for _, x := range l.entries {
		before := len(w.out)
		if any {
			w.out = append(w.out, ',')
		}
		if w.entry(x) {
			any = true
		} else {
			w.out = w.out[:before]
		}
	}
	w.out = append(w.out, ']')
	return any
}

// member begins a member of an object whose members begin there.
func (w *jsonWriter) member(name string, members int) {
	if len(w.out) > members {
		w.out = append(w.out, ',')
	}
	w.out = append(append(append(w.out, '"'), name...), '"', ':')
}

func (w *jsonWriter) key(of *schema.Node, k schema.Key, members int) {
	w.member(k.Name, members)
	if w.err == nil {
		w.out, w.err = of.AppendKey(w.out, k.Name, k.Value)
	}
}
