package main

import (
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/controller/server"
)

// replicaUnit is the service's systemd unit.
//
//go:embed lightloom-replica.service
var replicaUnit string

func newReplica() *cobra.Command {
	c := &cobra.Command{Use: "replica", Short: "Run one replica of a controller on this machine",
		Args: unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newReplicaRun(), newReplicaUnit())
	return c
}

func newReplicaRun() *cobra.Command {
	config := ""
	c := &cobra.Command{
		Use:   "run --config FILE",
		Short: "Be one replica of a cluster on several machines, until Ctrl-C or SIGTERM",
		Long: "FILE is what lightloom cluster init has written for this replica: who its peers are and where, its state " +
			"directory,\n" +
			"keys, fabric, inventory and policy. The state directory must be the one that cluster init has made for the " +
			"replica, or\n" +
			"lightloom cluster join. Its log stays there when the replica ends.",
		Example: "  lightloom replica run --config /etc/lightloom/replica.yaml",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if config == "" {
				return usage("add --config /etc/lightloom/replica.yaml", "run: --config is missing")
			}
			return server.RunService(c.Context(), config, c.ErrOrStderr(), func(s server.Service) {
				fmt.Fprintf(c.OutOrStdout(), "replica %s of cluster %s: raft at %s, northbound at %s\n",
					s.Replica, s.Cluster,
					s.Raft, s.API)
			})
		},
	}
	c.Flags().StringVar(&config, "config", "", "the replica's file")
	return c
}

func newReplicaUnit() *cobra.Command {
	return &cobra.Command{
		Use:   "unit",
		Short: "Print the replica's systemd unit",
		Example: "  lightloom replica unit | sudo tee /etc/systemd/system/lightloom-replica.service\n  sudo systemctl " +
			"enable --now lightloom-replica",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), replicaUnit)
			return err
		},
	}
}
