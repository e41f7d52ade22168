package switches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/lab/console"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/hint"
	"lightloom/southbound/wiring"
)

func newWireRelease() *cobra.Command {
	var f wireFlags
	c := &cobra.Command{Use: "release ADDR --testbed NAME", Short: "Remove the circuits of a testbed, and end its lease",
		Example: "  lightloom wire release ocs --devices lab.yaml --testbed t0"}
	f.r.flags(c)
	f.s.flags(c)
	f.leases(c)
	c.Flags().DurationVar(&f.opt.Settle, "settle", 10*time.Second, "time limit for what one Set changes")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "print what would be removed, and do nothing")
	cli.OutputFlag(c, &f.output, wireReport{})
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if f.t.Testbed == "" {
			return cli.Usage("write --testbed NAME", "wire release: which testbed?")
		}
		d, cfg, err := f.s.dial(c, &f.r, args)
		if err != nil {
			return unreached(err, cfg, time.Now())
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		return f.release(c.Context(), c.OutOrStdout(), d, cfg.Name)
	}
	return c
}

func (f *wireFlags) release(ctx context.Context, out io.Writer, d southbound.Device, name string) error {
	done, err := f.desk().Release(ctx, f.t.Testbed, d, name, f.dry)
	w := &wiring.Wiring{Testbed: f.t.Testbed}
	switch {
	case done == nil && err != nil:
		return err
	case done == nil:
		return f.show(out, f.report(w, name, nil, nil))
	}
	return errors.Join(err, f.show(out, f.released(w, name, done.Steps, done.Strays)))
}

// released is the report of a release, which changes the leases at least.
func (f *wireFlags) released(w *wiring.Wiring, name string, steps []wiring.Step, gone []wiring.Stray) *wireReport {
	r := f.report(w, name, steps, gone)
	r.Changed = true
	return r
}

func newWireLease() *cobra.Command {
	var f wireFlags
	var extend time.Duration
	var to string
	var log bool
	c := &cobra.Command{
		Use:   "lease [ADDR --testbed NAME]",
		Short: "List leases, the queue or the audit log; extend a lease, or hand it over",
		Example: "  lightloom wire lease\n  lightloom wire lease ocs --testbed t0 --extend 8h\n" +
			"  lightloom wire lease ocs --testbed t0 --hand-over bob",
	}
	f.leases(c)
	c.Flags().DurationVar(&extend, "extend", 0, "have the lease end this long after now")
	c.Flags().StringVar(&to, "hand-over", "", "person who holds the lease from now on")
	c.Flags().BoolVar(&log, "log", false, "print the audit log")
	cli.OutputFlag(c, &f.output, circuit.LeaseTable{})
	c.RunE = func(c *cobra.Command, args []string) error {
		changes := c.Flags().Changed("extend") || c.Flags().Changed("hand-over")
		switch {
		case log:
			return printFile(c.OutOrStdout(), circuit.AuditLog(f.book))
		case len(args) == 0 && !changes:
			return f.listLeases(c.OutOrStdout())
		case len(args) != 1 || f.t.Testbed == "" || !changes:
			return cli.Usage("lightloom wire lease ocs --testbed t0 --extend 8h, or --hand-over bob",
				"lease: name one switch, a testbed and what is to change")
		}
		now := time.Now()
		return circuit.ChangeLeases(f.book, userName(), now, func(b *circuit.LeaseTable) error {
			if c.Flags().Changed("extend") {
				until := now.Add(extend).UTC().Truncate(time.Second)
				if err := b.Extend(args[0], f.t.Testbed, f.holder, until, now); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("hand-over") {
				return nil
			}
			return b.HandOver(args[0], f.t.Testbed, f.holder, to, now)
		})
	}
	return c
}

func printFile(out io.Writer, name string) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing has happened yet
	}
	if err != nil {
		return hint.Wrong(err)
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

func (f *wireFlags) listLeases(out io.Writer) error {
	b, err := circuit.ReadLeases(f.book)
	if err != nil {
		return err
	}
	if f.output == console.OutputJSON {
		return console.WriteJSON(out, b)
	}
	t := console.NewTable(out, "switch", "testbed", "holder", "until", "ports", "")
	row := func(l *circuit.Lease, state string) {
		t.Row(l.Device, l.Group, l.Holder, l.Until.Format(time.RFC3339), circuit.PortsText(l.Inputs, l.Outputs), state)
	}
	for i := range b.Leases {
		state := "leased"
		if !time.Now().Before(b.Leases[i].Until) {
			state = "ended"
		}
		row(&b.Leases[i], state)
	}
	for i := range b.Waiting {
		row(&b.Waiting[i], fmt.Sprintf("waits, number %d", i+1))
	}
	return t.Print()
}
