package switches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	syspb "github.com/openconfig/gnoi/system"
	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/emulator/target"
	"lightloom/lab/console"
	"lightloom/lab/version"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gribi/ribcheck"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// NewTarget returns the command target.
func NewTarget() *cobra.Command {
	c := &cobra.Command{Use: "target", Short: "Run an emulated switch alone, or check any gNMI target",
		Args: cli.UnknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newTargetRun(), newTargetCheck())
	return c
}

// targetFlags are the flags of target run, before they are checked.
type targetFlags struct {
	listen, dir, faults, recovery, delays string
	plaintext                             bool
	dark                                  string
	c                                     targetd.Config
	back                                  backend
	metrics                               string
	deviates                              deviation
}

func newTargetRun() *cobra.Command {
	var f targetFlags
	c := &cobra.Command{
		Use:   "run [--backend restconf URL]",
		Short: "Run one emulated switch with its gNMI target until Ctrl-C",
		Long: "Runs one emulated switch, without packets, so that controllers can be tried against it.\n\n" +
			"Faults come from a file or are typed while it runs, one a line: stick, fail, spoil (port=, times=), slow " +
			"(delay=, times=),\n" +
			"lie, deny (times=), loss (port=, db=), forget (port=), restart (boot=), save, clear; in a file perhaps after\n" +
			"+DURATION, since the start.\n" +
			"\"show\" prints the present state.\n\n" +
			"With --backend restconf URL it emulates nothing: it fronts the optical switch at that RESTCONF root, which " +
			"knows\n" +
			"Polatis' model and no gNMI, in whichever optical --profile is asked for.",
		Example: "  lightloom target run --profile ocp --ports 32 --tls-dir keys\n" +
			"  lightloom target run --profile ocp --ports 32 --tls-dir keys --backend restconf https://192.0.2.9:8008/api " +
			"--backend-user env:OCS_USER --backend-password file:ocs.secret",
	}
	f.back.flags(c)
	c.Flags().StringVar(&f.c.Profile, "profile", "ocp", strings.Join(targetd.Profiles(), ", ")+"; sonic-ocs speaks ocp "+
		"too")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:9339", "address to listen on")
	c.Flags().Int32Var(&f.c.Ports, "ports", 32, "number of ports; an optical switch has as many inputs as "+
		"outputs")
	c.Flags().Int32Var(&f.c.Racks, "racks", 64, "number of racks that rules may name")
	c.Flags().StringVar(&f.dark, "dark", "10ms", "reconfiguration delay: time that a moved port is dark")
	c.Flags().StringVar(&f.delays, "delays", "", "every stage, such as apply=1ms,dark=normal(10ms,1ms),lock=2ms, or a "+
		"preset: "+PresetNames()+"; instead of --dark")
	f.restarts(c)
	c.Flags().BoolVar(&f.c.AllStop, "all-stop", false, "all-stop: every circuit goes dark when one moves")
	f.deviates.flags(c.Flags())
	c.Flags().BoolVar(&f.c.Strict, "strict", false, "refuse a Set without an election id")
	c.Flags().DurationVar(&f.c.Boot, "boot", time.Second, "how long a reboot by gNOI takes")
	c.Flags().BoolVar(&f.c.GRIBI, "gribi", false, "also serve gRIBI at the same address; a packet switch's profile")
	c.Flags().Uint64Var(&f.c.Seed, "seed", 1, "seed of random delays")
	c.Flags().StringVar(&f.faults, "faults", "", "file of faults")
	c.Flags().StringVar(&f.dir, "tls-dir", "", "directory with server.pem; the command creates it, client.pem "+
		"and ca.pem there if missing")
	c.Flags().BoolVar(&f.plaintext, "plaintext", false, "no TLS; on loopback addresses only")
	c.Flags().StringVar(&f.metrics, "metrics", "", "serve Prometheus metrics at this address, without TLS on "+
		"loopback addresses only")
	c.Flags().StringVar(&f.c.Name, "name", "switch", "name of the target, also in its certificate")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		device, err := f.back.open(c, args, &f.c)
		if err != nil {
			return err
		}
		if device != nil {
			defer device.Close()
			f.c.Backend = device
		}
		return runTarget(c.Context(), &f, c.InOrStdin(), c.OutOrStdout())
	}
	return c
}

// restarts adds the flags of what outlives a restart.
func (f *targetFlags) restarts(c *cobra.Command) {
	c.Flags().StringVar(&f.recovery, "recovery", "remove",
		"what a restart does to circuits and rules: remove, restore or maintain; saved: an optical switch restores what was "+
			"saved (typed: save)")
	c.Flags().StringSliceVar(&f.c.Images, "images", nil, "versions that gNOI's OS can activate, of which the first runs")
}

