package schema_test

import (
	"errors"
	"slices"
	"testing"

	"lightloom/southbound/gnmi/schema"
)

func TestExpand(t *testing.T) {
	m := schema.OCP()
	for _, tt := range []struct {
		path string
		want []string // nil: unknown
	}{
		{"/connections", []string{"/connections"}},
		{"/connections/*/state/status", []string{"/connections/port-connection/state/status"}},
		{"/*/config", []string{"/optical-switch/config"}},
		{"/*/*/config/name", []string{"/connections/port-connection/config/name"}},
		{"/.../status", []string{"/components/component/ocp-ocs-port/state/status",
			"/connections/port-connection/state/status"}},
		{"/connections/...", []string{"/connections"}},
		{"/connections/port-connection[name=a]/.../status",
			[]string{"/connections/port-connection[name=a]/state/status"}},
		{"/*/nothing", nil},
	} {
		p := mustParse(t, tt.path)
		all, err := m.Expand(p)
		if tt.want == nil {
			if !errors.Is(err, schema.ErrUnknown) {
				t.Errorf("%s: %v, %v", tt.path, all, err)
			}
			continue
		}
		var got []string
		for _, p := range all {
			got = append(got, p.String())
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.path, got, err, tt.want)
		}
	}
}
