package target

import (
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

// TestSortedByAllKeys: entries of a list with two keys come by the first, then by the second, numbers
// by size.
func TestSortedByAllKeys(t *testing.T) {
	n := &node{kids: map[string]*node{}}
	for _, e := range [][2]string{{"b", "1"}, {"a", "10"}, {"a", "9"}, {"a", "x"}} {
		elem := schema.Elem{Name: "rule", Keys: []schema.Key{{Name: "policy", Value: e[0]},
			{Name: "seq", Value: e[1]}}}
		n.kids[elem.String()] = &node{elem: elem}
	}
	want := [][2]string{{"a", "9"}, {"a", "10"}, {"a", "x"}, {"b", "1"}}
	for i, k := range n.sorted() {
		if got := [2]string{k.elem.Keys[0].Value, k.elem.Keys[1].Value}; got != want[i] {
			t.Errorf("entry %d is %v, want %v", i, got, want[i])
		}
	}
}

// TestEcho: an answer has the target that its request names, and no prefix where it names none.
func TestEcho(t *testing.T) {
	if echo(nil) != nil || echo(&gpb.Path{Origin: "x"}) != nil {
		t.Error("a prefix for no target")
	}
	if p := echo(&gpb.Path{Origin: "x", Target: "sw"}); p.GetTarget() != "sw" || p.GetOrigin() != "" {
		t.Errorf("%v", p)
	}
}
