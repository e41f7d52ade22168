package target

import (
	"context"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/schema"
)

// gnmiVersion is the version of the specification that is followed.
const gnmiVersion = "0.10.0"

// Capabilities implements gNMI.
func (t *Target) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	resp := &gpb.CapabilityResponse{
		SupportedEncodings: []gpb.Encoding{gpb.Encoding_JSON_IETF, gpb.Encoding_JSON, gpb.Encoding_PROTO},
		GNMIVersion:        gnmiVersion,
	}
	for _, m := range t.tree.model.Modules {
		resp.SupportedModels = append(resp.SupportedModels,
			&gpb.ModelData{Name: m.Name, Organization: m.Organization,
				Version: m.Version})
	}
	return resp, nil
}

// Get implements gNMI, with the depth extension. A path with wildcards answers for each node that there is.
func (t *Target) Get(ctx context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	end, err := t.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	if t.down {
		return nil, errDown()
	}
	keep, err := kindOf(req.GetType())
	if err == nil {
		err = checkEncoding(req.GetEncoding())
	}
	if err == nil {
		err = t.knowsModels(req.GetUseModels())
	}
	if err == nil {
		err = t.like.oneDatabase(req.GetPrefix(), req.GetPath()...)
	}
	if err != nil {
		return nil, err
	}
	now := t.refresh()
	resp := &gpb.GetResponse{}
	for _, gp := range req.GetPath() {
		n, err := t.getOne(req, gp, keep)
		if err != nil {
			return nil, readStatus(err)
		}
		n.Timestamp = int64(t.wall.nanos(now))
		resp.Notification = append(resp.Notification, n)
	}
	return resp, nil
}

func (t *Target) getOne(req *gpb.GetRequest, gp *gpb.Path,
	keep func(*schema.Node) bool) (*gpb.Notification, error) {
	all, err := t.readPaths(req.GetPrefix(), gp)
	if err != nil {
		return nil, err
	}
	out := &gpb.Notification{Prefix: echo(req.GetPrefix())}
	for _, p := range all {
		us, err := t.getPath(p, req, keep)
		if err != nil {
			return nil, err
		}
		out.Update = append(out.Update, us...)
	}
	if p := all[0]; len(out.Update) == 0 && len(all) == 1 && len(p) > 0 && len(t.tree.find(p)) == 0 &&
		!wild(t.tree.model, p) {
		return nil, status.Errorf(codes.NotFound, "get %q: there is nothing there", p.String())
	}
	return out, nil
}

// readPaths is readPath for a path whose elements can be wildcards.
func (t *Target) readPaths(prefix, gp *gpb.Path) ([]schema.Path, error) {
	p, err := t.readPath(prefix, gp)
	if err != nil {
		return nil, err
	}
	all, err := t.tree.model.Expand(p)
	for _, p := range all {
		if _, err := t.tree.model.Lookup(p, false); err != nil {
			return nil, err
		}
	}
	return all, err
}

// getPath returns what stands at a path.
func (t *Target) getPath(p schema.Path, req *gpb.GetRequest,
	keep func(*schema.Node) bool) (out []*gpb.Update,
	err error) {
	depth := depthOf(req.GetExtension())
	whole := depth == 0 && req.GetEncoding() != gpb.Encoding_PROTO && !t.tree.model.Tables()
	for _, f := range t.tree.find(p) {
		if whole {
			u, err := t.whole(f, keep, req.GetEncoding())
			if err != nil {
				return nil, err
			}
			out = append(out, u...)
			continue
		}
		leaves := shallow(f.leaves(nil, keep), len(f.path), depth)
		if len(leaves) == 0 {
			continue
		}
		us, err := t.encode(f, leaves, req.GetEncoding())
		if err != nil {
			return nil, err
		}
		out = append(out, us...)
	}
	return out, nil
}

// whole writes what was found as one JSON value, which encode would make of all its leaves; nothing where it has none.
func (t *Target) whole(f found, keep func(*schema.Node) bool, enc gpb.Encoding) ([]*gpb.Update, error) {
	b, any, err := f.appendJSON(make([]byte, 0, 256), keep)
	if err != nil || !any {
		return nil, err
	}
	return []*gpb.Update{{Path: t.tree.model.Proto(f.path), Val: schema.JSONText(b, enc)}}, nil
}

