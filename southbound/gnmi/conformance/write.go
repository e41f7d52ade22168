package conformance

import (
	"context"
	"fmt"
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

func jsonValue(text string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}
}

// update sends one update.
func (b *bench) update(ctx context.Context, p *gpb.Path, text string) error {
	_, err := b.c.Set(ctx, &gpb.SetRequest{Update: []*gpb.Update{{Path: p, Val: jsonValue(text)}}})
	return err
}

// change sends a change as the profile writes it.
func (b *bench) change(ctx context.Context, c *southbound.Change) error {
	req, err := b.encode(ctx, c)
	if err == nil {
		_, err = b.c.Set(ctx, req)
	}
	return err
}

func (b *bench) encode(ctx context.Context, c *southbound.Change) (*gpb.SetRequest, error) {
	config, err := b.config(ctx)
	if err != nil {
		return nil, err
	}
	return b.profile.NewWriter(config).Encode(c)
}

// sampleRequest is a sample change as the profile writes it.
func (b *bench) sampleRequest(ctx context.Context) (*gpb.SetRequest, error) {
	do, _, err := b.sampleChange(ctx, 0)
	if err != nil {
		return nil, err
	}
	return b.encode(ctx, do)
}

// foreign reads what stands at the target, which is not ours. Circuits at ports beyond those that the
// profile was made for could be in the way of any change: then nothing may be written.
func (b *bench) foreign(ctx context.Context) (southbound.Seen, error) {
	leaves, err := probe.Get(ctx, b.c, b.model, b.profile.StatePaths())
	if err != nil {
		return southbound.Seen{}, err
	}
	if b.optical() {
		if _, err := b.profile.NewDecoder().Decode(nil, leaves); err != nil {
			return southbound.Seen{}, fmt.Errorf("%w: which ports are free is not known: %w", errSkip, err)
		}
	}
	return b.profile.Seen(leaves)
}

