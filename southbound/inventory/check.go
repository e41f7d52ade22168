package inventory

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gribi"
	"lightloom/southbound/yamlfile"
)

// check returns the errors of an inventory, with their places. It fills in what devices leave to the fabric.
func (p *Inventory) check(f *topo.Fabric) (yamlfile.Keys, error) {
	if len(p.Devices) == 0 {
		return yamlfile.Keys{"devices"}, errors.New("no devices: write them under the key devices, as NAME: ADDRESS lines " +
			"or as a list of records")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Groups)) {
		g := p.Groups[name]
		if key, err := (&Device{TLS: g.TLS, Credentials: g.Credentials}).checkAccess(); err != nil {
			return yamlfile.Keys{"groups", name, key}, fmt.Errorf("group %q: %w", name, err)
		}
	}
	if at, err := p.checkPrefixes(); err != nil {
		return at, err
	}
	for i := range p.Devices {
		d := &p.Devices[i]
		key, err := d.fill(f)
		if err == nil {
			key, err = d.check(p.Devices[:i])
		}
		if err != nil {
			return p.at(i, key), fmt.Errorf("device %q: %s: %w%s", d.Name, key, err, p.unnamed(f, key, d.Name))
		}
	}
	if f == nil {
		return nil, nil
	}
	for _, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host && !slices.ContainsFunc(p.Devices,
			func(d Device) bool { return d.Name == node.Name }) {
			return yamlfile.Keys{"devices"}, fmt.Errorf("switch %q of the fabric has no address under devices", node.Name)
		}
	}
	return p.checkHosts(f)
}

// unnamed says which switch of the fabric has no device yet, where the name of one is wrong: of the same kind if there
// is one, such as the next OCS.
func (p *Inventory) unnamed(f *topo.Fabric, key, wrong string) string {
	if f == nil || key != "name" {
		return ""
	}
	kind := func(name string) string { return strings.TrimRight(name, "0123456789") }
	best := ""
	for _, node := range f.Topology.Nodes() {
		taken := func(d Device) bool { return d.Name == node.Name }
		if node.Role == pathmap.Host || slices.ContainsFunc(p.Devices, taken) {
			continue
		}
		if best == "" || kind(best) != kind(wrong) && kind(node.Name) == kind(wrong) {
			best = node.Name
		}
	}
	if best == "" {
		return ""
	}
	return ": write " + best + ", which has none yet"
}

// at leads to a key of a device.
func (p *Inventory) at(i int, key string) yamlfile.Keys {
	if p.Devices[i].short {
		return yamlfile.Keys{"devices", p.Devices[i].Name}
	}
	at := yamlfile.Keys{"devices", i}
	for k := range strings.SplitSeq(key, ".") {
		if n, err := strconv.Atoi(k); err == nil {
			at = append(at, n)
			continue
		}
		at = append(at, k)
	}
	return at
}

// fill gives a device what it leaves out, if there is a fabric. What it does say must fit the fabric.
func (d *Device) fill(f *topo.Fabric) (key string, err error) {
	if f == nil {
		return "", nil
	}
	n := pathmap.NodeID(slices.IndexFunc(f.Topology.Nodes(),
		func(n pathmap.Node) bool { return n.Name == d.Name }))
	if n < 0 || f.Topology.Node(n).Role == pathmap.Host {
		return "name", errors.New("the fabric has no such switch")
	}
	said, uses := *d, f.Topology.Ports(n)
	*d = d.within(f, n)
	kind, err := d.isOptical()
	switch {
	case err != nil:
		return "profile", err
	case d.Profile != AutoProfile && kind != d.ocs:
		return "profile", fmt.Errorf("%s is not for this switch: write one of optical switches at an optical switch of the "+
			"fabric, and else one of packet switches", d.Profile)
	case said.ID != 0 && said.ID != d.ID:
		return "id", fmt.Errorf("it is node %d of the fabric: leave it out", d.ID)
	case said.Racks != 0 && said.Racks != int32(f.Racks):
		return "racks", fmt.Errorf("the fabric has %d: leave it out", f.Racks)
	case said.Ports > 0 && said.Ports < uses:
		return "ports", fmt.Errorf("the fabric uses %d of this switch: leave it out", uses)
	}
	return "", nil
}

