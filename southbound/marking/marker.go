package marking

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/southbound/hint"
)

// Marker marks packets that leave the interfaces of one network namespace. What it does ends with its
// process.
type Marker struct {
	nl    *netlink.Handle
	table *ebpf.Map
	prog  *ebpf.Program
	at    map[int]link.Link // by interface
	rules map[key]uint64    // to the value's TOS
}

// Open loads a marker without rules for the namespace of the calling thread. Close undoes it.
func Open() (*Marker, error) {
	m := &Marker{at: map[int]link.Link{}, rules: map[key]uint64{}}
	if err := m.load(); err != nil {
		return nil, errors.Join(refusal(err), m.Close())
	}
	return m, nil
}

func (m *Marker) load() (err error) {
	if m.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return err
	}
	if m.table, err = newTable(); err != nil {
		return err
	}
	m.prog, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "ll_mark", Type: ebpf.SchedCLS,
		Instructions: program(m.table), License: "Apache-2.0"})
	return err
}

// refusal says what a kernel that refuses a marker lacks.
func refusal(err error) error {
	err = fmt.Errorf("mark packets of other processes: %w", err)
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return hint.Wrap(err, "run as root outside of user namespaces, or with CAP_BPF and CAP_NET_ADMIN")
	case errors.Is(err, ebpf.ErrNotSupported):
		return hint.Wrap(err, "use Linux 6.6 or later")
	}
	return err
}

// Supported returns why packets cannot be marked here, or nil: it marks those of the loopback, by no rule.
func Supported() error {
	m, err := Open()
	if err != nil {
		return err
	}
	lo, err := m.nl.LinkByName("lo")
	if err == nil {
		err = m.attach(lo.Attrs().Index)
	}
	if err != nil {
		err = refusal(err)
	}
	return errors.Join(err, m.Close())
}

// Set puts rules in the place of those before, at the interfaces by which their destinations are
// reached now. Rules that stand go on counting. A rule that cannot be (its cgroup does not exist,
// nothing leads to its destination) is left out, and the error says why; the others are set.
func (m *Marker) Set(rules []Rule) error {
	wanted, at := map[key]uint64{}, map[int]bool{}
	var errs []error
	for _, r := range rules {
		id, err := cgroupID(r.Cgroup)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		where, err := m.way(r)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		wanted[keyOf(r, id)], at[where] = uint64(r.DSCP)<<2, true
	}
	return errors.Join(append(errs, m.write(wanted, at))...)
}

func (m *Marker) write(wanted map[key]uint64, at map[int]bool) error {
	for _, i := range slices.Sorted(maps.Keys(at)) {
		if err := m.attach(i); err != nil {
			return refusal(err)
		}
	}
	for k, tos := range wanted {
		if was, ok := m.rules[k]; ok && was == tos {
			continue
		}
		if err := m.table.Put(k, value{TOS: tos}); err != nil {
			return fmt.Errorf("write rule of marks: %w", err)
		}
		m.rules[k] = tos
	}
	for k := range m.rules {
		if _, ok := wanted[k]; ok {
			continue
		}
		if err := m.table.Delete(k); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("delete rule of marks: %w", err)
		}
		delete(m.rules, k)
	}
	return m.detach(at)
}

// way returns the interface by which a rule's destination is reached.
func (m *Marker) way(r Rule) (int, error) {
	routes, err := m.nl.RouteGet(r.To.Addr().AsSlice())
	if err != nil || len(routes) == 0 {
		return 0, fmt.Errorf("find the interface to %v: %w", r.To, errors.Join(err, unix.ENETUNREACH))
	}
	l, err := m.nl.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return 0, fmt.Errorf("find the interface to %v: %w", r.To, err)
	}
	if a := l.Attrs(); a.EncapType != "ether" && a.EncapType != "loopback" {
		return 0, fmt.Errorf("mark packets to %v: %s has no Ethernet frames but %q", r.To, a.Name, a.EncapType)
	}
	return routes[0].LinkIndex, nil
}

func (m *Marker) attach(i int) error {
	if m.at[i] != nil {
		return nil
	}
	l, err := link.AttachTCX(link.TCXOptions{Interface: i, Program: m.prog, Attach: ebpf.AttachTCXEgress})
	if err != nil {
		return fmt.Errorf("attach program to interface %d: %w", i, err)
	}
	m.at[i] = l
	return nil
}

// detach leaves the interfaces that no rule needs.
func (m *Marker) detach(but map[int]bool) (err error) {
	for i, l := range m.at {
		if !but[i] {
			err = errors.Join(err, l.Close())
			delete(m.at, i)
		}
	}
	return err
}

// Marked returns how many packets rules have had marked, in their order; a large one that the interface
// cuts counts once.
func (m *Marker) Marked(rules []Rule) ([]uint64, error) {
	out := make([]uint64, len(rules))
	for i, r := range rules {
		id, err := cgroupID(r.Cgroup)
		if err != nil {
			return nil, err
		}
		var v value
		if err := m.table.Lookup(keyOf(r, id), &v); err != nil {
			return nil, fmt.Errorf("count packets of cgroup %q: %w", r.Cgroup, err)
		}
		out[i] = v.Packets
	}
	return out, nil
}

// Close ends all marking. A second call is nothing.
func (m *Marker) Close() error {
	err := m.detach(nil)
	if m.prog != nil {
		err = errors.Join(err, m.prog.Close())
	}
	if m.table != nil {
		err = errors.Join(err, m.table.Close())
	}
	if m.nl != nil {
		m.nl.Close()
	}
	m.prog, m.table, m.nl = nil, nil, nil
	return err
}
