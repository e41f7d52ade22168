package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"

	"lightloom/lab/console"
	"lightloom/lab/survey"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/lldp"
	"lightloom/southbound/pki"
)

// AuditOptions are the options of the command audit cabling.
type AuditOptions struct {
	// Fabric, Devices and Keys name switches that run elsewhere, as AttachOptions do; all empty: this user's `up`.
	Fabric, Devices, Keys string

	Settle    time.Duration // for neighbours to hear each other in every round; `up` has it raised on large fabrics
	Interrupt bool          // although circuits stand
	Output    string        // OutputTable or OutputJSON

	Stdout, Stderr io.Writer
}

// auditRequest is an audit on the control socket.
type auditRequest struct {
	Settle    time.Duration `json:"settle"`
	Interrupt bool          `json:"interrupt"`
}

// cablingSite holds an audit's connections to switches.
type cablingSite struct {
	fabric  *topo.Fabric
	devices inventory.Devices
	id      pki.Identity // a controller's
	epoch   time.Time
	settle  time.Duration // at least, whatever is asked
}

// hearing is how long an announcement can take to be known: ages are told in whole seconds, on a busy machine.
const hearing = 2 * time.Second

// auditProgress is told of each round, and how long it waits once its circuits are up.
type auditProgress func(round, circuits int, settle time.Duration)

// survey audits the fabric's cabling over gNMI.
func (c *cablingSite) survey(ctx context.Context, r auditRequest,
	progress auditProgress) (*survey.Result, error) {
	if !c.fabric.HasOCS() {
		return nil, emulated.ErrNoOCS
	}
	t := c.fabric.Topology
	settle := max(r.Settle, c.settle)
	site := survey.Site{Expected: survey.Expected(c.fabric), Say: survey.EndNames(c.fabric), Settle: settle,
		Interrupt: r.Interrupt, Progress: func(round, circuits int) { progress(round, circuits, settle) }}
	var names []string
	var ask []survey.Neighbors
	asked := map[pathmap.NodeID]bool{}
	for k := range c.fabric.OCSes() {
		n := c.fabric.OCSNode + pathmap.NodeID(k)
		ocs, err := c.dialOCS(ctx, n)
		if err != nil {
			return nil, err
		}
		defer ocs.Close()
		site.OCSes = append(site.OCSes, survey.OCS{Name: t.Node(n).Name, Device: ocs, Ports: int(t.Ports(n))})
		for _, l := range t.Out(n) {
			to := t.Link(l).To
			if asked[to] {
				continue
			}
			asked[to] = true
			cfg, err := c.devices.Config(c.fabric, to, c.id, os.Getenv)
			if err != nil {
				return nil, err
			}
			conn, err := gnmi.Connect(cfg)
			if err != nil {
				return nil, err
			}
			defer conn.Close()
			names, ask = append(names, cfg.Name), append(ask, neighbors(conn))
		}
	}
	site.Hear = survey.Ears(names, ask)
	return survey.Run(ctx, site)
}

// dialOCS connects to an optical switch. Switches take no Set without an election id; an audit has a role of its own,
// beside the controller that leads.
func (c *cablingSite) dialOCS(ctx context.Context, n pathmap.NodeID) (gnmi.Line, error) {
	return c.devices.Dial(ctx, c.fabric, n, c.id, os.Getenv, func(cfg *gnmi.Config) {
		cfg.Start, cfg.Timeout = c.epoch, auditTimeout
		cfg.Role, cfg.Election = "audit", func() gnmi.Election { return gnmi.Election{High: 1} }
	})
}

// auditTimeout bounds one call to one switch.
const auditTimeout = 5 * time.Second

func neighbors(conn grpc.ClientConnInterface) survey.Neighbors {
	return func(ctx context.Context) ([]lldp.Heard, error) {
		ctx, cancel := context.WithTimeout(ctx, auditTimeout)
		defer cancel()
		return probe.Neighbors(ctx, gpb.NewGNMIClient(conn))
	}
}

