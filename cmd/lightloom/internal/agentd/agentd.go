package agentd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/switchd/standalone"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/hostagent"
	"lightloom/southbound/inventory"
	"lightloom/southbound/lldpd"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
	"lightloom/southbound/vcpus"
)

// AgentOptions are the options of the command agent run, an agent for hosts of this machine.
type AgentOptions struct {
	Fabric  string                // a spec, or the path of a YAML file; empty: the controller tells which hosts there are
	Devices string                // the controller's file; empty: hosts have the addresses of the address plan
	Keys    string                // directory with the first host's keys and data.key
	State   string                // directory that keeps the largest election id; empty: Keys
	Hosts   []string              // that this machine is
	Listen  string                // host:port or unix:PATH of the controller's calls
	MaxRate pathmap.BitsPerSecond // of all that this machine sends; 0: no bound
	// MaxRequests bounds the calls a second of each replica of the controller; 0: no bound.
	MaxRequests int
	LLDP        []string // interfaces to announce the first host at; it needs CAP_NET_RAW
	Tags        string   // file of rules that mark packets of other processes; empty: none
	// TaskCgroups is a cgroup below the root whose own ones limit the vCPUs of tasks; empty: nothing does.
	TaskCgroups string

	Congestion string // of TCP; empty: cubic
	// command line of a process that removes a Unix socket of Listen when this one is killed; nil: it stays
	Guard          []string
	Stdout, Stderr io.Writer
}

// here is this machine: sockets are made in the process's own namespace.
type here struct{}

func (here) InHost(_ southbound.HostID, do func() error) error { return do() }

// RunAgent serves hosts of this machine until ctx ends; then it returns nil.
func RunAgent(ctx context.Context, opt AgentOptions) error {
	if err := runAgent(ctx, opt); err != nil {
		return fmt.Errorf("run agent of %s: %w", strings.Join(opt.Hosts, ", "), err)
	}
	return nil
}

func runAgent(ctx context.Context, opt AgentOptions) (err error) {
	conf, name, err := opt.network()
	if err != nil {
		return err
	}
	keys, err := opt.keys(name)
	if err != nil {
		return err
	}
	if conf.Key, err = inventory.ReadDataKey(opt.Keys); err != nil {
		return err
	}
	conf.Net, conf.Congestion, conf.MaxRate, conf.MaxRequests = here{}, opt.Congestion, opt.MaxRate, opt.MaxRequests
	conf.FenceFile = filepath.Join(cmp.Or(opt.State, opt.Keys), pki.NameOf(name)+".election")
	var d *lldpd.Daemon
	if len(opt.LLDP) > 0 {
		if d, err = announceHost(name, opt.LLDP); err != nil {
			return err
		}
		defer d.Close() // closed already where it has been running
	}
	keep, err := opt.tags()
	if err != nil {
		return err
	}
	free, err := opt.limitTasks(&conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	ln, err := socket.Listen(ctx, opt.Listen)
	if err != nil {
		return err
	}
	guard, err := opt.guard()
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, guard()) }()
	a, err := hostagent.New(conf)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	g, ctx := errgroup.WithContext(ctx)
	if d != nil {
		g.Go(func() error { return d.Run(ctx) })
	}
	if keep != nil {
		g.Go(func() error { return keep(ctx) })
	}
	fmt.Fprintf(opt.Stdout, "agent of %s listens at %s\n", strings.Join(opt.Hosts, ", "), opt.Listen)
	g.Go(func() error {
		keys.Watch(ctx, pki.DefaultEvery, slog.New(slog.NewTextHandler(opt.Stderr, nil)).With("agent", name))
		return nil
	})
	g.Go(func() error { return a.Serve(ctx, ln, keys.Server(pki.Controller)) })
	return errors.Join(g.Wait(), a.Close())
}

