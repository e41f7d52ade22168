package gnmi

import (
	"slices"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi/schema"
)

func parsed(t *testing.T, texts ...string) (out []schema.Path) {
	t.Helper()
	for _, s := range texts {
		p, err := schema.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestShownLeaves: what a device has shown of a table and shows no longer is missing; other tables'
// rows are not, nor what was deleted since.
func TestShownLeaves(t *testing.T) {
	row := func(table, key string) schema.Leaf {
		return schema.Leaf{Path: parsed(t, "/STATE_DB/localhost/"+table+"[key="+key+"]/status")[0], Value: "up"}
	}
	shown := shownLeaves{}
	shown.keep(nil, []schema.Leaf{row("PORT_TABLE", "a"), row("PORT_TABLE", "b"), row("PORT_TABLE", "c"),
		row("OTHER_TABLE", "a")})
	shown.keep(parsed(t, "/STATE_DB/localhost/PORT_TABLE[key=c]"), nil)
	if len(shown) != 3 {
		t.Errorf("%d leaves are kept, want 3", len(shown))
	}
	table := parsed(t, "/STATE_DB/localhost/PORT_TABLE")
	for _, tc := range []struct {
		name   string
		tables []schema.Path
		now    []schema.Leaf
		want   []string
	}{
		{"one row is left", table, []schema.Leaf{row("PORT_TABLE", "a")},
			[]string{"/STATE_DB/localhost/PORT_TABLE[key=b]/status"}},
		{"all are left", table, []schema.Leaf{row("PORT_TABLE", "a"), row("PORT_TABLE", "b")}, nil},
		{"none is left", table, nil, []string{"/STATE_DB/localhost/PORT_TABLE[key=a]/status",
			"/STATE_DB/localhost/PORT_TABLE[key=b]/status"}},
		{"no table was read", nil, nil, nil},
	} {
		var got []string
		for _, p := range shown.missing(tc.tables, tc.now) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: missing are %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestWholeTables: deletions of whole tables are taken out of a notification, since the device may mean
// one row; those of rows and of what is no table stay.
func TestWholeTables(t *testing.T) {
	s := &Session{model: SONiC{Ports: 4, Racks: 4}.Model()}
	if s.wholeTables(nil) != nil {
		t.Error("no notification has tables")
	}
	n := &gpb.Notification{}
	for _, p := range parsed(t, "/STATE_DB/localhost/PORT_TABLE",
		"/STATE_DB/localhost/PORT_TABLE[key=Ethernet0]",
		"/STATE_DB/localhost") {
		n.Delete = append(n.Delete, s.model.Proto(p))
	}
	tables := s.wholeTables(n)
	if len(tables) != 1 || tables[0].String() != "/STATE_DB/localhost/PORT_TABLE" || len(n.Delete) != 2 {
		t.Errorf("tables %v, and %d deletions stay", tables, len(n.Delete))
	}
}

// TestDatabases: paths are parted by database, in their order; those of other models stay together.
func TestDatabases(t *testing.T) {
	s := &Session{model: SONiC{Ports: 4, Racks: 4}.Model()}
	var got []int
	for _, part := range s.databases(parsed(t, "/STATE_DB/localhost/PORT_TABLE",
		"/CONFIG_DB/localhost/ACL_RULE",
		"/interfaces", "/STATE_DB/localhost/ACL_RULE_TABLE", "/components")) {
		got = append(got, len(part))
	}
	if !slices.Equal(got, []int{2, 1, 2}) {
		t.Errorf("parts of %v paths, want 2, 1 and 2", got)
	}
}
