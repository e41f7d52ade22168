package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
		Version:       versionLine(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
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
		root.AddCommand(newUp(a, argv), newDown())
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
	root.AddCommand(newSubmit(), newJobs(), newCancel())
	if a.experiment != nil {
		root.AddCommand(newExperiment(a))
	}
	root.AddCommand(newVersion(), newSchema(), newMan())
	addHidden(root)
	completeHelp(root)
	return root
}

// completeHelp adds cobra's own commands here, so that they refuse words that they do not know: cobra's answer them with
// a page of help and status 0.
func completeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return unknownCommand(found, rest)
				}
				return found.Help()
			}
		case "completion":
			c.Args, c.RunE = unknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// oneOf checks a flag that takes one of a few words.
func oneOf(c *cobra.Command, flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usage("write --"+flag+" "+strings.Join(known, " or --"+flag+" "), "%s: --%s %q is unknown", c.Name(), flag,
		value)
}
