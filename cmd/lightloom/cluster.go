package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lightloom/controller/server"
	"lightloom/lab/console"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

func newCluster() *cobra.Command {
	c := &cobra.Command{Use: "cluster",
		Short: "Found and change a controller's cluster, grant access, back up, delete logs",
		Args:  unknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newClusterInit(), newClusterJoin(), newClusterTrust(), newClusterDestroy(),
		newClusterMembers(),
		newClusterAdd(), newClusterRemove(), newClusterRaiseLevel(), newClusterBackup(), newClusterRestore(), newAccess())
	return c
}

func newClusterInit() *cobra.Command {
	opt, replicas := server.FoundOptions{}, 3
	c := &cobra.Command{
		Use:   "init DIR --fabric FABRIC [--replica NAME=HOST… --devices FILE]",
		Short: "Found a cluster of replicas",
		Long: "Without --replica it makes a state directory for each replica of this machine in DIR, for lightloom up " +
			"--state DIR\n" +
			"and lightloom controller run --state DIR.\n\n" +
			"With --replica, once for each, it founds a cluster on machines of their own. It makes an authority " +
			"(DIR/authority.pem: it\n" +
			"signs for everybody, so keep it in a safe place), keys of switches, agents and a client, and for each replica " +
			"NAME a\n" +
			"directory DIR/NAME/etc with replica.yaml and its keys, for /etc/lightloom of its machine, and DIR/NAME/state " +
			"for --state-dir there.",
		Example: "  lightloom cluster init state --fabric hybrid:racks=4,hosts=2\n" +
			"  lightloom cluster init prod --fabric hybrid:racks=4,hosts=2 --devices devices.yaml --replica c0=192.0.2.11 " +
			"--replica c1=192.0.2.12 --replica c2=192.0.2.13",
		Args: one("directory", "write lightloom cluster init DIR --fabric FABRIC"),
	}
	fl := c.Flags()
	fl.StringVar(&opt.Fabric, "fabric", "", "such as hybrid:racks=4,hosts=2, or a YAML file")
	fl.IntVar(&replicas, "replicas", replicas, "on this machine: 1, 3, 5 or 7")
	fl.StringArrayVar(&opt.Replicas, "replica", nil,
		"NAME=HOST or NAME=HOST:PORT of a replica on a machine of its own: "+
			"raft's port, by default 7400; the northbound's is 20 above")
	fl.StringVar(&opt.Devices, "devices", "", "with --replica: inventory, which says where switches and agents are")
	fl.StringVar(&opt.Policy, "policy", "crosslayer+sunflow", "with --replica: of the controller")
	fl.StringVar(&opt.State, "state-dir", "/var/lib/lightloom",
		"with --replica: directory of the log on each machine")
	fl.BoolVar(&opt.Agents, "agents", false, "with --replica: issue keys to an agent of every host, too")
	fl.Uint64Var(&opt.Earlier, "earlier", 0, "with --replica: how many clusters have programmed these switches before")
	c.RunE = func(c *cobra.Command, args []string) error {
		if opt.Fabric == "" {
			return usage("add --fabric hybrid:racks=4,hosts=2", "init: there is no fabric")
		}
		if len(opt.Replicas) > 0 {
			return foundMachines(c, args[0], opt)
		}
		spec, err := topo.FromArgument(opt.Fabric)
		if err != nil {
			return hint.Wrong(err)
		}
		if err := checkReplicas(replicas); err != nil {
			return err
		}
		return server.InitState(args[0], replicas, spec)
	}
	return c
}

func foundMachines(c *cobra.Command, dir string, opt server.FoundOptions) error {
	switch {
	case c.Flags().Changed("replicas"):
		return usage("leave --replicas away", "init: --replicas is for one machine, and --replica names machines")
	case opt.Devices == "":
		return usage("add --devices devices.yaml; lightloom device schema prints its JSON schema",
			"init: --devices is "+
				"missing")
	}
	if err := server.FoundCluster(dir, opt); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "founded: bring etc and state below %s/NAME to the machine of each replica NAME, once, "+
		"and keep %s/%s safe\n", dir, dir, server.AuthorityFile)
	return nil
}

func newClusterJoin() *cobra.Command {
	return ofDisk(&cobra.Command{
		Use:   "join DIR | --config FILE",
		Short: "Take a replica in whose log is lost, or that is on a new machine",
		Long: "Makes its empty state directory one that it may start on: the one that its file names, or DIR, which stands " +
			"beside\n" +
			"those of the other replicas of this machine. When it starts it cannot vote until it has read the terms of as\n" +
			"many other replicas as a majority is, and holds all that the cluster has committed.",
		Example: "  lightloom cluster join --config /etc/lightloom/replica.yaml\n  lightloom cluster join state/controller1",
	}, server.JoinState, server.JoinService)
}

func newClusterTrust() *cobra.Command {
	return ofDisk(&cobra.Command{
		Use:   "trust DIR | --config FILE",
		Short: "Vouch for the disk of a replica that waits for others",
		Long: "A replica that has started takes part once a majority of the others has answered: they know whether its " +
			"disk has gone\nback in time. If they cannot, because they are down or their disks are gone, and you know that " +
			"its disk holds all that\nthe replica has acknowledged, type this while it runs. It counts for this start. What " +
			"an older disk has forgotten is lost.",
		Example: "  lightloom cluster trust --config /etc/lightloom/replica.yaml\n" +
			"  lightloom cluster trust state/controller1",
	}, server.Trust, func(file string) error {
		f, err := server.ReadReplicaFile(file)
		if err != nil {
			return err
		}
		return server.Trust(f.Dir)
	})
}

// ofDisk has a command act on the disk of a replica, which its directory or its file names.
func ofDisk(c *cobra.Command, dir, file func(string) error) *cobra.Command {
	config := ""
	c.Flags().StringVar(&config, "config", "", "the file of a replica of a machine of its own")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case config != "" && len(args) == 0:
			return file(config)
		case config == "" && len(args) == 1:
			return dir(args[0])
		}
		return usage(fmt.Sprintf("write %s --config FILE, or %[1]s DIR", c.CommandPath()),
			"%s: %d directories are named", c.Name(), len(args))
	}
	return c
}

func newClusterDestroy() *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use:   "destroy DIR --yes",
		Short: "Delete the logs of replicas for good",
		Long: "DIR is the state directory of one replica, or holds those of all. Directories that a replica uses, or that " +
			"hold\n" +
			"anything but a log, are refused. Without --yes it says what would be deleted.",
		Example: "  lightloom cluster destroy state",
		Args:    one("directory", "write lightloom cluster destroy DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := server.DestroyState(args[0], yes)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			verb := "deleted"
			if !yes {
				verb = "would delete"
			}
			for _, dir := range d.Dirs {
				fmt.Fprintf(out, "%s %s\n", verb, dir)
			}
			fmt.Fprintf(out, "%s of cluster %s, %d bytes\n", console.Count(len(d.Dirs), "log"), d.Cluster, d.Bytes)
			if !yes {
				return usage("lightloom cluster destroy "+args[0]+" --yes", "destroy: nothing was deleted")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "delete them")
	return c
}
