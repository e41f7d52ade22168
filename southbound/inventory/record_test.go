package inventory_test

import (
	"reflect"
	"strings"
	"testing"

	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/yamlfile"
)

const labDevices = `devices:
- {name: tor0, address: "127.0.0.1:1", port-map: [{port: 1, name: Ethernet4}]}
- {name: tor1, address: "127.0.0.1:2"}
- {name: spine0, address: "127.0.0.1:3"}
- {name: ocs, address: "127.0.0.1:4"}
`

func lab(t *testing.T) (*topo.Fabric, inventory.Devices) {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inventory.Parse("lab.yaml", []byte(labDevices), f)
	if err != nil {
		t.Fatal(err)
	}
	return f, p.Devices
}

// records are those of a file that changes devices.
func records(t *testing.T, text string) inventory.Devices {
	t.Helper()
	var file struct {
		Devices inventory.Devices          `yaml:"devices"`
		Groups  map[string]inventory.Group `yaml:"groups"`
	}
	if _, err := yamlfile.Decode("f", []byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if at, err := inventory.Complete(file.Devices, file.Groups, "/etc/lab"); err != nil {
		t.Fatal(at, err)
	}
	return file.Devices
}

// TestReplace: a record stands by itself, is read as it was written, and replaces that of its name if it fits.
func TestReplace(t *testing.T) {
	f, all := lab(t)
	for _, tt := range []struct{ name, text, want string }{
		{"address", "devices: {tor1: '127.0.0.1:9'}", "address 127.0.0.1:2 → 127.0.0.1:9"},
		{"vendor", "devices: [{name: spine0, address: 'lab:3', profile: srl-native, group: g}]\n" +
			"groups: {g: {tls: {ca: ca.pem}, credentials: {username: 'env:A', password: 'file:pw'}, flags: {instance: x}}}",
			"address 127.0.0.1:3 → lab:3, profile openconfig → srl-native, other certificates, other credentials, other flags"},
		{"cables", "devices: [{name: tor0, address: '127.0.0.1:1', port-map: [{port: 1, name: Ethernet8}, {port: 2, " +
			"name: Ethernet4}]}]", "port 1 is Ethernet4 → Ethernet8, port 2 is by default → Ethernet4"},
		{"as it is", "devices: [{name: tor0, address: '127.0.0.1:1', port-map: [{port: 1, name: Ethernet4}]}]", ""},
		{"taken address", "devices: {tor1: '127.0.0.1:3'}", `! device "tor1": address: device "spine0" has it`},
		{"few ports", "devices: [{name: tor1, address: 'lab:1', ports: 2}]", `! device "tor1": ports: the fabric uses 3`},
		{"optical", "devices: [{name: tor1, address: 'lab:1', profile: ocp}]", `! device "tor1": profile: ocp is not for`},
		{"port beyond", "devices: [{name: tor1, address: 'lab:1', port-map: [{port: 7, name: e}]}]",
			"ports are 0 to 2"},
		{"unknown", "devices: {tor7: 'lab:1'}", `! device "tor7" is not in the file`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := records(t, tt.text)[0]
			text, err := d.Record()
			if err != nil {
				t.Fatal(err)
			}
			back, err := inventory.ParseRecord(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			after, err := all.Replace(f, back)
			if err != nil {
				if !strings.Contains("! "+err.Error(), tt.want) || tt.want == "" {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			was, _ := all.Find(d.Name)
			is, _ := after.Find(d.Name)
			if got := strings.Join(is.Differences(was), ", "); got != tt.want || len(after) != len(all) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if is.TLS.CA != "" && (is.TLS.CA != "/etc/lab/ca.pem" ||
				is.Credentials.Password != "file:/etc/lab/pw") {
				t.Errorf("%+v", is)
			}
		})
	}
	swap := records(t, "devices: {tor1: '127.0.0.1:3', spine0: '127.0.0.1:2'}")
	if after, err := all.Replace(f, swap...); err != nil || after[1].Address != "127.0.0.1:3" {
		t.Errorf("two exchange their addresses: %+v, %v", after, err)
	}
	if d, err := all.Find("tor1"); err != nil || d.Address != "127.0.0.1:2" {
		t.Error("the list itself has changed", d, err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("name: tor0\naddress: lab:1\nport-map: [{port: 1, name: e}]\nflags: {lanes: 4}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := inventory.ParseRecord(text)
		if err != nil {
			return
		}
		again, err := d.Record()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := inventory.ParseRecord(again); err == nil && !reflect.DeepEqual(back, d) &&
			len(d.PortMap) > 0 {
			t.Errorf("%+v is read as %+v", d, back)
		}
	})
}