// check returns the errors of a device, with their keys.
func (d *Device) check(before Devices) (key string, err error) {
	if key, err := d.checkPlace(before); err != nil {
		return key, err
	}
	kind, perr := d.isOptical()
	switch {
	case slices.ContainsFunc(before, func(o Device) bool { return o.ID == d.ID }):
		return "id", errors.New("another device has it: write the node's id in the topology")
	case d.ID < 0:
		return "id", errors.New("it is below zero")
	case d.Profile == "":
		return "profile", errors.New("it is missing: where no fabric is named, write devices as a list of records with " +
			"name, address, profile and ports")
	case perr != nil:
		return "profile", perr
	case d.Ports < 1 || d.Ports > gnmi.MaxPorts:
		return "ports", fmt.Errorf("write 1 to %d; only commands with a --fabric do without", gnmi.MaxPorts)
	case IsURL(d.Address) && d.Profile != gnmi.Polatis{}.Name():
		return "address", errors.New("a URL is of RESTCONF, and only profile polatis has it: write host:port")
	case !kind && (d.Racks < 1 || d.Racks > gnmi.MaxSequenceRacks):
		return "racks", fmt.Errorf("a packet switch needs them: write 1 to %d", gnmi.MaxSequenceRacks)
	}
	if key, err := d.checkAccess(); err != nil {
		return key, err
	}
	if key, err := d.checkGRIBI(kind); err != nil {
		return key, err
	}
	if key, err := d.checkPorts(); err != nil {
		return key, err
	}
	if _, err := d.profiles(); err != nil {
		return "port-map", err
	}
	return d.checkFlags()
}

// checkPlace checks name and address, which need no fabric.
func (d *Device) checkPlace(before Devices) (key string, err error) {
	same := func(o Device) bool { return sameAddress(o.Address, d.Address) }
	switch {
	case d.Name == "":
		return "name", errors.New("it is missing")
	case slices.ContainsFunc(before, func(o Device) bool { return o.Name == d.Name }):
		return "name", errors.New("another device has it")
	case !IsAddress(d.Address):
		return "address", fmt.Errorf("%q is no host:port, such as 192.0.2.7:9339 or [2001:db8::1]:9339, and no unix:PATH",
			d.Address)
	case slices.ContainsFunc(before, same):
		return "address", fmt.Errorf("device %q has it: one device has one name",
			before[slices.IndexFunc(before, same)].Name)
	}
	return "", nil
}

// sameAddress reports whether two addresses, in whatever case, are of one device.
func sameAddress(a, b string) bool {
	if strings.HasPrefix(a, "unix:") {
		return a == b
	}
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// IsAddress reports whether a switch can be at an address.
func IsAddress(at string) bool {
	if IsURL(at) {
		u, err := url.Parse(at)
		return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	}
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		return path != ""
	}
	host, port, err := net.SplitHostPort(at)
	n, nerr := strconv.ParseUint(port, 10, 16)
	return err == nil && nerr == nil && host != "" && n != 0
}

func (d *Device) checkAccess() (string, error) {
	switch {
	case (d.TLS.Cert == "") != (d.TLS.Key == ""):
		return "tls", errors.New("write both cert and key, or neither")
	case d.TLS.Plaintext && d.TLS != (TLS{Plaintext: true}):
		return "tls", errors.New("plaintext takes no certificates")
	case (d.Credentials.Username == "") != (d.Credentials.Password == ""):
		return "credentials", errors.New("write both username and password, or neither")
	case IsURL(d.Address) && d.TLS.Plaintext != strings.HasPrefix(d.Address, "http://"):
		return "tls", errors.New("plaintext goes with http://, and everything else with https://")
	case d.TLS.Plaintext && d.Credentials.Username != "":
		return "credentials", errors.New("they are not sent in plaintext")
	}
	for _, c := range [][2]string{{"username", d.Credentials.Username}, {"password", d.Credentials.Password}} {
		if c[1] != "" && !isReference(c[1]) {
			return "credentials." + c[0], errors.New("write env:NAME or file:PATH: secrets do not stand in this file")
		}
	}
	return "", nil
}

func (d *Device) checkGRIBI(optical bool) (string, error) {
	switch g := d.GRIBI; {
	case g == (GRIBI{}):
		return "", nil
	case optical:
		return "gribi", errors.New("it is of packet switches")
	case g.Port < 1 || g.Port > 65535:
		return "gribi.port", errors.New("write that of its gRIBI server, such as 9340")
	case strings.HasPrefix(d.Address, "unix:"):
		return "gribi.port", errors.New("the device's address has no ports: write host:port there")
	case g.Tagged != noTags:
		if err := gribi.Check(g.Tagged); err != nil {
			return "gribi.tagged", err
		}
	}
	return "", nil
}

