package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"lightloom/pathmap/topo"
	"lightloom/southbound/yamlfile"
)

// Complete has records of a file stand by themselves, with what their groups say, and checks what needs
// no fabric. Relative paths start in dir. Keys lead to what is wrong.
func Complete(devices Devices, groups map[string]Group, dir string) (yamlfile.Keys, error) {
	p := &Inventory{Devices: devices, Groups: groups}
	if at, err := p.complete(dir); err != nil {
		return at, err
	}
	for i := range devices {
		key, err := devices[i].checkPlace(devices[:i])
		if err == nil {
			key, err = devices[i].checkAccess()
		}
		if err != nil {
			return p.at(i, key), fmt.Errorf("device %q: %s: %w", devices[i].Name, key, err)
		}
	}
	return nil, nil
}

// Record returns a device as a list of an inventory has it, in YAML.
func (d *Device) Record() (string, error) {
	b, err := yaml.MarshalWithOptions(d, yaml.OmitZero())
	if err != nil {
		return "", fmt.Errorf("write record of device %q: %w", d.Name, err)
	}
	return string(b), nil
}

// ParseRecord reads what Record has written. What it leaves out is as the fabric has it: see Replace.
func ParseRecord(text string) (d Device, err error) {
	if _, err := yamlfile.Decode("record", []byte(text), &d); err != nil {
		return d, fmt.Errorf("read record of a device: %w", err)
	}
	return d, nil
}

// Replace returns the switches of a fabric with records in the place of those of the same names, and of
// switches that have been added to it. An error names the switch.
func (all Devices) Replace(f *topo.Fabric, with ...Device) (Devices, error) {
	out := slices.Clone(all)
	var at []int
	for _, d := range with {
		i := slices.IndexFunc(out, func(x Device) bool { return x.Name == d.Name })
		if _, known := f.Topology.Named(d.Name); i < 0 && known { // it has been added
			i, out = len(out), append(out, Device{})
		} else if i < 0 {
			_, err := all.Find(d.Name)
			return nil, err
		}
		if len(all) > 0 {
			d.Prefixes = all[0].Prefixes // all have them
		}
		if d.Racks < int32(f.Racks) {
			d.Racks = 0 // the fabric had fewer when it was written
		}
		if key, err := d.fill(f); err != nil {
			return nil, fmt.Errorf("device %q: %s: %w", d.Name, key, err)
		}
		out[i], at = d, append(at, i)
	}
	for _, i := range at {
		if key, err := out[i].check(slices.Delete(slices.Clone(out), i, i+1)); err != nil {
			return nil, fmt.Errorf("device %q: %s: %w", out[i].Name, key, err)
		}
	}
	return out, nil
}

// Differences tells in words how a record differs from another of the same switch.
func (d *Device) Differences(from *Device) (out []string) {
	note := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s %s → %s", what, cmp.Or(a, "by default"), cmp.Or(b, "by default")))
		}
	}
	note("address", from.Address, d.Address)
	note("profile", from.Profile, d.Profile)
	note("ports", fmt.Sprint(from.Ports), fmt.Sprint(d.Ports))
	if from.TLS != d.TLS {
		out = append(out, "other certificates")
	}
	if from.Credentials != d.Credentials {
		out = append(out, "other credentials")
	}
	if from.Flags != d.Flags {
		out = append(out, "other flags")
	}
	if from.GRIBI != d.GRIBI {
		out = append(out, "other gRIBI")
	}
	for port := range max(from.Ports, d.Ports) {
		a, b := from.port(port), d.port(port)
		note(fmt.Sprintf("port %d is", port), a.Name, b.Name)
		note(fmt.Sprintf("output %d is", port), a.Output, b.Output)
		note(fmt.Sprintf("next hop of port %d is", port), a.NextHop, b.NextHop)
	}
	return out
}

func (d *Device) port(n int32) Port {
	if i := slices.IndexFunc(d.PortMap, func(p Port) bool { return p.Port == n }); i >= 0 {
		return d.PortMap[i]
	}
	return Port{}
}
