package gnmi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func rule(dst southbound.RackID, tag southbound.Tag, primary, backup southbound.Port) southbound.Rule {
	return southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack},
		Primary: primary,
		Backup:  backup}
}

func from(src southbound.RackID, r southbound.Rule) southbound.Rule { r.Src = src; return r }

func connect(pairs ...southbound.Port) *southbound.Change {
	c := &southbound.Change{}
	for i := 0; i < len(pairs); i += 2 {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1],
			Off: pairs[i+1] == southbound.NoPort})
	}
	return c
}

// goldens are changes, one after the other on one writer, and the file that holds what they become.
var goldens = []struct {
	name    string
	profile gnmi.Profile
	config  []schema.Leaf
	changes []*southbound.Change
}{
	{name: "openconfig_first_and_next", profile: gnmi.OpenConfig{Ports: 3, Racks: 4},
		changes: []*southbound.Change{
			{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
				rule(2, southbound.TagCircuit, 2, 1)}},
			{Rules: []southbound.Rule{from(0, rule(2, 3, 0, 1))},
				Drop: []southbound.Match{rule(2, southbound.TagCircuit, 0, 0).Match}},
		}},
	{name: "openconfig_replace", profile: gnmi.OpenConfig{Ports: 2, Racks: 4}, changes: []*southbound.Change{
		{Replace: true, Rules: []southbound.Rule{rule(3, southbound.AnyTag, 1, 0),
			rule(1, 0, 0, southbound.NoPort)}},
	}},
	{name: "openconfig-plain_first_and_next", profile: gnmi.OpenConfigPlain{Ports: 2, Racks: 4},
		changes: []*southbound.Change{
			{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
				rule(2, southbound.TagCircuit, 0, southbound.NoPort)}},
			{Rules: []southbound.Rule{from(0, rule(2, 3, 0, southbound.NoPort))},
				Drop: []southbound.Match{rule(2, southbound.TagCircuit, 0, 0).Match,
					rule(2, southbound.AnyTag, 0, 0).Match}},
			{Replace: true, Rules: []southbound.Rule{rule(3, southbound.AnyTag, 1, southbound.NoPort)}},
		}},
	{name: "ocp_displace", profile: gnmi.OCP{Ports: 8}, config: gnmi.ConnectionLeaves("by-hand", 6, 7),
		changes: []*southbound.Change{
			connect(0, 1, 2, 3),
			connect(0, 3, 6, southbound.NoPort),
			{Replace: true, Connect: connect(4, 5, 0, 3).Connect},
		}},
	{name: "sonic-ocs_displace", profile: gnmi.SONiCOCS{Ports: 8},
		config: slices.Concat(gnmi.SONiCOCS{}.ConnectLeaves(6, 7),
			foreign("OCS_CROSS_CONNECT", "spare", "a_side", "")),
		changes: []*southbound.Change{
			connect(0, 1, 1, 0),
			connect(0, 7),
			{Replace: true},
		}},
	{name: "polatis_displace", profile: gnmi.Polatis{Ports: 8}, changes: []*southbound.Change{
		connect(0, 1, 2, 3),
		connect(0, 3),
		connect(0, southbound.NoPort),
	}},
	{name: "srl-native_first_and_next", profile: gnmi.SRLinux{Ports: 2, Racks: 4, ControllerBackup: true},
		changes: []*southbound.Change{
			{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
				rule(2, southbound.TagCircuit, 0, 1)}},
			{Rules: []southbound.Rule{from(0, rule(2, 3, 0, southbound.NoPort))},
				Drop: []southbound.Match{rule(2, southbound.TagCircuit, 0, 0).Match}},
		}},
	{name: "srl-native_replace", profile: gnmi.SRLinux{Ports: 2, Racks: 4, InstanceName: "fabric",
		Interface: "ethernet-2/%d"}, changes: []*southbound.Change{
		{Replace: true, Rules: []southbound.Rule{rule(3, southbound.AnyTag, 1, southbound.NoPort)}},
	}},
	{name: "sonic_first_and_next", profile: gnmi.SONiC{Ports: 2, Racks: 4, ControllerBackup: true},
		config: slices.Concat(foreign("ACL_RULE", "EDGE|ssh", "PACKET_ACTION", "DROP"),
			foreign("ACL_RULE", "EDGE|ssh", "L4_DST_PORT", "22")),
		changes: []*southbound.Change{
			{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
				rule(2, southbound.TagCircuit, 0, 1)}},
			{Rules: []southbound.Rule{from(0, rule(2, 3, 0, southbound.NoPort))},
				Drop: []southbound.Match{rule(2, southbound.TagCircuit, 0, 0).Match}},
		}},
}

// foreign is a row of a table that another client has written.
func foreign(table, key, field, value string) []schema.Leaf {
	return []schema.Leaf{{Path: schema.Path{{Name: "CONFIG_DB"}, {Name: "localhost"}}.Entry(table,
		"key", key).With(field),
		Value: value}}
}

func TestGolden(t *testing.T) {
	for _, tt := range goldens {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			w := tt.profile.NewWriter(tt.config)
			for i, c := range tt.changes {
				req, err := w.Encode(c)
				if err != nil {
					t.Fatal(err)
				}
				validate(t, tt.profile.Model(), req)
				w.Accepted()
				fmt.Fprintf(&got, "# change %d: %+v\n%s\n", i+1, *c, requestText(t, req))
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got:\n%s\nwant:\n%s\nrun with -update and read the diff", got.Bytes(), want)
			}
		})
	}
}

// validate holds a request against the model: every path known, every value of its type.
func validate(t *testing.T, m *schema.Model, req *gpb.SetRequest) {
	t.Helper()
	for _, d := range req.GetDelete() {
		p, err := m.FromProto(req.GetPrefix(), d)
		if err == nil {
			_, err = m.Lookup(p, true)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, u := range append(req.GetReplace(), req.GetUpdate()...) {
		p, err := m.FromProto(req.GetPrefix(), u.GetPath())
		if err == nil {
			_, err = m.Decode(p, u.GetVal())
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func requestText(t *testing.T, req *gpb.SetRequest) string {
	var b strings.Builder
	path := func(p *gpb.Path) string {
		if p.GetOrigin() != "" {
			q, err := schema.FromProto(nil, p)
			if err != nil {
				t.Fatal(err)
			}
			return p.GetOrigin() + ":" + q.String()
		}
		q, err := schema.FromProto(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		return q.String()
	}
	for _, d := range req.GetDelete() {
		fmt.Fprintf(&b, "delete %s\n", path(d))
	}
	for _, part := range []struct {
		verb string
		us   []*gpb.Update
	}{{"replace", req.GetReplace()}, {"update", req.GetUpdate()}} {
		for _, u := range part.us {
			var j bytes.Buffer
			if err := json.Indent(&j, u.GetVal().GetJsonIetfVal(), "", "  "); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s\n%s\n", part.verb, path(u.GetPath()), j.String())
		}
	}
	return b.String()
}
