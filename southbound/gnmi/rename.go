package gnmi

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// PortName is what a device calls a port, and where the port leads. What is left out is as the profile
// has it.
type PortName struct {
	Port    southbound.Port
	Name    string     // of a packet switch's interface, or of an optical switch's input
	Output  string     // of an optical switch's output
	NextHop netip.Addr // of a packet switch: what is at the port's far end
}

// renamed is a profile whose words for ports, next hops and racks' prefixes are replaced by the
// device's own. It replaces whole keys and whole values, so it knows nothing of the model.
type renamed struct {
	Profile
	out, in words
}

// words are replaced by others.
type words map[string]string

// strange marks a word of the device that the profile would take for one of its own.
const strange = "\x00"

// Rename returns a profile that calls ports and racks as the device does; p itself if there is nothing
// to rename.
func Rename(p Profile, ports []PortName, prefixes map[southbound.RackID]netip.Prefix) (Profile, error) {
	if len(ports) == 0 && len(prefixes) == 0 {
		return p, nil
	}
	r := &renamed{p, words{}, words{}}
	add := func(own, theirs string) error {
		if theirs == "" || own == "" {
			return nil
		}
		if other, taken := r.in[theirs]; taken && other != own {
			return fmt.Errorf("name ports: %q stands for %q and %q", theirs, other, own)
		}
		r.out[own], r.in[theirs] = theirs, own
		return nil
	}
	for _, n := range ports {
		pairs, err := ownWords(p, n)
		if err != nil {
			return nil, err
		}
		for _, x := range pairs {
			if err := add(x[0], x[1]); err != nil {
				return nil, err
			}
		}
	}
	for _, rack := range slices.Sorted(maps.Keys(prefixes)) {
		if err := add(southbound.RackPrefix(rack).String(), prefixes[rack].String()); err != nil {
			return nil, err
		}
	}
	for own := range r.out {
		if _, known := r.in[own]; !known {
			r.in[own] = strange + own
		}
	}
	return r, nil
}

// ownWords pairs the profile's words for a port with the device's.
func ownWords(p Profile, n PortName) ([][2]string, error) {
	hop := [2]string{NextHop(n.Port).String(), ""}
	if n.NextHop.IsValid() {
		hop[1] = n.NextHop.String()
	}
	switch x := p.(type) {
	case OpenConfig, OpenConfigPlain:
		return [][2]string{{InterfaceName(n.Port), n.Name}, hop}, nil
	case SRLinux:
		all := [][2]string{{x.interfaceName(n.Port), n.Name}, hop}
		if n.Name != "" {
			all = append(all, [2]string{x.Subinterface(n.Port), n.Name + ".0"})
		}
		return all, nil
	case SONiC:
		return [][2]string{{x.portName(n.Port), n.Name}, hop}, nil
	case OCP:
		return [][2]string{{InputName(n.Port), n.Name}, {OutputName(n.Port), n.Output}}, nil
	}
	return nil, fmt.Errorf("name ports: profile %q numbers them: leave their names out", p.Name())
}

// Base returns the profile below a renamed one.
func Base(p Profile) Profile {
	if r, ok := p.(*renamed); ok {
		return r.Profile
	}
	return p
}

// Word returns what a device calls what a profile has a word for.
func Word(p Profile, own string) string {
	if r, ok := p.(*renamed); ok {
		return r.out.text(own)
	}
	return own
}

// NameOf returns what a device calls a port of a packet switch, or its input of an optical one.
func NameOf(p Profile, port southbound.Port) string {
	pairs, err := ownWords(Base(p), PortName{Port: port})
	if err != nil {
		return "" // it numbers them
	}
	return Word(p, pairs[0][0])
}

func (w words) text(s string) string {
	if other, ok := w[s]; ok {
		return other
	}
	return s
}

func (w words) path(p schema.Path) schema.Path {
	out := slices.Clone(p)
	for i, e := range out {
		if len(e.Keys) > 0 {
			out[i].Keys = slices.Clone(e.Keys)
			for k := range out[i].Keys {
				out[i].Keys[k].Value = w.text(e.Keys[k].Value)
			}
		}
	}
	return out
}

