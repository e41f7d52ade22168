package switches

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/lab/console"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// connection is the gRPC connection that tools use to reach a device.
type connection = grpc.ClientConnInterface

// reach holds how a command reaches one device.
type reach struct {
	dir, file, name string
	plaintext       bool
}

func (r *reach) flags(c *cobra.Command) {
	c.Flags().StringVar(&r.dir, "tls-dir", "", "directory with client.pem, as target run writes it")
	c.Flags().StringVar(&r.name, "server-name", "localhost",
		"with --tls-dir: name in the target's certificate")
	c.Flags().StringVar(&r.file, "devices", "",
		"inventory with devices as a list of records; ADDR is then the "+
			"name of one of them")
	c.Flags().BoolVar(&r.plaintext, "plaintext", false, "no TLS; on loopback addresses only")
}

// config returns how to reach the device that args name.
func (r *reach) config(c *cobra.Command, args []string) (gnmi.Config, error) {
	if r.file != "" {
		d, err := r.record(c, args)
		if err != nil {
			return gnmi.Config{}, err
		}
		if inventory.IsURL(d.Address) {
			return gnmi.Config{}, cli.Usage("lightloom circuit and controller run speak RESTCONF",
				"%s: device %q has RESTCONF only, and this command asks by gNMI", c.Name(), d.Name)
		}
		return d.Config(os.Getenv)
	}
	const hint = "write host:port, such as 127.0.0.1:9339, or --devices FILE and a name in it"
	if len(args) != 1 {
		return gnmi.Config{}, cli.Usage(hint, "%s: name one device", c.Name())
	}
	if _, _, err := net.SplitHostPort(args[0]); err != nil {
		return gnmi.Config{}, cli.Usage(hint, "%s: %q is no host:port", c.Name(), args[0])
	}
	if (r.dir == "") == !r.plaintext {
		return gnmi.Config{}, cli.Usage("write --tls-dir DIR, --devices FILE, or --plaintext to a loopback address",
			"%s: how is %s reached?", c.Name(), args[0])
	}
	cfg := gnmi.Config{Name: args[0], Addr: args[0], Plaintext: r.plaintext}
	if r.dir != "" {
		id, err := pki.ReadFile(strings.TrimSuffix(r.dir, "/") + "/client.pem")
		if err != nil {
			return gnmi.Config{}, err
		}
		cfg.TLS = id.Client(r.name, pki.Switch)
	}
	return cfg, nil
}

// record returns the device of the inventory that args name.
func (r *reach) record(c *cobra.Command, args []string) (*inventory.Device, error) {
	if len(args) != 1 {
		return nil, cli.Usage("write a name of --devices", "%s: name one device", c.Name())
	}
	f, err := inventory.Read(r.file, nil)
	if err != nil {
		return nil, err
	}
	d, err := f.Devices.Find(args[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file, err)
	}
	return d, nil
}

// NewDevice returns the command device.
func NewDevice() *cobra.Command {
	c := &cobra.Command{Use: "device", Short: "Probe, watch and program switches of a lab",
		Args: cli.UnknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newDeviceProbe(), newDeviceRules(), newDeviceWatch(), newDeviceModel(), newDeviceTime(),
		newDeviceReboot(), newDeviceCertify(), &cobra.Command{
			Use: "schema", Short: "Print the JSON schema of an inventory",
			Example: "  lightloom device schema > devices.schema.json", Args: cli.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				_, err := c.OutOrStdout().Write(inventory.Schema)
				return err
			},
		})
	return c
}

func newDeviceProbe() *cobra.Command {
	var r reach
	var output string
	c := &cobra.Command{Use: "probe ADDR", Short: "Read a device's Capabilities and state, and find the profile " +
		"and flags that fit", Example: "  lightloom device probe 127.0.0.1:9339 --tls-dir keys"}
	r.flags(c)
	cli.OutputFlag(c, &output, probe.Report{})
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := r.config(c, args)
		if err != nil {
			return err
		}
		report, err := askDevice(c.Context(), cfg)
		if err != nil {
			return err
		}
		return printProbe(c.OutOrStdout(), report, cfg.Addr, output)
	}
	return c
}

func printProbe(w io.Writer, r *probe.Report, addr, output string) error {
	if output == console.OutputJSON {
		return console.WriteJSON(w, r)
	}
	if _, err := fmt.Fprintf(w, "gNMI %s, encodings %s\n", r.Version,
		strings.Join(r.Encodings, ", ")); err != nil {
		return err
	}
	t := console.NewTable(w, "profile", "fits", "ports", "circuits", "rules", "flags", "why")
	for _, f := range r.Fits {
		flags, err := json.Marshal(f.Flags)
		if err != nil || f.Flags == nil {
			flags = nil
		}
		t.Row(f.Profile, f.Fits, f.Ports, f.Circuit, f.Rules, string(flags), f.Why)
	}
	if err := t.Print(); err != nil {
		return err
	}
	best, err := r.Best()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "for an inventory, under devices:\n  - name: NAME\n    address: %q\n    profile: %s\n    "+
		"ports: %d\n", addr, best.Profile, best.Ports)
	return err
}
