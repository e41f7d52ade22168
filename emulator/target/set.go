package target

import (
	"context"
	"errors"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// maxOperations bounds one Set.
const maxOperations = 1 << 17

// operation is one step of a Set.
type operation struct {
	path    schema.Path
	asked   *gpb.Path // as the request has it, below its prefix
	op      gpb.UpdateResult_Operation
	leaves  []schema.Leaf
	replace bool // what is under the path and not in leaves goes
}

// large reports whether a Set waits for its turn: changes of circuits do not. It adds up the lengths of texts until
// they are enough, since to measure all of a table takes as long as to write it.
func large(req *gpb.SetRequest) bool {
	n := size(0)
	n.path(req.GetPrefix())
	for _, p := range req.GetDelete() {
		n.path(p)
		if n > most {
			return true
		}
	}
	for _, part := range [][]*gpb.Update{req.GetReplace(), req.GetUpdate(), req.GetUnionReplace()} {
		for _, u := range part {
			n.path(u.GetPath())
			n.value(u.GetVal())
			if n > most {
				return true
			}
		}
	}
	return n > most
}

// size is about how many bytes parts of a request take, and most how many a Set has that waits for no turn.
type size int

const most size = 32 << 10

func (n *size) path(p *gpb.Path) {
	const ofPart = 4 // bytes: tags and lengths
	*n += ofPart
	for _, e := range p.GetElem() {
		*n += ofPart + size(len(e.GetName()))
		for k, v := range e.GetKey() {
			*n += 2*ofPart + size(len(k)+len(v))
		}
	}
}

func (n *size) value(v *gpb.TypedValue) {
	const ofNumber = 8 // bytes
	//nolint:staticcheck // some are deprecated, and can still be sent
	*n += ofNumber + size(len(v.GetJsonIetfVal())+len(v.GetJsonVal())+len(v.GetStringVal())+len(v.GetAsciiVal())+
		len(v.GetBytesVal())+len(v.GetProtoBytes())+len(v.GetAnyVal().GetValue()))
	for _, e := range v.GetLeaflistVal().GetElement() {
		if *n > most {
			return
		}
		n.value(e)
	}
}

// Set implements gNMI: one transaction, deletes before replaces before updates. Nothing is visible
// before the device has accepted all of it, and nothing changes on an error.
func (t *Target) Set(ctx context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	if err := t.like.validated(ctx); err != nil {
		return nil, err
	}
	end := func() {}
	if large(req) {
		var err error
		if end, err = t.takeTurn(ctx); err != nil {
			return nil, err
		}
	}
	resp, err := func() (*gpb.SetResponse, error) {
		defer end()
		return t.set(req)
	}()
	if err == nil {
		err = t.settle(ctx)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// settle waits, where the model wants it, until the switch has done what it was asked.
func (t *Target) settle(ctx context.Context) error {
	f, waits := t.front.(settler)
	if !waits {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Settle)
	defer cancel()
	for {
		t.mu.Lock()
		t.catchUp()
		done, news := t.down || f.settled(), t.news
		t.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return status.Errorf(codes.DeadlineExceeded,
				"the change is accepted, and after %v the switch has still not made "+
					"it", t.cfg.Settle)
		}
	}
}

func (t *Target) set(req *gpb.SetRequest) (*gpb.SetResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.arb.Admit(req.GetExtension()); err != nil {
		return nil, err
	}
	t.catchUp()
	if t.down {
		return nil, errDown()
	}
	ops, err := t.operations(req)
	if err != nil {
		return nil, err
	}
	at, err := t.transact(ops)
	if err != nil {
		t.tree.undo()
		return nil, statusOf(err)
	}
	resp := &gpb.SetResponse{Prefix: req.GetPrefix(), Timestamp: int64(t.wall.nanos(at))}
	for _, o := range ops {
		resp.Response = append(resp.Response, &gpb.UpdateResult{Path: o.asked, Op: o.op})
	}
	return resp, nil
}

// operations decodes and validates a request, in the order in which it is done.
func (t *Target) operations(req *gpb.SetRequest) ([]operation, error) {
	if n := len(req.GetDelete()) + len(req.GetReplace()) + len(req.GetUpdate()); n > maxOperations {
		return nil, status.Errorf(codes.ResourceExhausted, "%d operations, at most %d are taken", n,
			maxOperations)
	}
	if len(req.GetUnionReplace()) > 0 {
		return nil, status.Error(codes.Unimplemented, "union_replace is not supported")
	}
	ops := make([]operation, 0, len(req.GetDelete())+len(req.GetReplace())+len(req.GetUpdate()))
	for _, d := range req.GetDelete() {
		p, err := t.readPath(req.GetPrefix(), d)
		if err == nil {
			_, err = t.tree.model.Lookup(p, false)
		}
		if err != nil {
			return nil, statusOf(err)
		}
		ops = append(ops, operation{path: p, asked: d, op: gpb.UpdateResult_DELETE, replace: true})
	}
	for _, u := range req.GetReplace() {
		o, err := t.operation(req.GetPrefix(), u)
		if err != nil {
			return nil, statusOf(err)
		}
		o.op, o.replace = gpb.UpdateResult_REPLACE, true
		ops = append(ops, o)
	}
	for _, u := range req.GetUpdate() {
		o, err := t.operation(req.GetPrefix(), u)
		if err != nil {
			return nil, statusOf(err)
		}
		o.op = gpb.UpdateResult_UPDATE
		ops = append(ops, o)
	}
	return ops, nil
}

func (t *Target) operation(prefix *gpb.Path, u *gpb.Update) (operation, error) {
	p, err := t.readPath(prefix, u.GetPath())
	if err != nil {
		return operation{}, err
	}
	leaves, err := t.tree.model.DecodeConfig(p, u.GetVal())
	if err != nil {
		return operation{}, err
	}
	return operation{path: p, asked: u.GetPath(), leaves: leaves}, nil
}

// readPath reads a request's path, of a model that this target has. The target of a prefix is a label
// that the answer repeats.
func (t *Target) readPath(prefix, p *gpb.Path) (schema.Path, error) {
	for _, x := range []*gpb.Path{prefix, p} {
		if o := x.GetOrigin(); !t.tree.model.Origin(o) {
			return nil, status.Errorf(codes.InvalidArgument, "origin %q: this target has %q", o, t.tree.model.Name)
		}
	}
	return t.tree.model.FromProto(prefix, p)
}

// transact applies the operations to the tree, calls the device, and notifies the subscribers. On an
// error the caller undoes them.
func (t *Target) transact(ops []operation) (time.Duration, error) {
	touched, err := t.edit(ops)
	if err != nil {
		return 0, err
	}
	if err := checkKeyLeaves(t.tree, touched); err != nil {
		return 0, err
	}
	change, done, err := t.front.plan(t.tree, touched)
	if err != nil {
		return 0, err
	}
	if t.cfg.RIB != nil {
		if change, err = t.cfg.RIB.Keep(change); err != nil {
			return 0, err
		}
	}
	var at time.Duration
	t.inbox.hold()
	defer t.inbox.release()
	t.door.Do(func(now time.Duration, dev Switch) {
		at = now
		if !change.Empty() {
			err = dev.Set(now, change)
		}
	})
	if err != nil && !errors.Is(err, device.ErrDenied) {
		return 0, err
	}
	done()
	t.publish(at)
	t.catchUp()
	return at, err
}

// edit does the operations and returns the leaves that they named. It stops once a list or an entry has too many parts.
func (t *Target) edit(ops []operation) ([]schema.Path, error) {
	var touched []schema.Path
	t.tree.full = false
	put := func(p schema.Path, v schema.Value) {
		t.tree.put(p, v)
		touched = append(touched, p)
	}
	for _, o := range ops {
		if o.replace {
			if !wild(t.tree.model, o.path) { // also without configuration: a device can hold unconfigured state
				touched = append(touched, o.path)
			}
			kept := keeper(o.leaves)
			for _, l := range t.tree.under(o.path, isConfig) {
				if !kept(l.Path) {
					put(l.Path, nil)
				}
			}
		}
		for _, l := range o.leaves {
			if put(l.Path, l.Value); t.tree.full {
				return nil, status.Errorf(codes.ResourceExhausted,
					"set %q: a list or an entry has more than %d entries or leaves then", l.Path.String(), maxEntries)
			}
		}
	}
	return touched, nil
}

// fewLeaves is how many leaves are compared one by one: an entry of a list has no more, and needs no
// table of texts.
const fewLeaves = 16

// keeper returns whether a path is that of one of the leaves.
func keeper(leaves []schema.Leaf) func(schema.Path) bool {
	if len(leaves) <= fewLeaves {
		return func(p schema.Path) bool {
			return slices.ContainsFunc(leaves, func(l schema.Leaf) bool { return samePath(l.Path, p) })
		}
	}
	kept := make(map[string]bool, len(leaves))
	for _, l := range leaves {
		kept[l.Path.String()] = true
	}
	return func(p schema.Path) bool { return kept[p.String()] }
}

// readStatus is statusOf for what only reads: there an unknown path is not implemented.
func readStatus(err error) error {
	if _, coded := status.FromError(err); !coded && errors.Is(err, schema.ErrUnknown) {
		return status.Error(codes.Unimplemented, err.Error())
	}
	return statusOf(err)
}

// statusOf gives an error the code that the specification requires; an error with a code keeps it.
func statusOf(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	code := codes.Aborted
	for _, c := range []struct {
		err  error
		code codes.Code
	}{
		{schema.ErrUnknown, codes.NotFound},
		{schema.ErrMalformed, codes.InvalidArgument},
		{schema.ErrReadOnly, codes.InvalidArgument},
		{schema.ErrEncoding, codes.Unimplemented},
		{southbound.ErrUnsupported, codes.Unimplemented},
		{device.ErrDown, codes.Unavailable},
		{device.ErrDenied, codes.Internal},
	} {
		if errors.Is(err, c.err) {
			code = c.code
			break
		}
	}
	return status.Error(code, err.Error())
}
