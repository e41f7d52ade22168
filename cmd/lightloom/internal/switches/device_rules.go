package switches

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// speaker names the profile that a command speaks with a device that is in no inventory.
type speaker struct {
	profile      string
	ports, racks int32
}

func (s *speaker) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.profile, "profile", "",
		"without --devices: profile of the device; default: it is asked")
	c.Flags().Int32Var(&s.ports, "ports", 0, "with --profile: number of ports of the device")
	c.Flags().Int32Var(&s.racks, "racks", 8, "without --devices: number of racks that rules may name")
}

// dial opens a session with the device that args name. close ends it.
func (s *speaker) dial(c *cobra.Command, r *reach, args []string) (gnmi.Line, gnmi.Config, error) {
	if r.file != "" {
		d, err := r.record(c, args)
		if err != nil {
			return nil, gnmi.Config{}, err
		}
		cfg, err := d.Config(os.Getenv)
		if err != nil {
			return nil, cfg, err
		}
		line, err := d.Dial(c.Context(), os.Getenv)
		return line, cfg, err
	}
	cfg, err := r.config(c, args)
	if err != nil {
		return nil, cfg, err
	}
	if cfg.Profile == nil {
		if s.profile == "" {
			if err := s.ask(c.Context(), cfg); err != nil {
				return nil, cfg, fmt.Errorf("%s: %w", c.Name(), err)
			}
		}
		if s.ports < 1 {
			return nil, cfg, cli.Usage("write --ports 32, or leave --profile away: the device is asked then",
				"%s: how many ports does %s have?", c.Name(), args[0])
		}
		if cfg.Profile, err = gnmi.Named(s.profile, s.ports, s.racks); err != nil {
			return nil, cfg, cli.Usage("lightloom device probe ADDR says what fits", "%s: %w", c.Name(), err)
		}
	}
	session, err := gnmi.Dial(c.Context(), cfg)
	return session, cfg, err
}

// ask has the device say which profile fits, and how many ports it has. A number of ports that was
// given stays.
func (s *speaker) ask(ctx context.Context, cfg gnmi.Config) error {
	report, err := askDevice(ctx, cfg)
	if err != nil {
		return err
	}
	best, err := report.Best()
	if err != nil {
		return err
	}
	s.profile, s.ports = best.Profile, cmp.Or(s.ports, best.Ports)
	return nil
}

// askDevice asks a device which profiles fit.
func askDevice(ctx context.Context, cfg gnmi.Config) (*probe.Report, error) {
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	report, err := probe.Ask(ctx, conn)
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, unreached(fmt.Errorf("probe device %q: %w", cfg.Addr, err), cfg, time.Now())
	}
	return report, nil
}

// settlePatience is how long a device may take to show what it has accepted.
const settlePatience = 10 * time.Second

func newDeviceRules() *cobra.Command {
	var r reach
	var s speaker
	var file string
	var replace, dry bool
	c := &cobra.Command{
		Use:     "rules ADDR",
		Short:   "Show the rules of a packet switch, or install those of a file",
		Example: "  lightloom device rules 127.0.0.1:9339 --tls-dir keys --apply tor.rules --dry-run",
		Long: "Prints one rule per line in the format of --apply: \"dst=2 tag=7 src=any primary=1 backup=0\". With\n" +
			"--apply it prints the differences, sends them as one Set, and waits until the device reports the new\n" +
			"rules.",
	}
	r.flags(c)
	s.flags(c)
	c.Flags().StringVar(&file, "apply", "", "file of rules to install")
	c.Flags().BoolVar(&replace, "replace", false, "with --apply: remove all other rules")
	c.Flags().BoolVar(&dry, "dry-run", false, "with --apply: print the changes, send nothing")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if file == "" && (replace || dry) {
			return cli.Usage("write --apply FILE", "rules: --replace and --dry-run are of --apply")
		}
		var want []southbound.Rule
		if file != "" {
			if want, err = readRules(file); err != nil {
				return err
			}
		}
		d, _, err := s.dial(c, &r, args)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		seen, err := d.Read(c.Context())
		if err != nil {
			return err
		}
		if file == "" {
			return printRules(c.OutOrStdout(), "", seen.Rules)
		}
		change := ruleDifference(seen.Rules, want, replace)
		if err := printDifference(c.OutOrStdout(), change); err != nil || dry || change.Empty() {
			return err
		}
		if err := d.Set(c.Context(), change); err != nil {
			return err
		}
		return awaitRules(c.Context(), d, change)
	}
	return c
}

