package standalone

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/southbound/socket"
)

// estate is what a killed switch leaves in the kernel, as its guard knows it.
type estate struct {
	Ports []string  `json:"ports"`
	Sinks [2]string `json:"sinks"`
	Parks [2]string `json:"parks"`
	IPv6  []string  `json:"ipv6"` // ports that had it
	// Socket is the path of the target's Unix socket; empty: it listens elsewhere.
	Socket string `json:"socket,omitempty"`
	// Alone, of a process that has no ports, is its socket, which another may have replaced.
	Alone *socket.Mark `json:"alone,omitempty"`
	Done  bool         `json:"done"` // all was given back without the guard
}

// guard is the process that gives the interfaces back when the switch cannot.
type guard struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// openGuard starts the guard, in a process group of its own: what is typed at a terminal is not for it.
func openGuard(command []string, e estate) (*guard, error) {
	g := &guard{cmd: exec.Command(command[0], command[1:]...)}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if g.in, err = g.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	if err := json.NewEncoder(g.in).Encode(e); err != nil {
		return nil, errors.Join(fmt.Errorf("tell guard: %w", err), g.close())
	}
	return g, nil
}

// GuardSocket starts the guard of a process that leaves nothing but its Unix socket when it is killed. The caller
// closes it once the socket is gone.
func GuardSocket(command []string, path string) (io.Closer, error) {
	m, err := socket.MarkOf(path)
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	g, err := openGuard(command, estate{Alone: &m})
	if err != nil {
		return nil, err
	}
	return closer(g.close), nil
}

type closer func() error

// Close implements io.Closer.
func (c closer) Close() error { return c() }

// close releases the guard without work, and waits for its end.
func (g *guard) close() error {
	err := json.NewEncoder(g.in).Encode(estate{Done: true})
	return errors.Join(err, g.in.Close(), g.cmd.Wait())
}

// inheritWithin is how long the kernel can take to let go of a killed switch's locks: they are closed one by one.
const inheritWithin = time.Second

// inherit locks a port that was a killed switch's, or says that another has it.
func (p *ports) inherit(name string, index int) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(inheritWithin); time.Now().Before(deadline); <-tick.C {
		if p.lock(name, index) == nil {
			return true
		}
	}
	return false
}

// Guard waits until the switch that writes to r ends, and gives its interfaces and its socket back where it could not:
// it was killed. Another switch that has taken the ports meanwhile has cleared them itself.
func Guard(r io.Reader) error {
	d := json.NewDecoder(r)
	var e, last estate
	if err := d.Decode(&e); err != nil {
		return fmt.Errorf("guard a switch: it says nothing: %w", err)
	}
	if d.Decode(&last) == nil && last.Done {
		return nil
	}
	if e.Alone != nil {
		return e.Alone.Remove()
	}
	nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer nl.Close()
	p := &ports{nl: nl, sinks: e.Sinks, parks: e.Parks}
	for _, name := range e.Ports {
		l, err := nl.LinkByName(name)
		if err != nil {
			continue // it has gone, and took what was on it along
		}
		p.names, p.index = append(p.names, name), append(p.index, l.Attrs().Index)
		if !p.inherit(name, l.Attrs().Index) {
			return p.give()
		}
	}
	errs := []error{p.clear()}
	if e.Socket != "" {
		if err := os.Remove(e.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove socket: %w", err))
		}
	}
	for _, name := range e.IPv6 {
		if err := os.WriteFile(filepath.Join("/proc/sys/net/ipv6/conf", name, "disable_ipv6"),
			[]byte("0"), 0); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("enable IPv6 on port %q: %w", name, err))
		}
	}
	return errors.Join(append(errs, p.give())...)
}
