package wire

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
)

// ErrRestarted means that the agent does not know the requested events. It has restarted, or they were
// acknowledged.
var ErrRestarted = errors.New("the agent does not have these events")

// ErrUnavailable means that no answer came; a retry can succeed.
var ErrUnavailable = errors.New("agent does not answer")

// codes of the errors that have a meaning of their own at the other end.
var table = []struct {
	err  error
	code codes.Code
}{
	{southbound.ErrNotLeader, codes.PermissionDenied},
	{southbound.ErrRefused, codes.InvalidArgument},
	{southbound.ErrUnsupported, codes.Unimplemented},
	{ErrRestarted, codes.OutOfRange},
	{ErrUnavailable, codes.Unavailable},
}

// ToStatus turns an error of the agent into the one that gRPC carries.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	for _, row := range table {
		if errors.Is(err, row.err) {
			return status.Error(row.code, err.Error())
		}
	}
	return status.Error(codes.Internal, err.Error())
}

// FromStatus turns what gRPC returned into an error that wraps the sentinel of its meaning. Every
// failure of the connection, a deadline and a full queue at the other end are ErrUnavailable.
func FromStatus(err error) error {
	if err == nil {
		return nil
	}
	s, _ := status.FromError(err)
	code := s.Code()
	switch code {
	case codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Canceled:
		code = codes.Unavailable
	}
	for _, row := range table {
		if row.code == code {
			return fmt.Errorf("%w: %s", row.err, s.Message())
		}
	}
	return errors.New(s.Message())
}
