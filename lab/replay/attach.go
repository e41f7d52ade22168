package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller/api"
	"lightloom/controller/page"
	"lightloom/controller/server"
	"lightloom/controller/state"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/session"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/physical"
	"lightloom/lab/version"
	"lightloom/pathmap"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// AttachOptions are the options of the command controller run: a controller for switches that run
// elsewhere, and jobs to run under it.
type AttachOptions struct {
	server.DaemonOptions

	// Jobs, if above zero, is how many are submitted once the fabric is ready: the first of Trace, a
	// coflow-benchmark file, or of Workload, as scenario.Options have it, or synthetic ones where both are
	// empty. What came of them is said in a line that begins with "replayed".
	Jobs     int
	Trace    string
	Workload string
	Scale    float64 // divides bytes: the fabric's rates are what they are; 0: 1
	Speedup  float64 // divides arrivals, sizes and compute times; 0: 1

	// ReportDir, if any, is where the report of the jobs goes, and On what it says that they ran on.
	ReportDir string
	On        string
	Page      string           // loopback address of the page; empty: any free port; session.NoPage: none
	Args      []string         // of the process, after its name
	Settings  []report.Setting // all flags with their values, but for those of the place: for the manifest
}

// attached is a controller for switches that run elsewhere, with its jobs.
type attached struct {
	*server.Daemon
	opt AttachOptions
}

// Attach runs the controller until ctx ends, and the jobs once it is ready.
func Attach(ctx context.Context, opt AttachOptions) error {
	ln, err := session.ListenPage(opt.Page)
	if err != nil {
		return err
	}
	if ln != nil {
		defer ln.Close()
		opt.Reasons = opt.Jobs == 0 // explanations would slow decisions that are measured
	}
	opt.Replay = opt.Jobs > 0
	return server.RunDaemon(ctx, opt.DaemonOptions, func(ctx context.Context, d *server.Daemon) error {
		a := &attached{d, opt}
		g, ctx := errgroup.WithContext(ctx)
		if ln != nil {
			g.Go(func() error { return a.page(ctx, ln) })
		}
		if opt.Jobs > 0 {
			g.Go(func() error { return a.replay(ctx) })
		}
		return g.Wait()
	})
}

// page serves the controller's page until ctx ends. It knows what the controller does, and can end
// jobs; the switches are not this program's to break.
func (a *attached) page(ctx context.Context, ln net.Listener) error {
	id, err := a.Identity(pki.Client, inventory.ClientName)
	if err != nil {
		return err
	}
	client, err := api.Dial(a.Cluster.Addrs(), id.Client("", pki.Controller))
	if err != nil {
		return err
	}
	defer client.Close()
	src := &page.Controller{Client: client, Of: a.Fabric, Seed: a.opt.Seed, Replicas: a.Cluster.IDs,
		About: page.FabricOf(a.Fabric, a.opt.Policy, "switches that run elsewhere")}
	p, err := page.New(page.Config{Source: src, Address: ln.Addr().String(),
		Actions: page.Actions{Cancel: src.Cancel, Try: src.Try, Why: src.Why}})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.opt.Stdout, "page: %s\n", p.URL())
	return p.Serve(ctx, ln)
}

// jobs makes the jobs to replay. It does not scale the fabric's rates.
func (a *attached) jobs() (*scenario.Prepared, error) {
	s := &scenario.Prepared{Options: scenario.Options{Trace: a.opt.Trace, Workload: a.opt.Workload,
		Coflows: a.opt.Jobs, Seed: a.opt.Seed, Settings: a.opt.Settings,
		Scale: cmp.Or(a.opt.Scale, 1), Speedup: cmp.Or(a.opt.Speedup, 1)},
		Spec: a.Fabric.Spec, Fabric: a.Fabric}
	return s, s.Load()
}

