package run

import "io"

// IsTerminal says whether what is written to w is read by a person at once: progress is shown there alone.
func IsTerminal(w io.Writer) bool { return isTerminal(w) }
