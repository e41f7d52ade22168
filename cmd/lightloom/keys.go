package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/credentials"
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
		Example: "  lightloom keys list keys", Args: oneDirectory("lightloom keys list DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			return credentials.ListKeys(args[0], c.OutOrStdout(), output)
		}}
	outputFlag(c, &output, []inventory.Key{})
	return c
}

// lifeFlag adds --life to a command.
func lifeFlag(c *cobra.Command, life *time.Duration) {
	c.Flags().DurationVar(life, "life", inventory.KeyLife, "how long it is good for, such as 2160h for 90 days")
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
				return usage("write lightloom keys issue DIR client NAME", "issue: want a directory, one of %v and a name",
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
	c := &cobra.Command{Use: "renew DIR [NAME…]", Short: "Put new certificates in the place of these, or of all",
		Long: "Each gets a new key, and keeps its role, name and hosts. Bring the new files to the machines that use\n" +
			"them: nothing is restarted. The old certificates stay good until they end, or are revoked.",
		Example: "  lightloom keys renew prod\n  lightloom keys renew prod c0 client",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("write lightloom keys renew DIR", "renew: no directory is named")
			}
			return credentials.RenewKeys(args[0], args[1:], life, alone, c.OutOrStdout())
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
		Example: "  lightloom keys authority prod", Args: oneDirectory("lightloom keys authority DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			return credentials.ReplaceAuthority(args[0], life)
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
				return usage("write lightloom keys revoke DIR NAME", "revoke: want a directory, and a name or serial number")
			}
			return inventory.OpenKeyring(args[0], time.Now()).Revoke(args[1:])
		}}
}
