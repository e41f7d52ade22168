package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/controller/server"
	"lightloom/pathmap/topo"
)

func newCluster() *cobra.Command {
	c := &cobra.Command{Use: "cluster", Short: "Found a controller's cluster, take a replica in, and destroy its logs",
		Args: unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newClusterInit(), newClusterDestroy())
	return c
}

func newClusterInit() *cobra.Command {
	fabric, replicas := "", 3
	c := &cobra.Command{
		Use:   "init DIR --fabric FABRIC",
		Short: "Found a cluster of replicas",
		Long: "Makes a state directory for each replica in DIR, for lightloom up --state DIR and lightloom controller run " +
			"--state DIR.",
		Example: "  lightloom cluster init state --fabric hybrid:racks=4,hosts=2",
		Args:    oneDirectory("lightloom cluster init DIR --fabric FABRIC"),
		RunE: func(c *cobra.Command, args []string) error {
			if fabric == "" {
				return usage("add --fabric hybrid:racks=4,hosts=2", "init: there is no fabric")
			}
			spec, err := topo.FromArgument(fabric)
			if err != nil {
				return err
			}
			if err := checkReplicas(replicas); err != nil {
				return err
			}
			return server.InitState(args[0], replicas, spec.String())
		},
	}
	c.Flags().StringVar(&fabric, "fabric", "", "such as hybrid:racks=4,hosts=2, or a YAML file")
	c.Flags().IntVar(&replicas, "replicas", replicas, "on this machine: 1, 3, 5 or 7")
	return c
}

func newClusterDestroy() *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use:   "destroy DIR --yes",
		Short: "Delete the logs of replicas for good",
		Long: "DIR is the state directory of one replica, or holds those of all. Directories that a replica uses, or that " +
			"hold\n" +
			"anything but a log, are refused. Without --yes it says what would be deleted.",
		Example: "  lightloom cluster destroy state",
		Args:    oneDirectory("lightloom cluster destroy DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := server.DestroyState(args[0], yes)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			verb := "deleted"
			if !yes {
				verb = "would delete"
			}
			for _, dir := range d.Dirs {
				fmt.Fprintf(out, "%s %s\n", verb, dir)
			}
			fmt.Fprintf(out, "%d logs of cluster %s, %d bytes\n", len(d.Dirs), d.Cluster, d.Bytes)
			if !yes {
				return usage("lightloom cluster destroy "+args[0]+" --yes", "destroy: nothing was deleted")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "delete them")
	return c
}

// oneDirectory refuses a command line that does not name one directory.
func oneDirectory(write string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("write "+write, "%s: %d directories are named", c.Name(), len(args))
		}
		return nil
	}
}
