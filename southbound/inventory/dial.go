package inventory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
	"lightloom/southbound/restconf"
)

// IsURL reports whether an address is of RESTCONF, and not of gNMI.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// Dial connects to the switch that is node n of a fabric, as Config says; tune, if not nil, completes what the driver
// gets. It is what a controller uses: rules can have backups that the device does not know.
func (all Devices) Dial(ctx context.Context, f *topo.Fabric, n pathmap.NodeID, by pki.Credentials,
	getenv func(string) string, tune func(*gnmi.Config)) (gnmi.Line, error) {
	found, err := all.Find(f.Topology.Node(n).Name)
	if err != nil {
		return nil, err
	}
	d := found.within(f, n)
	d.Flags.ControllerBackup = true
	c, err := all.Config(f, n, by, getenv)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, c, tune)
}

// validatedSet is how long a Set of a SONiC switch may take: it holds the whole configuration against its models.
const validatedSet = 60 * time.Second

// SetWithin returns how long a Set of the switch of that name may take; 0: as long as that of most.
func (all Devices) SetWithin(name string) time.Duration {
	if d, err := all.Find(name); err == nil && (strings.HasPrefix(d.Profile, "sonic") || d.Profile == AutoProfile) {
		return validatedSet
	}
	return 0
}

// Dial connects to a device, by gNMI or RESTCONF. getenv is os.Getenv.
func (d *Device) Dial(ctx context.Context, getenv func(string) string) (gnmi.Line, error) {
	c, err := d.Config(getenv)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, c, nil)
}

func (d *Device) dial(ctx context.Context, c gnmi.Config, tune func(*gnmi.Config)) (gnmi.Line, error) {
	if tune != nil {
		tune(&c)
	}
	if IsURL(d.Address) {
		return d.restconf(ctx, c)
	}
	s, err := gnmi.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, plain := gnmi.Base(s.Profile()).(gnmi.OpenConfigPlain); plain && d.Flags.ControllerBackup {
		return gnmi.KeepBackups(s), nil
	}
	return s, nil
}

// restconf makes the driver of a switch that has RESTCONF only, and asks the switch for its pairs once.
func (d *Device) restconf(ctx context.Context, c gnmi.Config) (gnmi.Line, error) {
	r := restconf.Config{Name: d.Name, URL: d.Address, Ports: d.Ports, TLS: c.TLS, Plaintext: d.TLS.Plaintext,
		Timeout: c.Timeout}
	if c.Login != nil {
		r.User, r.Password = c.Login.User, c.Login.Password
	}
	s, err := restconf.New(r)
	if err != nil {
		return nil, err
	}
	if _, err := s.Read(ctx); err != nil {
		return nil, fmt.Errorf("dial device %q at %s: %w", d.Name, d.Address, err)
	}
	return s, nil
}
