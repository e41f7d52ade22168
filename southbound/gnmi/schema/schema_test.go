package schema_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

func ietf(s string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(s)}}
}

func parse(t testing.TB, s string) schema.Path {
	t.Helper()
	p, err := schema.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPath(t *testing.T) {
	for _, s := range []string{"/", "/a", "/a/b[k=v]/c", "/a[k=x/y]/b", `/a[k=x\]y\\]`, "/a[j=1][k=2]"} {
		p := parse(t, s)
		if p.String() != s {
			t.Errorf("%q reads back as %q", s, p)
		}
		back, err := schema.FromProto(nil, p.Proto())
		if err != nil || back.String() != s {
			t.Errorf("%q over the wire: %v, %v", s, back, err)
		}
	}
	if p := parse(t, "/a[k=2][j=1]"); p.String() != "/a[j=1][k=2]" {
		t.Errorf("keys are not sorted: %v", p)
	}
	for _, s := range []string{"", "a", "//", "/a[", "/a[k]", "/a[k=v", "/a[=v]", "/a[k=1][k=2]", "/a]b[k=v]x",
		strings.Repeat("/a", 40)} {
		if p, err := schema.Parse(s); err == nil || !errors.Is(err, schema.ErrMalformed) {
			t.Errorf("%q was taken as %v (%v)", s, p, err)
		}
	}
	//nolint:staticcheck // deprecated: the old form
	if _, err := schema.FromProto(nil, &gpb.Path{Element: []string{"a"}}); err == nil {
		t.Error("the old string form was taken")
	}
	p, err := schema.FromProto(&gpb.Path{Elem: []*gpb.PathElem{{Name: "oc-if:interfaces"}}},
		&gpb.Path{Elem: []*gpb.PathElem{{Name: "interface", Key: map[string]string{"name": "e"}}}})
	if err != nil || p.String() != "/interfaces/interface[name=e]" {
		t.Errorf("prefix and path: %v, %v", p, err)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, path  string
		match, overlap bool
	}{
		{"/a", "/a/b", true, true},
		{"/a/b", "/a", false, true},
		{"/a[k=*]/b", "/a[k=1]/b/c", true, true},
		{"/a/b", "/a[k=1]/b", true, true},
		{"/a[k=2]", "/a[k=1]", false, false},
		{"/", "/a", true, true},
	}
	for _, tt := range tests {
		p, q := parse(t, tt.pattern), parse(t, tt.path)
		if p.Match(q) != tt.match || p.Overlaps(q) != tt.overlap {
			t.Errorf("%s on %s: %v, %v", tt.pattern, tt.path, p.Match(q), p.Overlaps(q))
		}
	}
}

const rule = "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/policy[policy-id=p]/" +
	"rules/rule[sequence-id=5]"

func TestDecode(t *testing.T) {
	tests := []struct {
		name, path, json string
		want             []string // leaf=value
		err              error
	}{
		{name: "leaf", path: rule + "/config/sequence-id", json: `5`, want: []string{"config/sequence-id=5"}},
		{name: "entry", path: rule,
			json: `{"sequence-id":5,"config":{"sequence-id":5},"ipv4":{"config":{"dscp-set":[7,15]}}}`,
			want: []string{"config/sequence-id=5", "ipv4/config/dscp-set=[7 15]"}},
		{name: "module prefixes", path: rule, json: `{"openconfig-policy-forwarding:config":{"sequence-id":5}}`,
			want: []string{"config/sequence-id=5"}},
		{name: "identity", path: "/network-instances/network-instance[name=DEFAULT]/config/type",
			json: `"openconfig-network-instance-types:L3VRF"`, want: []string{"type=L3VRF"}},
		{name: "uint64 as text", path: "/interfaces/interface[name=e]/state/last-change", json: `"17"`,
			want: []string{"last-change=17"}},

		{name: "wrapped in its own name", path: rule, json: `{"rule":{"config":{"sequence-id":5}}}`, err: schema.ErrUnknown},
		{name: "unknown path", path: "/nothing", json: `{}`, err: schema.ErrUnknown},
		{name: "unknown child", path: rule, json: `{"colour":1}`, err: schema.ErrUnknown},
		{name: "no key", path: "/interfaces/interface/state/name", json: `"e"`, err: schema.ErrMalformed},
		{name: "wrong key", path: "/interfaces/interface[id=e]/state/name", json: `"e"`, err: schema.ErrMalformed},
		{name: "another key in the value", path: rule, json: `{"sequence-id":6}`, err: schema.ErrMalformed},
		{name: "entry without key", path: strings.TrimSuffix(rule, "/rule[sequence-id=5]"),
			json: `{"rule":[{"config":{"sequence-id":5}}]}`, err: schema.ErrMalformed},
		{name: "no array", path: strings.TrimSuffix(rule, "/rule[sequence-id=5]"), json: `{"rule":{"sequence-id":5}}`,
			err: schema.ErrMalformed},
		{name: "type", path: rule + "/config/sequence-id", json: `"five"`, err: schema.ErrMalformed},
		{name: "range", path: rule + "/config/sequence-id", json: `4294967296`, err: schema.ErrMalformed},
		{name: "fraction", path: rule + "/config/sequence-id", json: `1.5`, err: schema.ErrMalformed},
		{name: "uint64 as number", path: "/interfaces/interface[name=e]/state/last-change", json: `17`,
			err: schema.ErrMalformed},
		{name: "identity without module", path: "/network-instances/network-instance[name=DEFAULT]/config/type",
			json: `"L3VRF"`, err: schema.ErrMalformed},
		{name: "enumeration", path: "/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
			"policy[policy-id=p]/config/type", json: `"ACL"`, err: schema.ErrMalformed},
		{name: "host bits", path: rule + "/ipv4/config/destination-address", json: `"10.0.0.1/24"`, err: schema.ErrMalformed},
		{name: "twice in a leaf-list", path: rule + "/ipv4/config/dscp-set", json: `[1,1]`, err: schema.ErrMalformed},
		{name: "number of eight bits", path: rule + "/ipv4/config/dscp-set", json: `[256]`, err: schema.ErrMalformed},
		{name: "no JSON", path: rule, json: `{`, err: schema.ErrMalformed},
		{name: "two values", path: rule, json: `{}{}`, err: schema.ErrMalformed},
		{name: "scalar for a container", path: rule, json: `5`, err: schema.ErrMalformed},
	}
	m := schema.OpenConfig()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, tt.path)
			got, err := m.Decode(p, ietf(tt.json))
			if tt.err != nil {
				if !errors.Is(err, tt.err) {
					t.Fatalf("got %v, %v, want %v", got, err, tt.err)
				}
				return
			}
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("got %v, %v", got, err)
			}
			for i, l := range got {
				if text := l.Path.String() + "=" + schema.Text(l.Value); !strings.HasSuffix(text, "/"+tt.want[i]) {
					t.Errorf("leaf %d is %s, want %s", i, text, tt.want[i])
				}
			}
		})
	}
}