// serveAudit audits the running fabric and sends the client its progress.
func (s *keeper) serveAudit(ctx context.Context, c *net.UnixConn, r auditRequest) (*survey.Result, error) {
	id, err := s.Authority.Issue(pki.Controller, "audit")
	if err != nil {
		return nil, err
	}
	site := &cablingSite{fabric: s.Topo, devices: s.Devices(), id: id, epoch: s.Epoch,
		settle: s.Speaking() + hearing}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = c.Read(make([]byte, 1)) // the client's end
	}()
	enc := json.NewEncoder(c)
	return site.survey(ctx, r, func(round, circuits int, settle time.Duration) {
		_ = enc.Encode(reply{Round: round, Circuits: circuits, Settle: settle})
	})
}

// AuditCabling finds where each fibre is plugged in, and prints it. Deviations are printed and then returned as an
// ExitError with status 1.
func AuditCabling(ctx context.Context, opt AuditOptions) error {
	progress := func(round, circuits int, settle time.Duration) {
		fmt.Fprintf(opt.Stderr, "round %d: %s, then %v to hear\n", round,
			console.Count(circuits, "circuit"), settle)
	}
	var res *survey.Result
	var err error
	if opt.Devices == "" {
		res, err = auditUp(ctx, opt, progress)
	} else {
		res, err = auditElsewhere(ctx, opt, progress)
	}
	switch {
	case errors.Is(err, survey.ErrCircuits):
		return hint.New(err.Error(), "add --interrupt: what goes over them waits meanwhile (lightloom status circuits says "+
			"for whom they are)")
	case err != nil:
		return err
	}
	if err := showCabling(opt, res); err != nil {
		return err
	}
	if len(res.Findings) > 0 {
		return &console.ExitError{Code: 1}
	}
	return nil
}

// auditElsewhere audits switches that are named in a file.
func auditElsewhere(ctx context.Context, opt AuditOptions, progress auditProgress) (*survey.Result, error) {
	spec, err := topo.FromArgument(opt.Fabric)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		return nil, err
	}
	p, err := inventory.Read(opt.Devices, f)
	if err != nil {
		return nil, err
	}
	id, err := inventory.ReadKeys(opt.Keys, "controller0")
	if err != nil {
		return nil, err
	}
	site := &cablingSite{fabric: f, devices: p.Devices, id: id, epoch: time.Now()}
	return site.survey(ctx, auditRequest{opt.Settle, opt.Interrupt}, progress)
}

// auditUp audits the fabric of this user's `up`.
func auditUp(ctx context.Context, opt AuditOptions, progress auditProgress) (*survey.Result, error) {
	c, err := dialControl()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.CloseWrite() })()
	if err := sendRequest(c, request{Audit: &auditRequest{opt.Settle, opt.Interrupt}}); err != nil {
		return nil, err
	}
	d := json.NewDecoder(c)
	for {
		var r reply
		switch err := d.Decode(&r); {
		case err != nil:
			return nil, fmt.Errorf("audit cabling: the fabric went down: %w", err)
		case r.Error != "" && strings.Contains(r.Error, survey.ErrCircuits.Error()):
			before, after, _ := strings.Cut(r.Error, survey.ErrCircuits.Error())
			return nil, fmt.Errorf("%s%w%s", before, survey.ErrCircuits, after)
		case r.Error != "":
			return nil, refused(r)
		case r.Survey != nil:
			return r.Survey, nil
		default:
			progress(r.Round, r.Circuits, r.Settle)
		}
	}
}

func showCabling(opt AuditOptions, res *survey.Result) error {
	if opt.Output == console.OutputJSON {
		e := json.NewEncoder(opt.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(res)
	}
	t := console.NewTable(opt.Stdout, "OCS port", "into it, expected", "found", "out of it, expected", "found")
	for _, p := range res.Ports {
		t.Row(portName(p.Switch, southbound.Port(p.Port)), p.InExpected,
			mark(p.InExpected, p.InFound), p.OutExpected,
			mark(p.OutExpected, p.OutFound))
	}
	_ = t.Print()
	for _, n := range res.Notes {
		fmt.Fprintln(opt.Stdout, "note:", n)
	}
	for _, f := range res.Findings {
		fmt.Fprintln(opt.Stdout, f)
	}
	_, err := fmt.Fprintf(opt.Stdout, "%s audited in %s: %s\n", console.Count(2*len(res.Ports), "fibre"),
		console.Count(res.Rounds, "round"), console.Count(len(res.Findings), "finding"))
	return err
}

func mark(expected, found string) string {
	if expected == found {
		return "as expected"
	}
	return "! " + found
}
