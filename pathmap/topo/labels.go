package topo

import "strings"

// Tools that number nodes (the Topology Zoo, yEd, networkx) put their names beside the number. Such a
// name becomes the node's, unless another node has it, too.

// labelNames are the attributes that hold it, the first that is there.
func labelNames() []string { return []string{"name", "label"} }

// labelled returns the node's name beside its number; "" where its id is a name already, or there is none.
func (a attributes) labelled(id string) string {
	if !isNumbered(id) {
		return ""
	}
	for _, key := range labelNames() {
		if text, ok := a(key); ok && strings.TrimSpace(text) != "" && checkName(text) == nil {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// isNumbered reports whether an id is a number, perhaps behind one letter, as yEd's n0.
func isNumbered(id string) bool {
	digits := id
	if len(id) > 1 && (id[0] < '0' || id[0] > '9') {
		digits = id[1:]
	}
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// names returns what the nodes are called: their labels where these are of one node alone, else their ids.
func (s *sketch) names() []string {
	taken := map[string]int{}
	for _, n := range s.nodes {
		taken[n.name]++
		if n.label != "" && n.label != n.name {
			taken[n.label]++
		}
	}
	out := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		if out[i] = n.name; n.label != "" && taken[n.label] == 1 {
			out[i] = n.label
		}
	}
	return out
}