func TestDecodeKnown(t *testing.T) {
	m := schema.OpenConfig()
	got, err := m.DecodeKnown(parse(t, rule),
		ietf(`{"vendor:extra":{"x":[1]},"config":{"sequence-id":5,"description":"d"}}`))
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := m.DecodeKnown(parse(t, "/nothing"), ietf(`1`)); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := m.DecodeKnown(parse(t, rule), ietf(`{"config":{"sequence-id":"x"}}`)); !errors.Is(err,
		schema.ErrMalformed) {
		t.Errorf("a wrong type: %v", err)
	}
}

func TestEncodings(t *testing.T) {
	m := schema.OpenConfig()
	p := parse(t, rule+"/ipv4/config/dscp-set")
	n, err := m.Lookup(p, true)
	if err != nil {
		t.Fatal(err)
	}
	v := []schema.Value{uint64(7), uint64(15)}
	for _, enc := range []gpb.Encoding{gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO} {
		tv, err := n.Encode(v, enc)
		if err != nil {
			t.Fatal(err)
		}
		back, err := m.Decode(p, tv)
		if err != nil || len(back) != 1 || !schema.Equal(back[0].Value, v) {
			t.Errorf("%v: %v, %v", enc, back, err)
		}
	}
	if _, err := n.Encode(v, gpb.Encoding_ASCII); !errors.Is(err, schema.ErrEncoding) {
		t.Errorf("ASCII: %v", err)
	}
	if _, err := m.Decode(p, &gpb.TypedValue{Value: &gpb.TypedValue_AsciiVal{AsciiVal: "7"}}); !errors.Is(err,
		schema.ErrEncoding) {
		t.Errorf("ASCII: %v", err)
	}
}

