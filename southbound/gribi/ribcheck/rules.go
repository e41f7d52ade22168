package ribcheck

import (
	"context"
	"errors"
	"fmt"
	"io"

	spb "github.com/openconfig/gribi/v1/proto/service"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gribi"
)

// wants checks the code of an answer that must be an error.
func wants(code codes.Code, err error) error {
	if status.Code(err) != code {
		return fmt.Errorf("the answer is %v, and not %v: %v", status.Code(err), code, err) //nolint:errorlint // it can be nil
	}
	return nil
}

func getAll(ctx context.Context, b *bench) error {
	all, err := gribi.Get(ctx, b.c)
	for _, e := range all {
		if e.GetNetworkInstance() == "" || e.GetEntry() == nil {
			return fmt.Errorf("an entry has no network instance, or is none: %v", e)
		}
	}
	return err
}

func (b *bench) get(ctx context.Context, r *spb.GetRequest) error {
	s, err := b.c.Get(ctx, r)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = s.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func getType(ctx context.Context, b *bench) error {
	return wants(codes.InvalidArgument, b.get(ctx, &spb.GetRequest{
		NetworkInstance: &spb.GetRequest_Name{Name: b.names.Default}}))
}

func getInstance(ctx context.Context, b *bench) error {
	return wants(codes.InvalidArgument, b.get(ctx, &spb.GetRequest{Aft: spb.AFTType_ALL}))
}

func electionZero(ctx context.Context, b *bench) error {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = s.elect(&spb.Uint128{})
	return wants(codes.InvalidArgument, err)
}

func paramsTwice(ctx context.Context, b *bench) error {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = s.ask(b.params())
	return wants(codes.FailedPrecondition, err)
}

func flushElection(ctx context.Context, b *bench) error {
	s, err := b.primary(ctx) // a server without clients of an election may take it
	if err != nil {
		return err
	}
	defer s.close()
	_, err = b.c.Flush(ctx, &spb.FlushRequest{NetworkInstance: &spb.FlushRequest_Name{Name: b.names.Default}})
	return wants(codes.FailedPrecondition, err)
}

func flushPrimary(ctx context.Context, b *bench) error {
	s, err := b.primary(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = b.c.Flush(ctx, &spb.FlushRequest{NetworkInstance: &spb.FlushRequest_Name{Name: b.names.Default},
		Election: &spb.FlushRequest_Id{Id: &spb.Uint128{Low: b.id.GetLow() - 1}}})
	return wants(codes.FailedPrecondition, err)
}

func election(ctx context.Context, b *bench) error {
	first, err := b.primary(ctx)
	if err != nil {
		return err
	}
	defer first.close()
	late, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer late.close()
	highest, err := late.elect(&spb.Uint128{Low: b.id.GetLow() - 1})
	if err != nil {
		return err
	}
	if highest.GetLow() != b.id.GetLow() {
		return fmt.Errorf("a smaller id is answered with %d.%d, and the largest is %d.%d", highest.GetHigh(),
			highest.GetLow(), b.id.GetHigh(), b.id.GetLow())
	}
	return b.fails(late, b.hop(spb.AFTOperation_ADD))
}

// fails does an operation that must fail.
func (b *bench) fails(s *session, op *spb.AFTOperation) error {
	r, err := b.do(s, op)
	if err == nil && !failed(r) {
		err = fmt.Errorf("%v of %v is answered with %v", op.GetOp(), op.GetEntry(), r.GetStatus())
	}
	return err
}

func otherID(ctx context.Context, b *bench) error {
	s, err := b.primary(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	op := b.hop(spb.AFTOperation_ADD)
	op.ElectionId = &spb.Uint128{Low: b.id.GetLow() - 1}
	return b.fails(s, op)
}

func missingGroup(ctx context.Context, b *bench) error {
	if there, err := b.stands(ctx); err != nil || there {
		return err
	}
	s, err := b.primary(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.Send(&spb.ModifyRequest{Operation: []*spb.AFTOperation{func() *spb.AFTOperation {
		op := b.route(spb.AFTOperation_ADD)
		op.Id, op.ElectionId = 1, s.id
		return op
	}()}}); err != nil {
		return err
	}
	s.next = 1
	if there, err := b.stands(ctx); err != nil || there {
		return errors.Join(err, fmt.Errorf("the route stands: %v", there))
	}
	// A server may keep it until the group comes.
	return b.must(s, b.route(spb.AFTOperation_DELETE))
}

func routeMade(ctx context.Context, b *bench) error {
	return b.with(ctx, func(*session) error {
		there, err := b.stands(ctx)
		if err == nil && !there {
			err = errors.New("the route was confirmed, and Get does not have it")
		}
		return err
	})
}

func persists(ctx context.Context, b *bench) error {
	return b.with(ctx, func(s *session) error {
		s.close()
		other, err := b.primary(ctx) // the server has dealt with the end of the first once it answers this one
		if err != nil {
			return err
		}
		defer other.close()
		there, err := b.stands(ctx)
		if err == nil && !there {
			err = errors.New("the route went with its client")
		}
		return err
	})
}

func again(ctx context.Context, b *bench) error {
	return b.with(ctx, func(s *session) error {
		const add, gone = spb.AFTOperation_ADD, spb.AFTOperation_DELETE
		return b.must(s, b.hop(add), b.group(add), b.route(add), b.route(gone), b.route(gone), b.route(add))
	})
}

func goesOn(ctx context.Context, b *bench) error {
	return b.with(ctx, func(s *session) error {
		op := b.hop(spb.AFTOperation_ADD)
		op.NetworkInstance = "no-such-instance"
		if err := b.fails(s, op); err != nil {
			return err
		}
		return b.must(s, b.hop(spb.AFTOperation_ADD))
	})
}
