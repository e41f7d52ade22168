// Package ribcheck holds the rules of a gRIBI server that the driver relies on, and tries them on one:
// any vendor's, any emulator's.
//
// Rules that write are tried only when asked for, and only where no controller has the switch: gRIBI
// knows no roles, so a larger election id would take the switch away from one. They use entries with
// ids of their own, and take them away.
package ribcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	aft "github.com/openconfig/gribi/v1/proto/gribi_aft"
	spb "github.com/openconfig/gribi/v1/proto/service"
	wpb "github.com/openconfig/ygot/proto/ywrapper"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gribi"
)

// rule is one thing that a server does.
type rule struct {
	name, says string
	writes     bool
	run        func(ctx context.Context, b *bench) error
}

// rules is the list, in the order in which they are tried.
func rules() []rule {
	return []rule{
		{"gribi-get", "Get of all instances and types names each entry's instance", false, getAll},
		{"gribi-get-type", "Get without a type is INVALID_ARGUMENT", false, getType},
		{"gribi-get-instance", "Get without a network instance is INVALID_ARGUMENT", false, getInstance},
		{"gribi-election-zero", "election id 0 ends the stream with INVALID_ARGUMENT", false, electionZero},
		{"gribi-params-late", "parameters twice are FAILED_PRECONDITION", false, paramsTwice},
		{"gribi-flush-election", "Flush without an election is FAILED_PRECONDITION", true, flushElection},
		{"gribi-flush-primary", "Flush with a smaller election id is FAILED_PRECONDITION", true, flushPrimary},
		{"gribi-election", "a smaller election id is answered with the largest, and its operations FAILED", true, election},
		{"gribi-id", "an operation with another election id than its client's is FAILED", true, otherID},
		{"gribi-missing", "a route whose group there is not is not programmed", true, missingGroup},
		{"gribi-route", "a route that was added is read back, and goes when it is deleted", true, routeMade},
		{"gribi-persists", "entries stay when their client goes away", true, persists},
		{"gribi-again", "adding what stands and deleting what does not are no failures", true, again},
		{"gribi-goes-on", "a failed operation leaves the stream open", true, goesOn},
	}
}

// errSkip is wrapped by a rule that cannot be tried here.
var errSkip = errors.New("not tried")

// bench is the server under test.
type bench struct {
	c     spb.GRIBIClient
	names gribi.Names
	ack   spb.SessionParameters_AFTResultStatusType
	id    *spb.Uint128 // the largest that the server knows
}

// Run tries the rules on a server that calls things so. ctx bounds it all.
func Run(ctx context.Context, conn grpc.ClientConnInterface, n gribi.Names,
	o conformance.Options) []conformance.Finding {
	b := &bench{c: spb.NewGRIBIClient(conn), names: n, ack: spb.SessionParameters_RIB_AND_FIB_ACK}
	timeout := cmp.Or(o.Timeout, 10*time.Second)
	try := func(f func(context.Context, *bench) error) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return f(ctx, b)
	}
	free := try(findElection)
	var out []conformance.Finding
	for _, r := range rules() {
		f := conformance.Finding{Rule: r.name, Says: r.says, Result: conformance.Held}
		var err error
		switch {
		case r.writes && !o.Write:
			err = fmt.Errorf("%w: it writes", errSkip)
		case r.writes && free != nil:
			err = fmt.Errorf("%w: %w", errSkip, free)
		default:
			err = try(r.run)
		}
		switch {
		case errors.Is(err, errSkip):
			f.Result, f.Why = conformance.Skipped, err.Error()
		case err != nil:
			f.Result, f.Why = conformance.Broken, err.Error()
		}
		out = append(out, f)
	}
	return out
}

// maxFree is the largest election id that can be of a check before: those of controllers have a high half.
const maxFree = 1 << 32