func (d *Device) checkFlags() (string, error) {
	f := d.Flags
	packet := d.Profile == "srl-native" || d.Profile == "sonic" || d.Profile == "openconfig-plain"
	switch {
	case f.Interface != "" && strings.Count(f.Interface, "%") != 1 || f.Interface != "" &&
		!strings.Contains(f.Interface, "%d"):
		return "flags.interface", errors.New("write one %d where the number stands, such as ethernet-1/%d")
	case f.Lanes < 0 || f.Lanes > 16:
		return "flags.lanes", errors.New("write 1 to 16")
	case d.Profile == AutoProfile || d.Group != "": // flags can be those of other devices
		return "", nil
	case f.ControllerBackup && !packet:
		return "flags.controller-backup", errors.New("it is of srl-native, sonic and openconfig-plain")
	case (f.Instance != "" || f.Interface != "") && d.Profile != "srl-native":
		return "flags", errors.New("instance and interface are of srl-native")
	case f.Lanes != 0 && d.Profile != "sonic":
		return "flags.lanes", errors.New("it is of sonic")
	case f.ReadConfig && d.Profile != "openconfig-plain":
		return "flags.read-config", errors.New("it is of openconfig-plain")
	}
	return "", nil
}

// checkPrefixes checks the prefixes section.
func (p *Inventory) checkPrefixes() (yamlfile.Keys, error) {
	by := map[netip.Prefix]southbound.RackID{}
	for _, rack := range slices.Sorted(maps.Keys(p.Prefixes)) {
		at := yamlfile.Keys{"prefixes", strconv.Itoa(int(rack))}
		prefix, err := netip.ParsePrefix(p.Prefixes[rack])
		if err != nil || !prefix.Addr().Is4() || prefix != prefix.Masked() || rack < 0 {
			return at, fmt.Errorf("prefix %q of rack %d: write an IPv4 prefix such as 192.0.2.0/24",
				p.Prefixes[rack], rack)
		}
		if other, taken := by[prefix]; taken {
			return at, fmt.Errorf("prefix %v of rack %d: rack %d has it", prefix, rack, other)
		}
		by[prefix] = rack
	}
	return nil, nil
}

// checkPorts checks a device's port map: each port and each of the device's names once.
func (d *Device) checkPorts() (key string, err error) {
	ports, names := map[int32]int{}, map[string]int{}
	for i, x := range d.PortMap {
		at := fmt.Sprintf("port-map.%d.", i)
		if j, twice := ports[x.Port]; twice {
			return at + "port", fmt.Errorf("port %d stands in entry %d too", x.Port, j+1)
		}
		if x.Port < 0 || d.Ports > 0 && x.Port >= d.Ports {
			return at + "port", fmt.Errorf("ports are 0 to %d", d.Ports-1)
		}
		ports[x.Port] = i
		for _, n := range [][2]string{{"name", x.Name}, {"output", x.Output}, {"next-hop", x.NextHop}} {
			if n[1] == "" {
				continue
			}
			if j, twice := names[n[1]]; twice {
				return at + n[0], fmt.Errorf("%q stands in entry %d too: a device's port is one of the fabric's", n[1], j+1)
			}
			names[n[1]] = i
		}
		if a, err := netip.ParseAddr(x.NextHop); x.NextHop != "" && (err != nil || !a.Is4()) {
			return at + "next-hop", fmt.Errorf("%q is no IPv4 address", x.NextHop)
		}
	}
	return "", nil
}

// checkHosts checks the hosts section.
func (p *Inventory) checkHosts(f *topo.Fabric) (yamlfile.Keys, error) {
	if len(p.Agents) > 0 && len(p.Hosts) > 0 {
		return yamlfile.Keys{"agents"}, errors.New("hosts and agents are both named: hosts are namespaces of this " +
			"machine, agents run elsewhere")
	}
	known := map[string]bool{}
	for _, n := range f.HostNode {
		name := f.Topology.Node(n).Name
		known[name] = true
		switch {
		case len(p.Hosts) > 0 && p.Hosts[name] == "":
			return yamlfile.Keys{"hosts"}, fmt.Errorf("host %q of the fabric has no namespace under hosts: name all, or "+
				"none", name)
		case len(p.Agents) > 0 && p.Agents[name] == "":
			return yamlfile.Keys{"agents"}, fmt.Errorf("host %q of the fabric has no address under agents: name all, or "+
				"none", name)
		}
	}
	for _, list := range []struct {
		key string
		of  map[string]string
	}{{"hosts", p.Hosts}, {"agents", p.Agents}, {"addresses", p.Addresses}} {
		for _, name := range slices.Sorted(maps.Keys(list.of)) {
			if !known[name] {
				return yamlfile.Keys{list.key, name}, fmt.Errorf("the fabric has no host %q", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Addresses)) {
		if ip, err := netip.ParseAddr(p.Addresses[name]); err != nil || !ip.Is4() {
			return yamlfile.Keys{"addresses", name}, fmt.Errorf("address %q of host %q: write an IPv4 address such as 192.0.2.7",
				p.Addresses[name], name)
		}
	}
	return nil, nil
}
