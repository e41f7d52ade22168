package run

import (
	"fmt"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// portNamed finds a port by its name: tor0-3 or tor0:3 is port 3 of tor0, and a host's name alone is its interface.
func portNamed(t *pathmap.Topology, name string) (pathmap.NodeID, int32, error) {
	if n, ok := t.Named(name); ok {
		if t.Node(n).Role == pathmap.Host {
			return n, 0, nil
		}
		return 0, 0, fmt.Errorf("port %q: %s has ports 0 to %d: write %s-0", name, name, t.Ports(n)-1, name)
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
		return 0, 0, fmt.Errorf("port %q: no cable is plugged in", name)
	}
	return n, int32(port), nil
}

// noPort names the first host and the first switch, so that the form is seen.
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
			like = append(like, fmt.Sprintf("%s-0 to %s-%d", node.Name, node.Name, t.Ports(pathmap.NodeID(n))-1))
		}
	}
	return fmt.Errorf("port %q: there is no such switch or host: write NAME-PORT of a switch, or the name of a host, such as %s", name, strings.Join(like, ", "))
}
