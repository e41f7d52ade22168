package console

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal says whether what is written to w is read by a person at once: progress is shown there alone.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
