package hostagent

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// Namespaces are hosts that others have made.
type Namespaces struct {
	Home  int
	Hosts []int // descriptors, by host
}

// InHost implements hostagent.Network. A thread that cannot return stays locked, and ends with its
// goroutine.
func (n *Namespaces) InHost(h southbound.HostID, do func() error) error {
	if h < 0 || int(h) >= len(n.Hosts) {
		return fmt.Errorf("enter host %d: the fabric's hosts are 0 to %d", h, len(n.Hosts)-1)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(n.Hosts[h], unix.CLONE_NEWNET); err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("enter namespace: %w", err)
			return
		}
		err := do()
		if back := unix.Setns(n.Home, unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, fmt.Errorf("return from namespace: %w", back))
		} else {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("in host %d: %w", h, err)
	}
	return nil
}
