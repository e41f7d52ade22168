package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lightloom/emulator/netns"
	"lightloom/lab/console"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// UpOptions are what the command up takes beside the fabric.
type UpOptions struct {
	Ready *os.File      // written to and closed once the fabric is up; nil: no process waits for it
	Page  string        // loopback address of the page; empty: any free port; NoPage: none
	Jobs  string        // path of jobs to submit once the fabric is up; empty: none
	Speak time.Duration // least interval between announcements of LLDP; 0: by the fabric's size
	// Then is called once the fabric is up; where it fails, the fabric goes down. nil: nothing
	Then func(context.Context) error
}

// Up keeps a fabric and its controller running until ctx ends.
func Up(ctx context.Context, opt scenario.Options, with UpOptions, stdout, stderr io.Writer) error {
	if err := netns.Supported(false); err != nil {
		return fmt.Errorf("build the fabric: %w", err)
	}
	s, err := console.Until(ctx, func() (*scenario.Prepared, error) { return scenario.Prepare(withoutTrace(opt), 1) })
	if err != nil {
		return err
	}
	if err := errors.Join(southbound.CheckPackets(s.Spec), s.Delays.OnPackets()); err != nil {
		return err
	}
	warn(s, stderr)
	control, err := listenControl()
	if err != nil {
		return err
	}
	defer control.Close()
	pages, err := listenPage(with.Page)
	if err != nil {
		return err
	}
	defer pages.Close()
	o := emulated.ChildConfig{Scenario: *s.Scenario(s.Rows[0]), Stay: true, Speak: with.Speak}
	o.Jobs, o.Faults = nil, nil // both come once the fabric is up
	if opt.State != "" {
		if o.State, err = stateSeenInside(opt.State); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	u := upping{UpOptions: with, s: s, began: time.Now(), pages: pages, stdout: stdout, stderr: stderr}
	defer u.following.Wait()
	defer stop()
	var failed error
	err = emulated.InNamespaces(ctx, o, emulated.Options{Stderr: stderr}, control, func(w *emulated.Event) {
		if !w.Ready {
			return
		}
		if then := u.ready(ctx, &o); then != nil {
			failed = then
			stop()
		}
	})
	if failed != nil {
		return failed
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	left := "nothing is left behind"
	if opt.State != "" {
		left = "the replicas' logs are left in " + opt.State
	}
	fmt.Fprintln(stdout, "down:", left)
	return nil
}

// warn says what of this machine the user will notice.
func warn(s *scenario.Prepared, stderr io.Writer) {
	if capacity, _ := scenario.Capacity(); scenario.PortRates(s)*scenario.LoadShare > capacity {
		fmt.Fprintf(stderr, "note: this fabric's ports sum to %s, more than a quarter of the %s that this machine is "+
			"taken to carry: at full load its cores set the pace, not its links\n",
			scenario.PortRates(s).About(), capacity.About())
	}
	if about := buildTime(len(s.Fabric.Topology.Nodes())); about > 3*time.Second {
		fmt.Fprintf(stderr, "building %s and %s: this takes about %v, longer beside other work\n",
			console.Count(len(s.Fabric.Topology.Nodes())-s.Fabric.Hosts(),
				"switch"), console.Count(s.Fabric.Hosts(), "host"),
			about.Round(time.Second))
	}
}

// upping is a fabric that comes up.
type upping struct {
	UpOptions
	s              *scenario.Prepared
	began          time.Time
	pages          *pageListener
	following      sync.WaitGroup
	stdout, stderr io.Writer
}

// ready says that the fabric is up and what can be done with it, and begins with jobs and faults.
func (u *upping) ready(ctx context.Context, o *emulated.ChildConfig) error {
	f := u.s.Fabric
	fmt.Fprintf(u.stdout, "up: %s, %s, policy %s; %s and %s in %.1f s\n", o.Row.Spec,
		console.Count(o.Replicas, "controller"), o.Row.Policy,
		console.Count(len(f.Topology.Nodes())-f.Hosts(), "switch"),
		console.Count(f.Hosts(), "host"), time.Since(u.began).Seconds())
	if o.Row.Spec.HasOCS() && u.s.Rows[0].Can().Circuits {
		fmt.Fprintf(u.stdout, "circuits by %v; a pair of racks gets one from %d bytes on\n", o.Row.Demand,
			int64(o.ElephantThreshold))
	}
	u.pages.begin(ctx, u.stdout, u.stderr)
	fmt.Fprintln(u.stdout, "try:  lightloom status\n      lightloom exec "+
		f.Topology.Node(f.HostNode[0]).Name+" -- ping -c 3 "+
		southbound.Addr(southbound.RackID(min(1, f.Racks-1)),
			0).String()+"\nCtrl-C, or lightloom down, ends it.")

	if u.Jobs != "" {
		err := Submit(ctx, SubmitOptions{File: u.Jobs, Output: console.OutputTable, Stdout: u.stdout,
			Stderr: u.stderr})
		if err != nil {
			fmt.Fprintln(u.stderr, "up:", err)
		}
	}
	u.following.Go(func() { follow(ctx, u.s.Faults, u.stdout, u.stderr) })
	if u.Then != nil {
		if err := u.Then(ctx); err != nil {
			return err
		}
	}
	if u.Ready != nil {
		_, _ = u.Ready.WriteString("up\n") // whoever has started it may be gone
		u.Ready.Close()
	}
	return nil
}

// buildTime is about how long a fabric takes to come up: on two cores that do nothing else 293 switches and hosts take
// 1.4 s, 585 take 2.9 s and 1,169 take 10.6 s. Tables, of which there is one a switch, grow with the racks.
func buildTime(nodes int) time.Duration {
	return 700*time.Millisecond + 7100*time.Nanosecond*time.Duration(nodes*nodes)
}

// stateSeenInside is the path of a state directory in the process inside, which has a /run of its own.
func stateSeenInside(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", hint.New(fmt.Sprintf("open state: %q is not there", dir),
			"found a cluster: lightloom cluster init "+dir+
				" --fabric FABRIC")
	case err != nil:
		return "", fmt.Errorf("open state: %w", err)
	case strings.HasPrefix(path+"/", "/run/"):
		return "", hint.New(fmt.Sprintf("open state: %q is below /run, which the fabric has one of its own of", dir),
			"name a directory elsewhere, such as /var/lib/lightloom")
	}
	return path, nil
}

