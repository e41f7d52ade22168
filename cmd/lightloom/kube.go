package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/lab/session"
	"lightloom/southbound/hint"
)

// kubeProgram is a module of its own: what it imports is larger than all of this program.
const kubeProgram = "lightloom-kube"

func newKube() *cobra.Command {
	c := &cobra.Command{
		Use:   "kube [-- FLAG…]",
		Short: "Have the pods of Kubernetes' Jobs start on hosts that circuits join",
		Long: "Runs the program lightloom-kube with the controller that a context or flags mean, until Ctrl-C. What\n" +
			"stands behind -- are flags of that program: lightloom kube -- --help shows them. It is built from a copy\n" +
			"of the source by go build in cmd/lightloom-kube, where deploy has manifests to run it in a cluster.",
		Example: "  lightloom kube -- --kubeconfig ~/.kube/config",
	}
	to := reachFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if at := c.ArgsLenAtDash(); len(args) > 0 && at != 0 {
			return usage("write lightloom kube -- FLAG…", "kube: %q does not stand behind --", args[0])
		}
		path, err := findKube()
		if err != nil {
			return err
		}
		return runKube(c, path, to, args)
	}
	return c
}

// findKube returns the program's path: where commands are looked for, or beside this one.
func findKube() (string, error) {
	if path, err := exec.LookPath(kubeProgram); err == nil {
		return path, nil
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), kubeProgram)); err == nil {
			return path, nil
		}
	}
	return "", hint.New(fmt.Sprintf("kube: there is no program %s on your path, nor beside this one", kubeProgram),
		"in a copy of the source: cd cmd/lightloom-kube && go build -o /usr/local/bin/lightloom-kube .")
}

// runKube runs the program until it or the context ends. The running fabric is reached through a socket of its own.
func runKube(c *cobra.Command, path string, to *northbound.Flags, args []string) error {
	found, err := to.Find()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	var reach []string
	bridged := make(chan error, 1)
	switch {
	case found.Name == northbound.Up:
		dir, err := os.MkdirTemp("", "lightloom-kube")
		if err != nil {
			return fmt.Errorf("reach the running fabric: %w", err)
		}
		defer os.RemoveAll(dir)
		socket := filepath.Join(dir, "api.sock")
		in, err := net.Listen("unix", socket)
		if err != nil {
			return fmt.Errorf("reach the running fabric: %w", err)
		}
		reach = []string{"--socket", socket}
		go func() {
			defer cancel()
			bridged <- session.Bridge(ctx, in)
		}()
	case found.Socket != "":
		reach, bridged = []string{"--socket", found.Socket}, nil
	default:
		for _, s := range found.Servers {
			reach = append(reach, "--server", s)
		}
		reach, bridged = append(reach, "--keys", found.Keys), nil
	}
	child := exec.CommandContext(ctx, path, append(reach, args...)...)
	child.Stdin, child.Stdout, child.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 10 * time.Second
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // where this program is killed
	err = child.Run()
	if cancel(); bridged != nil {
		if failed := <-bridged; failed != nil {
			return failed
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &console.ExitError{Code: max(1, exit.ExitCode())}
	}
	return err
}
