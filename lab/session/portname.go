package session

import (
	"fmt"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// portName is what every command calls a port of a switch.
func portName(device string, p southbound.Port) string { return fmt.Sprintf("%s:%d", device, p) }

// circuitName is what every command calls a circuit of an optical switch.
func circuitName(ocs string, in, out southbound.Port) string {
	return portName(ocs, in) + "→" + portName(ocs, out)
}

// portNamed finds a port by its name: tor0:3 or tor0-3 is port 3 of tor0, and a host's name alone is
// its interface.
func portNamed(t *pathmap.Topology, name string) (pathmap.NodeID, int32, error) {
	if n, ok := t.Named(name); ok {
		if t.Node(n).Role == pathmap.Host {
			return n, 0, nil
		}
		return 0, 0, fmt.Errorf("port %q: %s has ports 0 to %d: write %s:0", name, name, t.Ports(n)-1, name)
	}
	at := strings.LastIndexAny(name, "-:")
	if at < 0 {
		return 0, 0, noPort(t, name)
	}
	n, ok := t.Named(name[:at])
	port, err := strconv.ParseInt(name[at+1:], 10, 32)
	switch {
	case !ok || err != nil:
		return 0, 0, noPort(t, name)
	case port < 0 || port >= int64(t.Ports(n)):
		return 0, 0, fmt.Errorf("port %q: %s has ports 0 to %d", name, name[:at], t.Ports(n)-1)
	case t.OutPort(n, int32(port)) == pathmap.None:
		return 0, 0, fmt.Errorf("port %q: no cable is plugged in there%s", name, cabled(t, n))
	}
	return n, int32(port), nil
}

// cabled names, for an error, the ports of a node that can be given: the first with a cable, and the last.
func cabled(t *pathmap.Topology, n pathmap.NodeID) string {
	var with []int32
	for p := range t.Ports(n) {
		if t.OutPort(n, p) != pathmap.None {
			with = append(with, p)
		}
	}
	name := t.Node(n).Name
	switch len(with) {
	case 0:
		return fmt.Sprintf(", nor at any other port of %s", name)
	case 1:
		return fmt.Sprintf(": write %s:%d, the one that has a cable", name, with[0])
	}
	return fmt.Sprintf(": write one of the %d that have a cable, such as %s:%d or %s:%d", len(with),
		name, with[0], name,
		with[len(with)-1])
}

// noPort returns an error that shows the form of a port by the first host and the first switch.
func noPort(t *pathmap.Topology, name string) error {
	like := []string{}
	seen := map[pathmap.Role]bool{}
	for n, node := range t.Nodes() {
		if seen[node.Role] {
			continue
		}
		seen[node.Role] = true
		if node.Role == pathmap.Host {
			like = append(like, node.Name)
		} else {
			like = append(like, fmt.Sprintf("%s:0 to %s:%d", node.Name, node.Name, t.Ports(pathmap.NodeID(n))-1))
		}
	}
	return fmt.Errorf("port %q: there is no such switch or host: write NAME:PORT of a switch, or the name of a host, "+
		"such as %s", name, strings.Join(like, ", "))
}
