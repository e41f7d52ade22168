package wiring

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// file is a wiring as users write it in YAML.
type file struct {
	Testbed   string                       `yaml:"testbed"`
	Switch    string                       `yaml:"switch"`
	FirstPort int                          `yaml:"first-port"`
	Ports     map[string]map[string]string `yaml:"ports"`
	Links     []fileLink                   `yaml:"links"`
	MaxLoss   float64                      `yaml:"max-loss"`
	MaxRise   float64                      `yaml:"max-rise"`
}

type fileLink struct {
	From    string  `yaml:"from"`
	To      string  `yaml:"to"`
	OneWay  bool    `yaml:"one-way"`
	MaxLoss float64 `yaml:"max-loss"` // in the place of the file's
	MaxRise float64 `yaml:"max-rise"`
}

// ParseFile reads a wiring in YAML. name is what errors call the file.
func ParseFile(name string, data []byte) (*Wiring, error) {
	var f file
	tree, err := yamlfile.Decode(name, data, &f)
	if err != nil {
		return nil, hint.Wrong(fmt.Errorf("read wiring: %w", err))
	}
	at := func(keys ...any) place {
		return func(err error) error { return fmt.Errorf("read wiring: %w", tree.At(keys, err)) }
	}
	if f.FirstPort < 0 || f.FirstPort > 1 {
		return nil, wrong(at("first-port")(fmt.Errorf("%d is neither 0 nor 1", f.FirstPort)),
			"write first-port: 1 where the switch's first port is called 1")
	}
	p, err := readPanel(f.plugs(at), f.FirstPort)
	if err != nil {
		return nil, err
	}
	wishes, err := f.wishes(at)
	if err != nil {
		return nil, err
	}
	return p.wire(f.Testbed, f.Switch, wishes)
}

func (f *file) plugs(at func(...any) place) []plug {
	var out []plug
	for _, device := range slices.Sorted(maps.Keys(f.Ports)) {
		for _, port := range slices.Sorted(maps.Keys(f.Ports[device])) {
			out = append(out, plug{device: device, port: port, fibres: f.Ports[device][port],
				at: at("ports", device, port)})
		}
	}
	return out
}

func (f *file) wishes(at func(...any) place) ([]wish, error) {
	var out []wish
	for i, l := range f.Links {
		x := wish{oneWay: l.OneWay, maxLoss: cmp.Or(l.MaxLoss, f.MaxLoss), maxRise: cmp.Or(l.MaxRise, f.MaxRise),
			fromAt: at("links", i, "from"), toAt: at("links", i, "to")}
		if !(x.maxLoss >= 0) {
			return nil, wrong(x.fromAt(fmt.Errorf("max-loss %v is below zero", x.maxLoss)), "write max-loss: 3.5, in dB")
		}
		if !(x.maxRise >= 0) {
			return nil, wrong(x.fromAt(fmt.Errorf("max-rise %v is below zero", x.maxRise)), "write max-rise: 0.5, in dB")
		}
		for _, side := range []struct {
			text string
			into *[2]string
			at   place
		}{{l.From, &x.from, x.fromAt}, {l.To, &x.to, x.toAt}} {
			device, port, ok := strings.Cut(strings.TrimSpace(side.text), " ")
			if !ok {
				return nil, wrong(side.at(errors.New("a link has a device and a port at each end")),
					"write from: leaf0 Ethernet0")
			}
			*side.into = [2]string{device, strings.TrimSpace(port)}
		}
		out = append(out, x)
	}
	return out, nil
}