// sampleChange is a change that the target takes and that can be taken back: a circuit of free ports,
// or a rule for the last rack.
func (b *bench) sampleChange(ctx context.Context, n int) (do, undo *southbound.Change, err error) {
	seen, err := b.foreign(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !b.optical() {
		m := southbound.Match{Dst: 0, Tag: southbound.Tag(southbound.Tags - 1 - n), Src: 0}
		if slices.ContainsFunc(seen.Rules, func(r southbound.Rule) bool { return r.Match == m }) {
			return nil, nil, fmt.Errorf("%w: there is a rule for %+v already", errSkip, m)
		}
		return &southbound.Change{Rules: []southbound.Rule{{Match: m, Primary: 0, Backup: southbound.NoPort}}},
			&southbound.Change{Drop: []southbound.Match{m}}, nil
	}
	do, undo = &southbound.Change{}, &southbound.Change{}
	ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, c := range seen.Connections {
		ins[c.In], outs[c.Out] = true, true
	}
	free := func(used map[southbound.Port]bool, skip int) southbound.Port {
		for p := southbound.Port(b.ports) - 1; p >= 0; p-- {
			if used[p] {
				continue
			}
			if skip--; skip < 0 {
				return p
			}
		}
		return southbound.NoPort
	}
	in, out := free(ins, n), free(outs, n)
	if in == southbound.NoPort || out == southbound.NoPort {
		return nil, nil, fmt.Errorf("%w: no ports are free", errSkip)
	}
	do.Connect = []southbound.CrossConnect{{In: in, Out: out}}
	undo.Connect = []southbound.CrossConnect{{In: in, Off: true}}
	return do, undo, nil
}

func setUnknown(ctx context.Context, b *bench) error {
	return wantCode(b.update(ctx, nowhere(), `"x"`), codes.NotFound)
}

func setMalformed(ctx context.Context, b *bench) error {
	req, err := b.sampleRequest(ctx)
	if err != nil {
		return err
	}
	u := slices.Concat(req.GetReplace(), req.GetUpdate())[0]
	return wantCode(b.update(ctx, u.GetPath(), `{"name":`), codes.InvalidArgument)
}

func setWrapped(ctx context.Context, b *bench) error {
	req, err := b.sampleRequest(ctx)
	if err != nil {
		return err
	}
	us := slices.Concat(req.GetReplace(), req.GetUpdate())
	u := us[len(us)-1]
	elems := u.GetPath().GetElem()
	text := fmt.Sprintf("{%q:%s}", elems[len(elems)-1].GetName(), u.GetVal().GetJsonIetfVal())
	if err := b.update(ctx, u.GetPath(), text); err == nil {
		return fmt.Errorf("%s was taken at %v", text, u.GetPath())
	}
	return nil
}

func setReadOnly(ctx context.Context, b *bench) error {
	var at schema.Path
	switch b.profile.Name() {
	case "openconfig":
		at = schema.Path(nil).With("interfaces").Entry("interface", "name", "Ethernet0").With("state",
			"oper-status")
	case "ocp":
		at = schema.Path(nil).With("connections", "last-change-time")
	default:
		return fmt.Errorf("%w: the profile has no such path", errSkip)
	}
	return wantCode(b.update(ctx, at.Proto(), `"1"`), codes.InvalidArgument, codes.PermissionDenied, codes.NotFound,
		codes.Aborted)
}

func setWhole(ctx context.Context, b *bench) error {
	req, err := b.sampleRequest(ctx)
	if err != nil {
		return err
	}
	before, err := probe.Read(ctx, b.c, b.profile)
	if err != nil {
		return err
	}
	req.Update = append(req.Update, &gpb.Update{Path: nowhere(), Val: jsonValue(`"x"`)})
	if _, err := b.c.Set(ctx, req); err == nil {
		return fmt.Errorf("the request was taken")
	}
	after, err := probe.Read(ctx, b.c, b.profile)
	if err != nil {
		return err
	}
	if !slices.Equal(after.Rules, before.Rules) || !slices.Equal(after.Connections, before.Connections) {
		return fmt.Errorf("before: %+v, after: %+v", before, after)
	}
	return nil
}

func deleteAbsent(ctx context.Context, b *bench) error {
	req, err := b.sampleRequest(ctx)
	if err != nil {
		return err
	}
	us := slices.Concat(req.GetReplace(), req.GetUpdate())
	p := us[len(us)-1].GetPath()
	if n := len(p.GetElem()); len(p.GetElem()[n-1].GetKey()) == 0 {
		return fmt.Errorf("%w: the profile writes whole tables", errSkip)
	}
	switch b.profile.Name() {
	case "openconfig", "srl-native":
		p = firstRule(us)
	}
	_, err = b.c.Set(ctx, &gpb.SetRequest{Delete: []*gpb.Path{p}})
	return err
}

// firstRule returns the path of the rule in a request's updates.
func firstRule(us []*gpb.Update) *gpb.Path {
	for _, u := range us {
		if e := u.GetPath().GetElem(); e[len(e)-1].GetName() == "rule" {
			return u.GetPath()
		}
	}
	return us[0].GetPath()
}

// checkRole is the election role of the conformance checks: claiming it locks no other client out.
const checkRole = "lightloom-check"

func arbitration(ctx context.Context, b *bench) error {
	claim := func(high, low uint64) error {
		_, err := b.c.Set(ctx, &gpb.SetRequest{Extension: []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_MasterArbitration{
			MasterArbitration: &gnmi_ext.MasterArbitration{Role: &gnmi_ext.Role{Id: checkRole},
				ElectionId: &gnmi_ext.Uint128{High: high, Low: low}}}}}})
		return err
	}
	for _, c := range []struct {
		high, low uint64
		want      codes.Code
	}{{1 << 62, 5, codes.OK}, {1 << 62, 5, codes.OK}, {1 << 62, 4, codes.PermissionDenied},
		{1<<62 - 1, 9, codes.PermissionDenied}} {
		if err := claim(c.high, c.low); status.Code(err) != c.want {
			return fmt.Errorf("id %d.%d after %d.5: %v, want %v", c.high, c.low, uint64(1)<<62, err, c.want)
		}
	}
	return nil
}

func arbitrationID(ctx context.Context, b *bench) error {
	_, err := b.c.Set(ctx, &gpb.SetRequest{Extension: []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_MasterArbitration{
		MasterArbitration: &gnmi_ext.MasterArbitration{Role: &gnmi_ext.Role{Id: checkRole}}}}}})
	return wantCode(err, codes.InvalidArgument)
}
