package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lightloom/controller"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
)

func newAccess() *cobra.Command {
	r := northbound.Context{Name: "--server"}
	c := &cobra.Command{Use: "access", Short: "Say who may do what at the controller", Args: unknownCommand,
		Long: "Access is granted by the name in a client certificate: viewer reads everything; tenant submits jobs and\n" +
			"reserves bandwidth, and ends its own alone; operator does both for everybody; admin also grants. All replicas\n" +
			"keep what is granted. Without --server the command asks the replica of this machine, where its user and root\n" +
			"are admins.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	fl := c.PersistentFlags()
	fl.StringArrayVar(&r.Servers, "server", nil, "HOST:PORT of a replica's northbound; may come several times")
	fl.StringVar(&r.Keys, "keys", "", "with --server: PEM file with your certificate and key")
	fl.StringVar(&r.Socket, "socket", "/var/lib/lightloom/api.sock",
		"without --server: socket of a replica of this "+
			"machine, for its user and root")
	c.AddCommand(newAccessList(&r), newAccessGrant(&r), newAccessRevoke(&r))
	return c
}

func newAccessList(r *northbound.Context) *cobra.Command {
	output := ""
	c := &cobra.Command{Use: "list", Short: "List what is granted", Args: noArgs,
		Example: "  lightloom cluster access list",
		RunE: func(c *cobra.Command, _ []string) error {
			return listAccess(c.Context(), r, c.OutOrStdout(), output)
		}}
	outputFlag(c, &output, []controller.Grant{})
	return c
}

func newAccessGrant(r *northbound.Context) *cobra.Command {
	return &cobra.Command{Use: "grant NAME ACCESS", Short: "Grant access, in place of what NAME had",
		Example: "  lightloom cluster access grant ann tenant\n" +
			"  lightloom cluster access grant bob viewer --server 192.0.2.11:7420 --keys client.pem",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 || !slices.Contains(controller.Accesses(), controller.Access(args[1])) {
				return usage("write lightloom cluster access grant NAME tenant", "grant: want a name and one of %v",
					controller.Accesses())
			}
			return grant(c.Context(), r, controller.Grant{Name: args[0], Access: controller.Access(args[1])})
		}}
}

func newAccessRevoke(r *northbound.Context) *cobra.Command {
	return &cobra.Command{Use: "revoke NAME", Short: "Take back what NAME was granted",
		Example: "  lightloom cluster access revoke ann",
		Args:    one("name", "write lightloom cluster access revoke NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return grant(c.Context(), r, controller.Grant{Name: args[0]})
		}}
}

// grant changes what a certificate's name is granted.
func grant(ctx context.Context, r *northbound.Context, g controller.Grant) error {
	client, err := r.Dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return northbound.WithStatus(client.SetAccess(ctx, g))
}

// listAccess prints what is granted.
func listAccess(ctx context.Context, r *northbound.Context, out io.Writer, output string) error {
	client, err := r.Dial()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.Access(ctx)
	if err != nil {
		return northbound.WithStatus(err)
	}
	if output == console.OutputJSON {
		return console.WriteJSON(out, all)
	}

	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\taccess") // Flush returns what any of them met
	for _, g := range all {
		fmt.Fprintf(w, "%s\t%s\n", g.Name, g.Access)
	}
	return w.Flush()
}
