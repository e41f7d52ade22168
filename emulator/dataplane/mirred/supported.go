package mirred

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
)

// Supported returns an error if this process cannot use the package. It requires CAP_NET_ADMIN over its
// own network namespace, which the root of a user namespace has, and three kernel modules.
func Supported() error {
	err := dataplane.ProbePlanes(New)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("probe mirred dataplane: no right to make network namespaces here; inside a user namespace there "+
			"is: %w", err)
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("probe mirred dataplane: the kernel lacks sch_ingress, cls_u32 or act_mirred (modprobe them): %w",
			err)
	}
	if err != nil {
		return fmt.Errorf("probe mirred dataplane: %w", err)
	}
	return nil
}
