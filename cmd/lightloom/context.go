package main

import (
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/northbound"
)

func newContext() *cobra.Command {
	c := &cobra.Command{Use: "context", Short: "Name controllers, and choose the one that commands mean",
		Args: unknownCommand,
		Long: "A context is a controller and how it is reached. Commands mean the current one, unless --context names\n" +
			"another or --server gives an address. The context up is that of the fabric that lightloom up runs. Contexts\n" +
			"are kept in lightloom/contexts.yaml of your configuration directory, or in the file that LIGHTLOOM_CONTEXTS\n" +
			"names.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newContextList(), newContextUse(), newContextAdd(), newContextRemove())
	return c
}

func newContextList() *cobra.Command {
	output := ""
	c := &cobra.Command{Use: "list", Short: "List the contexts", Args: noArgs,
		Example: "  lightloom context list"}
	outputFlag(c, &output, []northbound.Context{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		all, err := northbound.List()
		switch {
		case err != nil:
			return err
		case output == console.OutputJSON:
			return console.WriteJSON(c.OutOrStdout(), all)
		}
		t := console.NewTable(c.OutOrStdout(), "context", "current", "servers", "keys")
		for _, x := range all {
			current := ""
			if x.Current {
				current = "*"
			}
			t.Row(x.Name, current, strings.Join(x.Servers, " ")+x.Socket, x.Keys)
		}
		return t.Print()
	}
	return c
}

func newContextUse() *cobra.Command {
	return &cobra.Command{Use: "use NAME", Short: "Make a context the current one",
		Example: "  lightloom context use lab",
		Args:    one("name", "write lightloom context use NAME"), ValidArgsFunction: completeContexts,
		RunE: func(_ *cobra.Command, args []string) error { return northbound.Use(args[0]) }}
}

func newContextAdd() *cobra.Command {
	var x northbound.Context
	c := &cobra.Command{Use: "add NAME --server HOST:PORT --keys FILE", Short: "Add a context, or change one",
		Example: "  lightloom context add lab --server 192.0.2.11:7420 --server 192.0.2.12:7420 --keys client.pem",
		Args:    one("name", "write lightloom context add NAME --server HOST:PORT --keys FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			x.Name = args[0]
			return northbound.Add(x)
		}}
	c.Flags().StringArrayVar(&x.Servers, "server", nil,
		"HOST:PORT of a replica's northbound; may come several times")
	c.Flags().StringVar(&x.Keys, "keys", "", "PEM file with your certificate and key")
	c.Flags().StringVar(&x.Socket, "socket", "",
		"in place of --server: socket of a replica of this machine, for its "+
			"user and root")
	return c
}

func newContextRemove() *cobra.Command {
	return &cobra.Command{Use: "remove NAME", Short: "Forget a context",
		Example: "  lightloom context remove lab",
		Args:    one("name", "write lightloom context remove NAME"), ValidArgsFunction: completeContexts,
		RunE: func(_ *cobra.Command, args []string) error { return northbound.Remove(args[0]) }}
}

func completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := northbound.List()
	if err != nil || len(args) > 0 {
		return only(nil)
	}
	var names []string
	for _, x := range all {
		names = append(names, x.Name)
	}
	return only(names)
}
