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
		{"devices: {tor0: x}\n", "f:1:1: unknown field", nil},
		{"policy: a\nfabric: square\n", "f:2:9", nil},
		{"drain:\n- spine1\n- spine1\n", "f:3:3", nil},
		{"drain: 7\n", "f:1:8", nil},
	} {
		got, err := parseDescription("f", []byte(tt.text))
		if tt.err == "" && (err != nil || !proto.Equal(got, tt.want)) || tt.err != "" && (err == nil || !strings.Contains(
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
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := parseDescription("f", b); err == nil && d.Spec == nil && d.Policy == nil && d.Drained == nil {
			t.Errorf("%q describes nothing, and is taken", b)
		}
	})
}
