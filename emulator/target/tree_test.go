package target

import (
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

// TestSortedByAllKeys: entries of a list with two keys come by the first, then by the second, numbers
// by size and before texts, and each is found again.
func TestSortedByAllKeys(t *testing.T) {
	entry := func(keys [2]string) schema.Elem {
		return schema.Elem{Name: "rule", Keys: []schema.Key{{Name: "policy", Value: keys[0]},
			{Name: "seq", Value: keys[1]}}}
	}
	tr := newTree(&schema.Model{Root: &schema.Node{Kids: map[string]*schema.Node{"rule": {}}}})
	for _, e := range [][2]string{{"b", "1"}, {"a", "10"}, {"a", "9"}, {"a", "1x"}, {"a", "x"}, {"a", "09"}} {
		tr.put(schema.Path{entry(e)}, e[1])
	}
	want := [][2]string{{"a", "09"}, {"a", "9"}, {"a", "10"}, {"a", "1x"}, {"a", "x"}, {"b", "1"}}
	for i, k := range tr.root.kids {
		if got := [2]string{k.elem.Keys[0].Value, k.elem.Keys[1].Value}; got != want[i] || k.value != got[1] {
			t.Errorf("entry %d is %v with %v, want %v", i, got, k.value, want[i])
		}
	}
	for _, e := range want {
		if got := tr.get(schema.Path{entry(e)}); got != e[1] {
			t.Errorf("entry %v holds %v", e, got)
		}
		tr.put(schema.Path{entry(e)}, nil)
	}
	if len(tr.root.kids) > 0 || tr.get(schema.Path{entry(want[0])}) != nil {
		t.Errorf("%d entries are left", len(tr.root.kids))
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
