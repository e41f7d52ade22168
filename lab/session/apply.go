package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/yamlfile"
)

// ApplyOptions are the options of the command apply.
type ApplyOptions struct {
	To     northbound.Flags
	File   string
	DryRun bool

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ApplyReply is what has changed, or would.
type ApplyReply struct {
	Generation uint64   `json:"generation"` // of the fabric, afterwards
	Changes    []string `json:"changes"`
	DryRun     bool     `json:"dry_run,omitempty"`
}

// description is a file that says how a fabric is to be.
type description struct {
	Fabric  string                     `yaml:"fabric"`
	Policy  string                     `yaml:"policy"`
	Drain   *[]string                  `yaml:"drain"`   // nil: as it is
	Remove  *[]string                  `yaml:"remove"`  // nil: as it is
	Devices inventory.Devices          `yaml:"devices"` // those that are reached otherwise from now on
	Groups  map[string]inventory.Group `yaml:"groups"`
	Links   []cable                    `yaml:"links"` // those that are plugged in otherwise from now on
	Racks   []rack                     `yaml:"racks"` // those that are to be there
	// of hosts of Racks, as in an inventory
	Agents    map[string]string `yaml:"agents"`
	Addresses map[string]string `yaml:"addresses"`
}

// rack is a rack that is to be there.
type rack struct {
	ToR   string   `yaml:"tor"`
	Hosts []string `yaml:"hosts"`
}

// racks returns the racks as the controller takes them, or which keys are wrong.
func (d *description) racks() (out []*apiv1.Rack, at yamlfile.Keys, err error) {
	named := map[string]bool{}
	for i, r := range d.Racks {
		x := &apiv1.Rack{Tor: r.ToR}
		if r.ToR == "" {
			return nil, yamlfile.Keys{"racks", i, "tor"}, errors.New("name the rack's switch, as tor8")
		}
		for k, name := range r.Hosts {
			if name == "" || named[name] {
				return nil, yamlfile.Keys{"racks", i, "hosts", k}, fmt.Errorf("%q is empty or named twice", name)
			}
			named[name] = true
			x.Hosts = append(x.Hosts, &apiv1.RackHost{Name: name, Agent: d.Agents[name],
				Address: d.Addresses[name]})
		}
		if len(r.Hosts) == 0 {
			return nil, yamlfile.Keys{"racks", i, "hosts"}, errors.New("name the rack's hosts, by the ports of its switch")
		}
		out = append(out, x)
	}
	for _, list := range []struct {
		key string
		of  map[string]string
	}{{"agents", d.Agents}, {"addresses", d.Addresses}} {
		for _, name := range slices.Sorted(maps.Keys(list.of)) {
			if !named[name] {
				return nil, yamlfile.Keys{list.key, name}, fmt.Errorf("host %q is of no rack under racks", name)
			}
		}
	}
	return out, nil, nil
}

// cable is what is plugged into a port.
type cable struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`   // unplugged: nothing
	Rate string `yaml:"rate"` // empty: as the cable that is pulled out
}

// unplugged is said of a port into which nothing is plugged.
const unplugged = "none"

// parse returns a cable as the controller takes it, or which key is wrong.
func (c cable) parse() (out *apiv1.Cable, key string, err error) {
	out = &apiv1.Cable{From: c.From, To: c.To}
	switch {
	case c.From == "":
		return nil, "from", errors.New("write the switch and the number of its port, as tor0:3")
	case c.To == "":
		return nil, "to", errors.New("write the switch and the number of its port, as spine1:4, or none")
	case c.To == unplugged:
		out.To = ""
	}
	if c.Rate == "" {
		return out, "", nil
	}
	rate, err := pathmap.ParseRate(c.Rate)
	out.BitsPerSecond = int64(rate)
	return out, "rate", err
}

// parseDescription reads a file that says how a fabric is to be; what it does not name stays as it is.
func parseDescription(name string, b []byte) (*apiv1.FabricDescription, error) {
	var d description
	in, err := yamlfile.Decode(name, b, &d)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	at := func(key string, i int, err error) error {
		return fmt.Errorf("apply: %w", in.At(yamlfile.Keys{key, i}, err))
	}
	out := &apiv1.FabricDescription{}
	if d.Fabric != "" {
		spec, err := topo.ParseSpec(d.Fabric)
		if err != nil {
			return nil, at("fabric", 0, err)
		}
		text := spec.WithDefaults().String()
		out.Spec = &text
	}
	if d.Policy != "" {
		out.Policy = &d.Policy
	}
	for _, list := range []struct {
		key   string
		names *[]string
		to    **apiv1.NodeNames
	}{{"drain", d.Drain, &out.Drained}, {"remove", d.Remove, &out.Removed}} {
		if list.names == nil {
			continue
		}
		*list.to = &apiv1.NodeNames{Names: *list.names}
		if i := twiceOrEmpty(*list.names); i >= 0 {
			return nil, at(list.key, i, fmt.Errorf("%q is empty or named twice", (*list.names)[i]))
		}
	}
	if at, err := d.complete(name); err != nil {
		return nil, fmt.Errorf("apply: %w", in.At(at, err))
	}
	if out.Devices, err = records(d.Devices); err != nil {
		return nil, err
	}
	for i, c := range d.Links {
		x, key, err := c.parse()
		if err != nil {
			return nil, fmt.Errorf("apply: %w", in.At(yamlfile.Keys{"links", i, key}, err))
		}
		out.Links = append(out.Links, x)
	}
	racks, keys, err := d.racks()
	if err != nil {
		return nil, fmt.Errorf("apply: %w", in.At(keys, err))
	}
	if out.Racks = racks; d.empty() {
		return nil, hint.New("apply: "+name+": it describes nothing",
			"name fabric, policy, drain, remove, devices, links "+
				"or racks")
	}
	return out, nil
}

// complete fills in what devices have from their groups; files that they name are beside the description.
func (d *description) complete(name string) (yamlfile.Keys, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	return inventory.Complete(d.Devices, d.Groups, dir)
}

// records returns devices as the API takes them.
func records(all inventory.Devices) ([]string, error) {
	var out []string
	for i := range all {
		text, err := all[i].Record()
		if err != nil {
			return nil, fmt.Errorf("apply: %w", err)
		}
		out = append(out, text)
	}
	return out, nil
}

func (d *description) empty() bool {
	return d.Fabric == "" && d.Policy == "" && d.Drain == nil && d.Remove == nil &&
		d.Devices == nil && d.Links == nil &&
		d.Racks == nil
}

// twiceOrEmpty returns the place of the first name that is empty or there already, -1 where none is.
func twiceOrEmpty(names []string) int {
	for i, n := range names {
		if n == "" || slices.Contains(names[:i], n) {
			return i
		}
	}
	return -1
}

// Apply changes the running fabric to what a file describes, and prints what changes.
func Apply(ctx context.Context, opt ApplyOptions) error {
	b, err := yamlfile.Read(opt.File)
	if err != nil {
		return fmt.Errorf("apply: %w", hint.Wrong(err))
	}
	want, err := parseDescription(opt.File, b)
	if err != nil {
		return &console.ExitError{Code: 2, Err: err}
	}
	client, err := Dial(opt.To)
	if err != nil {
		return err
	}
	defer client.Close()
	r, err := client.ApplyFabric(ctx, &apiv1.ApplyFabricRequest{Fabric: want, DryRun: opt.DryRun})
	if err != nil {
		return northbound.WithStatus(err)
	}
	out := ApplyReply{Generation: r.Generation, Changes: append([]string{}, r.Changes...), DryRun: opt.DryRun}
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, &out)
	}
	return out.print(opt.Stdout)
}

func (r *ApplyReply) print(w io.Writer) error {
	switch {
	case len(r.Changes) == 0:
		_, err := fmt.Fprintf(w, "nothing changes: generation %d is so already\n", r.Generation)
		return err
	case r.DryRun:
		_, err := fmt.Fprintf(w, "would change to generation %d:\n  %s\n", r.Generation,
			strings.Join(r.Changes, "\n  "))
		return err
	}
	_, err := fmt.Fprintf(w, "generation %d:\n  %s\n", r.Generation, strings.Join(r.Changes, "\n  "))
	return err
}
