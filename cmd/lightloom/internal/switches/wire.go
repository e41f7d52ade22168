package switches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/wiring"
)

// wireFlags are the flags of the commands that wire testbeds.
type wireFlags struct {
	r       reach
	s       speaker
	t       wiring.Tables // but for what the files hold
	links   string
	ports   [2]string // files: of switches, of testers
	book    string
	holder  string
	life    time.Duration
	queue   bool
	dry     bool
	opt     wiring.Options
	output  string
	extends bool // --for was given
	frames  frameFlags
	history string // file
}

// NewWire returns the command wire.
func NewWire() *cobra.Command {
	c := &cobra.Command{
		Use: "wire", Short: "Wire testbeds of a lab through an optical switch",
		Long: "A file says which ports of devices are to be linked, and at which ports of the optical switch they are:\n" +
			"one file in YAML, or three tables in CSV. A testbed has a lease of its ports, so that two testbeds do\n" +
			"not pull at the same fibre. Circuits of others are never touched, except with --take-over.",
		Args: cli.UnknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newWirePlan(), newWireApply(), newWireVerify(), newWireRelease(), newWireLease())
	return c
}

// files adds the flags that say what is wanted.
func (f *wireFlags) files(c *cobra.Command) {
	fl := c.Flags()
	f.r.flags(c)
	f.s.flags(c)
	fl.StringVar(&f.links, "links", "", "file of the links: YAML with all of it, or a table in CSV")
	fl.StringVar(&f.ports[0], "switch-ports", "",
		"with a table of links: table of the ports of switches, and where they are plugged in")
	fl.StringVar(&f.ports[1], "tester-ports", "", "with a table of links: the same of testers")
	fl.StringVar(&f.t.Switch, "switch", "", "with tables: name that they give the optical switch; default: ADDR")
	fl.IntVar(&f.t.FirstPort, "first-port", 0,
		"with tables: number that they give the first port of the optical switch, 0 or 1")
	f.leases(c)
	fl.DurationVar(&f.opt.Settle, "settle", 10*time.Second, "time limit for what one Set changes")
	cli.OutputFlag(c, &f.output, wireReport{})
}

// leases adds the flags that name a lease.
func (f *wireFlags) leases(c *cobra.Command) {
	c.Flags().StringVar(&f.book, "leases", "leases.json", "file of leases; its audit log is FILE.log")
	c.Flags().StringVar(&f.t.Testbed, "testbed", "", "name of the testbed; default: as the file of links says")
	c.Flags().StringVar(&f.holder, "holder", userName(), "person who holds the lease")
}

// load reads the files, and returns with the wiring the words that name the switch.
func (f *wireFlags) load(c *cobra.Command, args []string) (*wiring.Wiring, []string, error) {
	const example = "write --links FILE.yaml, or --links links.csv --switch-ports switches.csv --tester-ports testers.csv"
	f.extends = c.Flags().Changed("for")
	if f.links == "" {
		return nil, nil, cli.Usage(example, "wire %s: no --links say what is wanted", c.Name())
	}
	data, err := readFile(f.links)
	if err != nil {
		return nil, nil, err
	}
	var w *wiring.Wiring
	if strings.EqualFold(filepath.Ext(f.links), ".csv") {
		w, err = f.tables(args, data)
	} else if f.ports != [2]string{} {
		err = cli.Usage(example, "wire %s: tables of ports belong to a table of links in CSV", c.Name())
	} else {
		w, err = wiring.ParseFile(f.links, data)
	}
	if err != nil {
		return nil, nil, err
	}
	if f.t.Testbed != "" {
		w.Testbed = f.t.Testbed
	}
	if w.Testbed == "" {
		return nil, nil, cli.Usage("write --testbed NAME, or testbed: NAME into the file",
			"wire %s: whose links are these?", c.Name())
	}
	if len(args) == 0 && w.Switch != "" {
		args = []string{w.Switch}
	}
	return w, args, nil
}

func (f *wireFlags) tables(args []string, links []byte) (*wiring.Wiring, error) {
	t := f.t
	t.Links = wiring.Table{Name: f.links, Data: links}
	if t.FirstPort != 0 && t.FirstPort != 1 {
		return nil, cli.Usage("write --first-port 1", "wire: --first-port %d is neither 0 nor 1", t.FirstPort)
	}
	if t.Switch == "" && len(args) > 0 {
		t.Switch = args[0]
	}
	for _, name := range f.ports {
		if name == "" {
			continue
		}
		data, err := readFile(name)
		if err != nil {
			return nil, err
		}
		t.Ports = append(t.Ports, wiring.Table{Name: name, Data: data})
	}
	return wiring.ParseTables(t)
}

// maxWireFile bounds what is read of a file: more than its parsers take.
const maxWireFile = 5 << 20

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, hint.Wrong(fmt.Errorf("read wiring: %w", err))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxWireFile))
	return data, errors.Join(err, file.Close())
}

