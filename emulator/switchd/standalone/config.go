package standalone

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// Role is what the switch is in its fabric.
type Role string

// The roles.
const (
	ToR Role = "tor" // has hosts, uplinks to packet switches, perhaps one to the optical switch
	EPS Role = "eps" // any other packet switch
	OCS Role = "ocs" // the optical circuit switch, with one port a rack
)

// Roles returns every role, as users write them.
func Roles() []string { return []string{string(ToR), string(EPS), string(OCS)} }

// Config describes the switch.
type Config struct {
	Name  string   // as the fabric calls it
	Role  Role     //
	Ports []string // interfaces, by port number
	Racks int      // of the whole fabric
	Rack  int      // of a ToR: its own
	Hosts int      // of a ToR: its first Hosts ports go to the hosts of the rack, in the order of their addresses
	Fibre string   // of a ToR: the port to the optical switch, which is dark until a signal comes; "" for none
	Dark  time.Duration
	// of an OCS: every circuit goes dark when one moves
	AllStop bool
	// what a restart by gNOI does to circuits and rules
	Recovery device.Recovery
	// of a ToR: bytes of a queue for each rack, where packets wait while the fibre is dark; 0: none
	VOQBytes  int
	Dataplane string        // auto, ebpf or mirred
	LLDP      time.Duration // how often a packet switch announces itself; 0: never

	// command line of a process that runs Guard on its standard input; nil: a switch that is killed leaves
	// filters
	Guard []string

	Profile  string       // that the target speaks; "": openconfig, or ocp
	RESTCONF bool         // of an OCS: Polatis' model by RESTCONF, and no gNMI
	GRIBI    bool         // of a packet switch: also gRIBI, at the same address
	Login    target.Login // that callers must bring; the zero value: none
	Like     string       // as target.Config has it
	Validate func() time.Duration

	Listen    string       // host:port or unix:PATH
	Identity  pki.Identity // the zero value: plaintext, on loopback or a Unix socket only
	Keys      *pki.Source  // in the place of Identity; can be nil
	Log       *slog.Logger
	Listening func(addr string) // called once the target takes requests
}

// Check returns an error if a configuration is invalid, without looking at the machine.
func (c *Config) Check() error {
	dup := func(p string) bool {
		return slices.Index(c.Ports, p) != len(c.Ports)-1-slices.Index(reversed(c.Ports), p)
	}
	switch {
	case c.Name == "":
		return errors.New("the switch has no name")
	case !slices.Contains(Roles(), string(c.Role)):
		return fmt.Errorf("role %q: take %s", c.Role, strings.Join(Roles(), ", "))
	case len(c.Ports) == 0:
		return errors.New("the switch has no ports")
	case slices.ContainsFunc(c.Ports, dup):
		return fmt.Errorf("port %q is named twice", c.Ports[slices.IndexFunc(c.Ports, dup)])
	case c.Racks < 1 || c.Racks > southbound.MaxRacks:
		return fmt.Errorf("%d racks: take 1 to %d", c.Racks, southbound.MaxRacks)
	case c.Role != ToR && (c.Rack != 0 || c.Hosts != 0 || c.Fibre != ""):
		return fmt.Errorf("a rack, hosts and a fibre are a ToR's, and this is an %s", c.Role)
	case c.Role == ToR && (c.Rack < 0 || c.Rack >= c.Racks):
		return fmt.Errorf("rack %d: racks are 0 to %d", c.Rack, c.Racks-1)
	case c.VOQBytes != 0 && c.Fibre == "":
		return errors.New("queues for dark circuits are of a ToR with a fibre")
	case c.VOQBytes != 0 && (c.VOQBytes < netns.MinVOQBytes || c.VOQBytes > 1<<30):
		return fmt.Errorf("queues for dark circuits of %d bytes: take %d (two large segments) to %d", c.VOQBytes,
			netns.MinVOQBytes, 1<<30)
	case c.VOQBytes != 0 && c.Dataplane == "mirred":
		return fmt.Errorf("%w", netns.ErrNoVOQs)
	case c.Hosts < 0 || c.Hosts > len(c.Ports) || c.Hosts > southbound.MaxHostsPerRack:
		return fmt.Errorf("%d hosts: the switch has %d ports, and a rack at most %d hosts",
			c.Hosts, len(c.Ports),
			southbound.MaxHostsPerRack)
	case c.Fibre != "" && slices.Index(c.Ports, c.Fibre) < c.Hosts:
		return fmt.Errorf("fibre %q is none of the ports beyond the hosts'", c.Fibre)
	case c.LLDP < 0 || c.LLDP > 0 && c.LLDP < leastLLDP || c.LLDP > mostLLDP:
		return fmt.Errorf("announcements every %v: take %v to %v, or 0 for none", c.LLDP, leastLLDP, mostLLDP)
	case c.Profile != "" && !slices.Contains(target.Profiles(c.kind()), c.Profile):
		return fmt.Errorf("profile %q: this switch can speak %s", c.Profile,
			strings.Join(target.Profiles(c.kind()), ", "))
	case c.GRIBI && c.Role == OCS:
		return errors.New("gRIBI is of packet switches")
	case c.RESTCONF && (c.Role != OCS || c.Profile != "polatis"):
		return errors.New("RESTCONF is of an optical switch with profile polatis")
	case c.Login != (target.Login{}) && c.Identity.IsZero() && c.Keys == nil:
		return errors.New("credentials are not asked for in plaintext: add keys for TLS")
	case c.Dark < 0:
		return fmt.Errorf("dark time %v is below zero", c.Dark)
	}
	return c.checkListen()
}

func (c *Config) kind() device.Kind {
	if c.Role == OCS {
		return device.Optical
	}
	return device.Packet
}

// Bounds of how often a switch announces itself (IEEE 802.1AB has 1 s to an hour; emulated cables are
// walked faster).
const (
	leastLLDP = 50 * time.Millisecond
	mostLLDP  = time.Hour
)

func reversed(s []string) []string {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// checkListen refuses plaintext where others could read it.
func (c *Config) checkListen() error {
	if path, ok := socket.Path(c.Listen); ok {
		if path == "" || len(path) > 107 { // sockaddr_un
			return fmt.Errorf("listen on %q: a socket's path has 1 to 107 bytes", c.Listen)
		}
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen on %q: take host:port or unix:PATH", c.Listen)
	}
	if ip := net.ParseIP(host); c.Identity.IsZero() && c.Keys == nil && host != "localhost" &&
		!ip.IsLoopback() {
		return fmt.Errorf("listen on %q: plaintext is offered on loopback addresses and Unix sockets only", c.Listen)
	}
	return nil
}
