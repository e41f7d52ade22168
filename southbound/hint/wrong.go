package hint

import (
	"errors"
	"io/fs"
)

// wrong marks an error. It prints as the error that it wraps.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// Wrong marks an error as a mistake in what the user wrote: a name that does not exist, or a value that
// cannot be. The same request would fail again, and commands end with the status of usage. A file that
// is there and cannot be read is no such mistake: that error, like nil, is returned as it is.
func Wrong(err error) error {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return wrong{err}
}

// IsWrong reports whether an error, or one that it wraps, is such a mistake.
func IsWrong(err error) bool {
	var w wrong
	return errors.As(err, &w)
}
