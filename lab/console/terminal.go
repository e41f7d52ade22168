package console

import (
	"io"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal. Progress is shown on terminals only.
func IsTerminal(w io.Writer) bool {
	f, ok := file(w)
	return ok && term.IsTerminal(int(f.Fd()))
}
