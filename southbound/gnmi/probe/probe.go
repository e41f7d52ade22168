// Package probe identifies a device: its Capabilities, the profiles that fit it, and the number of its ports, from its
// state. It never writes.
package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// Report is what a device says of itself.
type Report struct {
	Version   string   `json:"gnmi_version"`
	Encodings []string `json:"encodings"`
	Models    []Model  `json:"models"`
	Fits      []Fit    `json:"profiles"` // in the order of gnmi.All
}

// Model is one line of Capabilities.
type Model struct {
	Name         string `json:"name"`
	Organization string `json:"organization,omitempty"`
	Version      string `json:"version,omitempty"`
}

// Fit is whether the device supports one profile, and the device's state in the terms of that profile.
type Fit struct {
	Profile string            `json:"profile"`
	Fits    bool              `json:"fits"`
	Why     string            `json:"why,omitempty"` // it does not, or its state cannot be read
	Ports   int32             `json:"ports,omitempty"`
	Rules   int               `json:"rules,omitempty"`
	Circuit int               `json:"circuits,omitempty"`
	Down    []southbound.Port `json:"ports_down,omitempty"`
	Flags   map[string]string `json:"flags,omitempty"`

	identifying, identified bool // other profiles have the same models; the device holds what is of this one only
}

// maxPorts is how many ports a profile is made for while the device's own number is not known.
const maxPorts = gnmi.MaxPorts

// Ask probes a device. ctx bounds it.
func Ask(ctx context.Context, conn grpc.ClientConnInterface) (*Report, error) {
	c := gpb.NewGNMIClient(conn)
	caps, err := c.Capabilities(ctx, &gpb.CapabilityRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask for capabilities: %w", err)
	}
	r := &Report{Version: caps.GetGNMIVersion()}
	for _, e := range caps.GetSupportedEncodings() {
		r.Encodings = append(r.Encodings, e.String())
	}
	for _, m := range caps.GetSupportedModels() {
		r.Models = append(r.Models, Model{m.GetName(), m.GetOrganization(), m.GetVersion()})
	}
	for _, p := range gnmi.All(maxPorts, gnmi.MaxSequenceRacks) {
		f := Fit{Profile: p.Name()}
		if err := p.Check(caps); err != nil {
			f.Why = err.Error()
		} else {
			f.Fits = true
			f.read(ctx, c, p)
		}
		r.Fits = append(r.Fits, f)
	}
	r.settle()
	return r, nil
}

// settle settles which of two profiles with the same models fits: the one whose tables hold something, else the first.
func (r *Report) settle() {
	var same []int
	for i, f := range r.Fits {
		if f.identifying && f.Fits {
			same = append(same, i)
		}
	}
	best := slices.IndexFunc(same, func(i int) bool { return r.Fits[i].identified })
	for k, i := range same {
		if k != max(best, 0) {
			other := r.Fits[same[max(best, 0)]].Profile
			r.Fits[i] = Fit{Profile: r.Fits[i].Profile, Why: "the device has the tables of " + other}
		}
	}
}

// read reads the state that the profile knows.
func (f *Fit) read(ctx context.Context, c gpb.GNMIClient, p gnmi.Profile) {
	if t, ok := p.(gnmi.Identifying); ok {
		leaves, err := Get(ctx, c, p.Model(), []schema.Path{t.IdentifyingPath()})
		f.identifying, f.identified = true, err == nil && len(leaves) > 0
	}
	seen, err := Read(ctx, c, p)
	if err != nil {
		f.Why = "its state cannot be read: " + err.Error()
	}
	f.Rules, f.Circuit, f.Down = len(seen.Rules), len(seen.Connections), seen.Down
	leaves, err := Get(ctx, c, p.Model(), portPaths(p))
	if err != nil {
		return
	}
	f.Ports = countPorts(p, leaves)
	for _, l := range leaves {
		f.flag(p, l)
	}
}

// Ports returns how many ports a device lists that a profile fits; 0 if it lists none under names of the profile's.
func Ports(ctx context.Context, conn grpc.ClientConnInterface, p gnmi.Profile) (int32, error) {
	leaves, err := Get(ctx, gpb.NewGNMIClient(conn), p.Model(), portPaths(p))
	return countPorts(p, leaves), err
}

func countPorts(p gnmi.Profile, leaves []schema.Leaf) int32 {
	ports := map[string]bool{}
	for _, l := range leaves {
		if name, ok := portOf(p, l.Path); ok {
			ports[name] = true
		}
	}
	return int32(len(ports))
}

