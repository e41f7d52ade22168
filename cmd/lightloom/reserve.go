package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/controller/api"
	"lightloom/lab/northbound"
	"lightloom/lab/session"
	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
)

// reachFlags adds the flags that say which controller a command means.
func reachFlags(c *cobra.Command) *northbound.Flags {
	to := &northbound.Flags{}
	to.Add(c.Flags())
	return to
}

// newReserving returns the commands of an outside scheduler: list the bandwidth between hosts, reserve
// some, release it.
func newReserving() []*cobra.Command {
	return []*cobra.Command{newBandwidth(), newReserve(), newRelease()}
}

func newBandwidth() *cobra.Command {
	var output, file string
	c := &cobra.Command{
		Use:   "bandwidth HOST HOST [HOST HOST…]",
		Short: "Show the bandwidth between hosts of the running fabric",
		Long: "Shows for each pair of hosts, on the best path, how much can be reserved now and how much one more\n" +
			"flow would get beside the host flows of jobs. --pairs FILE has two names per line.",
		Example: "  lightloom bandwidth h0-0 h1-0\n  lightloom bandwidth --pairs pairs.txt -o json",
	}
	to := reachFlags(c)
	outputFlag(c, &output, session.ReserveReply{})
	c.Flags().StringVar(&file, "pairs", "", "file with two host names per line")
	c.RunE = func(c *cobra.Command, args []string) error {
		pairs, err := hostPairs(args, file)
		if err != nil {
			return err
		}
		return session.Reserve(c.Context(), session.ReserveOptions{To: *to, Pairs: pairs, Output: output,
			Stdout: c.OutOrStdout()})
	}
	return c
}

// hostPairs reads pairs from words, and from a file if one is named.
func hostPairs(args []string, file string) ([]api.HostPair, error) {
	const hint = "write lightloom bandwidth h0-0 h1-0, or --pairs FILE"
	if len(args)%2 != 0 {
		return nil, usage(hint, "bandwidth: %d names make no pairs", len(args))
	}
	var pairs []api.HostPair
	for i := 0; i < len(args); i += 2 {
		pairs = append(pairs, api.HostPair{Src: args[i], Dst: args[i+1]})
	}
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read pairs: %w", err)
		}
		defer f.Close()
		in := bufio.NewScanner(plaintext.NewReader(f))
		for line := 1; in.Scan(); line++ {
			words := strings.Fields(in.Text())
			switch {
			case len(words) == 0 || strings.HasPrefix(words[0], "#"):
			case len(words) != 2:
				return nil, usage("write two names of hosts a line", "read pairs: %s:%d:1: %d words", file,
					line, len(words))
			case len(pairs) == api.MaxPairs:
				return nil, usage("cut the file", "read pairs: %s:%d:1: more than %d pairs", file,
					line, api.MaxPairs)
			default:
				pairs = append(pairs, api.HostPair{Src: words[0], Dst: words[1]})
			}
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read pairs: %s: %w", file, plaintext.LineError(err))
		}
	}
	if len(pairs) == 0 {
		return nil, usage(hint, "bandwidth: there are no pairs")
	}
	return pairs, nil
}

func newReserve() *cobra.Command {
	var output, rate, owner string
	var lifetime time.Duration
	c := &cobra.Command{
		Use:   "reserve HOST HOST --rate RATE",
		Args:  cobra.ArbitraryArgs,
		Short: "Reserve bandwidth between two hosts of the running fabric",
		Long: "Reserves bandwidth for your own traffic on the path with the most left. Jobs are placed, routed and\n" +
			"paced around it; they keep a tenth of each link. Your packets take the path if they carry the DSCP\n" +
			"that is printed.",
		Example: "  lightloom reserve h0-0 h1-0 --rate 20Mbps --lifetime 10m\n  lightloom release 1",
	}
	c.AddCommand(newReserveList())
	c.ValidArgsFunction = completeHosts(2)
	to := reachFlags(c)
	outputFlag(c, &output, session.ReserveReply{})
	c.Flags().StringVar(&rate, "rate", "", "rate at layer 2, such as 20Mbps")
	c.Flags().StringVar(&owner, "owner", "", "name of the owner, for display only")
	c.Flags().DurationVar(&lifetime, "lifetime", 0, "lifetime of the reservation; 0: until it is released")
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom reserve h0-0 h1-0 --rate 20Mbps"
		r, err := pathmap.ParseRate(rate)
		switch {
		case len(args) != 2:
			return usage(hint, "reserve: %d names where two hosts are due", len(args))
		case rate == "":
			return usage(hint, "reserve: there is no --rate")
		case err != nil:
			return usage(hint, "reserve: --rate: %w", err)
		case r <= 0:
			return usage(hint, "reserve: --rate %s is not above zero", rate)
		case lifetime < 0:
			return usage("write --lifetime 10m, or leave it away",
				"reserve: --lifetime %v is below zero", lifetime)
		}
		return session.Reserve(c.Context(), session.ReserveOptions{To: *to, Output: output,
			Stdout: c.OutOrStdout(),
			Request: &api.BandwidthRequest{Owner: owner, Pair: api.HostPair{Src: args[0], Dst: args[1]}, Rate: r,
				Lifetime: lifetime}})
	}
	return c
}

func newReserveList() *cobra.Command {
	var output string
	c := &cobra.Command{Use: "list", Short: "List the bandwidth reservations of the running fabric",
		Example: "  lightloom reserve list", Args: noArgs}
	to := reachFlags(c)
	outputFlag(c, &output, []session.ReservationStatus{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		return session.ListReservations(c.Context(), *to, output, c.OutOrStdout())
	}
	return c
}

func newRelease() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "release NUMBER",
		Short:   "Release a bandwidth reservation",
		Example: "  lightloom release 1",
	}
	to := reachFlags(c)
	outputFlag(c, &output, session.ReserveReply{})
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom release 1, a number that lightloom reserve list prints"
		if len(args) != 1 {
			return usage(hint, "release: want one number, got %d", len(args))
		}
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return usage(hint, "release: %q is no number from 1", args[0])
		}
		return session.Reserve(c.Context(), session.ReserveOptions{To: *to, Release: id, Output: output,
			Stdout: c.OutOrStdout()})
	}
	return c
}
