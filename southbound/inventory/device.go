package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// Devices are the switches of an inventory: in the file a mapping of names to addresses, or a list of records.
type Devices []Device

// Device is one switch.
type Device struct {
	Name        string      `yaml:"name"`    // of the switch, as the fabric has it
	Address     string      `yaml:"address"` // host:port, unix:PATH, or the URL of a RESTCONF root
	Group       string      `yaml:"group"`   // whose record completes this one
	ID          int32       `yaml:"id"`      // the node in the fabric's topology
	Profile     string      `yaml:"profile"` // or AutoProfile
	Ports       int32       `yaml:"ports"`
	Racks       int32       `yaml:"racks"` // of the fabric; packet switches only
	TLS         TLS         `yaml:"tls"`
	Credentials Credentials `yaml:"credentials"`
	Flags       Flags       `yaml:"flags"`
	GRIBI       GRIBI       `yaml:"gribi"`
	PortMap     []Port      `yaml:"port-map"`
	// Prefixes are those of the inventory, by rack.
	Prefixes map[southbound.RackID]string `yaml:"-"`

	short bool // it stands in the file as a name and an address
	ocs   bool // the fabric has an optical switch of that name
}

// AutoProfile is the profile of a device that is asked for it: the first that fits its Capabilities.
const AutoProfile = "auto"

// Group is what devices of a group have in common: what a device's own record leaves out.
type Group struct {
	Profile     string      `yaml:"profile"`
	Ports       int32       `yaml:"ports"`
	Racks       int32       `yaml:"racks"`
	TLS         TLS         `yaml:"tls"`
	Credentials Credentials `yaml:"credentials"`
	Flags       Flags       `yaml:"flags"`
	GRIBI       GRIBI       `yaml:"gribi"`
}

// join completes a record with what its group says. Sections are taken whole: a device with flags of its own has none
// of the group's. An address is of one device: gRIBI's in a group is its port.
func (d *Device) join(g Group) {
	d.Profile, d.Ports, d.Racks = cmp.Or(d.Profile, g.Profile), cmp.Or(d.Ports,
		g.Ports), cmp.Or(d.Racks, g.Racks)
	d.TLS, d.Credentials, d.Flags = cmp.Or(d.TLS, g.TLS), cmp.Or(d.Credentials,
		g.Credentials), cmp.Or(d.Flags, g.Flags)
	d.GRIBI = cmp.Or(d.GRIBI, g.GRIBI)
}

// Port is what a device calls a port, and where the port leads; what is left out is as the profile has it.
type Port struct {
	Port    int32  `yaml:"port"`     // in the fabric
	Name    string `yaml:"name"`     // of the interface, or of an optical switch's input
	Output  string `yaml:"output"`   // of an optical switch's output
	NextHop string `yaml:"next-hop"` // address at the far end, of packet switches
}

// TLS selects the certificates. Without any, they are the run's, and where there is none the machine's authorities are
// trusted.
type TLS struct {
	CA         string `yaml:"ca"`          // PEM file of the authority
	Cert       string `yaml:"cert"`        // PEM files of our own certificate and key, both or neither
	Key        string `yaml:"key"`         //
	ServerName string `yaml:"server-name"` // in the device's certificate, where it is not the address
	Plaintext  bool   `yaml:"plaintext"`   // no TLS: on loopback addresses only
}

// Credentials name a user and a password: "env:NAME" or "file:PATH".
type Credentials struct {
	Username string `yaml:"username"`
	Password string `yaml:"password"`
}

// Flags are what differs between vendors and sites; the zero value is each profile's default.
type Flags struct {
	SendRole         bool   `yaml:"send-role"`         // an empty role in the election id
	ControllerBackup bool   `yaml:"controller-backup"` // backups are the controller's to use; a controller sets it
	Instance         string `yaml:"instance"`          // srl-native: network-instance
	Interface        string `yaml:"interface"`         // srl-native: format of interface names
	Lanes            int32  `yaml:"lanes"`             // sonic: port p is Ethernet<p·lanes>
	// the device implements no Capabilities: use the profile given here
	TrustProfile bool `yaml:"trust-profile"`
	ReadConfig   bool `yaml:"read-config"` // openconfig-plain: the device keeps no state of rules
}