// encode writes a node as one JSON value, or leaf by leaf for PROTO.
func (t *Target) encode(f found, leaves []schema.Leaf, enc gpb.Encoding) ([]*gpb.Update, error) {
	if enc != gpb.Encoding_PROTO {
		v, err := t.tree.model.Nest(f.path, leaves)
		if err != nil {
			return nil, err
		}
		tv, err := schema.JSON(v, enc)
		return []*gpb.Update{{Path: t.tree.model.Proto(f.path), Val: tv}}, err
	}
	var out []*gpb.Update
	for _, l := range leaves {
		u, err := t.update(l, enc)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// update writes one leaf.
func (t *Target) update(l schema.Leaf, enc gpb.Encoding) (*gpb.Update, error) {
	n, err := t.tree.model.Lookup(l.Path, true)
	if err != nil {
		return nil, err
	}
	tv, err := n.Encode(l.Value, enc)
	return &gpb.Update{Path: t.tree.model.Proto(l.Path), Val: tv}, err
}

// refresh brings the counters up to date and returns the instant.
func (t *Target) refresh() time.Duration {
	var at time.Duration
	var r reading
	var err error
	t.door.Do(func(now time.Duration, dev Switch) {
		at = now
		r.losses = dev.Losses()
		r.dropped, err = dev.Dropped()
	})
	if err != nil {
		t.cfg.Log.Warn("read counters", "device", t.name, "error", err)
		return at
	}
	if t.cfg.Neighbors != nil {
		r.heard = t.cfg.Neighbors()
	}
	if t.cfg.Counts != nil {
		if r.ports, err = t.cfg.Counts(); err != nil {
			t.cfg.Log.Warn("count at ports", "device", t.name, "error", err)
		}
	}
	t.front.counters(t.tree, r)
	t.publish(at)
	return at
}

func kindOf(k gpb.GetRequest_DataType) (func(*schema.Node) bool, error) {
	switch k {
	case gpb.GetRequest_ALL:
		return isAny, nil
	case gpb.GetRequest_CONFIG:
		return isConfig, nil
	case gpb.GetRequest_STATE, gpb.GetRequest_OPERATIONAL:
		return isState, nil
	}
	return nil, status.Errorf(codes.InvalidArgument, "type %v is unknown", k)
}

func checkEncoding(e gpb.Encoding) error {
	switch e {
	case gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO:
		return nil
	}
	return status.Errorf(codes.Unimplemented, "encoding %v is not supported: use JSON_IETF, JSON or PROTO", e)
}

func (t *Target) knowsModels(want []*gpb.ModelData) error {
	for _, w := range want {
		known := false
		for _, m := range t.tree.model.Modules {
			known = known || m.Name == w.GetName() && (w.GetVersion() == "" || w.GetVersion() == m.Version)
		}
		if !known {
			return status.Errorf(codes.Unimplemented, "model %q %s is not supported", w.GetName(), w.GetVersion())
		}
	}
	return nil
}

func depthOf(exts []*gnmi_ext.Extension) int {
	for _, e := range exts {
		if d := e.GetDepth(); d != nil {
			return int(min(d.GetLevel(), 1<<16))
		}
	}
	return 0
}

// historyOf refuses to tell of the past.
func historyOf(exts []*gnmi_ext.Extension) error {
	for _, e := range exts {
		if e.GetHistory() != nil {
			return status.Error(codes.Unimplemented, "no history is kept")
		}
	}
	return nil
}

// shallow leaves out what lies more than depth levels below the first from elements; 0 keeps everything.
func shallow(leaves []schema.Leaf, from, depth int) []schema.Leaf {
	if depth == 0 {
		return leaves
	}
	var out []schema.Leaf
	for _, l := range leaves {
		if len(l.Path)-from <= depth {
			out = append(out, l)
		}
	}
	return out
}

// wild reports whether a path names no single node.
func wild(m *schema.Model, p schema.Path) bool {
	_, err := m.Lookup(p, true)
	return err != nil
}

// echo returns what of a request's prefix belongs into notifications with absolute paths.
func echo(prefix *gpb.Path) *gpb.Path {
	if prefix.GetTarget() == "" {
		return nil
	}
	return &gpb.Path{Target: prefix.GetTarget()}
}
