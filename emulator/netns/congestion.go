package netns

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// setCongestion makes an algorithm the default of the namespace, the calling thread's. Many kernels allow
// that only for the first namespace's; sockets can ask for it all the same, and ours do, so that is a
// note. An algorithm that not even a socket gets is an error.
func (k knobs) setCongestion(name string) (note string, err error) {
	if err := socketCongestion(name); err != nil {
		known, _ := k.get("ipv4/tcp_available_congestion_control")
		return "", fmt.Errorf("congestion control %q: %w (there are %s)", name, err, known)
	}
	err = k.set("ipv4/tcp_congestion_control", name)
	if err == nil {
		return "", nil
	}
	got, rerr := k.get("ipv4/tcp_congestion_control")
	if rerr != nil {
		return "", errors.Join(err, rerr)
	}
	if got != name {
		return fmt.Sprintf("commands run in hosts use %s: the kernel takes %s from single sockets only",
			got, name), nil
	}
	return "", nil
}

// socketCongestion tries an algorithm on a socket of the calling thread's namespace.
func socketCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	return errors.Join(unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name), unix.Close(fd))
}