// with loads the files, opens the switch, and calls do with its name.
func (f *wireFlags) with(c *cobra.Command, args []string,
	do func(ctx context.Context, w *wiring.Wiring, d southbound.Device, name string) error) (err error) {
	w, args, err := f.load(c, args)
	if err != nil {
		return err
	}
	d, cfg, err := f.s.dial(c, &f.r, args)
	if err != nil {
		return unreached(err, cfg, time.Now())
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return do(c.Context(), w, d, cfg.Name)
}

// desk is whom the command works for.
func (f *wireFlags) desk() *wiring.Desk {
	return &wiring.Desk{Leases: f.book, User: userName(), Holder: f.holder, Life: f.life, Keep: !f.extends, Queue: f.queue,
		Now: time.Now, Options: f.opt}
}

func newWirePlan() *cobra.Command {
	var f wireFlags
	c := &cobra.Command{Use: "plan [ADDR]", Short: "Print what apply would change (read-only)",
		Example: "  lightloom wire plan ocs --devices lab.yaml --links t0.yaml"}
	f.files(c)
	f.life = time.Hour // of a lease that is not taken
	c.Flags().BoolVar(&f.opt.TakeOver, "take-over", false, "plan to remove circuits of others that hold wanted ports")
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.with(c, args, func(ctx context.Context, w *wiring.Wiring, d southbound.Device, name string) error {
			done, err := f.desk().Plan(ctx, w, d, name)
			if done == nil {
				return err
			}
			report := f.report(w, name, done.Steps, done.Strays)
			report.Kept = done.Kept
			return errors.Join(f.show(c.OutOrStdout(), report), err)
		})
	}
	return c
}

func newWireApply() *cobra.Command {
	var f wireFlags
	c := &cobra.Command{
		Use:   "apply [ADDR]",
		Short: "Lease the ports of a testbed, and make its links stand",
		Long: "Leases the ports of the links, makes the circuits that are missing, removes those that the testbed has\n" +
			"left, and checks both ends of each link. What stands already is left alone, so that a second run sends\n" +
			"nothing. A lease that stands keeps its end, unless --for is given.",
		Example: "  lightloom wire apply ocs --devices lab.yaml --links t0.yaml --for 8h",
	}
	f.files(c)
	c.Flags().DurationVar(&f.life, "for", 24*time.Hour, "how long the lease lasts")
	c.Flags().BoolVar(&f.queue, "queue", false,
		"where ports are leased to others, wait in the queue for them: run it again later")
	c.Flags().BoolVar(&f.opt.TakeOver, "take-over", false, "remove circuits of others that hold wanted ports")
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.with(c, args, func(ctx context.Context, w *wiring.Wiring, d southbound.Device, name string) error {
			return f.apply(ctx, c.OutOrStdout(), w, d, name)
		})
	}
	return c
}

func (f *wireFlags) apply(ctx context.Context, out io.Writer, w *wiring.Wiring, d southbound.Device,
	name string) error {
	done, err := f.desk().Apply(ctx, w, d, name)
	if done == nil {
		return err
	}
	report := f.report(w, name, done.Steps, done.Strays)
	report.Changed, report.Until = len(done.Steps) > 0, done.Until
	report.Findings = append(report.Findings, done.Findings...)
	return errors.Join(f.show(out, report), err, w.Unwired("apply wiring", done.Findings))
}

func newWireVerify() *cobra.Command {
	var f wireFlags
	c := &cobra.Command{Use: "verify [ADDR]", Short: "Check both ends of each link of a testbed (read-only)",
		Long: "Says for each link what keeps it from being wired: a circuit that is missing, dark or half, one of others\n" +
			"at the same port, or an end that is not tuned to the other. With --frames it also asks the ends whom they\n" +
			"hear, by LLDP through the circuits, and names fibres that are swapped: packet switches of --devices, and\n" +
			"interfaces of this machine (--here). Exits with status 1 if it finds anything.",
		Example: "  lightloom wire verify ocs --devices lab.yaml --links t0.yaml --frames"}
	f.files(c)
	f.frames.flags(c)
	c.Flags().StringVar(&f.history, "history", "",
		"file where each run adds what circuits lose: a trend that leads beyond a limit is told")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.frames.check(); err != nil {
			return err
		}
		return f.with(c, args, func(ctx context.Context, w *wiring.Wiring, d southbound.Device, name string) error {
			v, sides, err := wiring.Look(ctx, d)
			if err != nil {
				return err
			}
			report := f.report(w, name, nil, nil)
			report.Findings = append(report.Findings, w.Verify(v, sides)...)
			if err := f.losses(ctx, w, d, sides, report); err != nil {
				return err
			}
			if f.frames.on {
				if err := f.verifyFrames(ctx, w, report); err != nil {
					return errors.Join(f.show(c.OutOrStdout(), report), err)
				}
			}
			return errors.Join(f.show(c.OutOrStdout(), report), w.Unwired("verify wiring", report.Findings))
		})
	}
	return c
}