// flag keeps what a leaf says that a controller must know.
func (f *Fit) flag(p gnmi.Profile, l schema.Leaf) {
	if p.Name() != "ocp" || len(l.Path) != 3 || l.Path[0].Name != "optical-switch" ||
		l.Path[1].Name != "state" {
		return
	}
	if name := l.Path[2].Name; name == "bidirectional" || name == "cold-boot-recovery" {
		if f.Flags == nil {
			f.Flags = map[string]string{}
		}
		f.Flags[name] = schema.Text(l.Value)
	}
}

// portPaths are where a profile's ports are listed.
func portPaths(p gnmi.Profile) []schema.Path {
	switch p := p.(type) {
	case gnmi.OCP:
		return []schema.Path{schema.Path(nil).With("components"),
			schema.Path(nil).With("optical-switch", "state")}
	case gnmi.SONiCOCS:
		return []schema.Path{p.PortStateTable()}
	default:
		return p.WatchPaths()
	}
}

// portOf returns the name of the port that a leaf belongs to. Of optical switches inputs are counted.
func portOf(p gnmi.Profile, path schema.Path) (string, bool) {
	for _, e := range path {
		for _, k := range e.Keys {
			_, input := gnmi.InputNamed(k.Value)
			_, aSide := gnmi.ASideNamed(k.Value)
			switch p.Name() {
			case "ocp":
				if input {
					return k.Value, e.Name == "component"
				}
			case "sonic-ocs", "sonic-ocs-hld":
				if aSide {
					return k.Value, true
				}
			case "polatis":
				return "", false
			default:
				return k.Value, strings.HasPrefix(strings.ToLower(k.Value), "ethernet")
			}
		}
	}
	return "", false
}

// Read reads what a device says of itself in the profile's terms.
func Read(ctx context.Context, c gpb.GNMIClient, p gnmi.Profile) (southbound.Seen, error) {
	leaves, err := Get(ctx, c, p.Model(), p.StatePaths())
	if err != nil {
		return southbound.Seen{}, err
	}
	return p.Seen(leaves)
}

// Get reads paths one by one; a path that is not found is empty.
func Get(ctx context.Context, c gpb.GNMIClient, m *schema.Model,
	paths []schema.Path) ([]schema.Leaf, error) {
	return get(ctx, c, m, paths, codes.NotFound)
}

// getKnown is Get for paths of a model that the device need not have.
func getKnown(ctx context.Context, c gpb.GNMIClient, m *schema.Model,
	paths []schema.Path) ([]schema.Leaf, error) {
	return get(ctx, c, m, paths, codes.NotFound, codes.Unimplemented)
}

func get(ctx context.Context, c gpb.GNMIClient, m *schema.Model, paths []schema.Path,
	empty ...codes.Code) ([]schema.Leaf, error) {
	var out []schema.Leaf
	for _, p := range paths {
		resp, err := c.Get(ctx, &gpb.GetRequest{Path: []*gpb.Path{m.Proto(p)}, Encoding: gpb.Encoding_JSON_IETF})
		if slices.Contains(empty, status.Code(err)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get %q: %w", p.String(), err)
		}
		leaves, err := Leaves(m, resp.GetNotification())
		if err != nil {
			return nil, fmt.Errorf("get %q: %w", p.String(), err)
		}
		out = append(out, leaves...)
	}
	return out, nil
}

// Leaves decodes the updates of notifications.
func Leaves(m *schema.Model, ns []*gpb.Notification) ([]schema.Leaf, error) {
	var out []schema.Leaf
	for _, n := range ns {
		for _, u := range n.GetUpdate() {
			p, err := m.FromProto(n.GetPrefix(), u.GetPath())
			if err != nil {
				return nil, err
			}
			leaves, err := m.DecodeKnown(p, u.GetVal())
			if err != nil {
				return nil, err
			}
			out = append(out, leaves...)
		}
	}
	return out, nil
}

// Best returns the first profile that fits, or an error that lists what the device supports instead.
func (r *Report) Best() (Fit, error) {
	i := slices.IndexFunc(r.Fits, func(f Fit) bool { return f.Fits })
	if i < 0 {
		var names []string
		for _, m := range r.Models {
			names = append(names, m.Name)
		}
		return Fit{}, errors.New("no profile fits: the device speaks " + strings.Join(names, ", "))
	}
	return r.Fits[i], nil
}
