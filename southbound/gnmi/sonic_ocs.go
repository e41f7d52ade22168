package gnmi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// SONiCOCS is the profile of optical circuit switches that run SONiC. Ports are simplex: input i is
// "<i+1>A", output o is "<o+1>B", and a circuit is the row "<i+1>A-<o+1>B" of the table of
// cross-connects, which is written as a whole.
type SONiCOCS struct {
	Ports  int32
	Tables schema.OCSTables // the zero value: ForkOCSTables
}

var _ interface {
	Profile
	ReadsFirst
} = SONiCOCS{}

// ASide is the simplex port id of an input; ASideNamed is its inverse.
func ASide(p southbound.Port) string { return fmt.Sprintf("%dA", p+1) }

// BSide is the simplex port id of an output; BSideNamed is its inverse.
func BSide(p southbound.Port) string { return fmt.Sprintf("%dB", p+1) }

// ASideNamed returns the input of that id.
func ASideNamed(id string) (southbound.Port, bool) { return simplex(id, "A") }

// BSideNamed returns the output of that id.
func BSideNamed(id string) (southbound.Port, bool) { return simplex(id, "B") }

func simplex(id, side string) (southbound.Port, bool) {
	digits, ok := strings.CutSuffix(id, side)
	p, isPort := portSuffix(digits, "")
	return p - 1, ok && isPort && p > 0
}

// CrossConnectID is the key of a circuit's row.
func CrossConnectID(in, out southbound.Port) string { return ASide(in) + "-" + BSide(out) }

// CrossConnectNamed is the inverse of CrossConnectID.
func CrossConnectNamed(id string) (in, out southbound.Port, ok bool) {
	a, b, _ := strings.Cut(id, "-")
	in, iok := ASideNamed(a)
	out, ook := BSideNamed(b)
	return in, out, iok && ook
}

func (p SONiCOCS) tables() schema.OCSTables {
	if p.Tables == (schema.OCSTables{}) {
		return schema.ForkOCSTables()
	}
	return p.Tables
}

func database(db, table string) schema.Path { return schema.Path(nil).With(db, "localhost", table) }

// row returns the path of a row of a table.
func row(table schema.Path, key string) schema.Path {
	return table[:len(table)-1].Entry(table[len(table)-1].Name, "key", key)
}

// ConnectTable and ConnectStateTable are the tables of cross-connects as configured and as they are;
// PortStateTable is that of ports as they are.
func (p SONiCOCS) ConnectTable() schema.Path { return database("CONFIG_DB", p.tables().Connects) }

// ConnectStateTable is the table of connections as they are.
func (p SONiCOCS) ConnectStateTable() schema.Path {
	return database("STATE_DB", p.tables().ConnectState)
}

// PortStateTable is the table of simplex ports as they are.
func (p SONiCOCS) PortStateTable() schema.Path { return database("STATE_DB", p.tables().PortState) }

// FactoryTable is the table of what circuits lost when the switch was made.
func (p SONiCOCS) FactoryTable() schema.Path { return database("STATE_DB", p.tables().Factory) }

// ConnectLeaves are the row of a circuit.
func (p SONiCOCS) ConnectLeaves(in, out southbound.Port) []schema.Leaf {
	at := row(p.ConnectTable(), CrossConnectID(in, out))
	return []schema.Leaf{{Path: at.With("a_side"), Value: ASide(in)},
		{Path: at.With("b_side"), Value: BSide(out)}}
}

// Name implements Profile: it is that of the variant.
func (p SONiCOCS) Name() string { return p.Model().Name }

// IdentifyingPath implements Identifying: both variants are one model in Capabilities.
func (p SONiCOCS) IdentifyingPath() schema.Path { return p.PortStateTable() }

// ReadsFirst implements ReadsFirst: SONiC turns an update of a table into its replacement.
func (SONiCOCS) ReadsFirst() {}

// Model implements Profile.
func (p SONiCOCS) Model() *schema.Model { return schema.SONiCOCS(p.tables()) }

// Check implements Profile.
func (SONiCOCS) Check(c *gpb.CapabilityResponse) error { return hasModel(c, "sonic-ocs", "") }

// ConfigPaths implements Profile.
func (p SONiCOCS) ConfigPaths() []schema.Path { return []schema.Path{p.ConnectTable()} }

// StatePaths implements Profile.
func (p SONiCOCS) StatePaths() []schema.Path {
	return []schema.Path{p.ConnectTable(), p.ConnectStateTable(), p.PortStateTable()}
}