func (f *targetFlags) check(c *cobra.Command) (err error) {
	if err := cli.OneOf(c, "profile", f.c.Profile, targetd.Profiles()...); err != nil {
		return err
	}
	if err := cli.OneOf(c, "recovery", f.recovery, "remove", "restore", "maintain", "saved"); err != nil {
		return err
	}
	switch {
	case (f.dir == "") == !f.plaintext:
		return cli.Usage("write --tls-dir DIR, or --plaintext on a loopback address",
			"target run: name either a directory of keys or plaintext")
	case f.plaintext && !onLoopback(f.listen):
		return cli.Usage("write --listen 127.0.0.1:9339, or --tls-dir DIR in place of --plaintext",
			"target run: --listen %s: plaintext is offered on loopback addresses only", f.listen)
	case f.c.Ports < 1 || f.c.Ports > 4096:
		return cli.Usage("write --ports 32", "target run: --ports %d is not within 1 to 4096", f.c.Ports)
	case f.c.Racks < 1 || f.c.Racks > gnmi.MaxSequenceRacks:
		return cli.Usage("write --racks 64", "target run: --racks %d is not within 1 to %d", f.c.Racks, gnmi.MaxSequenceRacks)
	case f.c.Boot <= 0:
		return cli.Usage("write --boot 1s", "target run: --boot %v", f.c.Boot)
	case f.delays != "" && c.Flags().Changed("dark"):
		return cli.Usage("write dark=… in --delays", "target run: --dark and --delays say the same")
	}
	if f.c.GRIBI && !slices.Contains(target.Profiles(device.Packet), f.c.Profile) {
		return cli.Usage("write --profile openconfig --gribi",
			"target run: --gribi with --profile %s: it is of packet switches", f.c.Profile)
	}
	f.c.Like = f.deviates.like
	if f.c.Validate, err = f.deviates.check("target run", f.c.Profile, f.c.Seed); err != nil {
		return err
	}
	if f.delays == "" {
		f.delays = "dark=" + f.dark
	}
	if f.c.Delays, err = device.ParseDelays(f.delays); err != nil {
		return cli.Usage("write --dark 10ms", "target run: %w", err)
	}
	f.c.Recovery = map[string]device.Recovery{"remove": device.Remove, "restore": device.Restore,
		"maintain": device.Maintain, "saved": device.Saved}[f.recovery]
	return nil
}

// runTarget serves until ctx ends.
func runTarget(ctx context.Context, f *targetFlags, stdin io.Reader, stdout io.Writer) error {
	if f.faults != "" {
		file, err := os.Open(f.faults)
		if err != nil {
			return fmt.Errorf("read faults: %w", err)
		}
		f.c.Steps, err = device.ReadSteps(f.faults, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	keys := "in plaintext"
	if f.dir != "" {
		id, made, err := targetd.Keys(f.dir, f.c.Name)
		if err != nil {
			return err
		}
		f.c.Identity, keys = id, "keys of "+f.dir
		if f.c.Keys, err = pki.Open(targetd.KeyPaths(f.dir)); err != nil {
			return err
		}
		if made {
			keys = "made " + keys + "; clients take client.pem and ca.pem"
		}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("run target: %w", err)
	}
	speaks := f.c.Profile
	if f.c.GRIBI {
		speaks += " and gRIBI"
	}
	if _, err := fmt.Fprintf(stdout, "%s speaks %s on %s, %s, %s\n", f.c.Name, speaks, l.Addr(),
		console.Count(int(f.c.Ports), "port"), keys); err != nil {
		return errors.Join(err, l.Close())
	}
	f.c.Live, f.c.Tell = stdin, stdout
	return f.serve(ctx, l)
}

// checkFlags are the flags of target check.
type checkFlags struct {
	r               reach
	lab             labFlags
	gribi           int32
	output, profile string
	ports, racks    int32
}

func newTargetCheck() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check ADDR",
		Short: "Check a gNMI target against the rules that a controller relies on",
		Long: "Checks any gNMI target against the rules that a controller relies on. By default it only reads.\n" +
			"With --write it creates and removes circuits on free ports, or one rule, under an election role of\n" +
			"its own. With --restart it also restarts an optical switch by gNOI: circuits of others go dark. With\n" +
			"--interfaces it sends packets through circuits: it measures switching times, and counts what is lost.",
		Example: "  lightloom target check 127.0.0.1:9339 --tls-dir keys --write\n" +
			"  lightloom target check ocs --devices lab.yaml --write --interfaces 0=eth1,1=eth2,2=eth3 --dark 10ms",
	}
	f.r.flags(c)
	c.Flags().StringVar(&f.profile, "profile", "", "profile to check; default: the first that fits the target's "+
		"Capabilities")
	c.Flags().Int32Var(&f.ports, "ports", 0, "number of ports of the target; default: as many as it lists")
	c.Flags().Int32Var(&f.racks, "racks", 8, "number of racks that rules may name")
	c.Flags().BoolVar(&f.lab.writing, "write", false, "also check the rules that need writing")
	c.Flags().BoolVar(&f.lab.restarts, "restart", false,
		"with --write: also check the rules about restarts of an optical switch")
	c.Flags().Int32Var(&f.gribi, "gribi", 0, "also check the gRIBI server at this port of the target's address; default: "+
		"what --devices says")
	f.lab.flags(c)
	cli.OutputFlag(c, &f.output, []conformance.Finding{}, "junit", "html")
	c.RunE = f.run
	return c
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	if err := f.lab.check(); err != nil {
		return err
	}
	cfg, err := f.r.config(c, args)
	if err != nil {
		return err
	}
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return err
	}
	about := conformance.About{Target: cfg.Addr, Profile: f.profile, Checker: version.This()}
	about.Commit, _ = version.Commit()
	if len(args) > 0 && args[0] != cfg.Addr {
		about.Target = args[0] + " at " + cfg.Addr
	}
	o := conformance.Options{Write: f.lab.writing, Restart: rebooting(conn, f.lab.restarts), Timeout: f.lab.within}
	if o.Lab, err = f.lab.open(conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	if o.Lab.Probes != nil {
		defer o.Lab.Probes.Close()
	}
	findings, err := check(c.Context(), conn, &about, f.ports, f.racks, o)
	d := &inventory.Device{Ports: max(f.ports, 1), Racks: f.racks}
	if f.r.file != "" && err == nil {
		d, err = f.r.record(c, args)
	}
	if d != nil {
		d.GRIBI.Port = cmp.Or(f.gribi, d.GRIBI.Port)
	}
	if err == nil && d.GRIBI.Port != 0 {
		var more []conformance.Finding
		more, err = checkGRIBI(c.Context(), cfg, d, about.Profile, f.lab.writing)
		findings = append(findings, more...)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return unreached(fmt.Errorf("check target %s: %w", cfg.Addr, err), cfg, time.Now())
	}
	return printFindings(c.OutOrStdout(), findings, about, f.output)
}

