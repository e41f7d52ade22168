package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// Lease gives ports of one device to a group, until an instant. A circuit belongs to the group that has both its ports.
type Lease struct {
	Device  string            `json:"device"`
	Group   string            `json:"group"`
	Holder  string            `json:"holder"`
	Inputs  []southbound.Port `json:"inputs"` // sorted
	Outputs []southbound.Port `json:"outputs"`
	Until   time.Time         `json:"until"`
}

// Input and Output report whether a port is leased.
func (l *Lease) Input(p southbound.Port) bool {
	_, ok := slices.BinarySearch(l.Inputs, p)
	return ok
}

// Output reports whether an output is leased.
func (l *Lease) Output(p southbound.Port) bool {
	_, ok := slices.BinarySearch(l.Outputs, p)
	return ok
}

// LeaseTable is the leases of a site.
type LeaseTable struct {
	Leases []Lease `json:"leases"` // sorted by device and group
}

// Errors of a book.
var (
	// ErrLeased: another group has one of the ports.
	ErrLeased = errors.New("leased to another group")
	// ErrNoLease: there is no such lease, or it has run out.
	ErrNoLease = errors.New("no lease")
)

// Find returns a lease that holds at now.
func (b *LeaseTable) Find(device, group string, now time.Time) (*Lease, error) {
	for i := range b.Leases {
		l := &b.Leases[i]
		if l.Device != device || l.Group != group {
			continue
		}
		if !now.Before(l.Until) {
			return nil, fmt.Errorf("find lease of group %q on device %q: it ran out at %s: %w", group, device,
				l.Until.Format(time.RFC3339), ErrNoLease)
		}
		return l, nil
	}
	return nil, fmt.Errorf("find lease of group %q on device %q: %w", group, device, ErrNoLease)
}

// Take adds a lease, or renews that of the same group and holder. Ports that another group holds at now are refused,
// and so is a group that another holder has.
func (b *LeaseTable) Take(l Lease, now time.Time) error {
	fail := func(err error) error {
		return fmt.Errorf("lease ports of device %q to group %q: %w", l.Device, l.Group, err)
	}
	slices.Sort(l.Inputs)
	slices.Sort(l.Outputs)
	l.Inputs, l.Outputs = slices.Compact(l.Inputs), slices.Compact(l.Outputs)
	switch {
	case l.Device == "" || l.Group == "" || l.Holder == "":
		return fail(errors.New("a device, a group and a holder are needed"))
	case len(l.Inputs) == 0 || len(l.Outputs) == 0 || l.Inputs[0] < 0 || l.Outputs[0] < 0:
		return fail(errors.New("inputs and outputs are needed, none below 0"))
	case !now.Before(l.Until):
		return fail(fmt.Errorf("it would run out at %s, which is past", l.Until.Format(time.RFC3339)))
	}
	for _, o := range b.Leases {
		if o.Device != l.Device || !now.Before(o.Until) {
			continue
		}
		if o.Group == l.Group {
			if o.Holder != l.Holder {
				return fail(fmt.Errorf("%q holds it until %s: %w", o.Holder,
					o.Until.Format(time.RFC3339), ErrLeased))
			}
			continue
		}
		if p, ok := common(o.Inputs, l.Inputs); ok {
			return fail(fmt.Errorf("input %d is group %q's: %w", p, o.Group, ErrLeased))
		}
		if p, ok := common(o.Outputs, l.Outputs); ok {
			return fail(fmt.Errorf("output %d is group %q's: %w", p, o.Group, ErrLeased))
		}
	}
	b.Leases = slices.DeleteFunc(b.Leases, func(o Lease) bool {
		return o.Device == l.Device && (o.Group == l.Group || !now.Before(o.Until))
	})
	b.Leases = append(b.Leases, l)
	slices.SortFunc(b.Leases, func(x, y Lease) int {
		return strings.Compare(x.Device+"\x00"+x.Group, y.Device+"\x00"+y.Group)
	})
	return nil
}

// Release ends a lease; only its holder may.
func (b *LeaseTable) Release(device, group, holder string) error {
	i := slices.IndexFunc(b.Leases, func(l Lease) bool { return l.Device == device && l.Group == group })
	switch {
	case i < 0:
		return fmt.Errorf("release group %q of device %q: %w", group, device, ErrNoLease)
	case b.Leases[i].Holder != holder:
		return hint.Wrap(fmt.Errorf("release group %q of device %q: %q holds it: %w", group, device,
			b.Leases[i].Holder,
			ErrLeased), "if you speak for them, add --holder "+b.Leases[i].Holder)
	}
	b.Leases = slices.Delete(b.Leases, i, i+1)
	return nil
}

func common(a, b []southbound.Port) (southbound.Port, bool) {
	for _, p := range a {
		if slices.Contains(b, p) {
			return p, true
		}
	}
	return 0, false
}

// maxBook bounds a file of leases, in bytes.
const maxBook = 1 << 20

// ReadLeases reads a file of leases; a missing file is an empty book.
func ReadLeases(path string) (*LeaseTable, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &LeaseTable{}, nil
	}
	b := &LeaseTable{}
	if err == nil && len(data) > maxBook {
		err = fmt.Errorf("longer than %d bytes", maxBook)
	}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil {
		return nil, fmt.Errorf("read leases %s: %w", path, err)
	}
	for i := range b.Leases {
		slices.Sort(b.Leases[i].Inputs)
		slices.Sort(b.Leases[i].Outputs)
	}
	return b, nil
}

// ChangeLeases reads a file of leases, calls f to change them, and replaces the whole file. A lock file beside it keeps
// other processes from changing it meanwhile.
func ChangeLeases(path string, f func(*LeaseTable) error) error {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("lock leases: %w (if no other process changes them, remove the file)", err)
	}
	defer func() { _, _ = lock.Close(), os.Remove(lock.Name()) }()
	b, err := ReadLeases(path)
	if err == nil {
		err = f(b)
	}
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new")
	if err != nil {
		return fmt.Errorf("write leases: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write leases: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}

// ParsePorts reads "0-3,8,10-11".
func ParsePorts(text string) ([]southbound.Port, error) {
	var out []southbound.Port
	for _, part := range strings.Split(text, ",") {
		a, b, ranged := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := strconv.ParseUint(a, 10, 16)
		hi := lo
		if err == nil && ranged {
			hi, err = strconv.ParseUint(b, 10, 16)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("parse ports %q: %q is no port and no range: write 0-7,9", text, part)
		}
		for p := lo; p <= hi; p++ {
			out = append(out, southbound.Port(p))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
