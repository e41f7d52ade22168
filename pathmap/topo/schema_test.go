package topo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// valid reports whether a document meets a schema: the part of JSON Schema that ours uses, and a panic
// for the rest.
func valid(schema map[string]any, root map[string]any, v any) bool {
	for key, want := range schema {
		if !meets(key, want, schema, root, v) {
			return false
		}
	}
	return true
}

func meets(key string, want any, schema, root map[string]any, v any) bool {
	object, _ := v.(map[string]any)
	array, _ := v.([]any)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	switch key {
	case "$schema", "title", "description", "$defs":
	case "$ref":
		name := strings.TrimPrefix(want.(string), "#/$defs/")
		return valid(root["$defs"].(map[string]any)[name].(map[string]any), root, v)
	case "anyOf":
		return slices.ContainsFunc(want.([]any), func(s any) bool { return valid(s.(map[string]any), root, v) })
	case "const":
		return v == want
	case "enum":
		return slices.Contains(want.([]any), v)
	case "type":
		kinds, several := want.([]any)
		if !several {
			kinds = []any{want}
		}
		return slices.ContainsFunc(kinds, func(k any) bool { return isKind(k.(string), v) })
	case "required":
		return object == nil || !slices.ContainsFunc(want.([]any), func(k any) bool {
			_, ok := object[k.(string)]
			return !ok
		})
	case "properties":
		for name, s := range want.(map[string]any) {
			if field, ok := object[name]; ok && !valid(s.(map[string]any), root, field) {
				return false
			}
		}
	case "additionalProperties":
		for name := range object {
			if _, known := schema["properties"].(map[string]any)[name]; !known {
				return false
			}
		}
	case "items":
		return !slices.ContainsFunc(array, func(e any) bool { return !valid(want.(map[string]any), root, e) })
	case "minItems":
		return array == nil && !isKind("array", v) || len(array) >= int(want.(float64))
	case "maxItems":
		return len(array) <= int(want.(float64))
	case "minLength":
		return !isText || len(text) >= int(want.(float64))
	case "maxLength":
		return !isText || len(text) <= int(want.(float64))
	case "minimum":
		return !isNumber || number >= want.(float64)
	case "maximum":
		return !isNumber || number <= want.(float64)
	case "pattern":
		return !isText || regexp.MustCompile(want.(string)).MatchString(text)
	default:
		panic("the test does not know the keyword " + key)
	}
	return true
}

func isKind(kind string, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	}
	return false
}

// asJSON returns a YAML document as JSON has it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestSchema: what the schema refuses the reader refuses, and what it allows is read, but for what a
// schema cannot say.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	const two = "kind: topology\nnodes: [{name: a}, {name: b}]\n"
	for _, c := range []struct {
		text         string
		valid, taken bool
	}{
		{two, true, true},
		{two + "name: lab\ncapacity: 2.5Gbps\n", true, true},
		{two + "name: 7\ncapacity: 2500000\n", true, true},
		{two + "capacity: 2500\n", false, false},
		{"kind: topology\nnodes: [{name: a, role: tor, rack: 0}, {name: 5, role: host}]\nlinks: []\n", true, true},
		{two + "links: [{ends: [a, b], ports: [0, 65535], capacity: 10kbps, back: 3bps}]\n", true, true},
		{two + "links: [{ends: [a, b]}, {ends: [b, a]}]\n", true, true},
		{"kind: hybird\nnodes: [{name: a}]\n", false, false},
		{"kind: topology\n", false, false},
		{"kind: topology\nnodes: []\n", false, false},
		{"kind: topology\nnodes: {a: b}\n", false, false},
		{"kind: topology\nnodes: [a]\n", false, false},
		{"kind: topology\nnodes: [{role: tor}]\n", false, false},
		{"kind: topology\nnodes: [{name: \"\"}]\n", false, false},
		{"kind: topology\nnodes: [{name: a, role: leaf}]\n", false, false},
		{"kind: topology\nnodes: [{name: a, rack: -1}]\n", false, false},
		{"kind: topology\nnodes: [{name: a, rack: 1.5}]\n", false, false},
		{"kind: topology\nnodes: [{name: a, colour: red}]\n", false, false},
		{"kind: topology\nnodes: [{name: [a]}]\n", false, false},
		{"kind: topology\nnodes: [{name: " + strings.Repeat("x", 256) + "}]\n", false, false},
		{two + "extra: 1\n", false, false},
		{two + "capacity: fast\n", false, false},
		{two + "capacity: 0\n", false, false},
		{two + "capacity: -1Gbps\n", false, false},
		{two + "capacity: 1e20\n", false, false},
		{two + "links: [{ends: [a]}]\n", false, false},
		{two + "links: [{ends: [a, b, a]}]\n", false, false},
		{two + "links: [{ports: [1, 2]}]\n", false, false},
		{two + "links: [{ends: [a, b], ports: [1]}]\n", false, false},
		{two + "links: [{ends: [a, b], ports: [1, 70000]}]\n", false, false},
		{two + "links: [{ends: [a, b], ports: [1, -1]}]\n", false, false},
		{two + "links: [{ends: [a, b], back: 1GBps}]\n", false, false},
		{two + "links: [{ends: [a, b], speed: 1Gbps}]\n", false, false},
		{two + "links: {ends: [a, b]}\n", false, false},
		// A schema cannot say that names are unique and known, nor that a port is used once.
		{"kind: topology\nnodes: [{name: a}, {name: a}]\n", true, false},
		{two + "links: [{ends: [a, c]}]\n", true, false},
		{two + "links: [{ends: [a, a]}]\n", true, false},
		{two + "capacity: 0bps\n", true, false},
	} {
		if got := valid(schema, schema, asJSON(t, c.text)); got != c.valid {
			t.Errorf("the schema says %v of\n%s", got, c.text)
		}
		if _, err := readTopology("yaml", c.text); (err == nil) != c.taken {
			t.Errorf("the reader says %v of\n%s", err, c.text)
		}
	}
	f, err := FormatNamed("yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(written(t, f, build(t, "hybrid").Topology)); !valid(schema, schema, asJSON(t, text)) {
		t.Errorf("the writer does not meet the schema:\n%s", text)
	}
}

// TestSchemaKeys: the schema names the keys that the reader knows, and the same limits.
func TestSchemaKeys(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			MaxItems int
			Items    struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	check := func(what string, got any, want []string) {
		slices.Sort(want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the schema has %v, the reader %v", what, got, want)
		}
	}
	nodes, links := schema.Properties["nodes"], schema.Properties["links"]
	check("top", sorted(schema.Properties), topKeys())
	check("node", sorted(nodes.Items.Properties), nodeKeys())
	check("link", sorted(links.Items.Properties), linkKeys())
	roles := nodes.Items.Properties["role"].Enum
	slices.Sort(roles)
	check("roles", roles, Roles())
	if nodes.MaxItems != MaxNodes || links.MaxItems != MaxCables {
		t.Errorf("the schema allows %d nodes and %d links", nodes.MaxItems, links.MaxItems)
	}
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
