package session

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	apiv1 "lightloom/controller/api/v1"
)

// TestParseDescription: what a file does not name is not asked for, and errors name file, line and column.
func TestParseDescription(t *testing.T) {
	for _, tt := range []struct {
		text, err string
		want      *apiv1.FabricDescription
	}{
		{"policy: random+ecmp\n", "", &apiv1.FabricDescription{Policy: proto.String("random+ecmp")}},
		{"drain: [spine1, h0-0]\n", "", &apiv1.FabricDescription{Drained: &apiv1.NodeNames{
			Names: []string{"spine1", "h0-0"}}}},
		{"drain: []\n", "", &apiv1.FabricDescription{Drained: &apiv1.NodeNames{}}},
		{"", "describes nothing", nil},
		{"hosts: {h0-0: x}\n", "f:1:1: unknown field", nil},
		{"devices: {tor0: 'lab:1'}\n", "", &apiv1.FabricDescription{Devices: []string{"name: tor0\naddress: lab:1\n"}}},
		{"devices: {tor0: x}\n", `f:1:17: device "tor0": address: "x" is no host:port`, nil},
		{"devices:\n- name: tor0\n  address: lab:1\n  group: g\n", `f:4:10: device "tor0": group: there is no "g"`, nil},
		{"devices: [{name: a, address: 'l:1', credentials: {username: x, password: 'env:P'}}]\n",
			"f:1:61: ", nil},
		{"policy: a\nfabric: square\n", "f:2:9", nil},
		{"drain:\n- spine1\n- spine1\n", "f:3:3", nil},
		{"drain: 7\n", "f:1:8", nil},
		{"remove: [spine1]\n", "", &apiv1.FabricDescription{Removed: &apiv1.NodeNames{Names: []string{"spine1"}}}},
		{"remove: [a, a]\n", "f:1:13", nil},
		{"links:\n- {from: 'tor0:2', to: 'spine1:4'}\n- {from: 'tor1:2', to: none}\n- {from: a, to: b, rate: 2Gbps}\n", "",
			&apiv1.FabricDescription{Links: []*apiv1.Cable{{From: "tor0:2", To: "spine1:4"}, {From: "tor1:2"},
				{From: "a", To: "b", BitsPerSecond: 2e9}}}},
		{"links: [{from: 'tor0:2'}]\n", "f:1:9: ", nil},
		{"links: [{to: none}]\n", "f:1:9: ", nil},
		{"links: [{from: a, to: b, rate: fast}]\n", "f:1:32: ", nil},
	} {
		got, err := parseDescription("f", []byte(tt.text))
		if tt.err == "" && (err != nil || !proto.Equal(got, tt.want)) || tt.err != "" &&
			(err == nil || !strings.Contains(
				err.Error(), tt.err)) {
			t.Errorf("%q: %v, %v, want %v %s", tt.text, got, err, tt.want, tt.err)
		}
	}
	d, err := parseDescription("f", []byte("fabric: hybrid:racks=2,hosts=1\n"))
	if err != nil || !strings.HasPrefix(d.GetSpec(), "hybrid:") {
		t.Error(d, err)
	}
}

func FuzzParseDescription(f *testing.F) {
	f.Add([]byte("fabric: hybrid:racks=2,hosts=1\npolicy: random+ecmp\ndrain: [spine1]\n"))
	f.Add([]byte("links: [{from: 'tor0:2', to: 'spine1:4', rate: 2Gbps}]\n"))
	f.Add([]byte("devices:\n- {name: tor0, address: 'lab:1', group: g}\ngroups: {g: {flags: {lanes: 4}}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := parseDescription("f", b); err == nil && d.Spec == nil && d.Policy == nil &&
			d.Drained == nil &&
			d.Devices == nil && d.Removed == nil && d.Links == nil {
			t.Errorf("%q describes nothing, and is taken", b)
		}
	})
}
