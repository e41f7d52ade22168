package switches

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	resetpb "github.com/openconfig/gnoi/factory_reset"
	ospb "github.com/openconfig/gnoi/os"
	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/hint"
)

// labFlags say what stands around an optical switch that is checked.
type labFlags struct {
	interfaces        []string
	dark, within      time.Duration
	powerCycle, save  string
	savesAlways       bool
	reset             bool
	image             string
	restarts, writing bool
}

func (f *labFlags) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringSliceVar(&f.interfaces, "interfaces", nil,
		"with --write: interfaces of this machine at ports of an optical switch, such as 0=eth1,1=eth2,2=eth3: rules about "+
			"packets are checked, too")
	fl.DurationVar(&f.dark, "dark", 0, "with --interfaces: how long a circuit that moves is to be dark; default: it is "+
		"measured, and not judged")
	fl.StringVar(&f.powerCycle, "power-cycle", "",
		"with --write: shell command that cuts the switch's power and gives it back: circuits of others go dark")
	fl.StringVar(&f.save, "save", "", "with --restart: shell command that saves the configuration of a SONiC switch")
	fl.BoolVar(&f.savesAlways, "saves-always", false,
		"with --restart: a SONiC switch saves its configuration with each Set")
	fl.BoolVar(&f.reset, "factory-reset", false,
		"with --write: reset a SONiC switch by gNOI: circuits of others are cleared")
	fl.StringVar(&f.image, "other-image", "",
		"with --write: version that is installed on a SONiC switch and not running, which the check goes to by gNOI, and "+
			"back")
	fl.DurationVar(&f.within, "timeout", 0, "time limit for one rule; default: 10s; a switch that restarts takes longer")
}

func (f *labFlags) check() error {
	switch {
	case !f.writing && (len(f.interfaces) > 0 || f.powerCycle != "" || f.reset || f.image != ""):
		return cli.Usage("add --write",
			"target check: --interfaces, --power-cycle, --factory-reset and --other-image are of rules that write")
	case !f.restarts && (f.save != "" || f.savesAlways):
		return cli.Usage("add --restart", "target check: --save and --saves-always are of rules about restarts")
	case f.save != "" && f.savesAlways:
		return cli.Usage("write one of them", "target check: --save and --saves-always exclude each other")
	case f.dark != 0 && len(f.interfaces) == 0 || f.dark < 0:
		return cli.Usage("write --interfaces 0=eth1,1=eth2,2=eth3 --dark 10ms", "target check: --dark %v", f.dark)
	case f.within < 0:
		return cli.Usage("write --timeout 5m", "target check: --timeout %v", f.within)
	}
	return nil
}

// open returns what the flags say. The caller closes Probes where there are some.
func (f *labFlags) open(conn connection) (lab conformance.Lab, err error) {
	lab = conformance.Lab{Dark: f.dark, SavesAlways: f.savesAlways, PowerCut: shell(f.powerCycle), Save: shell(f.save)}
	if len(f.interfaces) > 0 {
		if lab.Probes, err = f.probes(); err != nil {
			return lab, err
		}
	}
	if f.reset {
		lab.FactoryReset = resetBy(resetpb.NewFactoryResetClient(conn))
	}
	if f.image != "" {
		lab.Images = imagesBy(ospb.NewOSClient(conn), f.image)
	}
	return lab, nil
}

func (f *labFlags) probes() (*frameprobe.Bench, error) {
	const mend = "write --interfaces 0=eth1,1=eth2,2=eth3"
	links := map[southbound.Port]int{}
	for _, text := range f.interfaces {
		number, name, ok := strings.Cut(text, "=")
		port, err := strconv.ParseUint(number, 10, 15)
		if !ok || err != nil {
			return nil, cli.Usage(mend, "target check: --interfaces %q", text)
		}
		nic, err := net.InterfaceByName(name)
		if err != nil {
			return nil, hint.Wrong(hint.Wrap(fmt.Errorf("target check: --interfaces %q: %w", text, err), mend))
		}
		if _, twice := links[southbound.Port(port)]; twice {
			return nil, cli.Usage(mend, "target check: --interfaces names port %d twice", port)
		}
		links[southbound.Port(port)] = nic.Index
	}
	b, err := frameprobe.OpenBench(links)
	if err != nil {
		return nil, hint.Wrap(err, "sending frames needs root, or CAP_NET_RAW")
	}
	return b, nil
}

// shell returns what runs a command of the shell; nil where there is none.
func shell(command string) func(context.Context) error {
	if command == "" {
		return nil
	}
	return func(ctx context.Context) error {
		said, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("run %q: %w: %s", command, err, strings.TrimSpace(string(said)))
		}
		return nil
	}
}

// unsupported marks that a switch does not know a call.
func unsupported(err error) error {
	if status.Code(err) == codes.Unimplemented {
		return fmt.Errorf("%w: %w", southbound.ErrUnsupported, err)
	}
	return err
}

func resetBy(c resetpb.FactoryResetClient) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := c.Start(ctx, &resetpb.StartRequest{})
		if err == nil && r.GetResetError() != nil {
			err = errors.New(r.GetResetError().String())
		}
		return unsupported(err)
	}
}

func imagesBy(c ospb.OSClient, other string) conformance.Images {
	return conformance.Images{Other: other,
		Running: func(ctx context.Context) (string, error) {
			r, err := c.Verify(ctx, &ospb.VerifyRequest{})
			return r.GetVersion(), unsupported(err)
		},
		Activate: func(ctx context.Context, version string) error {
			r, err := c.Activate(ctx, &ospb.ActivateRequest{Version: version})
			if err == nil && r.GetActivateError() != nil {
				err = errors.New(r.GetActivateError().String())
			}
			return unsupported(err)
		}}
}
