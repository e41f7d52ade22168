package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/session"
)

func newCapture() *cobra.Command {
	var opt session.CaptureOptions
	c := &cobra.Command{
		Use:   "capture PORT -o FILE.pcapng",
		Short: "Write what passes a port of the fabric that `lightloom up` keeps, with what circuits did meanwhile",
		Long: "PORT is NAME-NUMBER of a switch, such as tor0-3 or ocs-1, or the name of a host, such as h0-1. The file is " +
			"pcapng:\n" +
			"packets are of its first interface, and changes of circuits stand between them, of an interface \"circuits\", " +
			"as\n" +
			"lines that Wireshark lists and as packet comments. Segments that the kernel carries whole are one packet of up " +
			"to\n" +
			"64 kB. Ends at --count, --duration or Ctrl-C, and then says how many packets were dropped because the file " +
			"could\n" +
			"not keep up.",
		Example: "  lightloom capture tor0-4 -o tor0.pcapng --duration 10s\n  lightloom capture h0-0 -o - --snaplen 96 | " +
			"wireshark -k -i -",
	}
	c.Flags().StringVarP(&opt.File, "output", "o", "", "file to write; - is the standard output")
	c.Flags().IntVar(&opt.SnapLen, "snaplen", 65536, "bytes kept of a packet: 14 to 262144")
	c.Flags().Uint64Var(&opt.Count, "count", 0, "end after so many packets; 0: no bound")
	c.Flags().DurationVar(&opt.Duration, "duration", 0*time.Second, "end after so long; 0: no bound")
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom capture tor0-3 -o tor0.pcapng"
		switch {
		case len(args) != 1:
			return usage(hint, "capture: %d ports are named: one file holds one port", len(args))
		case opt.File == "":
			return usage(hint, "capture: there is no file to write: add -o FILE.pcapng")
		}
		opt.Port = args[0]
		opt.Stdout, opt.Stderr = c.OutOrStdout(), c.ErrOrStderr()
		return session.Capture(c.Context(), opt)
	}
	return c
}
