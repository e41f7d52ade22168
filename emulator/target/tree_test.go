package target

import (
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestSortedByAllKeys: entries of a list with two keys come by the first, then by the second, numbers
// by size and before texts, and each is found again.
func TestSortedByAllKeys(t *testing.T) {
	entry := func(keys [2]string) schema.Elem {
		return schema.Elem{Name: "rule", Keys: []schema.Key{{Name: "policy", Value: keys[0]},
			{Name: "seq", Value: keys[1]}}}
	}
	of := &schema.Node{Name: "text", Steps: schema.Path{{Name: "text"}}, Leaf: true}
	rule := &schema.Node{Name: "rule", Steps: schema.Path{{Name: "rule"}}, Keys: []string{"policy", "seq"},
		Kids: map[string]*schema.Node{"text": of}}
	tr := newTree(&schema.Model{Root: &schema.Node{Kids: map[string]*schema.Node{"rule": rule}}})
	text := func(e [2]string) schema.Path { return schema.Path{entry(e), {Name: "text"}} }
	for _, e := range [][2]string{{"b", "1"}, {"a", "10"}, {"a", "9"}, {"a", "1x"}, {"a", "x"}, {"a", "09"}} {
		tr.put(text(e), e[1])
	}
	want := [][2]string{{"a", "09"}, {"a", "9"}, {"a", "10"}, {"a", "1x"}, {"a", "x"}, {"b", "1"}}
	for i, k := range tr.root.lists[0].entries {
		if got := [2]string{k.elem.Keys[0].Value, k.elem.Keys[1].Value}; got != want[i] || k.leaves[0].value != got[1] {
			t.Errorf("entry %d is %v with %v, want %v", i, got, k.leaves[0].value, want[i])
		}
	}
	for _, e := range want {
		if got := tr.get(text(e)); got != e[1] {
			t.Errorf("entry %v holds %v", e, got)
		}
		tr.put(text(e), nil)
	}
	if len(tr.root.lists) > 0 || tr.get(text(want[0])) != nil {
		t.Errorf("%d entries are left", len(tr.root.lists))
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

// TestWrittenAsNested: a part of a tree is written as the JSON that its leaves are nested to.
func TestWrittenAsNested(t *testing.T) {
	tr := newTree(schema.OpenConfig())
	p := gnmi.OpenConfig{Ports: 5, Racks: 3}
	leaves := append(p.BaseLeaves(), p.GroupLeaves(1, 2)...)
	for d := range southbound.RackID(3) {
		for _, tag := range []southbound.Tag{0, 3, southbound.AnyTag} {
			for _, src := range []southbound.RackID{1, southbound.AnyRack} {
				r := southbound.Rule{Match: southbound.Match{Dst: d, Tag: tag, Src: src}, Primary: 1, Backup: 2}
				leaves = append(append(leaves, p.RuleLeaves(r, false)...), p.RuleLeaves(r, true)...)
			}
		}
	}
	for _, l := range leaves {
		tr.put(l.Path, l.Value)
	}
	portCounts(tr, []PortCount{{InOctets: 1 << 60}, {OutPkts: 7, Looks: QueueSamples{Number: 1}}})
	tr.put(path("system", "state", "hostname"), "tor\"0\"")
	tr.put(path("interfaces").Entry("interface", "name", "Ethernet1").With("config", "enabled"), true)
	written := 0
	for _, l := range tr.under(nil, isAny) {
		for n := range len(l.Path) + 1 {
			for _, f := range tr.find(l.Path[:n]) {
				for what, keep := range map[string]func(*schema.Node) bool{
					"all": isAny, "configuration": isConfig, "state": isState} {
					want := ""
					if all := f.leaves(nil, keep); len(all) > 0 {
						v, err := tr.model.Nest(f.path, all)
						if err != nil {
							t.Fatal(err)
						}
						tv, err := schema.JSON(v, gpb.Encoding_JSON)
						if err != nil {
							t.Fatal(err)
						}
						want = string(tv.GetJsonVal())
						written++
					}
					got, any, err := f.appendJSON(nil, keep)
					if err != nil || any != (want != "") || any && string(got) != want {
						t.Fatalf("%s of %s: %v, %s\nwant %s", what, f.path, err, got, want)
					}
				}
			}
		}
	}
	if written < 1000 {
		t.Errorf("%d parts were compared", written)
	}
}
