package ebpf

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
)

// Supported returns an error if this process cannot use the package. It requires root outside of user
// namespaces, or CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN.
func Supported() error {
	err := dataplane.ProbePlanes(New)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("probe ebpf dataplane: needs CAP_BPF and CAP_NET_ADMIN outside of user namespaces; run as root: "+
			"%w", err)
	}
	if err != nil {
		return fmt.Errorf("probe ebpf dataplane: %w", err)
	}
	return nil
}