// withoutTrace prepares options for a fabric that waits for jobs: one synthetic job takes the place of
// those to come.
func withoutTrace(opt scenario.Options) scenario.Options {
	opt.Trace, opt.Workload, opt.Coflows = "", "", 1
	return opt
}

// keeper serves the commands of a user whose fabric is up.
type keeper struct {
	*emulated.Testbed
	page *pageServer
	down func() // ends the fabric
}

// errDown is the cause of an end that lightloom down asked for.
var errDown = errors.New("lightloom down")

// Keep serves exec, status and the like on a listening socket until ctx ends.
func Keep(ctx context.Context, s *emulated.Testbed, control *os.File) error {
	ln, err := net.FileListener(control)
	control.Close()
	if err != nil {
		return fmt.Errorf("serve control socket: %w", err)
	}
	if err := nameHosts(s.Topo); err != nil {
		return err
	}
	ctx, down := context.WithCancelCause(ctx)
	defer down(nil)
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	var wg sync.WaitGroup
	defer wg.Wait()
	p := &pageServer{ctx: ctx, run: wg.Go}
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(context.Cause(ctx), errDown):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("serve control socket: %w", err)
		}
		wg.Go(func() {
			defer c.Close()
			(&keeper{s, p, func() { down(errDown) }}).answer(ctx, c.(*net.UnixConn))
		})
	}
}

// answer serves one client.
func (s *keeper) answer(ctx context.Context, c *net.UnixConn) {
	if err := samePeer(c, os.Getuid()); err != nil {
		return
	}
	r, files, err := receiveRequest(c)
	if err != nil {
		_ = json.NewEncoder(c).Encode(refusal(err)) // a client that has gone wants no answer
		return
	}
	defer closeAll(files)
	switch {
	case r.API:
		s.serveAPI(ctx, c)
		return
	case r.Page != nil && r.Page.Relay:
		s.page.relay(ctx, c)
		return
	}

	out, err := s.carryOut(ctx, c, r, files)
	if err != nil {
		out = refusal(err)
	}
	_ = json.NewEncoder(c).Encode(out)
	if r.Down && err == nil {
		s.down()
	}
}

// carryOut does what a client asks for, and returns the answer.
func (s *keeper) carryOut(ctx context.Context, c *net.UnixConn, r request,
	files []*os.File) (out reply, err error) {
	switch {
	case r.Status:
		out.Status, err = s.status(ctx)
	case r.Capture != nil && len(files) == 1:
		out.Capture, err = s.serveCapture(ctx, c, *r.Capture, files[0])
	case r.Audit != nil:
		out.Survey, err = s.serveAudit(ctx, c, *r.Audit)
	case r.Fault != nil:
		out = s.serveBreak(ctx, *r.Fault)
	case r.Names:
		out = s.serveNames(ctx)
	case r.Page != nil:
		out = s.page.serve(s, r.Page.Listen)
	case r.HealAll:
		out = s.serveHealAll(ctx)
	case r.ListenAPI != "":
		err = s.listenAPI(r.ListenAPI)
	case r.Down:
	case r.Fibre != nil:
		err = s.serveFibre(*r.Fibre)
	case len(r.Argv) > 0 && (len(files) == 3 || len(files) == maxFiles):
		code, err := s.exec(ctx, c, r, files)
		if err != nil {
			out = refusal(err)
		}
		out.Exit = code
	default:
		out.Error = "the request asks for nothing that is known"
	}
	return out, err
}
