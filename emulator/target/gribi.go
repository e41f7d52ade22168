package target

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	spb "github.com/openconfig/gribi/v1/proto/service"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"lightloom/emulator/device"
	"lightloom/emulator/target/rib"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// ribServer serves gRIBI beside a target, on the same device. It speaks for a single primary whose
// entries stay when it goes away: the only mode that a controller with replicas can use.
type ribServer struct {
	spb.UnimplementedGRIBIServer
	t *Target
}

// Bounds of what clients can have the server hold or send at a time.
const (
	perAnswer     = 512
	maxOperation  = 1 << 16
	maxRIBClients = 16
)

// ribRole is the role under which the arbiter keeps gRIBI's election ids, apart from those of gNMI's roles.
const ribRole = "gRIBI"

// ribClient is one Modify stream.
type ribClient struct {
	params *spb.SessionParameters
	id     *spb.Uint128 // the last that it told; nil: none
	gone   chan error   // it is to end
	ran    bool         // it has sent operations
}

// Modify implements gRIBI.
func (s *ribServer) Modify(stream spb.GRIBI_ModifyServer) error {
	c := &ribClient{gone: make(chan error, 1)}
	if err := s.t.attend(c); err != nil {
		return err
	}
	defer s.t.dismissOne(c)
	requests, ended := make(chan *spb.ModifyRequest), make(chan error, 1)
	go func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			select {
			case requests <- r:
			case <-stream.Context().Done():
				return
			}
		}
	}()
	for {
		select {
		case err := <-c.gone:
			return err
		case <-stream.Context().Done(): // the reader may have left with a request
			return stream.Context().Err()
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		case r := <-requests:
			if err := s.one(stream, c, r); err != nil {
				return err
			}
		}
	}
}

// attend and dismissOne count the clients.
func (t *Target) attend(c *ribClient) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	switch {
	case t.down:
		return errDown()
	case len(t.clients) >= maxRIBClients:
		return status.Errorf(codes.ResourceExhausted, "at most %d clients of gRIBI are served", maxRIBClients)
	}
	t.clients = append(t.clients, c)
	return nil
}

func (t *Target) dismissOne(c *ribClient) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients = slices.DeleteFunc(t.clients, func(o *ribClient) bool { return o == c })
	if t.primary == c {
		t.primary = nil
	}
}

// one answers one request.
func (s *ribServer) one(stream spb.GRIBI_ModifyServer, c *ribClient, r *spb.ModifyRequest) error {
	parts := 0
	for _, has := range []bool{r.GetParams() != nil, r.GetElectionId() != nil, len(r.GetOperation()) > 0} {
		if has {
			parts++
		}
	}
	switch {
	case parts > 1:
		return status.Error(codes.InvalidArgument,
			"a request holds one of parameters, an election id and operations")
	case r.GetParams() != nil:
		if err := s.t.setParams(c, r.GetParams()); err != nil {
			return err
		}
		return stream.Send(&spb.ModifyResponse{SessionParamsResult: &spb.SessionParametersResult{}})
	case r.GetElectionId() != nil:
		highest, err := s.t.elect(c, r.GetElectionId())
		if err != nil {
			return err
		}
		return stream.Send(&spb.ModifyResponse{ElectionId: highest})
	}
	return s.operate(stream, c, r.GetOperation())
}

func (t *Target) setParams(c *ribClient, p *spb.SessionParameters) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case c.params != nil || c.ran || c.id != nil:
		return modifyError(codes.FailedPrecondition, spb.ModifyRPCErrorDetails_MODIFY_NOT_ALLOWED,
			"parameters come once, and first")
	case p.GetRedundancy() != spb.SessionParameters_SINGLE_PRIMARY || p.GetPersistence() != spb.SessionParameters_PRESERVE:
		return unsupportedParams()
	}
	for _, o := range t.clients {
		if o.params != nil && o.params.GetAckType() != p.GetAckType() {
			return modifyError(codes.FailedPrecondition,
				spb.ModifyRPCErrorDetails_PARAMS_DIFFER_FROM_OTHER_CLIENTS,
				"another client has other parameters")
		}
	}
	c.params = p
	return nil
}

