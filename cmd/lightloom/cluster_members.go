package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lightloom/controller/api"
	"lightloom/controller/server"
	"lightloom/lab/console"
)

// ofReplica adds the flag that names a replica's file, whose keys and addresses a command uses.
func ofReplica(c *cobra.Command) *string {
	return c.Flags().String("config", "/etc/lightloom/replica.yaml",
		"a replica's file: its keys and addresses are used")
}

func newClusterMembers() *cobra.Command {
	output, read := "", api.Read{}
	c := &cobra.Command{
		Use:   "members",
		Short: "List the replicas of a running cluster",
		Long: "Run it on a replica's machine. A member without a vote takes the log, and gets its vote once it holds it. " +
			"The feature\nlevel is that of the cluster, and of each member the newest that its version knows.",
		Example: "  lightloom cluster members --config /etc/lightloom/replica.yaml",
		Args:    noArgs,
	}
	config := ofReplica(c)
	outputFlag(c, &output, api.Members{})
	c.Flags().BoolVar(&read.Linearizable, "linearizable", false,
		"ask the leader how far the log is: all that was "+
			"acknowledged before is in the answer")
	c.RunE = func(c *cobra.Command, _ []string) error {
		all, err := server.ReadMembers(c.Context(), *config, read)
		if err != nil {
			return err
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), all)
		}
		return printMembers(c, all)
	}
	return c
}

func printMembers(c *cobra.Command, all *server.ClusterMembers) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "replica\traft\tnorthbound\trole\tlevel")
	for _, m := range all.Members.Members {
		role := "no vote"
		switch {
		case m.ID == all.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", m.ID, m.Raft, m.API, role, m.Level)
	}
	fmt.Fprintf(w, "cluster %s, feature level %d; %s read at entry %d\n", all.Cluster, all.Level,
		all.Read.Kind,
		all.Read.Index)
	return w.Flush()
}

func newClusterAdd() *cobra.Command {
	opt := server.AddOptions{}
	c := &cobra.Command{
		Use:   "add NAME=HOST [--authority FILE --out DIR]",
		Short: "Add a replica to a running cluster",
		Long: "Run it on a replica's machine. With --authority it first writes DIR/NAME/etc and DIR/NAME/state, for " +
			"/etc/lightloom\nand the state directory of the new machine. Once the replica runs there it takes the log, and " +
			"gets a vote when it\nholds it: lightloom cluster members shows that. Add one at a time.",
		Example: "  lightloom cluster add c3=192.0.2.14 --authority authority.pem --out new",
		Args:    one("replica", "write lightloom cluster add c3=192.0.2.14"),
	}
	config := ofReplica(c)
	c.Flags().StringVar(&opt.Authority, "authority", "",
		"the cluster's authority.pem, to issue the replica's keys")
	c.Flags().StringVar(&opt.Out, "out", ".", "with --authority: directory for what goes to the new machine")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt.Config, opt.Replica = *config, args[0]
		if err := server.AddReplica(c.Context(), opt); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), "added: start it, and lightloom cluster members shows when it has its vote")
		return err
	}
	return c
}

func newClusterRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Take a replica out of a running cluster",
		Long: "Run it on a replica's machine. The replica need not run; if it does it ends by itself. Make sure that a " +
			"majority of the\nothers runs. Its certificate stays good.",
		Example: "  lightloom cluster remove c2",
		Args:    one("replica", "write lightloom cluster remove c2"),
	}
	config := ofReplica(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := server.RemoveReplica(c.Context(), *config, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "removed: lightloom cluster destroy deletes the log of %s\n", args[0])
		return err
	}
	return c
}

func newClusterRaiseLevel() *cobra.Command {
	c := &cobra.Command{
		Use:   "raise-level",
		Short: "End an upgrade: let a running cluster use what its newer version adds",
		Long: "Raises the cluster's feature level to the newest that all members know. Until then each replica can go " +
			"back to the\nversion before; afterwards none can.",
		Example: "  lightloom cluster raise-level",
		Args:    noArgs,
	}
	config := ofReplica(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		level, err := server.RaiseLevel(c.Context(), *config)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "feature level %d\n", level)
		return err
	}
	return c
}

func newClusterBackup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write what a running cluster holds to a file",
		Long: "Run it on a replica's machine. All that was acknowledged before is in the file, with the digest of the " +
			"state,\nand the jobs that ended within the retention.",
		Example: "  lightloom cluster backup monday.backup",
		Args:    one("file", "write lightloom cluster backup FILE"),
	}
	config := ofReplica(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		b, err := server.BackUp(c.Context(), *config, args[0])
		if err != nil {
			return err
		}
		return printBackup(c, b)
	}
	return c
}

func newClusterRestore() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Begin a cluster with a backup",
		Long: "Run it on each replica's machine while none runs, with the same file. It fills the state directory, which " +
			"must be empty\n(lightloom cluster destroy). The restored cluster is another than before: it has a new id, and " +
			"switches have had one\ncluster more; the command says what to write into replica.yaml.",
		Example: "  lightloom cluster restore monday.backup",
		Args:    one("file", "write lightloom cluster restore FILE"),
	}
	config := ofReplica(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		b, err := server.RestoreService(args[0], *config)
		if err != nil {
			return err
		}
		return printBackup(c, b)
	}
	return c
}

func printBackup(c *cobra.Command, b *server.Backup) error {
	_, err := fmt.Fprintf(c.OutOrStdout(), "cluster %s at entry %d, %d bytes, digest %s, %s that ended before\n",
		b.Cluster, b.Index, b.Size, b.Digest, console.Count(b.Ended, "job"))
	return err
}