func (w words) paths(all []schema.Path) []schema.Path {
	out := make([]schema.Path, len(all))
	for i, p := range all {
		out[i] = w.path(p)
	}
	return out
}

func (w words) value(v schema.Value) schema.Value {
	switch x := v.(type) {
	case string:
		return w.text(x)
	case []schema.Value:
		out := make([]schema.Value, len(x))
		for i, v := range x {
			out[i] = w.value(v)
		}
		return out
	}
	return v
}

func (w words) leaves(all []schema.Leaf) []schema.Leaf {
	out := make([]schema.Leaf, len(all))
	for i, l := range all {
		out[i] = schema.Leaf{Path: w.path(l.Path), Value: w.value(l.Value)}
	}
	return out
}

// ConfigPaths implements Profile.
func (r *renamed) ConfigPaths() []schema.Path { return r.out.paths(r.Profile.ConfigPaths()) }

// StatePaths implements Profile.
func (r *renamed) StatePaths() []schema.Path { return r.out.paths(r.Profile.StatePaths()) }

// WatchPaths implements Profile.
func (r *renamed) WatchPaths() []schema.Path { return r.out.paths(r.Profile.WatchPaths()) }

// Seen implements Profile.
func (r *renamed) Seen(state []schema.Leaf) (southbound.Seen, error) {
	return r.Profile.Seen(r.in.leaves(state))
}

// NewWriter implements Profile.
func (r *renamed) NewWriter(config []schema.Leaf) Writer {
	return &renamedWriter{r.Profile.NewWriter(r.in.leaves(config)), r}
}

// NewDecoder implements Profile.
func (r *renamed) NewDecoder() Decoder { return &renamedDecoder{r.Profile.NewDecoder(), r} }

// CounterPaths implements Counts.
func (r *renamed) CounterPaths() []schema.Path {
	if c, ok := r.Profile.(Counts); ok {
		return r.out.paths(c.CounterPaths())
	}
	return nil
}

// Count implements Counts.
func (r *renamed) Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool {
	c, ok := r.Profile.(Counts)
	return ok && c.Count(schema.Leaf{Path: r.in.path(l.Path), Value: l.Value}, into)
}

// renamedWriter replaces words in the requests of a writer.
type renamedWriter struct {
	Writer
	r *renamed
}

// Encode implements Writer.
func (w *renamedWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req, err := w.Writer.Encode(c)
	if err != nil {
		return nil, err
	}
	m := w.r.Model()
	for i, d := range req.GetDelete() {
		p, err := m.FromProto(req.GetPrefix(), d)
		if err != nil {
			return nil, err
		}
		req.Delete[i] = m.Proto(w.r.out.path(p))
	}
	for _, list := range [][]*gpb.Update{req.GetReplace(), req.GetUpdate()} {
		for i, u := range list {
			p, err := m.FromProto(req.GetPrefix(), u.GetPath())
			if err != nil {
				return nil, err
			}
			leaves, err := m.Decode(p, u.GetVal())
			if err != nil {
				return nil, err
			}
			if list[i], err = entry(m, w.r.out.path(p), w.r.out.leaves(leaves)); err != nil {
				return nil, err
			}
		}
	}
	return req, nil
}

// Reread implements Rereader.
func (w *renamedWriter) Reread() bool {
	if x, ok := w.Writer.(Rereader); ok {
		return x.Reread()
	}
	return true
}

// renamedDecoder replaces words in what a decoder gets.
type renamedDecoder struct {
	Decoder
	r *renamed
}

// Decode implements Decoder.
func (d *renamedDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	return d.Decoder.Decode(d.r.in.paths(gone), d.r.in.leaves(leaves))
}

// Complete implements Completer.
func (d *renamedDecoder) Complete() ([]southbound.DeviceEvent, error) {
	if c, ok := d.Decoder.(Completer); ok {
		return c.Complete()
	}
	return nil, nil
}
