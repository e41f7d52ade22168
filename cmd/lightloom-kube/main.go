// Command lightloom-kube has the pods of Kubernetes' Jobs start on hosts that circuits join, and can serve Slices. It
// watches Jobs, pods, nodes and Slices, asks a Lightloom controller for slices, pins gated pods to their hosts and
// removes the gate. It keeps nothing of its own: it can be killed at any time, and several can wait to take its
// place.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"lightloom/cmd/lightloom-kube/admission"
	"lightloom/cmd/lightloom-kube/northbound"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "lightloom-kube: %v\n", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	servers   []string
	keys      string
	socket    string
	config    string
	owner     string
	namespace string
	patient   time.Duration
	starve    time.Duration
	lease     time.Duration
	settle    time.Duration
	slices    bool
	kueue     bool
	quota     time.Duration
	labels    bool
}

func parse(args []string, out io.Writer) (o options, err error) {
	f := pflag.NewFlagSet("lightloom-kube", pflag.ContinueOnError)
	f.SetOutput(out)
	f.StringArrayVar(&o.servers, "server", nil, "HOST:PORT of a Lightloom replica; may come several times")
	f.StringVar(&o.keys, "keys", "", "with --server: PEM file that lightloom keys issue wrote")
	f.StringVar(&o.socket, "socket", "", "in place of --server: socket of a replica of this machine")
	f.StringVar(&o.config, "kubeconfig", "",
		"file that says how the API server is reached; default: KUBECONFIG, else the cluster that this runs in")
	f.StringVar(&o.owner, "owner", "", "owner of the slices, which no other cluster may have; with a tenant's keys, "+
		"the name in its certificate; default: kubernetes- and the uid of namespace kube-system")
	f.StringVar(&o.namespace, "namespace", "lightloom", "namespace of the lease by which one of several leads")
	f.DurationVar(&o.patient, "patience", 5*time.Second, "how long Jobs wait for circuits that they only want")
	f.DurationVar(&o.starve, "starve", 10*time.Minute,
		"how long a Job waits for nodes until those behind it leave them to it; 0: they never do")
	f.DurationVar(&o.lease, "lease", 15*time.Second, "after how long another one takes over from one that is dead")
	f.DurationVar(&o.settle, "settle", 10*time.Second,
		"how long a slice is kept whose Job or Slice was never seen")
	f.BoolVar(&o.slices, "slices", false, "serve Slices of accelerator.gke.io, where no other controller does")
	f.BoolVar(&o.kueue, "kueue", false,
		"serve Kueue's admission checks whose controllerName is "+admission.Controller+", and Slices")
	f.DurationVar(&o.quota, "kueue-patience", 5*time.Minute,
		"how long a workload keeps its quota while its circuits are not there; 0: for ever")
	f.BoolVar(&o.labels, "labels", true, "label nodes with the rack, cube and slice that they are of")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("argument %q: there is none", f.Arg(0))
	case (len(o.servers) == 0) == (o.socket == ""):
		return o, errors.New("name the Lightloom controller: --server HOST:PORT --keys FILE, or --socket PATH")
	case o.lease < time.Second:
		return o, fmt.Errorf("--lease %v is below a second", o.lease)
	case o.kueue && !o.labels:
		return o, errors.New("--kueue has pods find their Slice by labels of nodes: leave out --labels=false")
	}
	o.slices = o.slices || o.kueue
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	c := &controller{options: o, say: func(format string, args ...any) {
		fmt.Fprintf(out, time.Now().Format("15:04:05.000 ")+format+"\n", args...)
	}}
	if o.socket != "" {
		c.north = northbound.DialSocket(o.socket)
	} else if c.north, err = northbound.Dial(o.servers, o.keys); err != nil {
		return err
	}
	if c.kube, err = dialKubernetes(ctx, o.config); err != nil {
		return err
	}
	if c.owner == "" {
		if c.owner, err = ownerOf(ctx, c.kube); err != nil {
			return err
		}
	}
	return c.lead(ctx)
}
