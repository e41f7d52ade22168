package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// ocpRules are the normative sentences of the Open Compute model's document (connection-management/doc/
// model_overview.md, models 0.8.0) in our words, numbered in its order.
func ocpRules() []rule {
	return []rule{
		{"O1", "effective values and capabilities stand under optical-switch/state", false, inOCP(ocpStates)},
		{"O2", "a switch that can be bidirectional is, by default and where it is asked to", false, inOCP(ocpBidirectional)},
		{"O3", "a cold-boot recovery that is not advertised is refused", true, inOCP(ocpRecovery)},
		{"O4", "an input of a group of inputs is refused as an output", true, inOCP(ocpDirections)},
		{"O5", "every connection group that a port group names exists, and every port's group does", false, inOCP(ocpGroups)},
		{"O6", "names of port groups stay the same", true, inOCP(ocpGroupNames)},
		{"O7", "a connection keeps its controller's name in configuration, state and events", true, inOCP(ocpNames)},
		{"O8", "last-change-time moves with each change of a status, last-updated with its own alone", true, inOCP(ocpTimes)},
		{"O9", "a status passes PENDING_CONNECTION to CONNECTED, and PENDING_DELETION to gone", true, inOCP(ocpPasses)},
		{"O10", "FAILED and INVALID have a reason", false, inOCP(ocpReasons)},
		{"O11", "what is INVALID stays visible as it was asked for", false, inOCP(ocpInvalid)},
		{"O12", "a port's peer cannot be configured", true, inOCP(ocpPeerReadOnly)},
		{"O13", "connections and ports agree: connected ends name each other, and after the end neither does", true,
			inOCP(ocpPeers)},
		{"O14", "a port is TUNED with its connection, and BLOCKED without one", true, inOCP(ocpPortStatus)},
		{"O15", "counters of a connection begin at zero", true, inOCP(ocpCounters)},
		{"O16", "an error counts at both ends of a connection, and at a port no less than at its connection", false,
			inOCP(ocpErrors)},
		{"O17", "a warm restart keeps configuration and connections", true, inOCP(ocpWarm)},
		{"O18", "a cold restart keeps, restores or removes connections as was set", true, inOCP(ocpCold)},
		{"O19", "a power cut is a cold restart", true, inOCP(ocpPowerCut)},
		{"O20", "a Set with a port that is not there is refused whole, or that entry alone becomes INVALID", true,
			inOCP(ocpWhole)},
		{"O21", "wanted connections that exist stay untouched, also in another order", true, inOCP(ocpAgain)},
		{"O22", "no connection that a request does not delete is disturbed, also by one that is refused", true,
			inOCP(ocpUndisturbed)},
		{"O23", "deletions come before creations: one Set moves a port", true, inOCP(ocpMoves)},
		{"O24", "what the configuration has no longer is removed", true, inOCP(ocpRemoved)},
		{"O25", "the recovery capability is one mode, or the modes that are supported", false, inOCP(ocpCapability)},
	}
}

// inOCP is a rule of the Open Compute model alone.
func inOCP(run func(context.Context, *bench) error) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		if b.profile.Name() != "ocp" {
			return fmt.Errorf("%w: the profile is of another model", errSkip)
		}
		return run(ctx, b)
	}
}

// ocsTree is what an optical switch says of itself: leaves by the last part of their path, such as "state/status".
type ocsTree struct {
	global      map[string]schema.Value
	directions  map[string]string // by group
	peers       map[string][]string
	connections map[string]map[string]schema.Value
	ports       map[string]map[string]schema.Value
}

// tree reads the switch.
func (b *bench) tree(ctx context.Context) (*ocsTree, error) {
	leaves, err := probe.Get(ctx, b.c, b.model, []schema.Path{schema.Path(nil).With("optical-switch"),
		schema.Path(nil).With("connections"), schema.Path(nil).With("components")})
	if err != nil {
		return nil, err
	}
	t := &ocsTree{global: map[string]schema.Value{}, directions: map[string]string{}, peers: map[string][]string{},
		connections: map[string]map[string]schema.Value{}, ports: map[string]map[string]schema.Value{}}
	for _, l := range leaves {
		t.add(l)
	}
	return t, nil
}

func (t *ocsTree) add(l schema.Leaf) {
	p := l.Path
	text := func(from int) string {
		var names []string
		for _, e := range p[from:] {
			names = append(names, e.Name)
		}
		return strings.Join(names, "/")
	}
	into := func(m map[string]map[string]schema.Value, name string, from int) {
		if m[name] == nil {
			m[name] = map[string]schema.Value{}
		}
		m[name][text(from)] = l.Value
	}
	switch {
	case len(p) == 3 && p[0].Name == "optical-switch":
		t.global[text(1)] = l.Value
	case len(p) > 3 && p[2].Name == "port-groups" && text(3) == "direction":
		t.directions[p[2].Key("name")] = fmt.Sprint(l.Value)
	case len(p) > 3 && p[2].Name == "port-groups":
		t.peers[p[2].Key("name")] = append(t.peers[p[2].Key("name")], fmt.Sprint(l.Value))
	case len(p) > 2 && p[1].Name == "port-connection":
		into(t.connections, p[1].Key("name"), 2)
	case len(p) == 2 && p[0].Name == "connections":
		t.global[text(0)] = l.Value
	case len(p) > 3 && p[2].Name == "ocp-ocs-port":
		into(t.ports, p[1].Key("name"), 3)
	}
}