// findElection finds the largest election id, and whether a controller has the switch.
func findElection(ctx context.Context, b *bench) error {
	s, err := b.open(ctx)
	if status.Code(err) == codes.FailedPrecondition || status.Code(err) == codes.Unimplemented {
		b.ack = spb.SessionParameters_RIB_ACK
		s, err = b.open(ctx)
	}
	if err != nil {
		return err
	}
	defer s.close()
	if b.id, err = s.elect(&spb.Uint128{Low: 1}); err != nil {
		return err
	}
	if b.id.GetHigh() != 0 || b.id.GetLow() > maxFree {
		return fmt.Errorf("a controller with election id %d.%d has the switch", b.id.GetHigh(), b.id.GetLow())
	}
	return nil
}

// session is one Modify stream.
type session struct {
	spb.GRIBI_ModifyClient
	close func()
	id    *spb.Uint128
	next  uint64
}

func (b *bench) params() *spb.ModifyRequest {
	return &spb.ModifyRequest{Params: &spb.SessionParameters{Redundancy: spb.SessionParameters_SINGLE_PRIMARY,
		Persistence: spb.SessionParameters_PRESERVE, AckType: b.ack}}
}

// open opens a stream and has its parameters taken.
func (b *bench) open(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := b.c.Modify(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &session{GRIBI_ModifyClient: stream, close: cancel}
	r, err := s.ask(b.params())
	if err == nil && r.GetSessionParamsResult() == nil {
		err = fmt.Errorf("parameters are answered with %v", r)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

func (s *session) ask(r *spb.ModifyRequest) (*spb.ModifyResponse, error) {
	_ = s.Send(r) // where it fails, Recv says why
	return s.Recv()
}

func (s *session) elect(id *spb.Uint128) (*spb.Uint128, error) {
	r, err := s.ask(&spb.ModifyRequest{ElectionId: id})
	if err != nil {
		return nil, err
	}
	if r.GetElectionId() == nil {
		return nil, fmt.Errorf("an election id is answered with %v", r)
	}
	s.id = id
	return r.GetElectionId(), nil
}

// primary opens a stream with the largest election id there is.
func (b *bench) primary(ctx context.Context) (*session, error) {
	s, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	mine := &spb.Uint128{Low: b.id.GetLow() + 1}
	highest, err := s.elect(mine)
	if err == nil && highest.GetLow() != mine.GetLow() {
		err = fmt.Errorf("another client has election id %d.%d", highest.GetHigh(), highest.GetLow())
	}
	if err != nil {
		s.close()
		return nil, err
	}
	b.id = mine
	return s, nil
}

// do sends one operation and returns its last status.
func (b *bench) do(s *session, op *spb.AFTOperation) (*spb.AFTResult, error) {
	s.next++
	op.Id = s.next
	if op.ElectionId == nil {
		op.ElectionId = s.id
	}
	if err := s.Send(&spb.ModifyRequest{Operation: []*spb.AFTOperation{op}}); err != nil {
		_, err = s.Recv()
		return nil, err
	}
	for {
		r, err := s.Recv()
		if err != nil {
			return nil, err
		}
		for _, x := range r.GetResult() {
			if x.GetId() != op.GetId() {
				continue
			}
			if x.GetStatus() == spb.AFTResult_RIB_PROGRAMMED && b.ack == spb.SessionParameters_RIB_AND_FIB_ACK {
				continue
			}
			return x, nil
		}
	}
}

func failed(r *spb.AFTResult) bool {
	return r.GetStatus() == spb.AFTResult_FAILED || r.GetStatus() == spb.AFTResult_FIB_FAILED
}

// must does operations that must not fail.
func (b *bench) must(s *session, ops ...*spb.AFTOperation) error {
	for _, op := range ops {
		if r, err := b.do(s, op); err != nil {
			return err
		} else if failed(r) {
			return fmt.Errorf("%v of %v: %v: %s", op.GetOp(), op.GetEntry(), r.GetStatus(),
				r.GetErrorDetails().GetErrorMessage())
		}
	}
	return nil
}

// testID is the id of the entries that the rules make.
const testID = uint64(0x4c43)<<48 | 1

// prefix is that of the last rack, whose routes nobody has in an idle switch.
func (b *bench) prefix() string { return b.names.Prefix(southbound.RackID(b.names.Racks - 1)).String() }

func (b *bench) op(op spb.AFTOperation_Operation, e *spb.AFTOperation) *spb.AFTOperation {
	e.Op, e.NetworkInstance = op, b.names.Default
	return e
}

func (b *bench) hop(op spb.AFTOperation_Operation) *spb.AFTOperation {
	h := &aft.Afts_NextHop{IpAddress: &wpb.StringValue{Value: b.names.NextHop(0).String()}}
	if b.names.Interface != nil {
		h.InterfaceRef = &aft.Afts_NextHop_InterfaceRef{Interface: &wpb.StringValue{Value: b.names.Interface(0)}}
	}
	return b.op(op, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHop{
		NextHop: &aft.Afts_NextHopKey{Index: testID, NextHop: h}}})
}

func (b *bench) group(op spb.AFTOperation_Operation) *spb.AFTOperation {
	return b.op(op, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHopGroup{NextHopGroup: &aft.Afts_NextHopGroupKey{
		Id: testID, NextHopGroup: &aft.Afts_NextHopGroup{NextHop: []*aft.Afts_NextHopGroup_NextHopKey{{Index: testID,
			NextHop: &aft.Afts_NextHopGroup_NextHop{Weight: &wpb.UintValue{Value: 1}}}}}}}})
}

func (b *bench) route(op spb.AFTOperation_Operation) *spb.AFTOperation {
	return b.op(op, &spb.AFTOperation{Entry: &spb.AFTOperation_Ipv4{Ipv4: &aft.Afts_Ipv4EntryKey{Prefix: b.prefix(),
		Ipv4Entry: &aft.Afts_Ipv4Entry{NextHopGroup: &wpb.UintValue{Value: testID}}}}})
}

// stands reports whether our route is there; a foreign one is an error.
func (b *bench) stands(ctx context.Context) (bool, error) {
	all, err := gribi.Get(ctx, b.c)
	if err != nil {
		return false, err
	}
	for _, e := range all {
		if e.GetNetworkInstance() != b.names.Default || e.GetIpv4().GetPrefix() != b.prefix() {
			continue
		}
		if id := e.GetIpv4().GetIpv4Entry().GetNextHopGroup().GetValue(); id != testID {
			return false, fmt.Errorf("%w: route %s stands, with group %d", errSkip, b.prefix(), id)
		}
		return true, nil
	}
	return false, nil
}

// Leave programs the route of the last rack, by ids that are no driver's, and leaves it: for tests of
// who else writes there.
func Leave(ctx context.Context, conn grpc.ClientConnInterface, n gribi.Names) error {
	b := &bench{c: spb.NewGRIBIClient(conn), names: n, ack: spb.SessionParameters_RIB_AND_FIB_ACK}
	if err := findElection(ctx, b); err != nil {
		return err
	}
	s, err := b.primary(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return b.must(s, b.hop(spb.AFTOperation_ADD), b.group(spb.AFTOperation_ADD), b.route(spb.AFTOperation_ADD))
}

// with makes a route and what it needs, runs f, and takes all away, by a stream of its own.
func (b *bench) with(ctx context.Context, f func(s *session) error) (err error) {
	if there, err := b.stands(ctx); err != nil || there {
		return err
	}
	s, err := b.primary(ctx)
	if err != nil {
		return err
	}
	const add, gone = spb.AFTOperation_ADD, spb.AFTOperation_DELETE
	if err = b.must(s, b.hop(add), b.group(add), b.route(add)); err == nil {
		err = f(s)
	}
	s.close()
	clean, cerr := b.primary(ctx)
	if cerr != nil {
		return errors.Join(err, fmt.Errorf("take entries away again: %w", cerr))
	}
	defer clean.close()
	if cerr := b.must(clean, b.route(gone), b.group(gone), b.hop(gone)); cerr != nil {
		return errors.Join(err, fmt.Errorf("take entries away again: %w", cerr))
	}
	if there, cerr := b.stands(ctx); cerr != nil || there {
		return errors.Join(err, cerr, fmt.Errorf("the route stands after it was deleted: %v", there))
	}
	return err
}
