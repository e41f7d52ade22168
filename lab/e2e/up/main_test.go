// Package up tests what is done with a fabric that is kept up: commands of the session, audits, faults,
// the page. A user has one such fabric at a time, so each test has a network namespace of its own.
package up

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"lightloom/controller/demand"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/topo"
)

const (
	upCommand   = "test-up"
	execCommand = "test-exec"
	// Programs that the controller knows nothing of: one sends to an address for a while, one takes one
	// connection.
	sendCommand    = "test-send"
	receiveCommand = "test-receive"
)

// TestMain has three fabrics up at once, and no more: each has three replicas, which a busy machine keeps from electing
// a leader.
func TestMain(m *testing.M) {
	labtest.Main(m, 3, map[string]func(context.Context, []string) error{upCommand: keepFabric,
		execCommand: execIn, emulated.InsideCommand: inside,
		sendCommand: sendUnannounced, receiveCommand: receiveUnannounced})
}

// inside keeps a fabric as lightloom up does, or measures how it fails.
func inside(ctx context.Context, _ []string) error {
	if os.Getenv(failoverEnv) != "" {
		return emulated.Inside(ctx, os.Stderr, failLinks)
	}
	return emulated.Inside(ctx, os.Stderr, session.Keep)
}

// speakEnv is the least interval between announcements of the fabric that keepFabric keeps.
const speakEnv = "LIGHTLOOM_TEST_SPEAK"

// keepFabric keeps a fabric up. Its arguments are the fabric's spec, the source of demand, and a
// directory of state.
func keepFabric(ctx context.Context, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	opt := labtest.PacketOptions("crosslayer+sunflow")
	opt.Fabric = "hybrid:racks=3,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"
	if len(args) > 0 {
		opt.Fabric = args[0]
		if strings.HasPrefix(args[0], topo.PodKind) {
			opt.Policies = []string{"crosslayer"} // circuits of a pod belong to slices
		}
	}
	if len(args) > 1 {
		opt.Demand = []demand.Options{{Source: demand.Source(args[1])}}
	}
	if len(args) > 2 {
		opt.State = args[2]
	}
	var with session.UpOptions
	if s := os.Getenv(speakEnv); s != "" {
		var err error
		if with.Speak, err = time.ParseDuration(s); err != nil {
			return err
		}
	}
	return session.Up(ctx, opt, with, os.Stdout, os.Stderr)
}

// execIn runs a command on a host of the fabric that is up.
func execIn(ctx context.Context, args []string) error {
	return session.Exec(ctx, session.ExecOptions{Host: args[0], Command: args[1:], Stdin: os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr})
}
