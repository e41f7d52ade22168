package restconf

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lightloom/southbound"
)

// Pair is an entry of the list, in ports as the switch counts them: from 1, those of the egress side after those of the
// ingress side.
type Pair struct {
	Ingress uint16 `json:"ingress"`
	Egress  uint16 `json:"egress"`
}

// document is the resource of all pairs, as it travels.
type document struct {
	Top struct {
		Pair []Pair `json:"pair"`
	} `json:"optical-switch:cross-connects"`
}

// encodePairs writes the resource; pairs are sorted by ingress.
func encodePairs(pairs []Pair) ([]byte, error) {
	var d document
	d.Top.Pair = slices.Clone(pairs)
	if d.Top.Pair == nil {
		d.Top.Pair = []Pair{}
	}
	slices.SortFunc(d.Top.Pair, func(a, b Pair) int { return int(a.Ingress) - int(b.Ingress) })
	return json.Marshal(d)
}

// maxPairs bounds what a switch can list.
const maxPairs = 1 << 15

// DecodePairs reads the resource, as a switch of that many ports a side sends it: members of other modules are passed
// over, but every pair must be two numbers of its ports, and no port may stand twice. Pairs come sorted by ingress.
func DecodePairs(data []byte, ports int32) ([]Pair, error) {
	var d struct {
		Long  *list `json:"optical-switch:cross-connects"`
		Short *list `json:"cross-connects"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("decode cross-connects: %w", err)
	}
	l := d.Long
	if l == nil {
		l = d.Short
	}
	if l == nil {
		return nil, errors.New("decode cross-connects: the answer has no optical-switch:cross-connects")
	}
	all := append(l.Long, l.Short...)
	if len(all) > maxPairs {
		return nil, fmt.Errorf("decode cross-connects: %d pairs, at most %d are read", len(all), maxPairs)
	}
	out := make([]Pair, 0, len(all))
	ins, outs := map[uint16]bool{}, map[uint16]bool{}
	for i, p := range all {
		if p.Ingress == nil || p.Egress == nil {
			return nil, fmt.Errorf("decode cross-connects: pair %d has no ingress or no egress", i+1)
		}
		in, eg := *p.Ingress, *p.Egress
		switch {
		case in < 1 || int32(in) > ports || int32(eg) <= ports || int32(eg) > 2*ports:
			return nil, fmt.Errorf("decode cross-connects: pair %d of %d and %d: ports are 1 to %d and %d to %d", i+1, in, eg,
				ports, ports+1, 2*ports)
		case ins[in] || outs[eg]:
			return nil, fmt.Errorf("decode cross-connects: pair %d of %d and %d: a port stands twice", i+1, in, eg)
		}
		ins[in], outs[eg] = true, true
		out = append(out, Pair{in, eg})
	}
	slices.SortFunc(out, func(a, b Pair) int { return int(a.Ingress) - int(b.Ingress) })
	return out, nil
}

// list is the container, whose members may come with or without their module.
type list struct {
	Long  []loosePair `json:"optical-switch:pair"`
	Short []loosePair `json:"pair"`
}

type loosePair struct {
	Ingress *uint16 `json:"ingress"`
	Egress  *uint16 `json:"egress"`
}

// circuit and pairOf turn the switch's numbers into ours, counted from 0 on each side, and back.
func (p Pair) circuit(ports int32) southbound.CrossConnect {
	return southbound.CrossConnect{In: southbound.Port(p.Ingress) - 1,
		Out: southbound.Port(int32(p.Egress) - 1 - ports)}
}

func pairOf(c southbound.CrossConnect, ports int32) Pair {
	return Pair{uint16(c.In) + 1, uint16(int32(c.Out) + 1 + ports)}
}

// after returns the pairs as a change leaves them.
func after(have []Pair, c *southbound.Change, ports int32) []Pair {
	in, out := map[uint16]southbound.CrossConnect{}, map[uint16]bool{}
	for _, x := range c.Connect {
		p := pairOf(x, ports)
		in[p.Ingress] = x
		if !x.Off {
			out[p.Egress] = true
		}
	}
	var next []Pair
	for _, p := range have {
		if _, named := in[p.Ingress]; !named && !out[p.Egress] && !c.Replace {
			next = append(next, p)
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			next = append(next, pairOf(x, ports))
		}
	}
	slices.SortFunc(next, func(a, b Pair) int { return int(a.Ingress) - int(b.Ingress) })
	return next
}
