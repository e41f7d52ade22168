package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/cmd/lightloom/internal/socket"
	"lightloom/controller/demand"
	"lightloom/emulator/agent"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// AttachOptions are what the command controller run asks for: a controller for switches that run elsewhere.
type AttachOptions struct {
	Fabric  string // a spec, or the path of a YAML file
	Devices string // path of a YAML file: where switches and hosts are
	Keys    string // directory that WriteKeys has filled
	// Ephemeral: the keys were for this run, and replicas remove them when the controller is killed. Else the caller does.
	Ephemeral bool
	Policy    string
	Parts     Parts
	Replicas  int
	Seed      uint64
	Demand    demand.Options // what circuits go by; zero: the oracle

	// Jobs, if above zero, is how many are submitted once the fabric is ready: the first of Trace, a coflow-benchmark
	// file, or synthetic ones where that is empty. What came of them is said in a line that begins with "replayed".
	Jobs    int
	Trace   string
	Scale   float64 // divides bytes: the fabric's rates are what they are; 0: 1
	Speedup float64 // divides arrivals, sizes and compute times; 0: 1

	// ReportDir, if any, is where the report of the jobs goes, and On what it says that they ran on.
	ReportDir string
	On        string
	Args      []string         // of the process, after its name
	Settings  []report.Setting // all flags with their values, but for those of the place: for the manifest

	// SamplePeriod is how far apart switches are asked to tell what passed their ports; 0: they are not asked.
	SamplePeriod time.Duration

	// Metrics, if any, is where the first replica serves what it does for Prometheus; the others take the ports after it.
	Metrics string

	Stdout, Stderr io.Writer
}

// attached is a controller with what it is attached to.
type attached struct {
	opt     AttachOptions
	fabric  *topo.Fabric
	places  *places
	epoch   time.Time
	clock   func() time.Duration
	agent   *agent.Agent // nil: the hosts have none
	agentLn net.Listener
	charge  charge
	reps    *replicas
	held    *os.File       // the directory of keys, locked
	ports   []func() error // give back what replicas listen at
}

// Attach runs replicas of a controller that programs the switches named in a file, until ctx ends (nil) or one of them
// ends by itself. It says "programming" once what it was told is found to be right, whether the switches answer or not,
// and "ready" once every packet switch has its rules.
func Attach(ctx context.Context, opt AttachOptions) (err error) {
	a := &attached{opt: opt, epoch: time.Now()}
	a.clock = clockFrom(a.epoch)
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.open(); err != nil {
		return fmt.Errorf("run controller: %w", err)
	}
	fmt.Fprintf(opt.Stdout, "programming %d switches\n", len(a.places.Devices))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.reps.run(ctx) })
	if a.agent != nil {
		g.Go(func() error {
			id, err := a.identity(pki.Agent, agentName)
			if err != nil {
				return err
			}
			return a.agent.Serve(ctx, a.agentLn, id.Server(pki.Controller))
		})
	}
	g.Go(func() error { return a.greet(ctx) })
	return g.Wait()
}

