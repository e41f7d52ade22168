package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"lightloom/controller/api"
	"lightloom/controller/demand"
	"lightloom/controller/leader"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
	"lightloom/southbound/hostagent"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// DaemonOptions configure a controller for switches that run elsewhere.
type DaemonOptions struct {
	Fabric  string // a spec, or the path of a YAML file
	Devices string // path of an inventory: where switches and hosts are
	Keys    string // directory that WriteKeys has filled
	// State is the directory of the replicas' logs, which InitState has made; empty: KeptState of Keys.
	State string
	// Ephemeral: keys and logs are for this run, and replicas remove both when the controller is killed.
	// Else the caller removes the keys.
	Ephemeral bool
	Replay    bool // the caller submits a recorded run, whose jobs arrive when it says
	Policy    string
	Parts     policy.Overrides
	Replicas  int
	Seed      uint64
	Demand    demand.Options // the demand estimate for circuits; zero: the oracle

	// SamplePeriod is the interval between the switches' counter reports; 0 disables them.
	SamplePeriod time.Duration
	// Retention is how long jobs are known after their end; 0: for good.
	Retention time.Duration
	// Reasons: the policy explains its decisions, for those who ask.
	Reasons bool
	// Metrics, if any, is where the first replica serves what it does for Prometheus; the others take the
	// ports after it.
	Metrics string
	Traces  string // URL of a collector of OpenTelemetry; empty: none
	Lab     LabWiring

	Stdout, Stderr io.Writer
}

// Daemon is a controller with what it is attached to.
type Daemon struct {
	Options   DaemonOptions
	Fabric    *topo.Fabric
	Inventory *inventory.Inventory
	Epoch     time.Time
	Clock     func() time.Duration
	Agent     *hostagent.Agent // nil: the hosts have none
	agentLn   net.Listener
	Config    ReplicaConfig
	Cluster   *Cluster
	devices   map[southbound.DeviceID]southbound.Device // lines of our own
	hangUp    func()
	held      *os.File       // the directory of keys, locked
	ports     []func() error // give back what replicas listen at
}

// RunDaemon runs replicas of a controller that programs the switches named in a file, until ctx ends
// (nil). A replica that exits by itself is restarted. It prints "programming" and where its northbound
// is once its configuration is valid, whether the switches answer or not, then a line for every switch
// that is ready or is not, with the reason, and "ready" once all switches that answer have their rules;
// then it calls ready, which can be nil.
func RunDaemon(ctx context.Context, opt DaemonOptions,
	ready func(context.Context, *Daemon) error) (err error) {
	a := &Daemon{Options: opt}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.open(); err != nil {
		return fmt.Errorf("run controller: %w", err)
	}
	fmt.Fprintf(opt.Stdout, "programming %d switches\nnorthbound at %s\n", len(a.Inventory.Devices),
		strings.Join(a.Cluster.Addrs(), ","))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.Cluster.Run(ctx) })
	if a.Agent != nil {
		g.Go(func() error {
			keys, err := pki.Open(inventory.KeyPaths(a.Options.Keys, inventory.AgentName))
			if err != nil {
				return err
			}
			g.Go(func() error {
				keys.Watch(ctx, pki.DefaultEvery, slog.New(slog.NewTextHandler(opt.Stderr, nil)))
				return nil
			})
			return a.Agent.Serve(ctx, a.agentLn, keys.Server(pki.Controller))
		})
	}
	g.Go(func() error {
		if err := a.greet(ctx, g.Go); err != nil || ctx.Err() != nil || ready == nil {
			return err
		}
		return ready(ctx, a)
	})
	return g.Wait()
}

// checkPolicy returns why the policy cannot decide on the fabric, or nil.
func (a *Daemon) checkPolicy() error {
	s, err := policy.Parse(a.Options.Policy, a.Options.Parts)
	if err != nil {
		return err
	}
	return policy.CheckMultihop(s.Capabilities(), a.Fabric, a.Options.Demand.Oracle())
}

