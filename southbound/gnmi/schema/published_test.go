package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

// published is what a file of testdata/published says: paths with their types, and modules with their versions, as the
// modules that its comments name have them.
type published struct {
	types   map[string]string
	modules map[string]string
}

func readPublished(t *testing.T, name string) published {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "published", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := published{map[string]string{}, map[string]string{}}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if module, ok := strings.CutPrefix(line, "module "); ok {
			name, version, _ := strings.Cut(module, " ")
			p.modules[name] = version
		} else if path, typ, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			p.types[path] = typ
		}
	}
	return p
}

// isKey reports whether a path is a list's key, which our tables leave out.
func isKey(path string) bool {
	i := strings.LastIndexByte(path, '/')
	return strings.HasSuffix(path[:i], "["+path[i+1:]+"]")
}

// TestPublished holds our tables against what is published: every path of ours is there with its type, and of the
// models that are ours as a whole nothing is missing.
func TestPublished(t *testing.T) {
	for _, tt := range []struct {
		file  string
		model *schema.Model
		whole bool
	}{
		{"ocp", schema.OCP(), true},
		{"sonic-ocs", schema.SONiCOCS(schema.ForkOCSTables()), true},
		{"sonic-ocs-hld", schema.SONiCOCS(schema.HLDOCSTables()), true},
	} {
		t.Run(tt.file, func(t *testing.T) {
			p := readPublished(t, tt.file)
			ours := map[string]bool{}
			for _, r := range tt.model.Rows {
				ours[r.Path] = true
				if want, ok := p.types[r.Path]; !ok || want != r.Type.String() {
					t.Errorf("%s is %v, published is %q", r.Path, r.Type, want)
				}
			}
			for path := range p.types {
				if tt.whole && !ours[path] && !isKey(path) {
					t.Errorf("%s is published, and not ours", path)
				}
			}
			for name, version := range p.modules {
				if !slices.ContainsFunc(tt.model.Modules, func(m schema.Module) bool {
					return m.Name == name && m.Version == version
				}) {
					t.Errorf("module %s %s is not ours", name, version)
				}
			}
		})
	}
}

// sample returns a value of a type, as JSON_IETF has it.
func sample(typ string) string {
	switch {
	case strings.HasPrefix(typ, "one of "):
		word, _, _ := strings.Cut(strings.TrimPrefix(typ, "one of "), ",")
		return `"` + word + `"`
	case typ == "boolean":
		return "true"
	case typ == "uint64":
		return `"18446744073709551615"`
	case typ == "uint32":
		return "7"
	case typ == "date-and-time":
		return `"2026-08-28T12:00:00.5+02:00"`
	case strings.HasPrefix(typ, "decimal64"):
		return `"-1.50"`
	}
	return `"a"`
}

// TestPublishedRoundTrip: every leaf of the published model is decoded where it stands, with names of modules and
// without, and a device's whole state goes to JSON and back.
func TestPublishedRoundTrip(t *testing.T) {
	m, p := schema.OCP(), readPublished(t, "ocp")
	var all []schema.Leaf
	for path, typ := range p.types {
		if isKey(path) {
			continue
		}
		at := mustParse(t, strings.NewReplacer("[name]", "[name=a]", "[peer-name]",
			"[peer-name=a]").Replace(path))
		leaves, err := m.Decode(at, tableJSON(sample(typ)))
		if err != nil || len(leaves) != 1 {
			t.Fatalf("%s: %v, %v", path, leaves, err)
		}
		all = append(all, leaves...)
	}
	v, err := m.Nest(nil, all)
	if err != nil {
		t.Fatal(err)
	}
	tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
	if err != nil {
		t.Fatal(err)
	}
	long := tableJSON(strings.NewReplacer(`"port-connection"`, `"ocp-ocs-optical-switch-connections:port-connection"`,
		`"ocp-ocs-port"`, `"ocp-ocs-optical-switch-port:ocp-ocs-port"`).Replace(string(tv.GetJsonIetfVal())))
	for _, tv := range []*gpb.TypedValue{tv, long} {
		back, err := m.Decode(nil, tv)
		if err != nil {
			t.Fatal(err)
		}
		byPath := func(a, b schema.Leaf) int { return strings.Compare(a.Path.String(), b.Path.String()) }
		slices.SortFunc(all, byPath)
		slices.SortFunc(back, byPath)
		if !slices.EqualFunc(all, back, func(a, b schema.Leaf) bool {
			return a.Path.String() == b.Path.String() && schema.Equal(a.Value, b.Value)
		}) {
			t.Errorf("%v comes back as %v", all, back)
		}
	}
}
