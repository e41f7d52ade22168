package topo

import (
	"encoding/json"
	"slices"
)

// containerlab's topology-data.json is what it leaves in a lab's directory: nodes by name, in which
// nothing is left to inherit, and links with the ends a and z, within "endpoints" from version 0.50 on.

// labNodes reads nodes in an object by name.
func (r *nodeLink) labNodes() error {
	r.isLab()
	if _, err := r.dec.Token(); err != nil {
		return r.fail(err)
	}
	for r.dec.More() {
		at := r.next()
		t, err := r.dec.Token()
		if err != nil {
			return r.fail(err)
		}
		_, fields, err := r.object("nodes")
		if err != nil {
			return err
		}
		kind, _ := text(fields["kind"])
		var labels map[string]string
		if raw := fields["labels"]; len(raw) > 0 && json.Unmarshal(raw, &labels) != nil {
			return r.s.wrong(at, "node %q: its labels are no words: write {\"label\": \"value\"}", t)
		}
		if err := r.lab.node(t.(string), kind, labels, at); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.fail(err)
	}
	return nil
}

// isLab has the document be containerlab's.
func (r *nodeLink) isLab() {
	if r.lab == nil {
		r.lab = labIn(r.s)
	}
}

// isLabLink reports whether a link is containerlab's.
func isLabLink(fields map[string]json.RawMessage) bool {
	_, ends := fields["endpoints"]
	_, a := fields["a"]
	return ends || a
}

// labEnd is one end of a link.
type labEnd struct {
	Node      string `json:"node"`
	Interface string `json:"interface"`
}

func (r *nodeLink) labLink(at place, fields map[string]json.RawMessage) error {
	r.isLab()
	var within map[string]json.RawMessage
	if raw, ok := fields["endpoints"]; ok && json.Unmarshal(raw, &within) == nil {
		fields = within
	}
	var a, z *labEnd
	for _, end := range []struct {
		key string
		to  **labEnd
	}{{"a", &a}, {"z", &z}} {
		if raw, ok := fields[end.key]; ok && json.Unmarshal(raw, end.to) != nil {
			return r.s.wrong(at, "link %d: the end %s is no object: write {\"node\": \"a\", \"interface\": \"eth1\"}",
				len(r.s.cables), end.key)
		}
	}
	if a == nil {
		return r.s.wrong(at, "link %d has no end a: write {\"a\": {\"node\": …}, \"z\": {\"node\": …}}",
			len(r.s.cables))
	}
	if z == nil || slices.Contains(outsideEnds(), a.Node) || slices.Contains(outsideEnds(), z.Node) {
		return nil
	}
	return r.lab.link(at, nil, endpoint{a.Node, a.Interface}, endpoint{z.Node, z.Interface})
}
