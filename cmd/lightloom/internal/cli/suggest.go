package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/pathmap/topo"
)

// UnknownCommand refuses words that name no command.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " -h lists the commands"
	if near := suggestions(c, args[0]); len(near) > 0 {
		hint = strings.Join(near, ", or ")
	}
	return Usage(hint, "unknown command %q", args[0])
}

// suggestions are the commands that a word can mean: those that list it as another name of theirs, else
// those whose name is begun with it, else those that differ by a third of the letters at most, nearest
// first.
func suggestions(c *cobra.Command, word string) []string {
	var named, begun []string
	var near []*cobra.Command
	edits := func(s *cobra.Command) int { return topo.Edits(word[:min(len(word), 64)], s.Name()) }
	for _, s := range c.Commands() {
		switch {
		case !s.IsAvailableCommand():
		case slices.Contains(s.SuggestFor, word):
			named = append(named, s.CommandPath())
		case strings.HasPrefix(s.Name(), word):
			begun = append(begun, s.CommandPath())
		case 3*edits(s) <= max(len(word), len(s.Name())):
			near = append(near, s)
		}
	}
	if len(named) > 0 {
		return named
	}
	if len(begun) > 0 {
		return begun
	}
	slices.SortStableFunc(near, func(a, b *cobra.Command) int { return cmp.Compare(edits(a), edits(b)) })
	var out []string
	for _, s := range near {
		out = append(out, s.CommandPath())
	}
	return out
}

// NoArgs refuses words after a command that takes flags alone.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " -h lists its flags"
	c.Flags().Visit(func(f *pflag.Flag) { // --migrate 2: a flag that can stand alone takes its value after =
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			hint = fmt.Sprintf("write --%s=%s: a value of this flag follows =", f.Name, args[0])
		}
	})
	return Usage(hint, "%s: %q is not a flag, and the command takes no words", c.Name(), args[0])
}

// FlagError says in our words what is wrong with a flag, and adds what to type instead.
func FlagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " -h lists its flags"
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if near := nearestFlag(c, unknown.GetSpecifiedName()); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "output":
		err = fmt.Errorf("--output %q is unknown", invalid.GetValue())
		hint = "write --output " + strings.Join(strings.Split(invalid.GetFlag().Value.Type(), "|"),
			" or --output ")
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s %q is no %s", invalid.GetFlag().Name, invalid.GetValue(),
			flagKind(invalid.GetFlag()))
	}
	if c == c.Root() {
		return Usage(hint, "%w", err)
	}
	return Usage(hint, "%s: %w", c.Name(), err)
}

// flagKind says what a flag takes.
func flagKind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "uint64", "uint", "uint32", "uint16":
		return "whole number from 0, such as 1"
	case "int", "int32", "int64":
		return "whole number, such as 10"
	case "float64":
		return "number, such as 1.5"
	case "duration":
		return "time, such as 500ms or 10s"
	case "bool":
		return "choice: write true or false"
	}
	return "value of the kind " + f.Value.Type()
}

// nearestFlag returns the flag that was probably meant: the one whose name is at most two letters off,
// the first by name among equals.
func nearestFlag(c *cobra.Command, name string) string {
	if f := c.Flags().Lookup("output"); f != nil && (name == "json" || name == "table" || name == "csv") {
		return "-o " + name
	}
	best, least := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) { // sorted by name
		if d := topo.Edits(name[:min(len(name), 64)], f.Name); d < least {
			best, least = "--"+f.Name, d
		}
	})
	return best
}
