package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/cmd/lightloom/internal/switches"
	"lightloom/lab/console"

	"github.com/spf13/cobra"
)

// newRoot returns the command tree, ready to be executed once. argv is the command line without the
// program's name.
func newRoot(a actions, argv []string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "lightloom",
		Short: "SDN controller for hybrid electrical and optical data centers",
		Long: "Lightloom places tasks, routes flows, sets their rates and schedules optical circuits, and programs\n" +
			"the switches to match. The same binary simulates and emulates the fabric. Where a command speaks of\n" +
			"the running fabric, it means the one that lightloom up runs.",
		Args:          unknownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	version := root.Flags().Bool("version", false, "print the version") // cobra's own prints it by text/template
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *version {
			_, err := fmt.Fprintln(c.OutOrStdout(), versionLine())
			return err
		}
		return c.Help()
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(argv)
	root.SetIn(stdin)
	root.SetOut(console.Text(stdout))
	root.SetErr(stderr)
	root.SetFlagErrorFunc(cli.FlagError)
	if a.replay != nil {
		root.AddCommand(newDemo(a, argv), newReplay(a, argv), newRerun(a), newSweep())
	}
	if a.up != nil {
		root.AddCommand(newUp(a, argv), newDown(), newPage())
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
	root.AddCommand(newCompare(), newReport(), newTopology(), newPaths(), newPolicy())
	root.AddCommand(newSwitch(), newController(), newReplica(), newCluster(), newKeys(), newMininet())
	root.AddCommand(switches.NewTarget(), switches.NewDevice(), switches.NewCircuit(),
		switches.NewWire())
	root.AddCommand(newTestbeds()...)
	root.AddCommand(newReserving()...)
	root.AddCommand(newSlice(), newExport(), newSlurm(a, argv), newKube(), newTraining(), newPeers())
	root.AddCommand(newApply(), newSubmit(), newJobs(), newCancel(), newContext())
	if a.experiment != nil {
		root.AddCommand(newExperiment(a))
	}
	root.AddCommand(newVersion(), newSchema(), newMan(), newDocs())
	addHidden(root)
	configFlag(root)
	group(root)
	completeHelp(root)
	return root
}

// groups are what the commands are for, in the order of the help.
func groups() []struct{ title, commands string } {
	return []struct{ title, commands string }{
		{"Compare policies:", "demo replay rerun sweep compare report experiment policy training peers"},
		{"Keep a fabric up:", "up down apply page exec status submit jobs cancel bandwidth reserve release slice fail " +
			"heal fibre capture audit slurm kube"},
		{"Control a lab:", "controller replica cluster context keys agent device circuit wire target switch"},
		{"Look at networks:", "topology paths export clab mininet"},
	}
}

// group sorts the commands of the help.
func group(root *cobra.Command) {
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}

// completeHelp adds cobra's own commands here, so that they refuse words that they do not know: cobra's
// answer them with a page of help and status 0.
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

// The helpers of package cli, under the names that commands use most.

func usage(hint, format string, args ...any) error { return cli.Usage(hint, format, args...) }

func unknownCommand(c *cobra.Command, args []string) error { return cli.UnknownCommand(c, args) }

// one refuses a command line that has not one argument.
func one(what, hint string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(hint, "%s: want one %s, got %d", c.Name(), what, len(args))
		}
		return nil
	}
}

func noArgs(c *cobra.Command, args []string) error { return cli.NoArgs(c, args) }

func oneOf(c *cobra.Command, flag, value string, known ...string) error {
	return cli.OneOf(c, flag, value, known...)
}

func outputFlag(c *cobra.Command, to *string, shape any, more ...string) {
	cli.OutputFlag(c, to, shape, more...)
}