func (a *Daemon) open() error {
	spec, err := topo.FromArgument(a.Options.Fabric)
	if err != nil {
		return hint.Wrong(err)
	}
	spec = spec.WithDefaults()
	if err := southbound.CheckPackets(spec); err != nil {
		return err
	}
	if a.Fabric, err = topo.New(spec); err != nil {
		return err
	}
	if a.Inventory, err = inventory.Read(a.Options.Devices, a.Fabric); err != nil {
		return hint.Wrong(err)
	}
	if err := a.checkPolicy(); err != nil {
		return err
	}
	if err := a.holdKeys(); err != nil {
		return err
	}
	st, err := a.state(spec)
	if err != nil {
		return err
	}
	if a.Cluster, err = NewCluster(a.Options.Replicas, ReplicaConfig{}, a.Identity, a.freePorts, st,
		a.Options.Stderr); err != nil {
		return err
	}
	a.Cluster.keys = func(name string) pki.Paths { return inventory.KeyPaths(a.Options.Keys, name) }
	a.Epoch = st.Epoch
	a.Clock = ClockFrom(a.Epoch)
	earlier, err := countCluster(a.Options.Keys, st.cluster)
	if err != nil {
		return err
	}
	a.Config = a.replicas(spec, earlier)
	if len(a.Inventory.Hosts) > 0 {
		if err := a.openAgent(); err != nil {
			return err
		}
		a.Config.Agent = a.agentLn.Addr().String()
	}
	id, err := a.Identity(pki.Controller, "controller0")
	if err != nil {
		return err
	}
	if err := CheckDevices(a.Fabric, &a.Config, id); err != nil {
		return err
	}
	a.devices, a.hangUp = DialDevices(a.Fabric, &a.Config, id, 0)
	if a.Options.Ephemeral {
		a.Config.Leave = a.Options.Keys
	}
	a.Cluster.config = a.Config
	return nil
}

// replicas returns the configuration of every replica. The cluster has been started earlier times before.
func (a *Daemon) replicas(spec topo.Spec, earlier uint64) ReplicaConfig {
	delta, deltas := rollout.DefaultControl().Deltas(spec)
	c := ReplicaConfig{Telemetry: Telemetry{a.Options.Metrics, a.Options.Traces},
		Sample: a.Options.SamplePeriod, Epoch: a.Epoch, Spec: spec,
		Policy: a.Options.Policy, Overrides: a.Options.Parts, Demand: a.Options.Demand, Seed: a.Options.Seed,
		ElephantThreshold: policy.ElephantFactor * spec.OCS.In(spec.LeastDark()), Delays: Delays{delta, deltas},
		Rollout:  rollout.DefaultControl().Options(delta),
		Identity: IdentityConfig{Admins: []string{inventory.ClientName}},
		Devices:  a.Inventory.Devices, Earlier: earlier, Verbose: os.Getenv("LIGHTLOOM_VERBOSE") != ""}
	c.Replay, c.Retention, c.Reasons = a.Options.Replay, a.Options.Retention, a.Options.Reasons
	c.Lab = a.Options.Lab
	if len(a.Inventory.Agents) > 0 {
		c.Agents = a.Inventory.Sites(a.Fabric)
	}
	return c
}

// state opens the logs of the replicas, or makes them for this run alone.
func (a *Daemon) state(fabric topo.Spec) (*State, error) {
	switch {
	case a.Options.State != "":
		return OpenState(a.Options.State, a.Options.Replicas, fabric)
	case a.Options.Ephemeral:
		return PrivateState(a.Options.Keys, a.Options.Replicas, fabric, time.Now())
	}
	return OpenState(KeptState(a.Options.Keys), a.Options.Replicas, fabric)
}

// holdKeys makes sure that no other controller runs with these keys, as long as the process lives.
func (a *Daemon) holdKeys() error {
	dir, err := os.Open(a.Options.Keys)
	if err != nil {
		return fmt.Errorf("hold keys: %w", err)
	}
	a.held = dir
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("hold keys: another controller runs with those in %q: end it, or make others: %w", a.Options.Keys,
			err)
	}
	return nil
}