// WatchPaths implements Profile.
func (p SONiCOCS) WatchPaths() []schema.Path { return p.StatePaths() }

// crossWriter encodes changes of the table of cross-connects. Rows that it cannot read are kept as they are.
type crossWriter struct {
	p            SONiCOCS
	model        *schema.Model
	have, wanted map[string]pair
	rest         []schema.Leaf // of rows that name no two ports
}

// NewWriter implements Profile.
func (p SONiCOCS) NewWriter(config []schema.Leaf) Writer {
	w := &crossWriter{p: p, model: p.Model()}
	w.have, w.rest = p.rows(config)
	w.wanted = w.have
	return w
}

// rows reads the configured cross-connects, by key, and the leaves of rows that are none.
func (p SONiCOCS) rows(leaves []schema.Leaf) (map[string]pair, []schema.Leaf) {
	table := p.ConnectTable()
	sides := map[string][2]string{}
	for _, l := range leaves {
		if key, field, ok := cell(table, l.Path); ok {
			s := sides[key]
			text, _ := l.Value.(string)
			switch field {
			case "a_side":
				s[0] = text
			case "b_side":
				s[1] = text
			}
			sides[key] = s
		}
	}
	both := map[string]pair{}
	for key, s := range sides {
		in, iok := ASideNamed(s[0])
		out, ook := BSideNamed(s[1])
		if iok && ook {
			both[key] = pair{in, out}
		}
	}
	var rest []schema.Leaf
	for _, l := range leaves {
		if key, _, ok := cell(table, l.Path); ok {
			if _, read := both[key]; !read {
				rest = append(rest, l)
			}
		}
	}
	return both, rest
}

// cell takes the path of a field of a table's row apart.
func cell(table, p schema.Path) (key, field string, ok bool) {
	if len(p) != len(table)+1 || !table.Match(p) {
		return "", "", false
	}
	return p[len(table)-1].Key("key"), p[len(table)].Name, true
}

// Accepted implements Writer.
func (w *crossWriter) Accepted() { w.have = w.wanted }

// circuits implements circuitKnower.
func (w *crossWriter) circuits() map[string]pair { return w.have }

// Encode implements Writer: the table as it shall be, in one operation. An empty table is deleted, for
// SONiC takes none.
func (w *crossWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	w.wanted = w.have
	if c.Empty() {
		return &gpb.SetRequest{}, nil
	}
	if err := checkCircuits(c, w.p.Ports); err != nil {
		return nil, err
	}
	rest := w.rest
	if c.Replace {
		rest = nil
	}
	w.wanted, _ = retain(w.have, c)
	standing := map[pair]bool{}
	for _, h := range w.wanted {
		standing[h] = true
	}
	for _, x := range c.Connect {
		if h := (pair{x.In, x.Out}); !x.Off && !standing[h] {
			w.wanted[CrossConnectID(x.In, x.Out)] = h
		}
	}
	leaves := slices.Clone(rest)
	for _, key := range sortedKeys(w.wanted) {
		at, h := row(w.p.ConnectTable(), key), w.wanted[key]
		leaves = append(leaves, schema.Leaf{Path: at.With("a_side"), Value: ASide(h.in)},
			schema.Leaf{Path: at.With("b_side"), Value: BSide(h.out)})
	}
	return tableRequest(w.model, w.p.ConnectTable(), leaves)
}

// tableRequest is a request that makes a table hold these leaves.
func tableRequest(m *schema.Model, table schema.Path, leaves []schema.Leaf) (*gpb.SetRequest, error) {
	if len(leaves) == 0 {
		return &gpb.SetRequest{Delete: []*gpb.Path{m.Proto(table)}}, nil
	}
	u, err := entry(m, table, leaves)
	if err != nil {
		return nil, err
	}
	return &gpb.SetRequest{Replace: []*gpb.Update{u}}, nil
}

// Seen implements Profile.
func (p SONiCOCS) Seen(state []schema.Leaf) (southbound.Seen, error) {
	d := p.newDecoder()
	if _, err := d.Decode(nil, state); err != nil {
		return southbound.Seen{}, err
	}
	var seen southbound.Seen
	for _, key := range sortedKeys(d.told) {
		h, err := d.pairOf(key)
		if err != nil {
			return southbound.Seen{}, err
		}
		seen.Connections = append(seen.Connections,
			southbound.Connection{In: h.in, Out: h.out, Status: d.told[key]})
	}
	slices.SortFunc(seen.Connections, func(a, b southbound.Connection) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.Status, b.Status))
	})
	return seen, nil
}