// row is the report's row for the run.
func (a *attached) row() scenario.Row {
	return scenario.Row{Name: a.opt.Policy, Policy: a.opt.Policy, Spec: a.Config.Spec, Demand: a.opt.Demand}
}

// replay runs the jobs and reports the results. The end of ctx is not an error.
func (a *attached) replay(ctx context.Context) (err error) {
	began, cpu := time.Now(), report.CPUSeconds()
	if a.Agent == nil && len(a.Config.Agents) == 0 {
		return server.ErrNoAgent
	}
	s, err := a.jobs()
	if err != nil {
		return err
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(a.opt.Stderr, w)
	}
	tb, err := physical.New(ctx, a.Daemon, a.row(), a.opt.ReportDir != "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tb.Close()) }()
	o, err := testbed.Run(ctx, tb, &scenario.Scenario{Row: a.row(), Seed: a.opt.Seed, Jobs: s.Jobs,
		Replicas: a.opt.Replicas}, nil)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replay %d jobs: %w", len(s.Jobs), err)
	}
	sum := a.sum(o)
	if a.opt.ReportDir != "" {
		if err := a.write(s, o, began, cpu); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.opt.Stdout, sum)
	return nil
}

// sum returns the results of a replay in one line.
func (a *attached) sum(o *outcome.Outcome) string {
	var bytes pathmap.Bytes
	var cct, end time.Duration
	inService := 0
	d := o.State
	for i := range d.Coflows {
		c := d.Coflows[i]
		bytes += c.Bytes
		cct += c.Ended - c.Ready
		end = max(end, c.Ended)
	}
	for i := range d.Moves {
		if d.Moves[i].InService != state.Unset {
			inService++
		}
	}
	n := max(len(d.Coflows), 1)
	return fmt.Sprintf("replayed: %d jobs, %d coflows, %d bytes of which %d received, in %.3f s; mean coflow %.3f s; %d "+
		"circuits", len(d.Jobs), len(d.Coflows), bytes, o.Received, end.Seconds(), cct.Seconds()/float64(n), inService)
}

// AttachCommand is the command in the manifest of a run on switches of another program, such as
// Mininet. The manifest names what was replayed and how; the user has to start the testbed again.
const AttachCommand = "controller run"

// write writes the report of a run that began at that instant, when the process had used cpu seconds.
// report.json has the form of lightloom replay's.
func (a *attached) write(s *scenario.Prepared, o *outcome.Outcome, began time.Time, cpu float64) error {
	dir, err := reportDir(a.opt.ReportDir, a.opt.Stderr)
	if err != nil {
		return err
	}
	s.Options.On = cmp.Or(a.opt.On, "elsewhere")
	s.Rows, s.ElephantThreshold = []scenario.Row{o.Row}, a.Config.ElephantThreshold
	rep, _ := (&runner{Prepared: s}).report([]*outcome.Outcome{o})
	manifest, inputs, err := s.Manifest()
	if err != nil {
		return err
	}
	manifest.Command, rep.Manifest = AttachCommand, manifest
	rep.Fabric.Privilege, rep.Fabric.Dataplane = "root", "of switches run by themselves"
	rep.Fabric.Congestion = "cubic"
	rep.Controller.Replicas, rep.Controller.Log, rep.Controller.Digest = a.opt.Replicas, "raft", o.Digest
	now := time.Now()
	run := &report.Run{Version: version.This(), Command: a.opt.Args, Started: began, Ended: now,
		Host: report.ThisHost(),
		Wall: now.Sub(began).Seconds(), CPU: report.CPUSeconds() - cpu, Inputs: inputs}
	run.Policies = append(run.Policies, report.PolicyRun{Name: o.Row.Name, Wall: run.Wall, CPU: run.CPU})
	if err := rep.WriteDir(dir, run); err != nil {
		return err
	}
	fmt.Fprintf(a.opt.Stdout, "report: %s\n", filepath.Join(dir, "report.html"))
	return nil
}