// keys returns those of the agent of a host.
func (o *AgentOptions) keys(host string) (*pki.Source, error) {
	keys, err := pki.Open(inventory.KeyPaths(o.Keys, host))
	if err != nil {
		return nil, err
	}
	if id := keys.Identity(); id.Role() != pki.Agent || id.Name() != pki.NameOf(host) {
		return nil, fmt.Errorf("keys %q are of %s, not of the agent of host %q",
			inventory.KeyFile(o.Keys, host), id, host)
	}
	return keys, nil
}

// network returns what the agent knows of the fabric before a leader tells it, and the name of its
// first host.
func (o *AgentOptions) network() (conf hostagent.Config, name string, err error) {
	if o.Fabric == "" {
		if o.Devices != "" {
			return conf, "", hint.New("--devices without --fabric",
				"leave it out too: the controller tells where hosts are")
		}
		return hostagent.Config{Names: o.Hosts}, o.Hosts[0], nil
	}
	f, p, err := agentPlaces(*o)
	if err != nil {
		return conf, "", err
	}
	mine, err := hostIDs(f, o.Hosts)
	if err != nil {
		return conf, "", err
	}
	conf = hostagent.ForFabric(f)
	p.Readdress(f, &conf)
	conf.Names, conf.Local = o.Hosts, func(h southbound.HostID) bool { return slices.Contains(mine, h) }
	return conf, f.Topology.Node(f.HostNode[mine[0]]).Name, nil
}

// limitTasks has programs of tasks get the vCPUs of these by cgroup. free removes the groups.
func (o *AgentOptions) limitTasks(conf *hostagent.Config) (free func() error, err error) {
	if o.TaskCgroups == "" {
		return func() error { return nil }, nil
	}
	groups, err := vcpus.Open(o.TaskCgroups)
	if err != nil {
		return nil, fmt.Errorf("limit vCPUs of tasks: %w", err)
	}
	conf.VCPUs = groups
	return groups.Close, nil
}

// guard starts the guard of a Unix socket. end stops it.
func (o *AgentOptions) guard() (end func() error, err error) {
	path, ok := socket.Path(o.Listen)
	if !ok || len(o.Guard) == 0 {
		return func() error { return nil }, nil
	}
	g, err := standalone.GuardSocket(o.Guard, path)
	if err != nil {
		return nil, err
	}
	return g.Close, nil
}

// announceHost opens LLDP at interfaces of this machine.
func announceHost(name string, interfaces []string) (*lldpd.Daemon, error) {
	st := lldpd.Station{Name: name}
	for _, i := range interfaces {
		nic, err := net.InterfaceByName(i)
		if err != nil {
			return nil, fmt.Errorf("announce %s at %q: %w", name, i, err)
		}
		st.Ports = append(st.Ports, lldpd.Port{Interface: nic.Index, Name: i})
	}
	return lldpd.Open(lldpd.Config{Stations: []lldpd.Station{st}})
}

// agentPlaces reads the fabric, and the hosts' addresses if a file holds them.
func agentPlaces(opt AgentOptions) (*topo.Fabric, *inventory.Inventory, error) {
	spec, err := topo.FromArgument(opt.Fabric)
	if err != nil {
		return nil, nil, hint.Wrong(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil || opt.Devices == "" {
		return f, &inventory.Inventory{}, err
	}
	p, err := inventory.Read(opt.Devices, f)
	return f, p, err
}

// hostIDs finds hosts by their names, in the order of their ids.
func hostIDs(f *topo.Fabric, names []string) (ids []southbound.HostID, err error) {
	for _, name := range names {
		h := slices.IndexFunc(f.HostNode, func(n pathmap.NodeID) bool { return f.Topology.Node(n).Name == name })
		if h < 0 {
			return nil, fmt.Errorf("host %q: the fabric has none of that name; the first is %q, the last %q", name,
				f.Topology.Node(f.HostNode[0]).Name, f.Topology.Node(f.HostNode[len(f.HostNode)-1]).Name)
		}
		ids = append(ids, southbound.HostID(h))
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) < len(ids) {
		return nil, fmt.Errorf("hosts %s: one is named twice", strings.Join(names, ", "))
	}
	return ids, nil
}
