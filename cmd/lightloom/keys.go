package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

func newKeys() *cobra.Command {
	c := &cobra.Command{Use: "keys", Short: "List, issue, renew and revoke certificates", Args: unknownCommand,
		Long: "DIR is a directory that lightloom controller keys or lightloom cluster init has made, with the authority\n" +
			"in DIR/authority.pem. Programs read their keys and DIR/revoked.pem again within seconds of a change, and\n" +
			"warn of a certificate when a fifth of its life is left.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newKeysList(), newKeysIssue(), newKeysRenew(), newKeysRevoke(), newKeysAuthority())
	return c
}

func newKeysList() *cobra.Command {
	output := ""
	c := &cobra.Command{Use: "list DIR", Short: "List certificates, and what is to be done about them",
		Example: "  lightloom keys list keys", Args: one("directory", "write lightloom keys list DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			return listKeys(args[0], c.OutOrStdout(), output)
		}}
	outputFlag(c, &output, []inventory.Key{})
	return c
}

// lifeFlag adds --life to a command.
func lifeFlag(c *cobra.Command, life *time.Duration) {
	c.Flags().DurationVar(life, "life", inventory.KeyLife,
		"how long it is good for, such as 2160h for 90 days")
}

func newKeysIssue() *cobra.Command {
	var hosts []string
	var life time.Duration
	c := &cobra.Command{Use: "issue DIR ROLE NAME", Short: "Issue a certificate with its key, as DIR/NAME.pem",
		Long: "ROLE is controller, switch, agent or client. What the holder of a client certificate may do is granted by\n" +
			"its name: lightloom cluster access.",
		Example: "  lightloom keys issue prod client ann --life 2160h",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 3 || !slices.Contains(pki.Roles(), pki.Role(args[1])) {
				return usage("write lightloom keys issue DIR client NAME",
					"issue: want a directory, one of %v and a name",
					pki.Roles())
			}
			return inventory.OpenKeyring(args[0], time.Now()).Issue(pki.Role(args[1]), args[2], hosts, life)
		}}
	c.Flags().StringArrayVar(&hosts, "host", nil, "name or address of a server; default: localhost")
	lifeFlag(c, &life)
	return c
}

func newKeysRenew() *cobra.Command {
	var life time.Duration
	alone := false
	c := &cobra.Command{Use: "renew DIR [NAME…]",
		Short: "Put new certificates in the place of these, or of all",
		Long: "Each gets a new key, and keeps its role, name and hosts. Bring the new files to the machines that use\n" +
			"them: nothing is restarted. The old certificates stay good until they end, or are revoked.",
		Example: "  lightloom keys renew prod\n  lightloom keys renew prod c0 client",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("write lightloom keys renew DIR", "renew: no directory is named")
			}
			return renewKeys(args[0], args[1:], life, alone, c.OutOrStdout())
		}}
	lifeFlag(c, &life)
	c.Flags().BoolVar(&alone, "alone", false, "trust this authority and no older one")
	return c
}

func newKeysAuthority() *cobra.Command {
	life := inventory.AuthorityLife
	c := &cobra.Command{Use: "authority DIR", Short: "Make another authority in the place of DIR's",
		Long: "All parties trust both from then on, and keep their certificates. Bring the new files to their machines,\n" +
			"then renew all certificates and bring these, and then renew all with --alone. The old authority becomes\n" +
			"DIR/authority-old-DATE.pem; delete it in the end.",
		Example: "  lightloom keys authority prod", Args: one("directory", "write lightloom keys authority DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			return replaceAuthority(args[0], life)
		}}
	c.Flags().DurationVar(&life, "life", life, "how long it is good for")
	return c
}

func newKeysRevoke() *cobra.Command {
	return &cobra.Command{Use: "revoke DIR NAME|SERIAL…", Short: "Have certificates refused before they end",
		Long: "Adds to DIR/revoked.pem, a list that the authority signs. Bring it to every machine: connections of the\n" +
			"holder end within seconds. A name means the certificate that DIR holds of it now; for one that was renewed\n" +
			"since, write its serial number.",
		Example: "  lightloom keys revoke prod ann",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("write lightloom keys revoke DIR NAME",
					"revoke: want a directory, and a name or serial number")
			}
			return inventory.OpenKeyring(args[0], time.Now()).Revoke(args[1:])
		}}
}

// listKeys prints the keys of a directory.
func listKeys(dir string, out io.Writer, output string) error {
	now := time.Now()
	all, err := inventory.OpenKeyring(dir, now).List()
	if err != nil {
		return err
	}
	if output == console.OutputJSON {
		return console.WriteJSON(out, all)
	}
	return printKeys(out, all, now)
}

// renewKeys renews keys of a directory and prints the new ones.
func renewKeys(dir string, names []string, life time.Duration, alone bool, out io.Writer) error {
	now := time.Now()
	done, err := inventory.OpenKeyring(dir, now).Renew(names, life, alone)
	if err != nil {
		return err
	}
	return printKeys(out, done, now)
}

// replaceAuthority replaces the authority of a directory of keys, and keeps the old one beside it.
func replaceAuthority(dir string, life time.Duration) error {
	now := time.Now()
	return inventory.OpenKeyring(dir, now).Replace("authority-old-"+now.UTC().Format("20060102T150405Z")+".pem", life)
}

func printKeys(out io.Writer, all []inventory.Key, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\trole\tuntil\tdays left\tstate\tserial") // Flush returns what any of them met
	for _, k := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\t%s\n", k.Name, k.Role, k.Until.Format(time.DateOnly),
			k.Until.Sub(now).Hours()/24, k.State, k.Serial)
	}
	return w.Flush()
}