// openAgent makes one agent for all hosts, inside their namespaces.
func (a *Daemon) openAgent() (err error) {
	conf := hostagent.ForFabric(a.Fabric)
	conf.Now = a.Clock
	if conf.Net, err = a.Inventory.Network(a.Fabric); err != nil {
		return err
	}
	if a.agentLn, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen for the agent: %w", err)
	}
	a.Agent, err = hostagent.New(conf)
	return err
}

// Identity reads the keys of one of the parties.
func (a *Daemon) Identity(role pki.Role, name string) (pki.Identity, error) {
	id, err := pki.ReadFile(inventory.KeyFile(a.Options.Keys, name))
	if err != nil {
		return id, err
	}
	if id.Role() != role || id.Name() != name {
		return id, fmt.Errorf("read keys of %s %q: the file %q is of %s", role, name,
			inventory.KeyFile(a.Options.Keys, name),
			id)
	}
	return id, nil
}

// freePorts draws two unused loopback addresses, and reserves them for a replica until the controller ends.
func (a *Daemon) freePorts(int) (raft, api string, err error) {
	var addr [2]string
	for i := range addr {
		at, release, err := socket.Hold()
		if err != nil {
			return "", "", err
		}
		a.ports, addr[i] = append(a.ports, release), at.String()
	}
	return addr[0], addr[1], nil
}

// greet reports every switch as it comes, and prints "ready" once all that answer are programmed. Those
// that come later are reported until ctx ends.
func (a *Daemon) greet(ctx context.Context, background func(func() error)) error {
	var all []arriving
	for n, node := range a.Fabric.Topology.Nodes() {
		if d := a.devices[southbound.DeviceID(n)]; d != nil {
			all = append(all, arriving{name: node.Name, dev: d, rules: node.Role != pathmap.OCS &&
				a.Fabric.Racks > 1})
		}
	}
	id, err := a.Identity(pki.Controller, "controller0")
	if err != nil {
		return err
	}
	client, err := api.Dial(a.Cluster.Addrs(), id.Client("", pki.Controller))
	if err != nil {
		return err
	}
	come := newArrivals(all, func(ctx context.Context, name string) bool {
		claims, err := client.Claims(ctx)
		return err == nil && slices.ContainsFunc(claims, func(c api.Claim) bool {
			return c.Device == name && c.State != leader.Unclaimed.String()
		})
	}, a.Options.Stdout)
	background(func() error {
		defer client.Close()
		come.follow(ctx)
		return nil
	})
	missing, ok := come.settled(ctx)
	if ok {
		come.say("ready: %s, %d controllers at %s, policy %s, %d of %d switches%s\n", a.Fabric.Spec,
			a.Options.Replicas,
			strings.Join(a.Cluster.Addrs(), ","), a.Options.Policy, len(all)-len(missing), len(all), without(missing))
	}
	return nil
}

func (a *Daemon) close() error {
	var errs []error
	if a.Agent != nil {
		errs = append(errs, a.Agent.Close())
	}
	if a.agentLn != nil {
		_ = a.agentLn.Close() // closed already where it has been serving
	}
	if a.hangUp != nil {
		a.hangUp()
	}
	if a.Cluster != nil {
		errs = append(errs, a.Cluster.Close())
	}
	if a.Inventory != nil {
		errs = append(errs, a.Inventory.Close())
	}
	if a.held != nil {
		errs = append(errs, a.held.Close())
	}
	for _, release := range a.ports {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// countCluster returns how many clusters have programmed the devices of these keys before this one: a
// new cluster's terms restart, and switches obey the larger election id. A cluster that returns after
// another gets a new number.
func countCluster(dir, cluster string) (earlier uint64, err error) {
	file := filepath.Join(dir, "clusters")
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("count clusters: %w", err)
	}
	if err == nil {
		number, last, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
		n, err := strconv.ParseUint(number, 10, 15)
		switch {
		case err != nil:
			return 0, fmt.Errorf("count clusters: %q holds no number below 32768: make new keys: %w", file, err)
		case n > 0 && last == cluster:
			return n - 1, nil
		}
		earlier = n
	}
	if err := durable.Replace(file, fmt.Appendf(nil, "%d %s\n", earlier+1, cluster), true); err != nil {
		return 0, fmt.Errorf("count clusters: %w", err)
	}
	return earlier, nil
}