func unsupportedParams() error {
	return modifyError(codes.Unimplemented, spb.ModifyRPCErrorDetails_UNSUPPORTED_PARAMS,
		"this switch knows SINGLE_PRIMARY with PRESERVE only")
}

func modifyError(code codes.Code, reason spb.ModifyRPCErrorDetails_Reason, text string) error {
	return detailed(code, text, &spb.ModifyRPCErrorDetails{Reason: reason})
}

func flushError(code codes.Code, reason spb.FlushResponseError_Reason, text string) error {
	return detailed(code, text, &spb.FlushResponseError{Status: reason})
}

func detailed(code codes.Code, text string, detail protoadapt.MessageV1) error {
	s := status.New(code, text)
	if with, err := s.WithDetails(detail); err == nil {
		s = with
	}
	return s.Err()
}

// elect takes a client's election id and returns the largest of all.
func (t *Target) elect(c *ribClient, id *spb.Uint128) (*spb.Uint128, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := gnmi.Election{High: id.GetHigh(), Low: id.GetLow()}
	switch {
	case c.params == nil:
		return nil, unsupportedParams()
	case e == gnmi.Election{}:
		return nil, status.Error(codes.InvalidArgument, "election id 0")
	case c.id != nil && e.Less(gnmi.Election{High: c.id.GetHigh(), Low: c.id.GetLow()}):
		return nil, status.Error(codes.InvalidArgument, "an election id only grows within a session")
	}
	c.id = id
	switch err := t.ribArb.Claim(ribRole, e); status.Code(err) {
	case codes.OK:
		t.primary = c // of two with the same id the newer
	case codes.PermissionDenied:
	default:
		return nil, err
	}
	highest := t.ribArb.Highest(ribRole)
	return &spb.Uint128{High: highest.High, Low: highest.Low}, nil
}

// operate has the switch do operations, and answers each.
func (s *ribServer) operate(stream spb.GRIBI_ModifyServer, c *ribClient, ops []*spb.AFTOperation) error {
	answer, wait, err := s.t.operate(c, ops)
	if err != nil {
		return err
	}
	if err := sendResults(stream, answer); err != nil || wait == nil {
		return err
	}
	if answer, err = s.inEffect(stream.Context(), wait); err != nil {
		return err
	}
	return sendResults(stream, answer)
}

func sendResults(stream spb.GRIBI_ModifyServer, all []*spb.AFTResult) error {
	for part := range slices.Chunk(all, perAnswer) {
		if err := stream.Send(&spb.ModifyResponse{Result: part}); err != nil {
			return err
		}
	}
	return nil
}

// unconfirmed are operations whose rules are accepted, and not known to be in effect.
type unconfirmed struct {
	ops    []*spb.AFTOperation
	rules  []southbound.Match
	before map[southbound.Match]southbound.Rule
}

// operate does operations in their order, and brings the switch to what the tables are then, at once.
func (t *Target) operate(c *ribClient, ops []*spb.AFTOperation) (out []*spb.AFTResult,
	wait *unconfirmed, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	switch {
	case t.down:
		return nil, nil, errDown()
	case c.params == nil:
		return nil, nil, unsupportedParams()
	case len(ops) > maxOperation:
		return nil, nil, status.Errorf(codes.ResourceExhausted, "%d operations, at most %d are taken",
			len(ops), maxOperation)
	}
	c.ran = true
	var taken []*spb.AFTOperation
	for _, op := range ops {
		if err := t.admits(c, op); err != nil {
			out = append(out, t.result(op, spb.AFTResult_FAILED, err))
			continue
		}
		if err := t.cfg.RIB.Put(op); err != nil {
			out = append(out, t.result(op, spb.AFTResult_FAILED, err))
			continue
		}
		taken = append(taken, op)
	}
	before, rules, err := t.program()
	if err != nil {
		t.cfg.RIB.Rollback(0)
	}
	for _, op := range taken {
		if err != nil {
			out = append(out, t.result(op, spb.AFTResult_FAILED, err))
		} else {
			out = append(out, t.result(op, spb.AFTResult_RIB_PROGRAMMED, nil))
		}
	}
	if err == nil && len(taken) > 0 && c.params.GetAckType() == spb.SessionParameters_RIB_AND_FIB_ACK {
		wait = &unconfirmed{taken, rules, before}
	}
	return out, wait, nil
}

