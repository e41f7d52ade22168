package switches

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/emulator/switchd/standalone"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// Speaking is how switch run's target speaks, and to whom.
type Speaking struct {
	own            bool
	user, password string
	deviates       deviation
}

// Flags adds its flags; what is a field of the switch's configuration is set there.
func (s *Speaking) Flags(fl *pflag.FlagSet, c *standalone.Config) {
	fl.BoolVar(&s.own, "own-keys", false, "--tls-dir holds keys of an authority of the switch's own: server.pem, and "+
		"for a controller ca.pem and client.pem; they are made where missing")
	fl.StringVar(&c.Profile, "profile", "", "model that the target speaks: "+strings.Join(targetd.Profiles(), ", ")+
		"; default: ocp, or openconfig")
	fl.BoolVar(&c.GRIBI, "gribi", false, "packet switches only: also serve gRIBI at the same address")
	fl.BoolVar(&c.RESTCONF, "restconf", false,
		"OCS with --profile polatis only: serve RESTCONF below /api, not gNMI")
	s.deviates.flags(fl)
	fl.StringVar(&s.user, "user", "", "user name that callers must bring: env:NAME or file:PATH")
	fl.StringVar(&s.password, "password", "", "password that callers must bring: env:NAME or file:PATH")
}

// Open reads keys and credentials into a switch's configuration. dir is empty for plaintext.
func (s *Speaking) Open(c *standalone.Config, dir string) (err error) {
	switch {
	case s.own && dir == "":
		return cli.Usage("write --tls-dir DIR --own-keys",
			"run: --own-keys makes keys in --tls-dir, which is missing")
	case (s.user == "") != (s.password == ""):
		return cli.Usage("write both, as env:NAME or file:PATH", "run: --user and --password come together")
	}
	c.Like = s.deviates.like
	if c.Validate, err = s.deviates.check("run", c.Profile, 1); err != nil {
		return err
	}
	if s.user != "" {
		if c.Login.User, err = inventory.Secret(s.user, os.Getenv); err != nil {
			return fmt.Errorf("read --user: %w", err)
		}
		if c.Login.Password, err = inventory.Secret(s.password, os.Getenv); err != nil {
			return fmt.Errorf("read --password: %w", err)
		}
	}
	if dir == "" {
		return nil
	}
	paths := inventory.KeyPaths(dir, c.Name)
	if s.own {
		if _, _, err := targetd.Keys(dir, c.Name); err != nil {
			return err
		}
		paths = targetd.KeyPaths(dir)
	}
	c.Keys, err = pki.Open(paths)
	return err
}
