package main

import (
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newCapture() *cobra.Command {
	var opt session.CaptureOptions
	c := &cobra.Command{
		Use:   "capture PORT -o FILE.pcapng",
		Short: "Capture packets and circuit changes at a port of the running fabric",
		Long: "PORT is NAME:NUMBER of a switch, such as tor0:3 or ocs:1, or the name of a host, such as h0-1. The\n" +
			"file is pcapng: interface 0 has the packets; changes of circuits are packets of an interface named\n" +
			"\"circuits\" and comments on the packets around them, both of which Wireshark shows. Segments that the\n" +
			"kernel handles as one (GSO) are one packet of up to 64 kB. The capture ends at --count, --duration\n" +
			"or Ctrl-C, and then prints how many packets were dropped because the file could not be written fast\n" +
			"enough.",
		Example: "  lightloom capture tor0:4 -o tor0.pcapng --duration 10s\n  lightloom capture h0-0 -o - --snaplen 96 | " +
			"wireshark -k -i -",
	}
	c.Flags().StringVarP(&opt.File, "output", "o", "", "file to write; - is standard output")
	c.Flags().IntVar(&opt.SnapLen, "snaplen", 65536, "bytes to keep of each packet: 14 to 262144")
	c.Flags().Uint64Var(&opt.Count, "count", 0, "stop after this many packets; 0: no limit")
	c.Flags().DurationVar(&opt.Duration, "duration", 0*time.Second, "stop after this time; 0: no limit")
	c.Flags().BoolVar(&opt.PacketsOnly, "packets-only", false,
		"leave changes of circuits out: tcpdump -r reads only "+
			"files of one kind of packets")
	c.ValidArgsFunction = completePorts
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom capture tor0:3 -o tor0.pcapng"
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
