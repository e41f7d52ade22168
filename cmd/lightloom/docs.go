package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lightloom"
	"lightloom/cmd/lightloom/internal/site"
	"lightloom/lab/session"
)

func newDocs() *cobra.Command {
	var listen, to string
	c := &cobra.Command{
		Use:   "docs",
		Short: "Serve the documentation of this version to a browser",
		Long: "Serves the documentation at a loopback address until Ctrl-C; it can be searched, and needs no network.\n" +
			"With --to it writes plain files, which need no server either.",
		Example: "  lightloom docs\n  lightloom docs --to site",
		Args:    noArgs,
	}
	c.Flags().StringVar(&listen, "listen", "", "loopback address (default a free port of 127.0.0.1)")
	c.Flags().StringVar(&to, "to", "", "write the pages to this directory in place of serving them")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := site.Build(lightloom.Documents)
		if err != nil {
			return err
		}
		if to != "" {
			if err := s.Write(to); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "wrote %s/index.html and %d more files\n", to, len(s)-1)
			return err
		}
		ln, err := session.ListenLoopback("docs", "--listen", listen)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "documentation: http://%s/, until Ctrl-C\n",
			ln.Addr()); err != nil {
			return err
		}
		return s.Serve(c.Context(), ln)
	}
	return c
}