func TestDecimal(t *testing.T) {
	m := schema.OCP()
	p := parse(t, "/components/component[name=in0]/ocp-ocs-port/state/input-optical-power")
	for text, want := range map[string]string{`"-1.5"`: "-1.50", `"0"`: "0.00", `"-0.25"`: "-0.25", `"12.34"`: "12.34"} {
		got, err := m.Decode(p, ietf(text))
		if err != nil || got[0].Value != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{`-1.5`, `"1.234"`, `"x"`, `"1.-2"`, `""`, `"1.+2"`} {
		if got, err := m.Decode(p, ietf(text)); err == nil {
			t.Errorf("%s was taken as %v", text, got)
		}
	}
}

// TestNest encodes and decodes again every leaf of both models.
func TestNest(t *testing.T) {
	for _, m := range []*schema.Model{schema.OpenConfig(), schema.OCP()} {
		for _, r := range m.Rows {
			path := r.Path
			for _, k := range []string{"name", "policy-id", "interface-id", "interface", "index",
				"peer-name", "id", "ip"} {
				path = strings.ReplaceAll(path, "["+k+"]", "["+k+"=x]")
			}
			p := parse(t, strings.NewReplacer("[sequence-id]", "[sequence-id=3]", "subinterface[index=x]",
				"subinterface[index=0]").Replace(path))
			if _, err := m.Lookup(p, true); err != nil {
				t.Fatal(err)
			}
			var v schema.Value
			for _, try := range []string{`"x"`, `true`, `"DOWN"`, `"REMOVE"`, `["REMOVE"]`, `7`, `"7"`, `[7]`, `"1.50"`,
				`"10.0.0.0/24"`, `"10.0.0.1"`, `"2001:db8::1"`, `"2026-08-28T12:00:00Z"`,
				`"PBR_POLICY"`, `"INPUT-ONLY"`, `"CONNECTED"`, `"TUNED"`, `"openconfig-network-instance-types:L3VRF"`, `"LOCAL"`,
				`"iana-if-type:ethernetCsmacd"`, `"openconfig-platform-types:ACTIVE"`,
				`"openconfig-if-ethernet:SPEED_1GB"`} {
				if got, err := m.Decode(p, ietf(try)); err == nil {
					v = got[0].Value
					break
				}
			}
			leaf := schema.Leaf{Path: p, Value: v}
			for at := range p {
				if at == 0 {
					continue
				}
				j, err := m.Nest(p[:at], []schema.Leaf{leaf})
				if err != nil {
					t.Fatalf("%s at %s: %v", p, p[:at], err)
				}
				b, err := json.Marshal(j)
				if err != nil {
					t.Fatal(err)
				}
				back, err := m.Decode(p[:at], ietf(string(b)))
				if err != nil || !reflect.DeepEqual(back, []schema.Leaf{leaf}) {
					t.Fatalf("%s at %s: %s reads back as %v, %v", p, p[:at], b, back, err)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/a/b[k=v]/c")
	f.Add(`/a[k=x\]y\\][j=]`)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := schema.Parse(s)
		if err != nil {
			return
		}
		again, err := schema.Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q reads back as %q, %v", p, again, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(rule, []byte(`{"sequence-id":5,"config":{"sequence-id":5}}`), false)
	f.Add("/", []byte(`{"interfaces":{"interface":[{"name":"e","state":{"oper-status":"UP"}}]}}`), true)
	m := schema.OpenConfig()
	f.Fuzz(func(t *testing.T, path string, data []byte, known bool) {
		p, err := schema.Parse(path)
		if err != nil {
			return
		}
		decode := m.Decode
		if known {
			decode = m.DecodeKnown
		}
		leaves, err := decode(p, ietf(string(data)))
		if err != nil || len(leaves) == 0 {
			return
		}
		j, err := m.Nest(p, leaves)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Decode(p, ietf(string(b))); err != nil {
			t.Fatalf("%s was taken and %s was not: %v", data, b, err)
		}
	})
}
