package switches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	syspb "github.com/openconfig/gnoi/system"
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/lab/console"
	"lightloom/southbound/gnmi"
)

// ofSystem has a command ask the System service of gNOI of one device.
func (r *reach) ofSystem(c *cobra.Command, args []string,
	ask func(context.Context, syspb.SystemClient) error) error {
	cfg, err := r.config(c, args)
	if err != nil {
		return err
	}
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), askTimeout)
	defer cancel()
	if err = errors.Join(ask(ctx, syspb.NewSystemClient(conn)), conn.Close()); err != nil {
		return unreached(fmt.Errorf("%s of device %s by gNOI: %w", c.Name(), cfg.Addr, err), cfg, time.Now())
	}
	return nil
}

// DeviceTime is a device's clock, as device time reports it.
type DeviceTime struct {
	Time   time.Time     `json:"time"`
	Ahead  time.Duration `json:"ahead"`  // of this machine's clock, ±Within
	Within time.Duration `json:"within"` // half of the time that the question took
}

func newDeviceTime() *cobra.Command {
	var r reach
	var output string
	c := &cobra.Command{Use: "time ADDR", Short: "Read a device's clock by gNOI, and compare it with this machine's",
		Example: "  lightloom device time tor0 --devices lab.yaml"}
	r.flags(c)
	cli.OutputFlag(c, &output, DeviceTime{})
	c.RunE = func(c *cobra.Command, args []string) error {
		return r.ofSystem(c, args, func(ctx context.Context, s syspb.SystemClient) error {
			if _, err := s.Time(ctx, &syspb.TimeRequest{}); err != nil { // the first opens the connection
				return err
			}
			begin := time.Now()
			got, err := s.Time(ctx, &syspb.TimeRequest{})
			if err != nil {
				return err
			}
			half := time.Since(begin) / 2
			at := time.Unix(0, int64(got.GetTime()))
			return printTime(c.OutOrStdout(), DeviceTime{at, at.Sub(begin.Add(half)), half}, output)
		})
	}
	return c
}

func printTime(w io.Writer, t DeviceTime, output string) error {
	if output == console.OutputJSON {
		return console.WriteJSON(w, t)
	}
	_, err := fmt.Fprintf(w, "%s, %v ahead of this machine's clock (±%v)\n", t.Time.Format(time.RFC3339Nano),
		t.Ahead.Round(time.Microsecond), t.Within.Round(time.Microsecond))
	return err
}

func newDeviceReboot() *cobra.Command {
	var r reach
	var in time.Duration
	var reason, method string
	var show, stop bool
	c := &cobra.Command{Use: "reboot ADDR", Short: "Reboot a device by gNOI, or say or cancel what waits",
		Long: "Reboots a device by gNOI. A cold reboot loses circuits and rules, unless the device restores them; the\n" +
			"controller sets them anew.",
		Example: "  lightloom device reboot tor0 --devices lab.yaml --in 30s --message 'new image'\n" +
			"  lightloom device reboot tor0 --devices lab.yaml --status"}
	r.flags(c)
	c.Flags().DurationVar(&in, "in", 0, "how long the reboot waits, in which it can be cancelled")
	c.Flags().StringVar(&reason, "message", "", "why, for the device's log")
	c.Flags().StringVar(&method, "method", "cold",
		"cold, warm or nsf: the latter two go on forwarding, where a "+
			"device can")
	c.Flags().BoolVar(&show, "status", false, "say what waits and what was, and reboot nothing")
	c.Flags().BoolVar(&stop, "cancel", false, "cancel the reboot that waits")
	c.RunE = func(c *cobra.Command, args []string) error {
		methods := map[string]syspb.RebootMethod{"cold": syspb.RebootMethod_COLD,
			"warm": syspb.RebootMethod_WARM,
			"nsf":  syspb.RebootMethod_NSF}
		if err := cli.OneOf(c, "method", method, "cold", "warm", "nsf"); err != nil {
			return err
		}
		if show && stop || in < 0 {
			return cli.Usage("write one of --status, --cancel and --in 30s", "reboot: what is asked?")
		}
		return r.ofSystem(c, args, func(ctx context.Context, s syspb.SystemClient) error {
			switch {
			case show:
				got, err := s.RebootStatus(ctx, &syspb.RebootStatusRequest{})
				if err != nil {
					return err
				}
				return printReboot(c.OutOrStdout(), got)
			case stop:
				_, err := s.CancelReboot(ctx, &syspb.CancelRebootRequest{Message: reason})
				return err
			}
			_, err := s.Reboot(ctx, &syspb.RebootRequest{Method: methods[method], Delay: uint64(in),
				Message: reason})
			return err
		})
	}
	return c
}

func printReboot(w io.Writer, s *syspb.RebootStatusResponse) error {
	state := "no reboot waits"
	switch {
	case s.GetActive() && s.GetWait() > 0:
		state = fmt.Sprintf("a reboot waits for %v", time.Duration(s.GetWait()).Round(time.Millisecond))
	case s.GetActive():
		state = "it is rebooting"
	}
	if s.GetReason() != "" {
		state += fmt.Sprintf(" (%s)", s.GetReason())
	}
	_, err := fmt.Fprintf(w, "%s; %s since it was started\n", state,
		console.Count(int(s.GetCount()), "reboot"))
	return err
}
