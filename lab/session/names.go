package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// hostsFile is where resolvers look names up before they ask a server.
const hostsFile = "/etc/hosts"

// nameHosts makes the names of a fabric's hosts known to all programs in them. The process is in a
// mount namespace of its own, where a file of names is laid over the machine's.
func nameHosts(f *topo.Fabric) error {
	old, err := os.ReadFile(hostsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is nothing to lay it over
	}
	if err != nil {
		return fmt.Errorf("name hosts: %w", err)
	}
	file, err := os.CreateTemp("/run", "hosts-") // the namespaces' own
	if err != nil {
		return fmt.Errorf("name hosts: %w", err)
	}
	_, err = file.Write(hostLines(f, old))
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return fmt.Errorf("name hosts: %w", err)
	}
	if err := unix.Mount(file.Name(), hostsFile, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("name hosts: mount %s: %w", hostsFile, err)
	}
	return nil
}

// hostLines is the machine's own file and a line for each host.
func hostLines(f *topo.Fabric, old []byte) []byte {
	var b bytes.Buffer
	b.Write(bytes.TrimRight(old, "\n"))
	b.WriteString("\n")
	for r := range f.Racks {
		for h := f.FirstHost[r]; h < f.FirstHost[r+1]; h++ {
			fmt.Fprintf(&b, "%v %s\n", southbound.Addr(southbound.RackID(r), int(h-f.FirstHost[r])),
				f.Topology.Node(f.HostNode[h]).Name)
		}
	}
	return b.Bytes()
}
