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

func (l *Lease) text() string {
	return fmt.Sprintf("group %q, held by %s until %s", l.Group, l.Holder, l.Until.Format(time.RFC3339))
}

// overlaps returns what two leases share of a device, such as "input 3".
func (l *Lease) overlaps(o *Lease) (string, bool) {
	if l.Device != o.Device {
		return "", false
	}
	if p, ok := common(o.Inputs, l.Inputs); ok {
		return fmt.Sprintf("input %d", p), true
	}
	if p, ok := common(o.Outputs, l.Outputs); ok {
		return fmt.Sprintf("output %d", p), true
	}
	return "", false
}

// LeaseTable is the leases of a site, and who waits for which.
type LeaseTable struct {
	Leases []Lease `json:"leases"` // sorted by device and group
	// Waiting are the leases that are wanted, in the order in which they came: the first that waits for a port is the
	// first to get it. Each waits until its Until.
	Waiting []Lease `json:"waiting,omitempty"`
}

// Errors of a book.
var (
	// ErrLeased: another group has one of the ports.
	ErrLeased = errors.New("leased to another group")
	// ErrNoLease: there is no such lease, or it has run out.
	ErrNoLease = errors.New("no lease")
)

// Of returns the lease of a group; nil: there is none. One that has ended is there until Take gives a lease of its
// device to anybody, so its ports are still free.
func (b *LeaseTable) Of(device, group string) *Lease {
	for i := range b.Leases {
		if b.Leases[i].Device == device && b.Leases[i].Group == group {
			return &b.Leases[i]
		}
	}
	return nil
}

// Find returns a lease that holds at now.
func (b *LeaseTable) Find(device, group string, now time.Time) (*Lease, error) {
	l := b.Of(device, group)
	switch {
	case l == nil:
		return nil, fmt.Errorf("find lease of group %q on device %q: %w", group, device, ErrNoLease)
	case !now.Before(l.Until):
		return nil, fmt.Errorf("find lease of group %q on device %q: it ran out at %s: %w", group, device,
			l.Until.Format(time.RFC3339), ErrNoLease)
	}
	return l, nil
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
	if err := b.free(&l, now); err != nil {
		return fail(err)
	}
	b.Waiting = slices.DeleteFunc(b.Waiting, func(o Lease) bool { return sameGroup(&o, &l) })
	b.Leases = slices.DeleteFunc(b.Leases, func(o Lease) bool {
		return o.Device == l.Device && (o.Group == l.Group || !now.Before(o.Until))
	})
	b.Leases = append(b.Leases, l)
	slices.SortFunc(b.Leases, func(x, y Lease) int {
		return strings.Compare(x.Device+"\x00"+x.Group, y.Device+"\x00"+y.Group)
	})
	return nil
}

// free returns an error if somebody else has, or comes first for, a port of a lease. What its group has already, nobody
// comes first for.
func (b *LeaseTable) free(l *Lease, now time.Time) error {
	more := *l
	for i := range b.Leases {
		o := &b.Leases[i]
		if o.Device != l.Device || !now.Before(o.Until) {
			continue
		}
		if o.Group == l.Group {
			if o.Holder != l.Holder {
				return fmt.Errorf("%q holds it until %s: %w", o.Holder, o.Until.Format(time.RFC3339), ErrLeased)
			}
			more.Inputs = slices.DeleteFunc(slices.Clone(l.Inputs), o.Input)
			more.Outputs = slices.DeleteFunc(slices.Clone(l.Outputs), o.Output)
			continue
		}
		if port, taken := l.overlaps(o); taken {
			return fmt.Errorf("%s is of %s: %w", port, o.text(), ErrLeased)
		}
	}
	for i := range b.Waiting {
		o := &b.Waiting[i]
		if sameGroup(o, l) {
			return nil
		}
		if port, wanted := more.overlaps(o); wanted && now.Before(o.Until) {
			return fmt.Errorf("group %q of %s waits for %s and comes first: %w", o.Group, o.Holder, port, ErrLeased)
		}
	}
	return nil
}

func sameGroup(a, b *Lease) bool { return a.Device == b.Device && a.Group == b.Group }

// Wait puts a lease that cannot be taken at the end of the queue, unless its group is in it already, and returns how
// many wait for one of its ports before it.
func (b *LeaseTable) Wait(l Lease, now time.Time) (before int, err error) {
	if !now.Before(l.Until) {
		return 0, fmt.Errorf("wait for ports of device %q: until %s, which is past", l.Device,
			l.Until.Format(time.RFC3339))
	}
	for i := range b.Waiting {
		o := &b.Waiting[i]
		if sameGroup(o, &l) {
			*o = l
			return before, nil
		}
		if _, same := l.overlaps(o); same && now.Before(o.Until) {
			before++
		}
	}
	b.Waiting = append(b.Waiting, l)
	return before, nil
}

