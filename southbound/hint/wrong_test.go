package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestWrong(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"a name", errors.New("there is no such name"), true},
		{"a name with a hint", New("there is no such name", "write another"), true},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}, true},
		{"a file that cannot be read", fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: "f",
			Err: fs.ErrPermission}), false},
	} {
		got := Wrong(tc.err)
		if IsWrong(tc.err) || IsWrong(got) != tc.want || (got == nil) != (tc.err == nil) {
			t.Errorf("%s: %v", tc.name, got)
		}
		if got != nil && (got.Error() != tc.err.Error() || Of(got) != Of(tc.err) || !errors.Is(got, tc.err)) {
			t.Errorf("%s: %v with hint %q does not tell what %v does", tc.name, got, Of(got), tc.err)
		}
	}
}
