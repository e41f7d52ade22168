package api

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
)

// What a Submitter's errors wrap.
var (
	// ErrNotLeader: this replica does not lead, and nothing was taken.
	ErrNotLeader = errors.New("this replica does not lead")
	// ErrUncertain: leadership ended meanwhile. The same request id again settles it.
	ErrUncertain = errors.New("leadership ended while the jobs were under way")
	// ErrTooLarge: the batch can never be taken as it is.
	ErrTooLarge = errors.New("the batch is too large")
	// ErrBusy: too much is under way, and nothing was taken.
	ErrBusy = errors.New("the controller is busy")
)

// Code is the kind of an error, and thereby what to do about it.
type Code string

// The codes.
const (
	Invalid   Code = "invalid"    // the request is wrong, and would be wrong again
	TooLarge  Code = "too_large"  // it is above a limit, and would be again: make it smaller
	Busy      Code = "busy"       // others' requests fill what there is room for, and nothing was taken: ask again later
	Denied    Code = "denied"     // this certificate may not do that
	NotLeader Code = "not_leader" // the replica that it was forwarded to leads no more: retry
	NoLeader  Code = "no_leader"  // no leader is known or can be reached: retry
	Uncertain Code = "uncertain"  // it may have happened: ask again with the same id
	Disk      Code = "disk"       // a replica's disk takes nothing; it may have happened: ask again with the same id
	Late      Code = "late"       // the deadline has passed; it may have happened
	Canceled  Code = "canceled"   // the caller went away
	NoRoom    Code = "no_room"    // it cannot be granted now: others have it
	Unknown   Code = "unknown"    // there is none of that name or number, or not any more
	Missing   Code = "missing"    // this controller does not offer that
	Internal  Code = "internal"   // a fault of ours
)

// answer is one row of the table from a code to all that shows it.
type answer struct {
	code    Code
	connect connect.Code // decides the HTTP status
	http    int
	exit    int  // of the CLI
	again   bool // worth asking again, elsewhere or later
}

// answers is the one table.
func answers() []answer {
	return []answer{
		{Invalid, connect.CodeInvalidArgument, http.StatusBadRequest, 2, false},
		{TooLarge, connect.CodeResourceExhausted, http.StatusTooManyRequests, 2, false},
		{Busy, connect.CodeUnavailable, http.StatusServiceUnavailable, 3, true},
		{Denied, connect.CodePermissionDenied, http.StatusForbidden, 6, false},
		{NotLeader, connect.CodeUnavailable, http.StatusServiceUnavailable, 3, true},
		{NoLeader, connect.CodeUnavailable, http.StatusServiceUnavailable, 3, true},
		{Uncertain, connect.CodeAborted, http.StatusConflict, 3, true},
		{Disk, connect.CodeUnavailable, http.StatusServiceUnavailable, 8, true},
		{Late, connect.CodeDeadlineExceeded, http.StatusGatewayTimeout, 4, false},
		{Canceled, connect.CodeCanceled, 499, 5, false},
		{NoRoom, connect.CodeAborted, http.StatusConflict, 7, false},
		{Unknown, connect.CodeNotFound, http.StatusNotFound, 2, false},
		{Missing, connect.CodeUnimplemented, http.StatusNotImplemented, 1, false},
		{Internal, connect.CodeInternal, http.StatusInternalServerError, 1, false},
	}
}

func (c Code) answer() answer {
	all := answers()
	for _, a := range all {
		if a.code == c {
			return a
		}
	}
	return all[len(all)-1]
}

// HTTPStatus returns the status that an error of this code is answered with.
func (c Code) HTTPStatus() int { return c.answer().http }

// ExitStatus returns the status that a command ends with after an error of this code.
func (c Code) ExitStatus() int { return c.answer().exit }

// Error is the only error that crosses the northbound edge, on either side of it.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error of this package, Internal for any other.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// classify gives an error of a Submitter, Stater or Eventer its code.
func classify(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return &Error{e.Code, err}
	case errors.Is(err, ErrNotLeader):
		return &Error{NotLeader, err}
	case errors.Is(err, ErrTooLarge):
		return &Error{TooLarge, err}
	case errors.Is(err, ErrBusy):
		return &Error{Busy, err}
	case errors.Is(err, ErrNoRoom):
		return &Error{NoRoom, err}
	case errors.Is(err, ErrUncertain):
		return &Error{Uncertain, err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Late, err}
	case errors.Is(err, context.Canceled):
		return &Error{Canceled, err}
	}
	return &Error{Internal, err}
}

// encode makes what Connect sends.
func encode(err error) error {
	e := classify(err)
	out := connect.NewError(e.Code.answer().connect, errors.New(e.Error()))
	if d, err := connect.NewErrorDetail(&apiv1.ErrorDetail{Code: string(e.Code)}); err == nil {
		out.AddDetail(d)
	}
	return out
}

// decode converts the result of a call to an Error: by the server's code, or by Connect's own.
func decode(err error) error {
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return classify(err)
	}
	for _, d := range ce.Details() {
		if v, err := d.Value(); err == nil {
			if m, ok := v.(*apiv1.ErrorDetail); ok {
				return &Error{Code(m.Code).answer().code, errors.New(ce.Message())}
			}
		}
	}
	// The server is unreachable, or the connection broke: our servers attach a detail to each of their errors.
	if ce.Code() == connect.CodeUnavailable || ce.Code() == connect.CodeUnknown {
		return &Error{NoLeader, errors.New(ce.Message())}
	}
	for _, a := range answers() {
		if a.connect == ce.Code() {
			return &Error{a.code, errors.New(ce.Message())}
		}
	}
	return &Error{Internal, ce}
}
