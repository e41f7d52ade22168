package schema_test

import (
	"errors"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

func tableJSON(s string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(s)}}
}

func mustParse(t *testing.T, s string) schema.Path {
	t.Helper()
	p, err := schema.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTables: a table there and back, whole, by row and by field; keys travel as elements.
func TestTables(t *testing.T) {
	m := schema.SONiC()
	const rules = "/CONFIG_DB/localhost/ACL_RULE"
	const row = `{"DST_IP":"10.0.2.0/24","L4_DST_PORT":"22","PRIORITY":"7","stages":["a","b"]}`
	for _, tt := range []struct{ at, value, wire string }{
		{rules, `{"EDGE|ssh":` + row + `,"b:c":{"DSCP":"1/7"}}`, rules},
		{rules + "[key=EDGE|ssh]", row, rules + "/EDGE|ssh"},
		{rules + "[key=b:c]/DSCP", `"1/7"`, rules + "/b:c/DSCP"},
		{"/CONFIG_DB/localhost", `{"ACL_RULE":{"x|y":{"DSCP":"1/7"}}}`, "/CONFIG_DB/localhost"},
	} {
		at := mustParse(t, tt.at)
		leaves, err := m.Decode(at, tableJSON(tt.value))
		if err != nil {
			t.Fatalf("%s: %v", tt.at, err)
		}
		v, err := m.Nest(at, leaves)
		if err != nil {
			t.Fatalf("%s: %v", tt.at, err)
		}
		tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
		if got := string(tv.GetJsonIetfVal()); err != nil || got != tt.value {
			t.Errorf("%s: %s, %v; want %s", tt.at, got, err, tt.value)
		}
		wire := m.Proto(at)
		if flat, err := schema.FromProto(nil, wire); err != nil && flat.String() != tt.wire ||
			wire.GetOrigin() != schema.SONiCOrigin {
			t.Errorf("%s travels as %v", tt.at, wire)
		}
		if back, err := m.FromProto(nil, wire); err != nil || back.String() != at.String() {
			t.Errorf("%s comes back as %v, %v", tt.at, back, err)
		}
		for _, l := range leaves {
			if back, err := m.FromProto(nil, m.Proto(l.Path)); err != nil || back.String() != l.Path.String() {
				t.Errorf("%s comes back as %v, %v", l.Path, back, err)
			}
		}
	}
}

func TestBadTables(t *testing.T) {
	m := schema.SONiCOCS(schema.ForkOCSTables())
	const table = "/CONFIG_DB/localhost/OCS_CROSS_CONNECT"
	for _, tt := range []struct {
		at, value string
		want      error
	}{
		{table, `[{"key":"1A-2B","a_side":"1A"}]`, schema.ErrMalformed},
		{table, `{"":{"a_side":"1A"}}`, schema.ErrMalformed},
		{table, `{"*":{"a_side":"1A"}}`, schema.ErrMalformed},
		{table, `{"1A-2B":"1A"}`, schema.ErrMalformed},
		{table, `{"1A-2B":{"a_side":1}}`, schema.ErrMalformed},
		{table, `{"1A-2B":{"c_side":"1A"}}`, schema.ErrUnknown},
		{table, `{"1A-2B":{"key":"1A"}}`, schema.ErrUnknown},
		{table, `{"OCS_CROSS_CONNECT":{"1A-2B":{"a_side":"1A"}}}`, schema.ErrUnknown},
		{table + "[key=*]", `{"a_side":"1A"}`, schema.ErrMalformed},
	} {
		if _, err := m.Decode(mustParse(t, tt.at), tableJSON(tt.value)); !errors.Is(err, tt.want) {
			t.Errorf("%s = %s: %v, want %v", tt.at, tt.value, err, tt.want)
		}
	}
}

// TestJoin: paths of both models, with the origin of each.
func TestJoin(t *testing.T) {
	m := schema.Join("both", schema.OCP(), schema.SONiCOCS(schema.ForkOCSTables()))
	for path, origin := range map[string]string{"/connections/port-connection[name=a]/config/name": "",
		"/CONFIG_DB/localhost/OCS_PORT[key=1A]/label": schema.SONiCOrigin} {
		p := mustParse(t, path)
		if _, err := m.Lookup(p, true); err != nil {
			t.Error(err)
		}
		if got := m.Proto(p).GetOrigin(); got != origin || !m.Origin(origin) {
			t.Errorf("%s has origin %q", path, got)
		}
	}
	if m.Origin("cli") || !m.Origin("both") || !m.Origin("openconfig") {
		t.Error("origins are mixed up")
	}
	defer func() {
		if recover() == nil {
			t.Error("two models with one path were joined")
		}
	}()
	schema.Join("twice", schema.OCP(), schema.OCP())
}
