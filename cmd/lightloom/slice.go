package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/controller/api"
	"lightloom/controller/torus"
	"lightloom/lab/session"
	"lightloom/southbound/hint"
)

// newSlice returns the commands of slices.
func newSlice() *cobra.Command {
	c := &cobra.Command{
		Use:   "slice",
		Short: "Create, list, explain, move and delete slices of a pod or of racks",
		Long: "A slice is a torus of nodes of a pod's cubes, joined by circuits of its optical switches. The fabric is\n" +
			"a pod, such as pod:cubes=8,side=2. Of other fabrics with optical switches a slice is racks with circuits.",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSliceCreate(), newSliceList(), newSliceExplain(), newSliceWatch(), newSliceDelete(),
		newSliceDefragment())
	return c
}

const sliceHint = "write lightloom slice create train-1 --shape 2x2x4"

func newSliceCreate() *cobra.Command {
	var output, shape, owner string
	var cubes []int
	var hosts []string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "create NAME --shape SHAPE",
		Short: "Ask for a slice of a pod, or of racks",
		Long: "Asks for a slice. SHAPE is its sides in nodes, such as 2x2x4 or 4x4x8_twisted: a side that is whole\n" +
			"cubes is a ring. Where there is no room it waits; lightloom slice explain says for what.\n\n" +
			"On a fabric that is no pod SHAPE is racks and circuits of each, such as racks=4,circuits=2: a rack has one\n" +
			"to the next rack, one to the next but one, and so on.",
		Example: "  lightloom slice create train-1 --shape 2x2x4 --wait 10s\n" +
			"  lightloom slice create train-2 --shape 2x2x4 --cubes 5,2\n" +
			"  lightloom slice create shuffle --shape racks=4,circuits=2",
		Args: one("name", sliceHint),
	}
	to := reachFlags(c)
	outputFlag(c, &output, []session.SliceStatus{})
	c.Flags().StringVar(&shape, "shape", "", "sides in nodes, such as 2x2x4, or racks=4,circuits=2")
	c.Flags().IntSliceVar(&cubes, "cubes", nil, "cubes to place it on, in the order of its sides, or racks; default: any")
	c.Flags().StringSliceVar(&hosts, "hosts", nil, "on a fabric that is no pod: hosts whose racks circuits join, without "+
		"--shape to a ring")
	c.Flags().StringVar(&owner, "owner", "", "name of the owner, for display only")
	c.Flags().DurationVar(&wait, "wait", 0, "how long to wait until it is Ready; 0: not at all")
	c.RunE = func(c *cobra.Command, args []string) error {
		if shape == "" && hosts == nil {
			return usage(sliceHint, "slice create: want --shape, or --hosts of a fabric that is no pod")
		}
		var s torus.Shape
		if shape != "" {
			var err error
			if s, err = torus.ParseShape(shape); err != nil {
				return hint.Wrong(err)
			}
		}
		if hosts != nil && (shape != "" && s.Racks == 0 || cubes != nil) {
			return usage("write --hosts h0-0,h1-0,h2-0 --shape racks=3,circuits=2, or leave --shape away",
				"slice create: --hosts takes a shape of racks, and no --cubes")
		}
		if wait < 0 {
			return usage("write --wait 10s, or leave it away", "slice create: --wait %v is below zero", wait)
		}
		o := session.SliceOptions{To: *to, Output: output, Stdout: c.OutOrStdout()}
		return o.CreateSlice(c.Context(), api.SliceRequest{Name: args[0], Shape: s, Cubes: cubes, Hosts: hosts,
			Owner: owner}, wait)
	}
	return c
}

// sliceCommand returns a command about one slice, or about all where what is empty.
func sliceCommand(c *cobra.Command, what string, shape any,
	run func(session.SliceOptions, *cobra.Command, string) error) *cobra.Command {
	var output string
	c.Args = noArgs
	if what != "" {
		c.Args = one(what, "write lightloom slice "+c.Name()+" train-1, a name that lightloom slice list prints")
	}
	to := reachFlags(c)
	outputFlag(c, &output, shape)
	c.RunE = func(c *cobra.Command, args []string) error {
		return run(session.SliceOptions{To: *to, Output: output, Stdout: c.OutOrStdout()}, c, append(args, "")[0])
	}
	return c
}

func newSliceList() *cobra.Command {
	return sliceCommand(&cobra.Command{Use: "list", Short: "List the slices of a pod",
		Example: "  lightloom slice list"}, "", []session.SliceStatus{},
		func(o session.SliceOptions, c *cobra.Command, _ string) error { return o.ListSlices(c.Context()) })
}

func newSliceExplain() *cobra.Command {
	return sliceCommand(&cobra.Command{Use: "explain NAME",
		Short:   "Say why a slice is in its state, and what would have to end for it",
		Example: "  lightloom slice explain train-1"}, "name", session.SliceStatus{},
		func(o session.SliceOptions, c *cobra.Command, name string) error {
			return o.ExplainSlice(c.Context(), name)
		})
}

func newSliceWatch() *cobra.Command {
	return sliceCommand(&cobra.Command{Use: "watch", Short: "Print the slices of a pod whenever one changes",
		Example: "  lightloom slice watch"}, "", []session.SliceStatus{},
		func(o session.SliceOptions, c *cobra.Command, _ string) error { return o.WatchSlices(c.Context()) })
}

func newSliceDelete() *cobra.Command {
	return sliceCommand(&cobra.Command{Use: "delete NAME", Short: "End a slice of a pod",
		Example: "  lightloom slice delete train-1"}, "name", session.SliceStatus{},
		func(o session.SliceOptions, c *cobra.Command, name string) error {
			return o.DeleteSlice(c.Context(), name)
		})
}

func newSliceDefragment() *cobra.Command {
	var output string
	var apply bool
	c := &cobra.Command{
		Use:   "defragment SHAPE",
		Short: "List moves of slices that make room for a shape, or do them",
		Long: "Says which slices would have to move so that SHAPE fits. With --apply they are moved: their circuits go\n" +
			"dark and are set up elsewhere, and those of others stay lit. Slices of jobs and those that name cubes stay.",
		Example: "  lightloom slice defragment 2x4x4\n  lightloom slice defragment 2x4x4 --apply",
		Args:    one("shape", "write lightloom slice defragment 2x4x4"),
	}
	to := reachFlags(c)
	outputFlag(c, &output, session.Defragmented{})
	c.Flags().BoolVar(&apply, "apply", false, "move them; without it they are only listed")
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := torus.ParseShape(args[0])
		if err != nil {
			return hint.Wrong(err)
		}
		return session.SliceOptions{To: *to, Output: output, Stdout: c.OutOrStdout()}.Defragment(c.Context(), s, apply)
	}
	return c
}
