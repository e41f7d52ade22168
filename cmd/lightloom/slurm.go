package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/lab/northbound"
	"lightloom/lab/replay"
	"lightloom/lab/session"
	"lightloom/lab/slurm"
	"lightloom/southbound/hint"
)

// newSlurm returns the commands that join Lightloom to Slurm.
func newSlurm(a actions, argv []string) *cobra.Command {
	c := &cobra.Command{
		Use:   "slurm",
		Short: "Run Slurm over a fabric, and reserve circuits for its jobs",
		Long: "Runs real Slurm over an emulated fabric, and has Slurm's jobs get circuits: a job whose comment\n" +
			"is lightloom:circuits=required waits for circuits between its nodes, and with wanted it waits a few seconds.",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	if a.up != nil {
		c.AddCommand(newSlurmUp(a, argv), newSlurmDown(), newSlurmShell())
	}
	c.AddCommand(newSlurmRoot(), newSlurmFiles(), newSlurmAgent())
	return c
}

func newSlurmUp(a actions, argv []string) *cobra.Command {
	var root, kind string
	up := newUp(actions{up: func(ctx context.Context, opt replay.Options) error {
		named, _, _ := strings.Cut(os.Getenv("LIGHTLOOM_SLURM"), string(filepath.ListSeparator))
		r, err := slurm.FindRoot(cmp.Or(root, named), slurm.MachineVersion)
		if err == nil {
			err = r.Version.Has(kind)
		}
		if err != nil {
			return hint.Wrong(err)
		}
		opt.Then = func(ctx context.Context) error { return slurm.Start(ctx, r, kind, opt.Stdout) }
		return a.up(ctx, opt)
	}}, argv)
	up.Use = "up [DIR]"
	up.Short = "Run a fabric, its controller and Slurm over it until Ctrl-C"
	up.Long = "Builds a fabric as lightloom up does, and starts Slurm over it: munge, slurmctld, a slurmd in\n" +
		"each host, which is a node of the same name. It takes root, and a Slurm: that of lightloom slurm root, or the\n" +
		"machine's. Jobs are of the user lab, else of the user named nobody. /tmp is the machine's, all else\n" +
		"below / is the root's. Nothing is left behind."
	up.Example = "  sudo lightloom slurm up --fabric hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms\n" +
		"  sudo lightloom slurm up -d --fabric hybrid:racks=4,hosts=2 --plugin block"
	up.Flags().StringVar(&root, "root", "", "directory of lightloom slurm root, or / for the machine's Slurm; "+
		"default: LIGHTLOOM_SLURM, or "+slurm.DefaultRoot+" if it is there, or the machine's")
	up.Flags().StringVar(&kind, "plugin", slurm.Tree, "Slurm's topology: "+strings.Join(slurm.Kinds(), ", "))
	mark(up, placeMark, "root", "plugin")
	return up
}

func newSlurmDown() *cobra.Command {
	c := newDown()
	c.Short = "End the running fabric, with Slurm and its jobs"
	c.Example = "  sudo lightloom slurm down"
	return c
}

func newSlurmShell() *cobra.Command {
	var host, user string
	c := &cobra.Command{
		Use:   "shell [-- COMMAND [ARG…]]",
		Short: "Run a command as a user of the Slurm that is up",
		Long: "Runs sbatch, srun, squeue, scancel or any other command, or a shell, as a user of the Slurm that is up. It\n" +
			"begins in this directory if it is below /tmp and the user's, else in /tmp. root administers Slurm: --user root.",
		Example: "  sudo lightloom slurm shell -- sbatch -N2 --comment lightloom:circuits=required job.sh\n" +
			"  sudo lightloom slurm shell --user root -- scontrol reconfigure",
	}
	c.Flags().StringVar(&host, "host", "", "host to run it in; default: the first")
	c.Flags().StringVar(&user, "user", "", "user of the root, such as root; default: lab, else the user named nobody")
	c.RunE = func(c *cobra.Command, args []string) error {
		return slurm.Shell(c.Context(), host, user, args, session.ExecOptions{Stdin: c.InOrStdin(),
			Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()})
	}
	return c
}

func newSlurmRoot() *cobra.Command {
	suite := "sid"
	c := &cobra.Command{
		Use:   "root DIR",
		Short: "Make a directory with Slurm of a Debian suite",
		Long: "Makes a directory tree with Slurm's packages and what they need, and prints the version that it got. It\n" +
			"takes root, mmdebstrap and the packages' servers, two minutes, and some 500 MB. rm -rf removes it.",
		Example: "  sudo lightloom slurm root " + slurm.DefaultRoot +
			"\n  sudo lightloom slurm root --suite bookworm /opt/slurm-22",
		Args: one("directory", "write lightloom slurm root "+slurm.DefaultRoot),
	}
	c.Flags().StringVar(&suite, "suite", suite, "suite of Debian: sid has Slurm 26.05, bookworm 22.05")
	c.RunE = func(c *cobra.Command, args []string) error {
		return slurm.MakeRoot(c.Context(), suite, args[0], c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

func newSlurmFiles() *cobra.Command {
	return &cobra.Command{
		Use:   "files DIR",
		Short: "Write the script by which a Slurm of your own holds jobs that ask for circuits",
		Long: "Writes job_submit.lua into the directory of slurm.conf, and prints the line that slurm.conf needs. A file\n" +
			"that is there already is left alone.",
		Example: "  sudo lightloom slurm files /etc/slurm",
		Args:    one("directory", "write lightloom slurm files /etc/slurm"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := os.OpenFile(filepath.Join(args[0], "job_submit.lua"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err != nil {
				return hint.Wrap(fmt.Errorf("write files: %w", err), "join its functions with those of the script there")
			}
			_, err = f.WriteString(slurm.Script())
			if err := errors.Join(err, f.Close()); err != nil {
				return fmt.Errorf("write files: %w", err)
			}
			_, err = fmt.Fprint(c.OutOrStdout(), slurm.Lines)
			return err
		},
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// broker reserves circuits at the controller that flags mean.
func broker(c *cobra.Command, to *northbound.Flags, slurmOf *slurm.Client) (slurm.Broker, func(), error) {
	client, err := session.Dial(*to)
	if err != nil {
		return slurm.Broker{}, nil, err
	}
	return slurm.Broker{Slices: client, Slurm: slurmOf, Patient: 5 * time.Second,
		Network: func(ctx context.Context) (slurm.Network, error) { return slurm.Ask(ctx, client) },
		Pause:   func(ctx context.Context) error { return pause(ctx, 10*time.Millisecond) },
		Say:     func(format string, args ...any) { fmt.Fprintf(c.OutOrStdout(), format+"\n", args...) },
	}, client.Close, nil
}

func newSlurmAgent() *cobra.Command {
	var a slurm.Agent
	every := time.Second
	c := &cobra.Command{
		Use:   "agent",
		Short: "Keep circuits and Slurm in line until Ctrl-C",
		Long: "Lights circuits for jobs that are held for them, releases the jobs, and frees circuits that belong to no\n" +
			"job of Slurm any more. With --file it also writes the topology as circuits stand: of topology/block in\n" +
			"Slurm 25.05 and later, nodes move between blocks at once. An older one reads its files\n" +
			"again, once a minute at most. Run it beside slurmctld, as root or SlurmUser.",
		Example: "  lightloom slurm agent --file /etc/slurm/topology.yaml --plugin block",
		Args:    noArgs,
	}
	to := reachFlags(c)
	c.Flags().StringVar(&a.File, "file", "", "topology file of Slurm; default: the topology is left alone")
	c.Flags().StringVar(&a.Kind, "plugin", slurm.Block, "Slurm's topology: "+strings.Join(slurm.Kinds(), ", "))
	c.Flags().DurationVar(&every, "every", every, "time between two looks")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf(c, "plugin", a.Kind, slurm.Kinds()...); err != nil {
			return err
		}
		if every <= 0 {
			return usage("write --every 1s", "slurm agent: --every %v is not above zero", every)
		}
		a.Client = &slurm.Client{}
		var end func()
		var err error
		if a.Broker, end, err = broker(c, to, a.Client); err != nil {
			return err
		}
		defer end()
		if a.Version, err = a.Client.Version(c.Context()); err != nil {
			return err
		}
		return a.Run(c.Context(), every)
	}
	return c
}