// GRIBI has the rules of a packet switch programmed by gRIBI, while its ports are watched by gNMI.
type GRIBI struct {
	Port     int32  `yaml:"port"`      // of its server, at the device's address; 0: rules go by gNMI
	Default  string `yaml:"default"`   // the network instance of rules for any tag
	Tagged   string `yaml:"tagged"`    // those of tags, such as TAG%d; "none": rules are for any tag
	NoBackup bool   `yaml:"no-backup"` // the device knows no backup groups: backups are the controller's to use
}

// UnmarshalYAML takes both forms of a list of devices; those of a mapping are sorted by name.
func (all *Devices) UnmarshalYAML(decode func(any) error) error {
	var form any
	if err := decode(&form); err != nil {
		return err
	}
	if _, long := form.([]any); long {
		return decode((*[]Device)(all))
	}
	var short map[string]string
	if err := decode(&short); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(short)) {
		*all = append(*all, Device{Name: name, Address: short[name], short: true})
	}
	return nil
}

// Find returns the device of that name; an unknown one lists the known.
func (all Devices) Find(name string) (*Device, error) {
	var known []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		known = append(known, all[i].Name)
	}
	return nil, fmt.Errorf("device %q is not in the file: it has %s", name, strings.Join(known, ", "))
}

// within returns d as node n of a fabric: what it leaves out is the fabric's, and without a profile it is an emulated
// switch. It has the ports that cables have been plugged into since its record was read.
func (d Device) within(f *topo.Fabric, n pathmap.NodeID) Device {
	ours := gnmi.OpenConfig{}.Name()
	if d.ocs = f.Topology.Node(n).Role == pathmap.OCS; d.ocs {
		ours = gnmi.OCP{}.Name()
	}
	d.ID, d.Profile = int32(n), cmp.Or(d.Profile, ours)
	d.Ports, d.Racks = max(d.Ports, f.Topology.Ports(n)), max(d.Racks, int32(f.Racks))
	return d
}

// isOptical reports whether the device's profile is of optical switches; with AutoProfile, whether it lacks racks.
func (d *Device) isOptical() (bool, error) {
	if d.Profile == AutoProfile {
		return d.ocs || d.Racks == 0, nil
	}
	p, err := gnmi.Named(d.Profile, d.Ports, d.Racks)
	return err == nil && optical(p), err
}

// profiles returns those that the device can have, with its flags: one, or with AutoProfile all of its kind.
func (d *Device) profiles() ([]gnmi.Profile, error) {
	if d.Profile != AutoProfile {
		p, err := gnmi.Named(d.Profile, d.Ports, d.Racks)
		if err != nil {
			return nil, err
		}
		p, err = d.named(p)
		return []gnmi.Profile{p}, err
	}
	var out []gnmi.Profile
	for _, p := range gnmi.All(d.Ports, d.Racks) {
		if optical(p) != (d.ocs || d.Racks == 0) {
			continue
		}
		p, err := d.named(p)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// named returns a profile with the device's flags and names. Optical switches have no racks' prefixes.
func (d *Device) named(p gnmi.Profile) (gnmi.Profile, error) {
	prefixes := map[southbound.RackID]netip.Prefix{}
	for rack, text := range d.Prefixes {
		if optical(p) {
			break
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		prefixes[rack] = prefix
	}
	var ports []gnmi.PortName
	for _, x := range d.PortMap {
		hop, _ := netip.ParseAddr(x.NextHop) // it was checked
		ports = append(ports, gnmi.PortName{Port: southbound.Port(x.Port), Name: x.Name,
			Output: x.Output, NextHop: hop})
	}
	return gnmi.Rename(d.flagged(p), ports, prefixes)
}

// flagged returns a profile with the device's flags.
func (d *Device) flagged(p gnmi.Profile) gnmi.Profile {
	switch x := p.(type) {
	case gnmi.SRLinux:
		x.InstanceName, x.Interface, x.ControllerBackup = d.Flags.Instance, d.Flags.Interface, d.Flags.ControllerBackup
		return x
	case gnmi.OpenConfigPlain:
		x.ReadConfig = d.Flags.ReadConfig
		return x
	case gnmi.SONiC:
		x.Lanes, x.ControllerBackup = d.Flags.Lanes, d.Flags.ControllerBackup
		return x
	}
	return p
}

func optical(p gnmi.Profile) bool {
	switch gnmi.Base(p).(type) {
	case gnmi.OCP, gnmi.SONiCOCS, gnmi.Polatis:
		return true
	}
	return false
}
