package topo

import (
	_ "embed"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"lightloom/pathmap"
)

// Schema is the JSON schema (draft 2020-12) of the YAML form of a topology, for editors and other tools.
//
//go:embed topology.schema.json
var Schema string

// KindTopology is the "kind" of a YAML file that lists nodes and links, beside the kinds of fabrics.
const KindTopology = "topology"

// ours reads the YAML form: kind: topology, capacity (of links that name none), nodes and links.
type ours struct {
	tree
	s *sketch
}

func readOurs(t tree, top []entry) (*sketch, error) {
	r := ours{t, newSketch(t.file)}
	if e, ok := oneKey(top, attrCapacity); ok {
		rate, err := r.rate(e)
		if err != nil {
			return nil, err
		}
		r.s.rate = rate
	}
	for _, e := range top {
		var err error
		switch e.key {
		case "kind", attrCapacity:
		case "name":
			_, err = r.word(e.value, "name")
		case "nodes":
			err = r.each(e, r.node)
		case "links":
			err = r.each(e, r.link)
		default:
			err = r.unknown(e, "a topology", topKeys())
		}
		if err != nil {
			return nil, err
		}
	}
	return r.s, nil
}

func topKeys() []string  { return []string{"kind", "name", attrCapacity, "nodes", "links"} }
func nodeKeys() []string { return []string{"name", attrRole, attrRack} }
func linkKeys() []string { return []string{"ends", "ports", attrCapacity, attrBack} }

func (r ours) unknown(e entry, of string, known []string) error {
	return r.wrong(e.at, "%s: unknown key of %s: write %s", e.key, of, oneOf(e.key, known))
}

func (r ours) rate(e entry) (pathmap.BitsPerSecond, error) {
	text, err := r.word(e.value, e.key)
	if err != nil {
		return 0, err
	}
	rate, err := capacityOf(e.key, text, 0)
	if err != nil {
		return 0, fileError(r.file, placeOf(e.value.GetToken()), err)
	}
	return rate, nil
}

// each reads the mappings of a list.
func (r ours) each(e entry, read func(at place, fields []entry) error) error {
	return r.elements(e, func(n ast.Node) error {
		fields, err := r.mapping(n, "an element of "+e.key)
		if err != nil {
			return err
		}
		at := placeOf(n.GetToken())
		if len(fields) > 0 {
			at = placeOf(fields[0].at)
		}
		return read(at, fields)
	})
}

func (r ours) node(at place, fields []entry) error {
	n := sketchNode{rack: pathmap.None, at: at}
	for _, e := range fields {
		text, err := r.word(e.value, e.key)
		if err != nil {
			return err
		}
		switch e.key {
		case "name":
			n.name, n.at = text, placeOf(e.value.GetToken())
		case attrRole:
			n.role, err = roleOf(text)
		case attrRack:
			n.rack, err = numberOf(attrRack, text, math.MaxInt32)
		default:
			return r.unknown(e, "a node", nodeKeys())
		}
		if err != nil {
			return fileError(r.file, placeOf(e.value.GetToken()), err)
		}
	}
	return r.s.addNode(n)
}

func (r ours) link(at place, fields []entry) error {
	c := sketchCable{fromPort: pathmap.None, toPort: pathmap.None, at: at}
	for _, e := range fields {
		var err error
		switch e.key {
		case "ends":
			c.from, c.to, err = r.two(e, "ends: [tor0, spine0]")
		case "ports":
			err = r.ports(e, &c)
		case attrCapacity:
			c.there, err = r.rate(e)
		case attrBack:
			c.back, err = r.rate(e)
		default:
			err = r.unknown(e, "a link", linkKeys())
		}
		if err != nil {
			return err
		}
	}
	if c.from == "" {
		return r.s.wrong(at, "a link without ends: write ends: [tor0, spine0]")
	}
	return r.s.addCable(c)
}

// two reads a list of two words.
func (r ours) two(e entry, example string) (a, b string, err error) {
	list, err := r.list(e.value, e.key)
	if err != nil {
		return "", "", err
	}
	if len(list) != 2 {
		return "", "", r.wrong(e.at, "%s: %d where two are due: write %s", e.key, len(list), example)
	}
	if a, err = r.word(list[0], e.key); err == nil {
		b, err = r.word(list[1], e.key)
	}
	return a, b, err
}

func (r ours) ports(e entry, c *sketchCable) error {
	a, b, err := r.two(e, "ports: [2, 0]")
	if err != nil {
		return err
	}
	if c.fromPort, err = numberOf("ports", a, maxPort); err == nil {
		c.toPort, err = numberOf("ports", b, maxPort)
	}
	if err != nil {
		return fileError(r.file, placeOf(e.at), err)
	}
	return nil
}

// writeOurs writes t in the YAML form.
func writeOurs(w io.Writer, t *pathmap.Topology) error {
	p := newPrinter(w)
	p.print("kind: " + KindTopology + "\nnodes:\n")
	for _, n := range t.Nodes() {
		p.printf("  - {name: %s, role: %v", yamlWord(n.Name), n.Role)
		if n.Rack != pathmap.None {
			p.printf(", rack: %d", n.Rack)
		}
		p.print("}\n")
	}
	if len(t.Links()) > 0 {
		p.print("links:\n")
	}
	for c := range cablesOf(t) {
		p.printf("  - {ends: [%s, %s], ports: [%d, %d], capacity: %v", yamlWord(c.from), yamlWord(c.to),
			c.fromPort, c.toPort,
			c.there)
		if back := c.differing(); back != 0 {
			p.printf(", back: %v", back)
		}
		p.print("}\n")
	}
	return p.flush()
}

// yamlWord writes a name as a YAML scalar: plain if that is unambiguous, else in quotes.
func yamlWord(name string) string {
	bare := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" &&
		(name[0] >= 'a' && name[0] <= 'z' || name[0] >= 'A' && name[0] <= 'Z')
	switch strings.ToLower(name) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		bare = false
	}
	if bare {
		return name
	}
	return strconv.Quote(name)
}