// admits checks who asks, and that the operation is one.
func (t *Target) admits(c *ribClient, op *spb.AFTOperation) error {
	e := op.GetElectionId()
	switch {
	case c.id == nil || t.primary != c:
		return errors.New("this client is not the primary one")
	case e.GetHigh() != c.id.GetHigh() || e.GetLow() != c.id.GetLow():
		return errors.New("the operation's election id is not the client's")
	case op.GetOp() == spb.AFTOperation_INVALID:
		return errors.New("the operation is none of ADD, REPLACE and DELETE")
	}
	return nil
}

func (t *Target) result(op *spb.AFTOperation, s spb.AFTResult_Status, err error) *spb.AFTResult {
	r := &spb.AFTResult{Id: op.GetId(), Status: s, Timestamp: time.Now().UnixNano()}
	if err != nil {
		r.ErrorDetails = &spb.AFTErrorDetails{ErrorMessage: err.Error()}
	}
	return r
}

// program brings the switch to what the tables are. It returns the rules that are to change.
func (t *Target) program() (before map[southbound.Match]southbound.Rule,
	changed []southbound.Match, err error) {
	r := t.cfg.RIB
	c, done, err := r.Plan()
	if err != nil {
		return nil, nil, err
	}
	t.inbox.hold()
	defer t.inbox.release()
	t.door.Do(func(now time.Duration, dev Switch) {
		if err = r.Given(c, dev); err == nil && !c.Empty() {
			err = dev.Set(now, c)
		}
	})
	if err != nil && !errors.Is(err, device.ErrDenied) {
		return nil, nil, err
	}
	before = r.Held()
	done()
	for _, x := range c.Rules {
		changed = append(changed, x.Match)
	}
	changed = append(changed, c.Drop...)
	t.catchUp()
	return before, changed, err
}

