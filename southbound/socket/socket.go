// Package socket opens listeners at what users write as an address, host:port or unix:PATH, and knows
// the files that Unix sockets are: they outlive a process that is killed.
package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Path returns the path of an address that is a Unix socket's.
func Path(at string) (path string, ok bool) { return strings.CutPrefix(at, "unix:") }

// Listen opens a listener at host:port or unix:PATH. It replaces a socket file without a listener,
// which a killed process has left; it does not replace another file or a socket in use.
func Listen(ctx context.Context, at string) (net.Listener, error) {
	network, addr := "tcp", at
	if path, ok := Path(at); ok {
		network, addr = "unix", path
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, network, addr)
	if errors.Is(err, unix.EADDRINUSE) && network == "unix" && stale(ctx, addr) {
		if err := os.Remove(addr); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listen at %q: remove the socket of a process that was killed: %w", at, err)
		}
		ln, err = (&net.ListenConfig{}).Listen(ctx, network, addr)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %q: %w", at, err)
	}
	return ln, nil
}

// stale reports whether a path is of a socket that refuses connections.
func stale(ctx context.Context, path string) bool {
	if st, err := os.Lstat(path); err != nil || st.Mode()&fs.ModeSocket == 0 {
		return false
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err == nil {
		_ = c.Close() // another process listens here
		return false
	}
	return errors.Is(err, unix.ECONNREFUSED)
}

// Mark distinguishes a socket from another that has taken its path.
type Mark struct {
	Path    string `json:"path"`
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Changed int64  `json:"changed"` // nanoseconds
}

// MarkOf returns the mark of the socket at a path.
func MarkOf(path string) (Mark, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Mark{}, fmt.Errorf("look at socket %q: %w", path, err)
	}
	return Mark{Path: path, Device: st.Dev, Inode: st.Ino, Changed: st.Ctim.Nano()}, nil
}

// Remove removes the socket, if it still is the one that was marked.
func (m Mark) Remove() error {
	now, err := MarkOf(m.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && now != m:
		return nil
	case err != nil:
		return err
	}
	if err := os.Remove(m.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove socket: %w", err)
	}
	return nil
}
