package interop

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openconfig/goyang/pkg/yang"
	"github.com/openconfig/lemming/gnmi/oc"
)

func sortLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// row is a line of our hand-written table.
type row struct {
	Path, Type string
	ReadOnly   bool `json:"read_only"`
}

func rowsOf(t *testing.T, profile string) []row {
	t.Helper()
	out, err := run(t, lightloom(t), "device", "model", profile)
	if err != nil {
		t.Fatal(err, out)
	}
	var rows []row
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// newer are the parts of our tables that are younger than the models lemming v0.7.0 was generated from:
// openconfig-network-instance-static, and the action next-hop-group of openconfig-policy-forwarding 0.8.0.
var newer = regexp.MustCompile(`^/network-instances/network-instance\[name\]/static/|/action/(config|state)/` +
	`next-hop-group$`)

// TestSchema: every path that our OpenConfig tables name exists in lemming's generated schema, with these keys and a
// type that takes the same values.
func TestSchema(t *testing.T) {
	s, err := oc.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"openconfig", "openconfig-plain"} {
		held := 0
		for _, r := range rowsOf(t, profile) {
			e, why := find(s.SchemaTree["Root"], r.Path)
			switch {
			case strings.HasPrefix(r.Path, "/@/"): // an annotation, which is of no data model
				continue
			case newer.MatchString(r.Path):
				if why == "" {
					t.Errorf("%s: %s is in lemming's schema now: hold it against that", profile, r.Path)
				}
				continue
			case why != "":
				t.Errorf("%s: %s: %s", profile, r.Path, why)
			case !agree(r.Type, e):
				t.Errorf("%s: %s is %s here and %v there", profile, r.Path, r.Type, e.Type.Kind)
			case r.ReadOnly != e.ReadOnly():
				t.Errorf("%s: %s is read-only here: %v, there: %v", profile, r.Path, r.ReadOnly, e.ReadOnly())
			}
			held++
		}
		if held < 20 {
			t.Errorf("%s: only %d rows were held against the schema", profile, held)
		}
	}
}

// find walks a path of our table; why says where it ends.
func find(e *yang.Entry, path string) (_ *yang.Entry, why string) {
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		name, keys, _ := strings.Cut(step, "[")
		kid := e.Dir[name]
		if kid == nil {
			return nil, "there is no " + name
		}
		if want := strings.Fields(strings.NewReplacer("]", " ", "[",
			" ").Replace(keys)); strings.Join(sorted(want),
			" ") != strings.Join(sorted(strings.Fields(kid.Key)), " ") {
			return nil, name + " has the keys " + kid.Key
		}
		e = kid
	}
	return e, ""
}

func sorted(s []string) []string { slices.Sort(s); return s }

// agree reports whether a leaf of the schema takes what our type writes.
func agree(ours string, e *yang.Entry) bool {
	if e.ListAttr != nil != strings.HasPrefix(ours, "list of ") {
		return false
	}
	return takes(strings.TrimPrefix(ours, "list of "), e, e.Type)
}

func takes(ours string, e *yang.Entry, t *yang.YangType) bool {
	switch t.Kind {
	case yang.Yleafref:
		target := e.Find(t.Path)
		return target == nil || target.Type == nil || takes(ours, target, target.Type)
	case yang.Yunion:
		return slices.ContainsFunc(t.Type, func(u *yang.YangType) bool { return takes(ours, e, u) })
	case yang.Yenum:
		names, ok := strings.CutPrefix(ours, "one of ")
		if !ok || t.Enum == nil {
			return false
		}
		for _, n := range strings.Split(names, ", ") {
			if !t.Enum.IsDefined(n) {
				return false
			}
		}
		return true
	case yang.Yidentityref:
		_, list, ok := strings.Cut(ours, ":{")
		if !ok || t.IdentityBase == nil {
			return false
		}
		for _, n := range strings.Split(strings.TrimSuffix(list, "}"), ", ") {
			if !slices.ContainsFunc(t.IdentityBase.Values, func(i *yang.Identity) bool { return i.Name == n }) {
				return false
			}
		}
		return true
	case yang.Ystring:
		return ours == "string" || ours == "date-and-time" || strings.HasPrefix(ours, "IPv4 ") ||
			strings.HasPrefix(ours, "IPv6 ")
	case yang.Ybool:
		return ours == "boolean"
	}
	return ours == t.Kind.String() // integers
}