func printRules(w io.Writer, sign string, rules []southbound.Rule) error {
	for _, r := range rules {
		if _, err := fmt.Fprintln(w, sign+ruleText(r)); err != nil {
			return err
		}
	}
	return nil
}

func printDifference(w io.Writer, c *southbound.Change) error {
	for _, m := range c.Drop {
		if _, err := fmt.Fprintln(w, "- "+matchText(m)); err != nil {
			return err
		}
	}
	if c.Empty() {
		_, err := fmt.Fprintln(w, "nothing to do")
		return err
	}
	return printRules(w, "+ ", c.Rules)
}

// ruleDifference returns the change that brings the rules in want into effect, and with replace removes
// all others.
func ruleDifference(have, want []southbound.Rule, replace bool) *southbound.Change {
	c := &southbound.Change{}
	for _, r := range want {
		if !slices.Contains(have, r) {
			c.Rules = append(c.Rules, r)
		}
	}
	for _, r := range have {
		if replace && !slices.ContainsFunc(want, func(w southbound.Rule) bool { return w.Match == r.Match }) {
			c.Drop = append(c.Drop, r.Match)
		}
	}
	return c
}

// awaitRules reads until the device reports a change in effect.
func awaitRules(ctx context.Context, d southbound.Device, c *southbound.Change) error {
	ctx, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		seen, err := d.Read(ctx)
		missing := slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return !slices.Contains(seen.Rules, r) })
		left := slices.ContainsFunc(seen.Rules, func(r southbound.Rule) bool { return slices.Contains(c.Drop, r.Match) })
		if err == nil && !missing && !left {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("rules: the device accepted the change, and does not say that it stands"), err)
		}
	}
}

// modelRow is a line of a profile's table, as device model prints it.
type modelRow struct {
	Path     string `json:"path"`
	Type     string `json:"type"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

func newDeviceModel() *cobra.Command {
	return &cobra.Command{
		Use: "model PROFILE", Short: "Print the paths and types that a profile uses, as JSON",
		Example: "  lightloom device model openconfig",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage("lightloom device model openconfig", "model: name one profile")
			}
			p, err := gnmi.Named(args[0], 1, 1)
			if err != nil {
				return cli.Usage("lightloom device model openconfig", "model: %w", err)
			}
			var rows []modelRow
			for _, r := range p.Model().Rows {
				rows = append(rows, modelRow{r.Path, fmt.Sprint(r.Type), schema.IsState(r)})
			}
			e := json.NewEncoder(c.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(rows)
		},
	}
}

func newDeviceWatch() *cobra.Command {
	var r reach
	var s speaker
	var synced bool
	c := &cobra.Command{Use: "watch ADDR", Short: "Print the events of a device until Ctrl-C",
		Example: "  lightloom device watch 127.0.0.1:9339 --tls-dir keys"}
	r.flags(c)
	s.flags(c)
	c.Flags().BoolVar(&synced, "until-synced", false, "end once the device has sent its present state")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		d, _, err := s.dial(c, &r, args)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		return d.Watch(ctx, func(e southbound.DeviceEvent) {
			if _, err := fmt.Fprintln(c.OutOrStdout(), eventText(e)); err != nil || synced &&
				e.Kind == southbound.Synced {
				cancel()
			}
		})
	}
	return c
}

// eventText is an event as a line. Ports are numbers here, as in the files of rules and circuits of one
// device.
func eventText(e southbound.DeviceEvent) string {
	switch e.Kind {
	case southbound.ConnectionStatus:
		return fmt.Sprintf("circuit %d -> %d %v", e.In, e.Out, e.Status)
	case southbound.PortUp:
		return fmt.Sprintf("port %d up", e.In)
	case southbound.PortDown:
		return fmt.Sprintf("port %d down", e.In)
	case southbound.Synced:
		return "synced"
	}
	return "lost"
}
