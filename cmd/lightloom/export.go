package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/northbound"
	"lightloom/lab/session"
	"lightloom/lab/slurm"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// newExport returns the commands that write a fabric for engines.
func newExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export",
		Short: "Write a fabric and its circuits for Slurm or topograph",
		Args:  unknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newExportSlurm(), newExportTopograph())
	return c
}

// exported says which network a command of export writes.
type exported struct {
	to            *northbound.Flags
	fabric, model string
}

func (e *exported) add(c *cobra.Command) {
	c.Args = one("file", "write lightloom export "+c.Name()+" FILE; - is the standard output")
	e.to = reachFlags(c)
	c.Flags().StringVar(&e.fabric, "fabric", "", "fabric, such as hybrid:racks=8,hosts=2, or a YAML file, without "+
		"circuits; default: that of the controller, with its circuits")
	c.Flags().StringVar(&e.model, "model", "", "in place of a fabric: model of topograph")
	c.MarkFlagsMutuallyExclusive("fabric", "model")
}

func (e *exported) network(ctx context.Context) (slurm.Network, error) {
	switch {
	case e.fabric != "":
		spec, err := topo.FromArgument(e.fabric)
		if err != nil {
			return slurm.Network{}, hint.Wrong(fmt.Errorf("export: %w", err))
		}
		f, err := topo.New(spec)
		if err != nil {
			return slurm.Network{}, hint.Wrong(fmt.Errorf("export: %w", err))
		}
		return slurm.Of(f), nil
	case e.model != "":
		b, err := yamlfile.Read(e.model)
		if err != nil {
			return slurm.Network{}, hint.Wrong(fmt.Errorf("export: %w", err))
		}
		n, err := slurm.ReadModel(e.model, b)
		return n, hint.Wrong(err)
	}
	client, err := session.Dial(*e.to)
	if err != nil {
		return slurm.Network{}, err
	}
	defer client.Close()
	return slurm.Ask(ctx, client)
}

// write writes a network to a file, whole or not at all, or to standard output.
func (e *exported) write(c *cobra.Command, file string, write func(*slurm.Network, io.Writer) error) error {
	n, err := e.network(c.Context())
	if err != nil {
		return err
	}
	to := func(w io.Writer) error { return hint.Wrong(write(&n, w)) }
	if file == "-" {
		return written("export", to(c.OutOrStdout()))
	}
	return written("export", writeFile(file, to))
}

func newExportSlurm() *cobra.Command {
	var e exported
	var o slurm.Options
	c := &cobra.Command{
		Use:   "slurm FILE",
		Short: "Write Slurm's topology file of a fabric and its circuits",
		Long: "Writes topology.yaml, or topology.conf for a Slurm before 25.05, as FILE's name tells; - is the standard\n" +
			"output, and gets YAML. Racks that circuits join are one block, one ring, or lie below one switch. Of a pod,\n" +
			"torus3d has a torus for each slice, and placements for every box within it, since Slurm refuses numbers of\n" +
			"nodes that have none.",
		Example: "  lightloom export slurm topology.yaml --plugin block\n" +
			"  lightloom export slurm topology.conf --plugin tree --fabric hybrid:racks=8,hosts=2",
	}
	e.add(c)
	c.Flags().StringVar(&o.Kind, "plugin", slurm.Block, "Slurm's topology: "+strings.Join(slurm.Kinds(), ", "))
	c.Flags().IntSliceVar(&o.Sizes, "sizes", nil, "of torus3d: numbers of nodes that jobs ask for; default: all "+
		"that make a box")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := slurm.CheckKind(o.Kind); err != nil {
			return hint.Wrong(err)
		}
		if err := oneOf(c, "plugin", o.Kind, slurm.Kinds()...); err != nil {
			return err
		}
		o.YAML = !strings.HasSuffix(args[0], ".conf")
		return e.write(c, args[0], func(n *slurm.Network, w io.Writer) error { return n.Write(w, o) })
	}
	return c
}

func newExportTopograph() *cobra.Command {
	var e exported
	labels := false
	c := &cobra.Command{
		Use:   "topograph FILE",
		Short: "Write a fabric and its circuits as topograph has them",
		Long: "Writes a model of topograph, or with --labels the labels that it gives Kubernetes nodes. Racks that\n" +
			"circuits join are one accelerator domain. lightloom export slurm --model FILE reads such a model.",
		Example: "  lightloom export topograph model.yaml\n  lightloom export topograph - --labels",
	}
	e.add(c)
	c.Flags().BoolVar(&labels, "labels", false, "write nodes with labels in place of a model")
	c.RunE = func(c *cobra.Command, args []string) error {
		write := (*slurm.Network).WriteModel
		if labels {
			write = (*slurm.Network).WriteLabels
		}
		return e.write(c, args[0], write)
	}
	return c
}
