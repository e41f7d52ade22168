package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/pathmap/topo"
)

// usageError is a command line that cannot be carried out.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
func (e *usageError) Hint() string  { return e.hint }

func usage(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// newRoot returns the command tree, ready to be executed once. argv is the command line without the program's name.
func newRoot(a actions, argv []string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "lightloom",
		Short: "SDN controller for hybrid electrical and optical data centers",
		Long: "Lightloom places tasks, routes flows, sets their rates and schedules optical circuits, and programs\n" +
			"the switches to match. The same binary simulates and emulates the fabric. Where a command speaks of\n" +
			"the running fabric, it means the one that lightloom up runs.",
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(argv)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	if a.replay != nil {
		root.AddCommand(newDemo(a, argv), newReplay(a, argv), newRerun(a))
	}
	if a.up != nil {
		root.AddCommand(newUp(a, argv))
	}
	if a.exec != nil {
		root.AddCommand(newExec(a), newFail(), newHeal())
	}
	if a.status != nil {
		root.AddCommand(newStatus(a))
	}
	if a.doctor != nil {
		root.AddCommand(newDoctor(a))
	}
	root.AddCommand(newCompare(), newTopology(), newPaths(), newPolicy())
	root.AddCommand(newSwitch(), newController(), newReplica(), newCluster(), newKeys(), newMininet())
	root.AddCommand(newTarget(), newDevice(), newCircuit())
	root.AddCommand(newTestbeds()...)
	root.AddCommand(newReserving()...)
	root.AddCommand(newSubmit(), newCancel())
	if a.experiment != nil {
		root.AddCommand(newExperiment(a))
	}
	root.AddCommand(newVersion())
	addHidden(root)
	return root
}

// unknownCommand refuses words that name no command.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "lightloom -h lists the commands"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "lightloom " + strings.Join(near, ", or lightloom ")
	}
	return usage(hint, "unknown command %q", args[0])
}

// noArgs refuses words after a command that takes flags alone.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(c.CommandPath()+" -h lists its flags", "%s: %q is not a flag, and the command takes no words", c.Name(),
			args[0])
	}
	return nil
}

// flagError adds what to type instead.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " -h lists its flags"
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		if near := nearestFlag(c, name); near != "" {
			hint = "did you mean --" + near + "? " + hint
		}
	}
	return usage(hint, "%s: %w", c.Name(), err)
}

// nearestFlag returns the flag whose name is at most two letters off, the first by name among equals.
func nearestFlag(c *cobra.Command, name string) string {
	best, least := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) { // sorted by name
		if d := topo.Edits(name, f.Name); d < least {
			best, least = f.Name, d
		}
	})
	return best
}

// oneOf checks a flag that takes one of a few words.
func oneOf(c *cobra.Command, flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usage("write --"+flag+" "+strings.Join(known, " or --"+flag+" "), "%s: --%s %q is unknown", c.Name(), flag,
		value)
}
