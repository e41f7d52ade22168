package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/southbound/pki"
)

// northbound is how a command reaches a controller's northbound.
type northbound struct {
	servers []string
	keys    string
	socket  string
}

func (r *northbound) flags(c *cobra.Command) {
	fl := c.PersistentFlags()
	fl.StringArrayVar(&r.servers, "server", nil, "HOST:PORT of a replica's northbound; may come several times")
	fl.StringVar(&r.keys, "keys", "", "with --server: PEM file with your certificate and key")
	fl.StringVar(&r.socket, "socket", "/var/lib/lightloom/api.sock", "without --server: socket of a replica of this "+
		"machine, for its user and root")
}

func (r *northbound) dial() (*api.Client, error) {
	if len(r.servers) == 0 {
		return api.DialLocal(r.socket), nil
	}
	if r.keys == "" {
		return nil, usage("add --keys client.pem", "--server without --keys: the controller asks for a certificate")
	}
	id, err := pki.ReadFile(r.keys)
	if err != nil {
		return nil, err
	}
	return api.Dial(r.servers, id.Client("", pki.Controller))
}

func newAccess() *cobra.Command {
	var r northbound
	c := &cobra.Command{Use: "access", Short: "Say who may do what at the controller", Args: unknownCommand,
		Long: "Access is granted by the name in a client certificate: viewer reads everything; tenant submits jobs and\n" +
			"reserves bandwidth, and ends its own alone; operator does both for everybody; admin also grants. All replicas\n" +
			"keep what is granted. Without --server the command asks the replica of this machine, where its user and root\n" +
			"are admins.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	r.flags(c)
	c.AddCommand(newAccessList(&r), newAccessGrant(&r), newAccessRevoke(&r))
	return c
}

func newAccessList(r *northbound) *cobra.Command {
	output := ""
	c := &cobra.Command{Use: "list", Short: "List what is granted", Args: noArgs,
		Example: "  lightloom cluster access list",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf(c, "output", output, console.OutputTable, console.OutputJSON); err != nil {
				return err
			}
			client, err := r.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			all, err := client.Access(c.Context())
			if err != nil {
				return exitOf(err)
			}
			if output == console.OutputJSON {
				return writeJSON(c.OutOrStdout(), all)
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\taccess") // Flush returns what any of them met
			for _, g := range all {
				fmt.Fprintf(w, "%s\t%s\n", g.Name, g.Access)
			}
			return w.Flush()
		}}
	c.Flags().StringVarP(&output, "output", "o", console.OutputTable, "output format: table or json")
	return c
}

func newAccessGrant(r *northbound) *cobra.Command {
	return &cobra.Command{Use: "grant NAME ACCESS", Short: "Grant access, in place of what NAME had",
		Example: "  lightloom cluster access grant ann tenant\n" +
			"  lightloom cluster access grant bob viewer --server 192.0.2.11:7420 --keys client.pem",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 || !slices.Contains(controller.Accesses(), controller.Access(args[1])) {
				return usage("write lightloom cluster access grant NAME tenant", "grant: want a name and one of %v",
					controller.Accesses())
			}
			return r.set(c, controller.Grant{Name: args[0], Access: controller.Access(args[1])})
		}}
}

func newAccessRevoke(r *northbound) *cobra.Command {
	return &cobra.Command{Use: "revoke NAME", Short: "Take back what NAME was granted",
		Example: "  lightloom cluster access revoke ann",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("write lightloom cluster access revoke NAME", "revoke: %d names", len(args))
			}
			return r.set(c, controller.Grant{Name: args[0]})
		}}
}

func (r *northbound) set(c *cobra.Command, g controller.Grant) error {
	client, err := r.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return exitOf(client.SetAccess(c.Context(), g))
}

// exitOf gives an error of the northbound the exit status of its code.
func exitOf(err error) error {
	if err == nil {
		return nil
	}
	return &console.ExitError{Code: api.CodeOf(err).ExitStatus(), Err: err}
}