func (a *attached) open() error {
	spec, err := topo.FromArgument(a.opt.Fabric)
	if err != nil {
		return err
	}
	spec = spec.WithDefaults()
	if err := checkReal(spec); err != nil {
		return err
	}
	if a.fabric, err = topo.New(spec); err != nil {
		return err
	}
	if a.places, err = readPlaces(a.opt.Devices, a.fabric); err != nil {
		return err
	}
	if _, err := (&setup{opt: Options{Parts: a.opt.Parts}}).policy(a.opt.Policy); err != nil {
		return err
	}
	if err := a.holdKeys(); err != nil {
		return err
	}
	earlier, err := countCluster(a.opt.Keys)
	if err != nil {
		return err
	}
	a.charge = charge{Metrics: a.opt.Metrics, Sample: a.opt.SamplePeriod, Epoch: a.epoch, Row: row{Name: a.opt.Policy, Policy: a.opt.Policy, Spec: spec, Demand: a.opt.Demand}, Parts: a.opt.Parts, Seed: a.opt.Seed,
		Elephants: elephantFactor * spec.OCS.In(spec.Dark), Delta: defaultControl().delta(device.Delays{Dark: device.Fixed(spec.Dark)}),
		Devices: a.places.Devices, Earlier: earlier, Verbose: os.Getenv("LIGHTLOOM_VERBOSE") != ""}
	if len(a.places.Agents) > 0 {
		a.charge.Agents = a.places.sites(a.fabric)
	}
	if len(a.places.Hosts) > 0 {
		if err := a.openAgent(); err != nil {
			return err
		}
		a.charge.Agent = a.agentLn.Addr().String()
	}
	dir, err := clusterDir(a.opt.Keys, earlier)
	if err != nil {
		return err
	}
	if a.charge.Leave = dir; a.opt.Ephemeral {
		a.charge.Leave = a.opt.Keys
	}
	a.reps, err = newReplicas(a.opt.Replicas, a.charge, a.identity, a.freePorts, dir, a.opt.Stderr)
	return err
}

// clusterDir makes a directory for the replicas beside their keys, and removes those of earlier clusters. It is this
// cluster's alone: its replicas remove it when the controller is killed, which may be when the next has begun already.
func clusterDir(keys string, number uint64) (string, error) {
	old, err := filepath.Glob(filepath.Join(keys, "replicas*"))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	dir := filepath.Join(keys, fmt.Sprintf("replicas-%d", number))
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("make directory for replicas: %w", err)
	}
	return dir, nil
}

// holdKeys makes sure that no other controller runs with these keys, as long as the process lives.
func (a *attached) holdKeys() error {
	dir, err := os.Open(a.opt.Keys)
	if err != nil {
		return fmt.Errorf("hold keys: %w", err)
	}
	a.held = dir
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("hold keys: another controller runs with those in %q: end it, or make others: %w", a.opt.Keys, err)
	}
	return nil
}

// openAgent makes one agent for all hosts, inside their namespaces.
func (a *attached) openAgent() (err error) {
	conf := agent.ForFabric(a.fabric)
	conf.Now = a.clock
	if conf.Net, err = a.places.network(a.fabric); err != nil {
		return err
	}
	if a.agentLn, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen for the agent: %w", err)
	}
	a.agent, err = agent.New(conf)
	return err
}

// identity reads the keys of one of the parties.
func (a *attached) identity(role pki.Role, name string) (pki.Identity, error) {
	id, err := pki.ReadFile(keyFile(a.opt.Keys, name))
	if err != nil {
		return id, err
	}
	if id.Role() != role || id.Name() != name {
		return id, fmt.Errorf("read keys of %s %q: the file %q is of %s", role, name, keyFile(a.opt.Keys, name), id)
	}
	return id, nil
}

