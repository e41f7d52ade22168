package inventory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/inventory"
)

func TestRead(t *testing.T) {
	f, err := inventory.Read("testdata/lab.yaml", nil)
	if err != nil || len(f.Devices) != 3 {
		t.Fatal(f, err)
	}
	d, err := f.Devices.Find("emulated")
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Config(nil)
	if err != nil || !c.Plaintext || c.Profile != gnmi.Profile(gnmi.SONiCOCS{Ports: 8}) || c.Device != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := f.Devices.Find("ocs9"); err == nil ||
		!strings.Contains(err.Error(), "ocs1, leaf1, emulated") {
		t.Error(err)
	}
	if _, err := f.Devices[0].Config(nil); err == nil || !strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("no authority: %v", err)
	}
}

// TestSecrets: they are read from where they are, and never shown.
func TestSecrets(t *testing.T) {
	text, err := os.ReadFile("testdata/lab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "password.txt"), []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := inventory.Parse(filepath.Join(dir, "lab.yaml"), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"LAB_USER": "ada"}
	c, err := f.Devices[1].Config(func(name string) string { return env[name] })
	if err != nil || c.Login.User != "ada" || c.Login.Password != "hunter2" ||
		c.TLS.ServerName != "2001:db8::7" {
		t.Fatalf("%+v, %v", c, err)
	}
	if s := c.Login.String() + c.Login.GoString() + c.Login.LogValue().String(); strings.Contains(s, "hunter2") {
		t.Error("the password is shown")
	}
	p, ok := c.Profile.(gnmi.SRLinux)
	if !ok || !p.ControllerBackup || p.InstanceName != "fabric" || p.Racks != 8 {
		t.Errorf("%+v", c.Profile)
	}
	clear(env)
	if _, err := f.Devices[1].Config(func(name string) string {
		return env[name]
	}); err == nil || !strings.Contains(err.Error(), `"LAB_USER" is not set`) {
		t.Error(err)
	}
}

func TestBadFiles(t *testing.T) {
	const ok = "devices:\n  - name: a\n    address: 127.0.0.1:1\n    profile: ocp\n    ports: 8\n"
	for _, tt := range []struct{ text, want string }{
		{"", "no devices"},
		{"devices: [", "f.yaml:1:"},
		{ok + "    colour: red\n", "f.yaml:6:5: "},
		{strings.Replace(ok, "ocp", "ocq", 1),
			`f.yaml:4:14: device "a": profile: profile "ocq" is unknown: write one of openconfig`},
		{strings.Replace(ok, "127.0.0.1:1", "here", 1), "f.yaml:3:14: "},
		{strings.Replace(ok, "127.0.0.1:1", "h:99999", 1), "is no host:port"},
		{strings.Replace(ok, "8", "0", 1), "f.yaml:5:12: "},
		{strings.Replace(ok, "8", "many", 1), "f.yaml:5:12: "},
		{strings.Replace(ok, "ocp", "openconfig", 1), "a packet switch needs them"},
		{strings.Replace(ok, "    profile: ocp\n", "", 1),
			"write devices as a list of records with name, address, profile"},
		{"devices:\n  a: 127.0.0.1:1\n  b: 127.0.0.1:2\n", `f.yaml:2:6: device "a": profile: it is missing: where no fabric`},
		{"devices:\n  a: 127.0.0.1:1\n  a.b: here\n", "f.yaml:2:6: "},
		{"devices:\n  a: 127.0.0.1:1\n  a: 127.0.0.1:2\n", "f.yaml:3:3: "},
		{"devices: 7\n", "f.yaml:1:10: "},
		{ok + "    tls: {cert: x}\n", "both cert and key"},
		{ok + "    tls: {plaintext: true, ca: x}\n", "plaintext takes no certificates"},
		{ok + "    credentials: {username: admin, password: admin}\n", "f.yaml:6:"},
		{ok + "    credentials: {username: env:A}\n", "both username and password"},
		{ok + "    flags: {lanes: 4}\n", "it is of sonic"},
		{ok + strings.TrimPrefix(ok, "devices:\n"), "another device has it"},
		{ok + strings.NewReplacer("devices:\n", "", "name: a", "name: b").Replace(ok),
			`f.yaml:7:14: device "b": address: device "a" has it: one device`},
		{ok + "    port-map:\n    - {port: 1, name: x}\n    - {port: 1, name: y}\n",
			`f.yaml:8:14: device "a": port-map.1.port: port 1 stands in entry 1 too`},
		{ok + "    port-map:\n    - {port: 1, name: x}\n    - {port: 2, output: x}\n", `f.yaml:8:25: `},
		{ok + "    port-map: [{port: 8, name: x}]\n", "ports are 0 to 7"},
		{strings.Replace(ok, "ocp", "polatis", 1) + "    port-map: [{port: 1, name: x}]\n", `profile "polatis" numbers them`},
		{ok + "prefixes: {0: 192.0.2.1/24}\n", "write an IPv4 prefix"},
		{ok + "prefixes: {0: 192.0.2.0/24, 1: 192.0.2.0/24}\n", "rack 0 has it"},
		{ok + "    group: edge\n", `f.yaml:6:12: device "a": group: there is no "edge" under groups`},
		{ok + "groups: {edge: {credentials: {username: a, password: b}}}\n", `group "edge": write env:NAME or file:PATH`},
		{strings.Replace(ok, "127.0.0.1:1", "https://192.0.2.9:8008/api", 1), "only profile polatis has it"},
		{strings.NewReplacer("127.0.0.1:1", "http://127.0.0.1/api", "ocp", "polatis").Replace(ok),
			"plaintext goes with"},
		{strings.NewReplacer("127.0.0.1:1", "https://a:b@192.0.2.9/api", "ocp", "polatis").Replace(ok),
			"is no host:port"},
	} {
		if _, err := inventory.Parse("f.yaml", []byte(tt.text), nil); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestGroups: a device has what its group says and it does not, and a profile that it is asked for.
func TestGroups(t *testing.T) {
	f, err := inventory.Parse("f.yaml", []byte(`devices:
- {name: a, address: "192.0.2.1:1", group: edge}
- {name: b, address: "192.0.2.2:1", id: 1, group: edge, profile: auto, ports: 4, flags: {lanes: 8}}
- {name: c, address: "https://192.0.2.9/api", id: 2, profile: polatis, ports: 4}
groups:
  edge: {profile: sonic, ports: 32, racks: 8, tls: {server-name: lab}, flags: {send-role: true}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Devices[0].Config(nil)
	if err != nil || a.Profile != gnmi.Profile(gnmi.SONiC{Ports: 32, Racks: 8}) || !a.SendRole ||
		a.TLS.ServerName != "lab" {
		t.Errorf("%+v, %v", a, err)
	}
	b, err := f.Devices[1].Config(nil)
	if err != nil || b.Profile != nil || b.SendRole || !slices.Contains(b.Choose,
		gnmi.Profile(gnmi.SONiC{Ports: 4, Racks: 8, Lanes: 8})) || len(b.Choose) != 4 {
		t.Errorf("%+v, %v", b, err)
	}
	if c, err := f.Devices[2].Config(nil); err != nil || c.TLS.ServerName != "192.0.2.9" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestSchema: the schema knows the keys that the parser knows, and the profiles that there are.
func TestSchema(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			OneOf []struct {
				Type  string
				Items map[string]any
			}
			AdditionalProperties map[string]any
		}
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(inventory.Schema, &s); err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[inventory.Inventory]().NumField() {
		key := reflect.TypeFor[inventory.Inventory]().Field(i).Tag.Get("yaml")
		if _, ok := s.Properties[key]; !ok && key != "" {
			t.Errorf("the schema lacks %q", key)
		}
	}
	forms := s.Properties["devices"].OneOf
	if len(s.Properties) != 6 || len(forms) != 2 || forms[0].Type != "object" || forms[1].Type != "array" {
		t.Fatalf("%+v", s)
	}
	long := forms[1].Items
	same(t, s.Defs, long, reflect.TypeFor[inventory.Device]())
	same(t, s.Defs, s.Properties["groups"].AdditionalProperties, reflect.TypeFor[inventory.Group]())
	var names []any
	for _, p := range gnmi.All(1, 1) {
		names = append(names, p.Name())
	}
	names = append(names, inventory.AutoProfile)
	if got := s.Defs["profile"]["enum"]; !reflect.DeepEqual(got, names) {
		t.Errorf("the schema has profiles %v, the driver %v", got, names)
	}
}

func same(t *testing.T, defs map[string]map[string]any, schema map[string]any, typ reflect.Type) {
	t.Helper()
	props := schema["properties"].(map[string]any)
	var want []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
			continue
		}
		key := f.Tag.Get("yaml")
		if key == "-" {
			continue
		}
		want = append(want, key)
		sub, ok := props[key].(map[string]any)
		if !ok {
			t.Errorf("the schema lacks %q of %v", key, typ)
		} else if f.Type.Kind() == reflect.Struct {
			if name, ok := strings.CutPrefix(fmt.Sprint(sub["$ref"]), "#/$defs/"); ok {
				sub = defs[name]
			}
			same(t, defs, sub, f.Type)
		}
	}
	for key := range props {
		if !slices.Contains(want, key) {
			t.Errorf("the schema has %q, %v has not", key, typ)
		}
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%v: the schema takes more", typ)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/lab.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("devices:\n- name: a\n  address: 127.0.0.1:1\n  profile: ocp\n  ports: 8\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := inventory.Parse("f.yaml", []byte(text), nil)
		if (err == nil) == (file == nil) {
			t.Fatal(file, err)
		}
	})
}
