package run

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/cmd/lightloom/internal/socket"
	"lightloom/cmd/lightloom/internal/standalone"
	"lightloom/controller/leader"
	"lightloom/emulator/agent"
	"lightloom/emulator/lldpd"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	driver "lightloom/southbound/agent"
	"lightloom/southbound/pki"
)

// AgentOptions are what the command agent run asks for: an agent for hosts of this machine.
type AgentOptions struct {
	Fabric  string                // a spec, or the path of a YAML file
	Devices string                // the controller's file; empty: hosts have the addresses of the address plan
	Keys    string                // directory with the first host's keys and data.key
	Hosts   []string              // that this machine is
	Listen  string                // host:port or unix:PATH of the controller's calls
	MaxRate pathmap.BitsPerSecond // of all that this machine sends; 0: no bound
	// MaxRequests bounds the calls a second of each replica of the controller; 0: no bound.
	MaxRequests int
	LLDP        []string // interfaces to announce the first host at; it needs CAP_NET_RAW

	Congestion string   // of TCP; empty: cubic
	Guard      []string // command line of a process that removes a Unix socket of Listen when this one is killed; nil: it stays
	Stdout     io.Writer
}

// dataKeyFile holds what agents of one fabric know each other's connections by.
const dataKeyFile = "data.key"

// here is the machine itself: its sockets are made where the process is.
type here struct{}

func (here) InHost(_ southbound.HostID, do func() error) error { return do() }

// RunAgent serves hosts of this machine until ctx ends (nil).
func RunAgent(ctx context.Context, opt AgentOptions) error {
	if err := runAgent(ctx, opt); err != nil {
		return fmt.Errorf("run agent of %s: %w", strings.Join(opt.Hosts, ", "), err)
	}
	return nil
}

func runAgent(ctx context.Context, opt AgentOptions) (err error) {
	f, p, err := agentPlaces(opt)
	if err != nil {
		return err
	}
	mine, err := hostIDs(f, opt.Hosts)
	if err != nil {
		return err
	}
	name := f.Topology.Node(f.HostNode[mine[0]]).Name
	id, err := pki.ReadFile(keyFile(opt.Keys, name))
	if err != nil {
		return err
	}
	if id.Role() != pki.Agent || id.Name() != name {
		return fmt.Errorf("keys %q are of %s, not of the agent of host %q", keyFile(opt.Keys, name), id, name)
	}
	conf := agent.ForFabric(f)
	if conf.Key, err = readDataKey(opt.Keys); err != nil {
		return err
	}
	p.readdress(f, &conf)
	conf.Net, conf.Congestion, conf.MaxRate, conf.MaxRequests = here{}, opt.Congestion, opt.MaxRate, opt.MaxRequests
	conf.Local = func(h southbound.HostID) bool { return slices.Contains(mine, h) }
	var d *lldpd.Daemon
	if len(opt.LLDP) > 0 {
		if d, err = announceHost(name, opt.LLDP); err != nil {
			return err
		}
		defer d.Close() // closed already where it has been running
	}
	ln, err := socket.Listen(ctx, opt.Listen)
	if err != nil {
		return err
	}
	guard, err := opt.guard()
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, guard()) }()
	a, err := agent.New(conf)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	g, ctx := errgroup.WithContext(ctx)
	if d != nil {
		g.Go(func() error { return d.Run(ctx) })
	}
	fmt.Fprintf(opt.Stdout, "agent of %s listens at %s\n", strings.Join(opt.Hosts, ", "), opt.Listen)
	g.Go(func() error { return a.Serve(ctx, ln, id.Server(pki.Controller)) })
	return errors.Join(g.Wait(), a.Close())
}

// guard starts the guard of a Unix socket. The function that it returns ends it.
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

// agentPlaces reads the fabric, and where its hosts are if a file says so.
func agentPlaces(opt AgentOptions) (*topo.Fabric, *places, error) {
	spec, err := topo.FromArgument(opt.Fabric)
	if err != nil {
		return nil, nil, err
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil || opt.Devices == "" {
		return f, &places{}, err
	}
	p, err := readPlaces(opt.Devices, f)
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

// dataKeyBytes is the length of what agents authenticate their connections by.
const dataKeyBytes = 32

func readDataKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, dataKeyFile)
	st, err := os.Stat(path)
	if err == nil && st.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may read %q: chmod 600 it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != dataKeyBytes {
		return nil, fmt.Errorf("read data key: %q does not hold %d hexadecimal digits", path, 2*dataKeyBytes)
	}
	return key, nil
}

// readdress puts the addresses that a file names in the place of the address plan's.
func (p *places) readdress(f *topo.Fabric, conf *agent.Config) {
	plan := conf.Addr
	conf.Addr = func(h southbound.HostID) netip.AddrPort {
		if at, ok := p.Addresses[f.Topology.Node(f.HostNode[h]).Name]; ok {
			if ip, err := netip.ParseAddr(at); err == nil { // it was checked
				return netip.AddrPortFrom(ip, agent.DataPort)
			}
		}
		return plan(h)
	}
}

// agentSite is an agent as a replica is told of it.
type agentSite struct {
	Name  string              `json:"name"` // in its certificate: that of its first host
	Addr  string              `json:"addr"`
	Hosts []southbound.HostID `json:"hosts"`
}

// sites joins hosts that one agent serves: those of the same address.
func (p *places) sites(f *topo.Fabric) (all []agentSite) {
	for h, n := range f.HostNode {
		name := f.Topology.Node(n).Name
		addr := p.Agents[name]
		i := slices.IndexFunc(all, func(s agentSite) bool { return s.Addr == addr })
		if i < 0 {
			i, all = len(all), append(all, agentSite{Name: name, Addr: addr})
		}
		all[i].Hosts = append(all[i].Hosts, southbound.HostID(h))
	}
	return all
}

// fleet dials agents on machines of their own.
func (p *controllerProcess) fleet(ctx context.Context, term uint64) (leader.Hosts, func() error, error) {
	cfg := driver.FleetConfig{Clock: p.clock, Election: func() (uint64, uint64) { return p.charge.electionHigh(term), 1 },
		OnError: func(err error) { p.log.Warn("agent", "error", err) }}
	for _, s := range p.charge.Agents {
		one := driver.Config{Addr: s.Addr, TLS: p.id.Client(s.Name, pki.Agent)}
		if path, ok := strings.CutPrefix(s.Addr, "unix:"); ok {
			one.Dialer = func(ctx context.Context, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: dialAgentWithin}).DialContext(ctx, "unix", path)
			}
		}
		cfg.Members = append(cfg.Members, driver.Member{Config: one, Hosts: s.Hosts})
	}
	f, err := driver.DialFleet(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return metered{f}, f.Close, nil
}

const dialAgentWithin = 3 * time.Second