// freePorts draws two loopback addresses that nobody listens at, and keeps them for a replica until the controller ends.
func (a *attached) freePorts(int) (raft, api string, err error) {
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

// greet waits until the packet switches have their rules, then says so.
func (a *attached) greet(ctx context.Context) error {
	id, err := a.identity(pki.Controller, "controller0")
	if err != nil {
		return err
	}
	p := &controllerProcess{charge: a.charge, fabric: a.fabric, id: id}
	devices, closeAll := p.dial(0)
	defer closeAll()
	for n, node := range a.fabric.Topology.Nodes() {
		if d := devices[southbound.DeviceID(n)]; d != nil && node.Role != pathmap.OCS && a.fabric.Racks > 1 {
			if err := a.programmed(ctx, node.Name, d); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	fmt.Fprintf(a.opt.Stdout, "ready: %s, %d controllers at %s, policy %s\n", a.fabric.Spec, a.opt.Replicas,
		strings.Join(a.reps.addrs(), ","), a.opt.Policy)
	if a.opt.Jobs > 0 {
		return a.replay(ctx)
	}
	return nil
}

// programmed waits for a switch's rules, however long that takes, and says what it waits for when that is long.
func (a *attached) programmed(ctx context.Context, name string, d southbound.Device) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	told := time.Now()
	for {
		seen, err := d.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && len(seen.Rules) > 0:
			return nil
		case time.Since(told) > readyWithin/2:
			told = time.Now()
			if err == nil {
				err = errors.New("it has no rules yet")
			}
			fmt.Fprintf(a.opt.Stderr, "waiting for switch %s: %v\n", name, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a *attached) close() error {
	var errs []error
	if a.agent != nil {
		errs = append(errs, a.agent.Close())
	}
	if a.agentLn != nil {
		_ = a.agentLn.Close() // closed already where it has been serving
	}
	if a.reps != nil {
		errs = append(errs, a.reps.close())
	}
	if a.places != nil {
		errs = append(errs, a.places.close())
	}
	if a.held != nil {
		errs = append(errs, a.held.Close())
	}
	for _, release := range a.ports {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// countCluster returns how many clusters have programmed the devices of these keys before, and counts one more: a new
// cluster's terms begin again, and switches obey the larger election id.
func countCluster(dir string) (uint64, error) {
	file := filepath.Join(dir, "clusters")
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("count clusters: %w", err)
	}
	earlier := uint64(0)
	if err == nil {
		if earlier, err = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 15); err != nil {
			return 0, fmt.Errorf("count clusters: %q holds no number below 32768: make new keys: %w", file, err)
		}
	}
	if err := os.WriteFile(file, []byte(strconv.FormatUint(earlier+1, 10)+"\n"), 0o600); err != nil {
		return 0, fmt.Errorf("count clusters: %w", err)
	}
	return earlier, nil
}

// writeAgentKeys issues an identity to the agent of every host, and the key by which agents know each other. It comes with
// WriteKeys, whose authority signs.
func writeAgentKeys(dir string, f *topo.Fabric, write func(pki.Role, string) error) error {
	var errs []error
	for _, n := range f.HostNode {
		errs = append(errs, write(pki.Agent, f.Topology.Node(n).Name))
	}
	key := make([]byte, dataKeyBytes)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("draw data key: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, dataKeyFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, hex.EncodeToString(key))
		err = errors.Join(err, file.Close())
	}
	return errors.Join(append(errs, err)...)
}

// WriteKeys issues an identity to everyone that a fabric under n replicas needs: its switches, the replicas, the agent
// and one client, each in a file of its own, signed by an authority that nobody keeps; with agents also to one for every
// host.
func WriteKeys(dir, fabric string, n int, agents bool) error {
	spec, err := topo.FromArgument(fabric)
	if err != nil {
		return err
	}
	f, err := topo.New(spec)
	if err != nil {
		return err
	}
	ca, err := pki.New(keyLife)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	write := func(role pki.Role, name string) error {
		id, err := ca.Issue(role, name)
		if err != nil {
			return err
		}
		return id.WriteFile(keyFile(dir, name))
	}
	errs := []error{write(pki.Agent, agentName), write(pki.Client, "client")}
	for i := range n {
		errs = append(errs, write(pki.Controller, fmt.Sprintf("controller%d", i)))
	}
	for _, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host {
			errs = append(errs, write(pki.Switch, node.Name))
		}
	}
	if agents {
		errs = append(errs, writeAgentKeys(dir, f, write))
	}
	return errors.Join(errs...)
}

// keyLife is how long keys on disk are good for.
const keyLife = 365 * 24 * time.Hour

func keyFile(dir, name string) string { return filepath.Join(dir, name+".pem") }

// ReadKeys reads what WriteKeys wrote for one of them.
func ReadKeys(dir, name string) (pki.Identity, error) { return pki.ReadFile(keyFile(dir, name)) }
