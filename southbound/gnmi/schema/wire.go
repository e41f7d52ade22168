package schema

import (
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// FromProto reads prefix and path as FromProto of this package does, and takes the elements that are
// keys of tables for what they are.
func (m *Model) FromProto(prefix, path *gpb.Path) (Path, error) {
	return fromProto(m.Root, prefix, path)
}

// Proto returns a path as it travels in this model: with its origin, keys of tables as elements.
func (m *Model) Proto(p Path) *gpb.Path {
	flat, n := p, m.Root
	for i, e := range p {
		if n = n.Kids[e.Name]; n == nil {
			break
		}
		if n.Table && len(e.Keys) == 1 {
			flat = slices.Concat(p[:i], Path{{Name: e.Name}, {Name: e.Keys[0].Value}}, p[i+1:])
			break // a table stands in no table
		}
	}
	out := flat.Proto()
	if len(p) > 0 {
		out.Origin = m.Origins[p[0].Name]
	}
	return out
}
