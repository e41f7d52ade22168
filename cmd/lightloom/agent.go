package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/agentd"
	"lightloom/pathmap"
	"lightloom/southbound/marking"
)

// agentUnit is the service's systemd unit.
//
//go:embed lightloom-agent.service
var agentUnit string

func newAgent() *cobra.Command {
	c := &cobra.Command{Use: "agent", Short: "Run a fabric's hosts on this machine",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newAgentRun(), newAgentTag(), newAgentUnit())
	return c
}

// defaultRequests is one call a millisecond at length: more than a controller that changes its rates at
// every event of a few hosts has to say, and little work for an agent.
const defaultRequests = 1000

// agentFlags are the flags of agent run, before they are checked.
type agentFlags struct {
	opt       agentd.AgentOptions
	rate      string
	withStdin bool
}

func newAgentRun() *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:   "run --host HOST --listen ADDR --tls-dir DIR",
		Short: "Act as one or more hosts of a fabric until Ctrl-C",
		Long: "Waits for a controller with a certificate of the same authority, and runs the tasks and transfers\n" +
			"that it orders. Tasks are timers. Transfers are TCP connections to the agents of other hosts (port\n" +
			"7471); the receiver checks every byte. DIR must hold HOST.pem and data.key, which lightloom\n" +
			"controller keys --agents writes. The controller tells which hosts there are and where. Clocks of\n" +
			"machines may differ: the controller measures the difference.",
		Example: "  lightloom agent run --host h0-0 --listen 192.0.2.11:7470 --tls-dir " +
			"keys --max-rate 500Mbps",
		Args: noArgs,
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

func (f *agentFlags) add(c *cobra.Command) {
	fl, opt := c.Flags(), &f.opt
	fl.StringVar(&opt.Fabric, "fabric", "", "fabric, as given to a controller that does not tell agents: one "+
		"older than they are")
	fl.StringSliceVar(&opt.Hosts, "host", nil,
		"name of the host that this machine acts as; several, separated "+
			"by commas, if it has several addresses")
	fl.StringVar(&opt.Listen, "listen", "127.0.0.1:7470", "address for the controller: host:port or unix:PATH")
	fl.StringVar(&opt.Keys, "tls-dir", "", "directory with HOST.pem and data.key")
	fl.StringVar(&opt.State, "state", "", "directory that keeps the largest election id in HOST.election, so that former "+
		"leaders are refused after a restart too; default: --tls-dir")
	fl.StringVar(&opt.Devices, "devices", "", "with --fabric, the controller's inventory, if hosts have other addresses "+
		"than 10.(r/256).(r%256).(i+1)")
	fl.StringVar(&f.rate, "max-rate", "", "limit of the sum of all transfers of this machine, whatever the "+
		"controller orders; such as 500Mbps")
	fl.IntVar(&opt.MaxRequests, "max-requests", defaultRequests,
		"calls per second that each controller replica "+
			"may make; more wait, and are refused after a second; 0: no limit")
	fl.StringSliceVar(&opt.LLDP, "lldp", nil, "interfaces on which to announce the host by LLDP, so that "+
		"switches know their neighbour; needs CAP_NET_RAW")
	fl.StringVar(&opt.Tags, "tags", "", "file whose rules mark packets of other programs, by cgroup, so that they take "+
		"the paths of tags; needs CAP_BPF and CAP_NET_ADMIN")
	fl.StringVar(&opt.TaskCgroups, "task-cgroups", "", "cgroup below the root, such as lightloom/h0-0, for groups of the "+
		"tasks with loads, task-0 and on, which have the vCPUs that the controller gives them; needs root")
	fl.StringVar(&opt.Congestion, "congestion", "cubic", "congestion control of TCP")
	fl.BoolVar(&f.withStdin, "with-stdin", false, "also end when standard input is closed, as it is when the "+
		"parent process ends")
}

func (f *agentFlags) run(c *cobra.Command) error {
	opt := &f.opt
	for _, need := range []struct{ flag, value string }{{"host", strings.Join(opt.Hosts, ",")},
		{"tls-dir", opt.Keys}} {
		if need.value == "" {
			return usage("add --"+need.flag+"; "+c.CommandPath()+" -h says what it is",
				"run: --%s is missing", need.flag)
		}
	}
	if f.rate != "" {
		var err error
		if opt.MaxRate, err = pathmap.ParseRate(f.rate); err != nil || opt.MaxRate <= 0 {
			return usage("write --max-rate 500Mbps", "run: --max-rate %q is no rate above zero", f.rate)
		}
	}
	if opt.MaxRequests < 0 {
		return usage("write --max-requests 1000, or 0 for no bound",
			"run: --max-requests %d is below zero", opt.MaxRequests)
	}
	ctx := c.Context()
	if f.withStdin {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go untilEOF(c.InOrStdin(), cancel)
	} else { // otherwise the parent process removes its socket
		var err error
		if opt.Guard, err = guardProgram(); err != nil {
			return err
		}
	}
	opt.Stdout, opt.Stderr = c.OutOrStdout(), c.ErrOrStderr()
	return agentd.RunAgent(ctx, *opt)
}

func newAgentTag() *cobra.Command {
	var opt agentd.TagOptions
	var cgroup, to string
	dscp := -1
	c := &cobra.Command{
		Use:   "tag --cgroup CGROUP --to ADDRESS --dscp NUMBER",
		Short: "Have packets of programs that run already carry a DSCP until Ctrl-C",
		Long: "Marks what the processes of a cgroup, and of those below it, send to an address or prefix, so that it\n" +
			"takes the path that lightloom reserve prints. Open connections change too; sockets stay in the cgroup\n" +
			"in which they were opened. It runs on the host that sends; agent run --tags FILE does the same.",
		Example: "  lightloom agent tag --cgroup system.slice/app.service --to 10.0.1.1 --dscp 2\n" +
			"  lightloom exec h0-0 -- lightloom agent tag --file tags.yaml",
		Args: noArgs,
	}
	fl := c.Flags()
	fl.StringVar(&cgroup, "cgroup", "", "cgroup (version 2) below the root, as /proc/PID/cgroup shows it, or its "+
		"directory")
	fl.StringVar(&to, "to", "", "IPv4 address or prefix of the destination")
	fl.IntVar(&dscp, "dscp", -1, "DSCP, 0 to 63")
	fl.StringVar(&opt.File, "file", "", "file with rules, which is read again when it changes")
	c.MarkFlagsMutuallyExclusive("file", "cgroup")
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt.Stdout, opt.Stderr = c.OutOrStdout(), c.ErrOrStderr()
		if opt.File == "" {
			r, err := marking.NewRule(cgroup, to, dscp)
			if err != nil {
				return usage("write lightloom agent tag --cgroup system.slice/app.service --to 10.0.1.1 --dscp 2",
					"agent tag: %w", err)
			}
			opt.Rules = []marking.Rule{r}
		}
		return agentd.Tag(c.Context(), opt)
	}
	return c
}

func newAgentUnit() *cobra.Command {
	return &cobra.Command{
		Use:   "unit",
		Short: "Print the agent's systemd unit",
		Example: "  lightloom agent unit | sudo tee /etc/systemd/system/lightloom-agent.service\n  sudo systemctl enable " +
			"--now lightloom-agent",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), agentUnit)
			return err
		},
	}
}
