package target

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/lldp"
)

// front is what a target shows of its device: one model, and how its configuration becomes changes. Its
// methods are called under the target's lock.
type front interface {
	model() *schema.Model
	// load fills an empty tree from the device: its configuration from what it has accepted, its state
	// from what is seen.
	load(t *tree, now time.Duration, dev Switch)
	// plan returns the change of the device that the configuration in t requires; touched are the leaves
	// that a request has named. done is called once the device has accepted.
	plan(t *tree, touched []schema.Path) (c *southbound.Change, done func(), err error)
	// event and applied bring the device's reports into the state.
	event(t *tree, e southbound.DeviceEvent)
	applied(t *tree, a device.Applied)
	// counters brings the counters up to date.
	counters(t *tree, r reading)
}

// reading is state that is polled, because the device does not report it by itself.
type reading struct {
	dropped uint64
	losses  map[southbound.Port]device.CentiBel
	heard   []lldp.Heard
	ports   []PortCount
}

// settler is a front whose Set answers once the switch has done what it was asked.
type settler interface{ settled() bool }

// Profiles are the models that a target of this kind of switch can speak, the default first.
func Profiles(k device.Kind) []string {
	if k == device.Optical {
		return []string{"ocp", "sonic-ocs", "sonic-ocs-hld", "polatis"}
	}
	return []string{"openconfig", "srl-native", "sonic"}
}

// newFront returns the front end of a switch. Both variants of sonic-ocs speak ocp too, on the same store.
func newFront(c device.Config, w wall, profile string) (front, error) {
	if profile == "" {
		profile = Profiles(c.Kind)[0]
	}
	if !slices.Contains(Profiles(c.Kind), profile) {
		return nil, fmt.Errorf("a target of this %v switch speaks one of %s, not %q", c.Kind,
			strings.Join(Profiles(c.Kind), ", "), profile)
	}
	switch profile {
	case "ocp":
		return newOpticalFront(c, w, nil), nil
	case "sonic-ocs":
		fork := schema.ForkOCSTables()
		return newOpticalFront(c, w, &fork), nil
	case "sonic-ocs-hld":
		hld := schema.HLDOCSTables()
		return newOpticalFront(c, w, &hld), nil
	case "polatis":
		return newPairFront(c), nil
	case "srl-native":
		return newNativeFront(newSRLView(c)), nil
	case "sonic":
		return newNativeFront(newACLView(c)), nil
	}
	return newPacketFront(c, w), nil
}

// wall turns fabric instants into what leaves and notifications carry: nanoseconds since 1970.
type wall struct{ start time.Time }

func (w wall) nanos(t time.Duration) uint64 { return uint64(w.start.Add(t).UnixNano()) }

// text turns them into what a leaf of type date-and-time holds.
func (w wall) text(t time.Duration) string { return w.start.Add(t).UTC().Format(time.RFC3339Nano) }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), southbound.ErrUnsupported)
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), southbound.ErrRefused)
}

// path makes a path of names without keys.
func path(names ...string) schema.Path { return schema.Path(nil).With(names...) }

// checkKeyLeaves finds list entries, among those a request has named, whose configuration does not
// repeat their key.
func checkKeyLeaves(t *tree, touched []schema.Path) error {
	var last schema.Path
	for _, p := range touched {
		for i := shared(last, p); i < len(p); i++ { // what it shares with the one before has been checked
			if len(p[i].Keys) == 0 {
				continue
			}
			if err := checkEntry(t, p[:i+1]); err != nil {
				return err
			}
		}
		last = p
	}
	return nil
}

// shared returns how many steps two paths begin with alike.
func shared(a, b schema.Path) int {
	n := min(len(a), len(b))
	for i := range n {
		if !sameStep(a[i], b[i]) {
			return i
		}
	}
	return n
}

func checkEntry(t *tree, p schema.Path) error {
	n, err := t.model.Lookup(p, true)
	if err != nil {
		return err
	}
	config := n.Kids["config"]
	if config == nil {
		return nil
	}
	e, _ := t.around(p)
	if e == nil || !e.configured(nil) {
		return nil
	}
	for _, k := range p[len(p)-1].Keys {
		if config.Kids[k.Name] == nil {
			continue
		}
		switch v := e.get(config.Kids[k.Name].Steps); {
		case v == nil:
			return refused("%s: config/%s is missing", p, k.Name)
		case schema.Text(v) != k.Value:
			return fmt.Errorf("%s: config/%s is %v: %w", p, k.Name, v, schema.ErrMalformed)
		}
	}
	return nil
}
