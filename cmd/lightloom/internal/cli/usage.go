// Package cli holds what commands share that parse a command line: errors that say what to type
// instead, suggestions for words that are nearly right, and the flag -o with its JSON schema. It runs
// nothing.
package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is a command line that cannot be carried out.
type UsageError struct {
	err  error
	hint string
}

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Hint returns what to type instead.
func (e *UsageError) Hint() string { return e.hint }

// Usage returns a UsageError.
func Usage(hint, format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...), hint}
}

// OneOf checks a flag that takes one of a few words.
func OneOf(c *cobra.Command, flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usage("write --"+flag+" "+strings.Join(known, " or --"+flag+" "), "%s: --%s %q is unknown",
		c.Name(), flag,
		value)
}