// askTimeout bounds the first question to a device.
const askTimeout = 10 * time.Second

// check tries the rules, and notes what the target says of itself and the profile that it was checked by.
func check(ctx context.Context, conn connection, about *conformance.About, ports, racks int32,
	o conformance.Options) ([]conformance.Finding, error) {
	profile := about.Profile
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	report, err := probe.Ask(asking, conn)
	if status.Code(err) == codes.Unimplemented && profile != "" && ports != 0 {
		report, err = &probe.Report{}, nil // that it says nothing of itself is a finding
	}
	if err != nil {
		return nil, err
	}
	best, err := report.Best()
	if profile == "" && err != nil {
		return nil, err
	}
	for _, f := range report.Fits {
		if f.Profile == profile {
			best = f
		}
	}
	if profile != "" {
		best.Profile = profile
	}
	if ports == 0 && best.Ports == 0 && o.Write {
		return nil, cli.Usage("write --ports 32",
			"target check: %s does not list its ports, and without their number --write "+
				"could take others' circuits for free ports", best.Profile)
	}
	if ports == 0 {
		ports = max(best.Ports, 1)
	}
	p, err := gnmi.Named(best.Profile, ports, racks)
	if err != nil {
		return nil, err
	}
	about.GNMI, about.Profile = report.Version, best.Profile
	return conformance.Run(ctx, conn, p, ports, o), nil
}

// rebooting restarts a switch by gNOI; nil where that is not asked for.
func rebooting(conn connection, asked bool) func(ctx context.Context, warm bool) error {
	if !asked {
		return nil
	}
	s := syspb.NewSystemClient(conn)
	return func(ctx context.Context, warm bool) error {
		method := syspb.RebootMethod_COLD
		if warm {
			method = syspb.RebootMethod_WARM
		}
		_, err := s.Reboot(ctx, &syspb.RebootRequest{Method: method, Message: "lightloom target check"})
		return unsupported(err)
	}
}

// checkGRIBI tries the rules of gRIBI on a target's server of it.
func checkGRIBI(ctx context.Context, cfg gnmi.Config, d *inventory.Device, profile string,
	write bool) ([]conformance.Finding, error) {
	p, err := gnmi.Named(profile, d.Ports, d.Racks)
	if err != nil {
		return nil, err
	}
	c := d.GRIBIConfig(cfg, p)
	conn, err := gnmi.Connect(c.Config)
	if err != nil {
		return nil, err
	}
	out := ribcheck.Run(ctx, conn, c.Names, conformance.Options{Write: write})
	return out, conn.Close()
}

// printFindings prints the findings. It returns an error if a rule is broken.
func printFindings(w io.Writer, findings []conformance.Finding, about conformance.About, output string) error {
	broken := 0
	for _, f := range findings {
		if f.Result == conformance.Broken {
			broken++
		}
	}
	switch output {
	case console.OutputJSON:
		if err := console.WriteJSON(w, findings); err != nil {
			return err
		}
	case "junit":
		if err := conformance.WriteJUnit(w, about, findings); err != nil {
			return err
		}
	case "html":
		if err := conformance.WriteHTML(w, about, findings); err != nil {
			return err
		}
	default:
		t := console.NewTable(w, "rule", "result", "says", "why")
		for _, f := range findings {
			t.Row(f.Rule, f.Result, f.Says, f.Why)
		}
		if err := t.Print(); err != nil {
			return err
		}
	}
	if broken > 0 {
		return fmt.Errorf("check target: %d of %d rules are broken", broken, len(findings))
	}
	return nil
}
