package switches

import (
	"fmt"
	"net/url"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/emulator/target"
	"lightloom/southbound/inventory"
	"lightloom/southbound/restconf"
)

// backend is the switch that target run fronts instead of an emulated one.
type backend struct {
	kind           string
	user, password string
	tls            inventory.TLS
	plaintext      bool
}

func (b *backend) flags(c *cobra.Command) {
	c.Flags().StringVar(&b.kind, "backend", "",
		"forward to another device: restconf URL is the RESTCONF root "+
			"of an optical switch")
	c.Flags().StringVar(&b.user, "backend-user", "", "user name at the backend: env:NAME or file:PATH")
	c.Flags().StringVar(&b.password, "backend-password", "", "password at the backend: env:NAME or file:PATH")
	c.Flags().StringVar(&b.tls.CA, "backend-ca", "",
		"PEM file with the certificate authority of the backend; "+
			"default: the machine's authorities")
	c.Flags().StringVar(&b.tls.ServerName, "backend-server-name", "",
		"name in the backend's certificate, if it "+
			"differs from the URL's host")
	c.Flags().BoolVar(&b.plaintext, "backend-plaintext", false, "use http to the backend; loopback addresses "+
		"only")
}

// open returns the driver of the switch elsewhere, or nil where an emulated one is asked for.
func (b *backend) open(c *cobra.Command, args []string, a *targetd.Config) (*restconf.Switch, error) {
	const hint = "write --backend restconf https://192.0.2.9:8008/api"
	switch {
	case b.kind == "" && len(args) == 0:
		return nil, nil
	case b.kind == "":
		return nil, cli.NoArgs(c, args)
	case b.kind != "restconf":
		return nil, cli.Usage(hint, "target run: --backend %q is unknown", b.kind)
	case len(args) != 1:
		return nil, cli.Usage(hint, "target run: --backend restconf takes the URL of one RESTCONF root")
	case !slices.Contains(target.Profiles(device.Optical), a.Profile):
		return nil, cli.Usage("write --profile ocp",
			"target run: --backend restconf fronts an optical switch, and %s is a "+
				"packet switch's profile", a.Profile)
	case (b.user == "") != (b.password == ""):
		return nil, cli.Usage("write both, as env:NAME or file:PATH",
			"target run: --backend-user and --backend-password "+
				"come "+
				"together")
	}
	for _, name := range []string{"faults", "dark", "delays", "recovery", "all-stop", "seed"} {
		if c.Flags().Changed(name) {
			return nil, cli.Usage("leave --"+name+" out", "target run: --%s is of emulated switches", name)
		}
	}
	cfg := restconf.Config{Name: a.Name, URL: args[0], Ports: a.Ports, Plaintext: b.plaintext}
	var err error
	if b.user != "" {
		if cfg.User, err = inventory.Secret(b.user, os.Getenv); err != nil {
			return nil, fmt.Errorf("read --backend-user: %w", err)
		}
		if cfg.Password, err = inventory.Secret(b.password, os.Getenv); err != nil {
			return nil, fmt.Errorf("read --backend-password: %w", err)
		}
	}
	if !b.plaintext {
		host := ""
		if u, err := url.Parse(args[0]); err == nil {
			host = u.Hostname() + ":443"
		}
		if cfg.TLS, err = b.tls.Client(host); err != nil {
			return nil, fmt.Errorf("reach backend: %w", err)
		}
	}
	d, err := restconf.New(cfg)
	if err != nil {
		return nil, cli.Usage(hint, "target run: %w", err)
	}
	return d, nil
}
