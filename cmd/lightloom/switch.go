package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/switches"
	"lightloom/emulator/switchd/standalone"
)

func newSwitch() *cobra.Command {
	c := &cobra.Command{Use: "switch", Short: "Run one switch on existing network interfaces",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newSwitchRun())
	return c
}

// switchFlags are the flags of switch run that are not themselves fields of its Config.
type switchFlags struct {
	cfg       standalone.Config
	role      string
	keys      string
	plaintext bool
	withStdin bool
	speaking  switches.Speaking
}

func newSwitchRun() *cobra.Command {
	f := &switchFlags{}
	c := &cobra.Command{
		Use:   "run --name NAME --role tor|eps|ocs --ports IF,… --racks N --listen ADDR",
		Short: "Run the model, dataplane and gNMI target of one switch until Ctrl-C",
		Long: "Runs a switch on interfaces of the current network namespace, and restores them when it ends. Port\n" +
			"numbers are positions in --ports. Hosts of rack r have the addresses 10.(r/256).(r%256).1 and up,\n" +
			"and all of them the hardware address of their gateway. The first --hosts ports of a ToR lead to\n" +
			"hosts. Any testbed can start it; lightloom mininet install writes the file for Mininet.",
		Example: "  lightloom switch run --name tor0 --role tor --rack 0 --hosts 2 --racks 4 --ports " +
			"eth1,eth2,eth3,eth4,eth5 --fibre eth5 --listen 0.0.0.0:9339 --tls-dir keys\n" +
			"  lightloom switch run --name ocs --role ocs --racks 4 --ports eth1,eth2,eth3,eth4 --dark 10ms --listen " +
			"unix:/run/ocs.sock --plaintext",
		Args: noArgs,
	}
	fl := c.Flags()
	fl.StringVar(&f.cfg.Name, "name", "", "name of the switch in the fabric: tor0, spine1, ocs")
	fl.StringVar(&f.role, "role", "", "tor, eps (any other packet switch) or ocs (the optical circuit switch)")
	fl.StringSliceVar(&f.cfg.Ports, "ports", nil, "interfaces in order of port numbers; ToR: hosts, then "+
		"uplinks, then the fibre; others: one per rack")
	fl.IntVar(&f.cfg.Racks, "racks", 0, "number of racks of the fabric")
	fl.IntVar(&f.cfg.Rack, "rack", 0, "ToR only: number of its rack")
	fl.IntVar(&f.cfg.Hosts, "hosts", 0, "ToR only: number of first ports that lead to hosts")
	fl.StringVar(&f.cfg.Fibre, "fibre", "", "ToR only: the interface to the optical switch; it stays dark until "+
		"light is reported")
	fl.StringVar(&f.cfg.Listen, "listen", "127.0.0.1:9339",
		"address of the gNMI target: host:port or unix:PATH")
	fl.StringVar(&f.keys, "tls-dir", "", "directory with NAME.pem, as lightloom controller keys writes it")
	f.speaking.Flags(fl, &f.cfg)
	fl.BoolVar(&f.plaintext, "plaintext", false, "no TLS; on loopback addresses and Unix sockets only")
	fl.DurationVar(&f.cfg.Dark, "dark", 10*time.Millisecond, "OCS only: time that a moved port is dark")
	fl.BoolVar(&f.cfg.AllStop, "all-stop", false, "OCS only: every circuit goes dark when one moves")
	fl.IntVar(&f.cfg.VOQBytes, "voq-bytes", 0, "ToR with a fibre only: bytes of the virtual output queue of "+
		"each rack, where packets wait while the fibre is dark (ebpf); 0: none")
	fl.StringVar(&f.cfg.Dataplane, "dataplane", "auto", "auto, ebpf (needs root) or mirred")
	fl.DurationVar(&f.cfg.LLDP, "lldp", time.Second,
		"packet switches only: interval of LLDP announcements, which a longer one than 1s begins with, and "+
			"doubles; 0: never")
	fl.BoolVar(&f.withStdin, "with-stdin", false, "also end when standard input is closed, as it is when the "+
		"parent process ends")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

func (f *switchFlags) run(c *cobra.Command) error {
	if err := f.check(c); err != nil {
		return err
	}
	ctx := c.Context()
	if f.withStdin {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go untilEOF(c.InOrStdin(), cancel)
	}
	if !f.withStdin { // otherwise the parent process removes the namespace
		var err error
		if f.cfg.Guard, err = guardProgram(); err != nil {
			return err
		}
	}
	f.cfg.Listening = func(addr string) {
		fmt.Fprintf(c.OutOrStdout(), "%s listens at %s\n",
			f.cfg.Name, addr)
	}
	if os.Getenv("LIGHTLOOM_VERBOSE") != "" {
		f.cfg.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
	}
	return standalone.Run(ctx, f.cfg)
}

func (f *switchFlags) check(c *cobra.Command) error {
	f.cfg.Role = standalone.Role(f.role)
	if err := oneOf(c, "role", f.role, standalone.Roles()...); err != nil {
		return err
	}
	if err := oneOf(c, "dataplane", f.cfg.Dataplane, "auto", "ebpf", "mirred"); err != nil {
		return err
	}
	switch {
	case f.keys == "" && !f.plaintext:
		return usage("write --tls-dir DIR (lightloom controller keys DIR --fabric FABRIC fills it), or --plaintext on "+
			"loopback", "run: there are no keys for TLS")
	case f.keys != "" && f.plaintext:
		return usage("write one of them", "run: --tls-dir and --plaintext exclude each other")
	}
	if err := f.speaking.Open(&f.cfg, f.keys); err != nil {
		return err
	}
	if err := f.cfg.Check(); err != nil {
		return usage(c.CommandPath()+" -h lists its flags", "run: %w", err)
	}
	return nil
}

// untilEOF reads and discards until EOF, then calls done.
func untilEOF(r io.Reader, done func()) {
	_, _ = io.Copy(io.Discard, r)
	done()
}