func ocpStates(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	for _, leaf := range []string{"bidirectional", "cold-boot-recovery", "connection-recovery-capability"} {
		have, ok := t.global["state/"+leaf]
		if !ok {
			return fmt.Errorf("optical-switch/state has no %s", leaf)
		}
		if want, set := t.global["config/"+leaf]; set && want != have {
			return fmt.Errorf("%s is configured as %v, and %v in the state", leaf, want, have)
		}
	}
	if len(t.directions) == 0 {
		return errors.New("optical-switch/state has no port groups")
	}
	return nil
}

// ocpBidirectional tries no mode: that would change every connection.
func ocpBidirectional(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	is, asked := t.global["state/bidirectional"], t.global["config/bidirectional"]
	switch {
	case is == nil:
		return errors.New("optical-switch/state has no bidirectional")
	case asked != nil && asked != is:
		return fmt.Errorf("bidirectional is configured as %v, and is %v", asked, is)
	}
	return nil
}

func ocpGroups(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.peers)) {
		for _, peer := range t.peers[name] {
			if t.directions[peer] == "" {
				return fmt.Errorf("group %q connects to %q, which is not there", name, peer)
			}
		}
	}
	for _, port := range slices.Sorted(maps.Keys(t.ports)) {
		if g := fmt.Sprint(t.ports[port]["state/group"]); t.directions[g] == "" {
			return fmt.Errorf("port %q is of group %q, which is not there", port, g)
		}
	}
	return nil
}

// bad returns the connections that are FAILED or INVALID.
func (t *ocsTree) bad(statuses ...string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t.connections)) {
		if slices.Contains(statuses, fmt.Sprint(t.connections[name]["state/status"])) {
			out = append(out, name)
		}
	}
	return out
}

func ocpReasons(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	all := t.bad("FAILED", "INVALID")
	for _, name := range all {
		if reason, _ := t.connections[name]["state/status-reason"].(string); reason == "" {
			return fmt.Errorf("connection %q is %v without a status-reason", name, t.connections[name]["state/status"])
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%w: no connection has failed or is invalid", errSkip)
	}
	return nil
}

func ocpInvalid(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	all := t.bad("INVALID")
	for _, name := range all {
		for _, leaf := range []string{"name", "input-port-name", "output-port-name"} {
			c := t.connections[name]
			if c["config/"+leaf] == nil || c["config/"+leaf] != c["state/"+leaf] {
				return fmt.Errorf("connection %q is INVALID: %s is %v in its configuration, and %v in its state", name, leaf,
					c["config/"+leaf], c["state/"+leaf])
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%w: no connection is invalid", errSkip)
	}
	return nil
}

func ocpErrors(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	count := func(port, leaf string) uint64 { n, _ := t.ports[port][leaf].(uint64); return n }
	const own, link = "state/counters/", "state/connection/counters/"
	for _, port := range slices.Sorted(maps.Keys(t.ports)) {
		for _, leaf := range []string{"correctable-error-count", "total-error-count"} {
			if of, all := count(port, link+leaf), count(port, own+leaf); of > all {
				return fmt.Errorf("port %q has %d errors of its connection, and %d in all", port, of, all)
			}
		}
		for _, where := range []string{own, link} {
			if count(port, where+"correctable-error-count") > count(port, where+"total-error-count") {
				return fmt.Errorf("port %q has more correctable errors than errors", port)
			}
		}
	}
	return nil
}

func ocpCapability(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	modes := []schema.Value{t.global["state/connection-recovery-capability"]}
	if list, many := modes[0].([]schema.Value); many {
		modes = list
	}
	for _, m := range modes {
		if recoveryRank(fmt.Sprint(m)) < 0 {
			return fmt.Errorf("connection-recovery-capability is %v", modes)
		}
	}
	return nil
}

// recoveryRank orders the modes by how little they interrupt; -1 for what is none.
func recoveryRank(mode string) int {
	return slices.Index([]string{"REMOVE", "RESTORE", "MAINTAIN"}, mode)
}

// request builds a Set of connections: names with their ports to create, and names to delete.
type ocpRequest struct {
	req gpb.SetRequest
	err error
}

func (b *bench) create(r *ocpRequest, name string, in, out string) {
	at := gnmi.ConnectionPath(name)
	leaves := []schema.Leaf{{Path: at.With("config", "name"), Value: name},
		{Path: at.With("config", "input-port-name"), Value: in},
		{Path: at.With("config", "output-port-name"), Value: out}}
	v, err := b.model.Nest(at, leaves)
	if err == nil {
		var tv *gpb.TypedValue
		tv, err = schema.JSON(v, gpb.Encoding_JSON_IETF)
		r.req.Update = append(r.req.Update, &gpb.Update{Path: at.Proto(), Val: tv})
	}
	r.err = errors.Join(r.err, err)
}

func (b *bench) send(ctx context.Context, r *ocpRequest) error {
	if r.err != nil {
		return r.err
	}
	_, err := b.c.Set(ctx, &r.req)
	return err
}

func ends(x southbound.CrossConnect) (in, out string) {
	return gnmi.InputName(x.In), gnmi.OutputName(x.Out)
}
