// Package hint is for errors that carry a hint on how to fix the problem. A command that prints an
// error adds the hint as a line of its own. Any error with a method Hint takes part; this package has
// the plain one.
package hint

import "errors"

// Error is an error with its hint.
type Error struct {
	err  error
	mend string
}

// New returns an error with that text and a hint on what to do, such as "add --until 60s".
func New(text, mend string) *Error { return Wrap(errors.New(text), mend) }

// Wrap adds a hint to an error.
func Wrap(err error, mend string) *Error { return &Error{err, mend} }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Hint returns the hint.
func (e *Error) Hint() string { return e.mend }

// Of returns the hint of an error or of one that it wraps; "" where none has any.
func Of(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