// inEffect waits until rules are in effect, or for as long as a Set may settle, and says what has
// become of them.
func (s *ribServer) inEffect(ctx context.Context, w *unconfirmed) (out []*spb.AFTResult, err error) {
	t := s.t
	limit := time.NewTimer(t.cfg.Settle)
	defer limit.Stop()
	late := false
	for {
		t.mu.Lock()
		t.catchUp()
		left := slices.DeleteFunc(slices.Clone(w.rules),
			func(m southbound.Match) bool { return !t.cfg.RIB.Dark(m) })
		news, down := t.news, t.down
		if late && !down {
			t.cfg.RIB.Lost(left, w.before)
		}
		t.mu.Unlock()
		switch {
		case down:
			return nil, errDown()
		case len(left) == 0 || late:
			return t.confirm(w.ops, left), nil
		}
		select {
		case <-news:
		case <-limit.C:
			late = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// confirm answers operations. What stands for no single rule is in effect as the whole is.
func (t *Target) confirm(ops []*spb.AFTOperation, left []southbound.Match) (out []*spb.AFTResult) {
	r := t.cfg.RIB
	for _, op := range ops {
		x := op.GetIpv4()
		m := r.Match(op.GetNetworkInstance(), x.GetPrefix())
		if x != nil && slices.Contains(left, m) {
			out = append(out, t.result(op, spb.AFTResult_FIB_FAILED,
				errors.New("the switch has accepted it, and it has not become effective")))
			continue
		}
		out = append(out, t.result(op, spb.AFTResult_FIB_PROGRAMMED, nil))
	}
	return out
}

// Get implements gRIBI.
func (s *ribServer) Get(req *spb.GetRequest, stream spb.GRIBI_GetServer) error {
	entries, err := s.t.entries(req)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(entries, perAnswer) {
		if err := stream.Send(&spb.GetResponse{Entry: part}); err != nil {
			return err
		}
	}
	return nil
}

func (t *Target) entries(req *spb.GetRequest) (out []*spb.AFTEntry, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	if t.down {
		return nil, errDown()
	}
	r := t.cfg.RIB
	names := r.Instances()
	if req.GetAll() == nil {
		if names = []string{req.GetName()}; !slices.Contains(r.Instances(), req.GetName()) {
			return nil, status.Errorf(codes.InvalidArgument, "there is no network instance %q", req.GetName())
		}
	}
	switch req.GetAft() {
	case spb.AFTType_INVALID:
		return nil, status.Error(codes.InvalidArgument, "the type of entries is missing")
	case spb.AFTType_ALL, spb.AFTType_IPV4, spb.AFTType_NEXTHOP, spb.AFTType_NEXTHOP_GROUP:
	default:
		return nil, status.Errorf(codes.Unimplemented, "this switch has no entries of type %v", req.GetAft())
	}
	for _, name := range names {
		out = append(out, r.Entries(name, req.GetAft())...)
	}
	return out, nil
}

// Flush implements gRIBI: it takes away what gRIBI has programmed, and nothing else.
func (s *ribServer) Flush(_ context.Context, req *spb.FlushRequest) (*spb.FlushResponse, error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	if t.down {
		return nil, errDown()
	}
	if err := t.mayFlush(req); err != nil {
		return nil, err
	}
	r := t.cfg.RIB
	names := r.Instances()
	if req.GetAll() == nil {
		switch {
		case req.GetNetworkInstance() == nil:
			return nil, flushError(codes.InvalidArgument, spb.FlushResponseError_UNSPECIFIED_NETWORK_INSTANCE,
				"which network instance?")
		case req.GetName() == "":
			return nil, flushError(codes.InvalidArgument, spb.FlushResponseError_INVALID_NETWORK_INSTANCE,
				"a network instance has a name")
		case !slices.Contains(r.Instances(), req.GetName()):
			return nil, flushError(codes.InvalidArgument, spb.FlushResponseError_NO_SUCH_NETWORK_INSTANCE,
				"there is no such network instance")
		}
		names = []string{req.GetName()}
	}
	all := r.Flush(names)
	if _, _, err := t.program(); err != nil {
		r.Rollback(0)
		return nil, statusOf(err)
	}
	out := &spb.FlushResponse{Timestamp: time.Now().UnixNano(), Result: spb.FlushResponse_OK}
	if !all {
		out.Result = spb.FlushResponse_NON_ZERO_REFERENCE_REMAIN
	}
	return out, nil
}

// mayFlush checks the election of a flush.
func (t *Target) mayFlush(req *spb.FlushRequest) error {
	id := req.GetId()
	e := gnmi.Election{High: id.GetHigh(), Low: id.GetLow()}
	switch {
	case req.GetOverride() != nil:
		return nil
	case req.GetElection() == nil:
		return flushError(codes.FailedPrecondition, spb.FlushResponseError_UNSPECIFIED_ELECTION_BEHAVIOR,
			"an election id, or override")
	case e == gnmi.Election{}:
		return flushError(codes.InvalidArgument, spb.FlushResponseError_INVALID_ELECTION_ID, "election id 0")
	case e.Less(t.ribArb.Highest(ribRole)):
		return flushError(codes.FailedPrecondition, spb.FlushResponseError_NOT_PRIMARY,
			"a larger election id is known")
	}
	return nil
}

// hidden is a switch without the rules of a RIB: what its configuration is.
type hidden struct {
	Switch
	rib *rib.RIB
}

// Accepted implements Switch.
func (h hidden) Accepted() *southbound.Change {
	c := h.Switch.Accepted()
	c.Rules = slices.DeleteFunc(c.Rules, func(x southbound.Rule) bool { return h.rib.Owns(x.Match) })
	return c
}

// Seen implements Switch.
func (h hidden) Seen(now time.Duration) southbound.Seen {
	s := h.Switch.Seen(now)
	s.Rules = slices.DeleteFunc(s.Rules, func(x southbound.Rule) bool { return h.rib.Owns(x.Match) })
	return s
}

// dismiss ends the streams of all clients.
func (t *Target) dismiss(why error) {
	for _, c := range t.clients {
		select {
		case c.gone <- why:
		default:
		}
	}
	t.primary = nil
}