// own finds a lease of a group for its holder.
func (b *LeaseTable) own(what, device, group, holder string, now time.Time) (*Lease, error) {
	l, err := b.Find(device, group, now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if l.Holder != holder {
		return nil, hint.Wrap(fmt.Errorf("%s: %s: %w", what, l.text(), ErrLeased),
			"if you speak for them, add --holder "+l.Holder)
	}
	return l, nil
}

// Extend moves the end of a lease; only its holder may.
func (b *LeaseTable) Extend(device, group, holder string, until, now time.Time) error {
	l, err := b.own("extend lease", device, group, holder, now)
	if err == nil && !now.Before(until) {
		err = fmt.Errorf("extend lease: it would end at %s, which is past", until.Format(time.RFC3339))
	}
	if err == nil {
		l.Until = until
	}
	return err
}

// HandOver gives a lease to another holder; only its holder may.
func (b *LeaseTable) HandOver(device, group, holder, to string, now time.Time) error {
	l, err := b.own("hand over lease", device, group, holder, now)
	if err == nil && to == "" {
		err = errors.New("hand over lease: nobody is named")
	}
	if err == nil {
		l.Holder = to
	}
	return err
}

// Drop takes ports out of a lease; only its holder may, and a lease without ports ends.
func (b *LeaseTable) Drop(device, group, holder string, ports []southbound.Port, now time.Time) error {
	l, err := b.own("give up ports", device, group, holder, now)
	if err != nil {
		return err
	}
	of := func(p southbound.Port) bool { return slices.Contains(ports, p) }
	inputs, outputs := slices.DeleteFunc(slices.Clone(l.Inputs), of), slices.DeleteFunc(slices.Clone(l.Outputs), of)
	if len(inputs) == 0 || len(outputs) == 0 {
		return b.Release(device, group, holder)
	}
	l.Inputs, l.Outputs = inputs, outputs
	return nil
}

// Expire removes what has ended by now.
func (b *LeaseTable) Expire(now time.Time) {
	over := func(l Lease) bool { return !now.Before(l.Until) }
	b.Leases, b.Waiting = slices.DeleteFunc(b.Leases, over), slices.DeleteFunc(b.Waiting, over)
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
// other processes from changing it meanwhile. What has changed is added to the audit log beside it, under the name of
// the user who did it.
func ChangeLeases(path, user string, now time.Time, f func(*LeaseTable) error) error {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("lock leases: %w (if no other process changes them, remove the file)", err)
	}
	defer func() { _, _ = lock.Close(), os.Remove(lock.Name()) }()
	b, err := ReadLeases(path)
	if err != nil {
		return err
	}
	before := b.clone()
	if err := f(b); err != nil {
		return err
	}
	events := difference(before, b, now)
	if len(events) == 0 {
		return nil
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
	for i := range events {
		events[i].At, events[i].User = now.UTC().Truncate(time.Second), user
	}
	return Audit(path, events...)
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

// PortsText writes ports as ParsePorts reads them; inputs and outputs apart where they differ.
func PortsText(inputs, outputs []southbound.Port) string {
	text := func(ports []southbound.Port) string {
		var parts []string
		for i := 0; i < len(ports); {
			j := i
			for j+1 < len(ports) && ports[j+1] == ports[j]+1 {
				j++
			}
			part := strconv.Itoa(int(ports[i]))
			if j > i {
				part += "-" + strconv.Itoa(int(ports[j]))
			}
			parts = append(parts, part)
			i = j + 1
		}
		return strings.Join(parts, ",")
	}
	if slices.Equal(inputs, outputs) {
		return text(inputs)
	}
	return "in " + text(inputs) + ", out " + text(outputs)
}

// PairsText writes circuits as "0>1 3>4", and those that go as "-2"; at most some of them.
func PairsText(all []southbound.CrossConnect) string {
	if len(all) == 0 {
		return "nothing"
	}
	const most = 16
	var words []string
	for _, x := range all[:min(len(all), most)] {
		if x.Off {
			words = append(words, fmt.Sprintf("-%d", x.In))
		} else {
			words = append(words, fmt.Sprintf("%d>%d", x.In, x.Out))
		}
	}
	if more := len(all) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, " ")
}
