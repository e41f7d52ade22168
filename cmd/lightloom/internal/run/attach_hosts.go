package run

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"

	"github.com/goccy/go-yaml"
	"golang.org/x/sys/unix"

	"lightloom/emulator/agent"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// places say where the parts of a fabric are that runs elsewhere.
type places struct {
	Devices map[string]string `yaml:"devices"` // gNMI addresses (host:port or unix:PATH), by switch
	Hosts   map[string]string `yaml:"hosts"`   // network namespaces (/proc/PID/ns/net), by host; none, or all
	// Agents are addresses (host:port or unix:PATH) of agents that run elsewhere, by host, in the place of Hosts: none, or
	// all. Hosts of one address are one agent's. Addresses are those of hosts that do not follow the address plan.
	Agents    map[string]string `yaml:"agents"`
	Addresses map[string]string `yaml:"addresses"`

	files []*os.File
}

// maxPlaces bounds the file, in bytes.
const maxPlaces = 1 << 20

// readPlaces reads the file and checks that it names what the fabric has, and nothing else.
func readPlaces(path string, f *topo.Fabric) (*places, error) {
	st, err := os.Stat(path)
	if err == nil && st.Size() > maxPlaces {
		err = fmt.Errorf("%d bytes, at most %d are taken", st.Size(), maxPlaces)
	}
	if err != nil {
		return nil, fmt.Errorf("read devices: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read devices: %w", err)
	}
	p := &places{}
	if err := yaml.UnmarshalWithOptions(data, p, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read devices %q: write devices: and hosts: or agents:, each a list of NAME: PLACE lines: %w", path, err)
	}
	if err := p.check(f); err != nil {
		return nil, fmt.Errorf("read devices %q: %w", path, err)
	}
	return p, nil
}

func (p *places) check(f *topo.Fabric) error {
	switches, hosts := 0, 0
	for _, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host {
			switches++
			if p.Devices[node.Name] == "" {
				return fmt.Errorf("switch %q of the fabric has no address under devices", node.Name)
			}
			continue
		}
		hosts++
		if len(p.Hosts) > 0 && p.Hosts[node.Name] == "" {
			return fmt.Errorf("host %q of the fabric has no namespace under hosts: name all, or none", node.Name)
		}
		if len(p.Agents) > 0 && p.Agents[node.Name] == "" {
			return fmt.Errorf("host %q of the fabric has no address under agents: name all, or none", node.Name)
		}
	}
	if len(p.Devices) != switches || len(p.Hosts) != 0 && len(p.Hosts) != hosts {
		return fmt.Errorf("%d devices and %d hosts are named: the fabric has %d switches and %d hosts", len(p.Devices), len(p.Hosts), switches, hosts)
	}
	return p.checkAgents(f, hosts)
}

// checkAgents checks what is said of hosts that are elsewhere.
func (p *places) checkAgents(f *topo.Fabric, hosts int) error {
	switch {
	case len(p.Agents) > 0 && len(p.Hosts) > 0:
		return errors.New("hosts and agents are both named: hosts are namespaces of this machine, agents run elsewhere")
	case len(p.Agents) > 0 && len(p.Agents) != hosts:
		return fmt.Errorf("%d hosts are named under agents: the fabric has %d", len(p.Agents), hosts)
	}
	named := 0
	for _, n := range f.HostNode {
		at, ok := p.Addresses[f.Topology.Node(n).Name]
		if !ok {
			continue
		}
		named++
		if ip, err := netip.ParseAddr(at); err != nil || !ip.Is4() {
			return fmt.Errorf("address %q of host %q: write an IPv4 address such as 192.0.2.7", at, f.Topology.Node(n).Name)
		}
	}
	if named != len(p.Addresses) {
		return fmt.Errorf("%d addresses are named, of which %d are of hosts of the fabric", len(p.Addresses), named)
	}
	return nil
}

// network opens the hosts' namespaces.
func (p *places) network(f *topo.Fabric) (agent.Network, error) {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	p.files = append(p.files, home)
	n := &namespaces{home: int(home.Fd())}
	for _, node := range f.HostNode {
		name := f.Topology.Node(node).Name
		ns, err := os.Open(p.Hosts[name])
		if err != nil {
			return nil, fmt.Errorf("open namespace of host %q: %w", name, err)
		}
		p.files = append(p.files, ns)
		n.hosts = append(n.hosts, int(ns.Fd()))
	}
	return n, nil
}

func (p *places) close() error {
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.Close())
	}
	p.files = nil
	return errors.Join(errs...)
}

// namespaces are hosts that others have made.
type namespaces struct {
	home  int
	hosts []int // descriptors, by host
}

var _ agent.Network = (*namespaces)(nil)

// InHost implements agent.Network. A thread that cannot return stays locked, and ends with its goroutine.
func (n *namespaces) InHost(h southbound.HostID, do func() error) error {
	if h < 0 || int(h) >= len(n.hosts) {
		return fmt.Errorf("enter host %d: the fabric's hosts are 0 to %d", h, len(n.hosts)-1)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(n.hosts[h], unix.CLONE_NEWNET); err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("enter namespace: %w", err)
			return
		}
		err := do()
		if back := unix.Setns(n.home, unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, fmt.Errorf("return from namespace: %w", back))
		} else {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("in host %d: %w", h, err)
	}
	return nil
}

// noHosts is a fabric whose hosts have no agent: switches are programmed, and no job can be run.
type noHosts struct{}

var errNoAgent = errors.New("the hosts of this fabric have no agent, so that no job can be run: list the namespaces of hosts beside the devices")

func (noHosts) Run([]southbound.Task) error      { return errNoAgent }
func (noHosts) Start([]southbound.Start) error   { return errNoAgent }
func (noHosts) Steer([]southbound.Steer) error   { return errNoAgent }
func (noHosts) SetRates(*southbound.Rates) error { return nil }
func (noHosts) Ack(uint64) error                 { return nil }

func (noHosts) Left(southbound.CoflowID) (southbound.Left, bool) { return southbound.Left{}, false }

func (noHosts) Events(ctx context.Context, _ uint64, _ func(uint64, southbound.Event)) error {
	<-ctx.Done()
	return nil
}
