package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/leader"
	"lightloom/controller/policy"
	"lightloom/controller/replica"
	"lightloom/controller/rollout"
	"lightloom/controller/tracing"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/yamlfile"
)

// replicaFile is the configuration of a replica on a machine of its own, in YAML. Except for id, state, tls and metrics
// it is the same for all replicas of a cluster. Relative paths start at the file's directory.
type replicaFile struct {
	ID      string     `yaml:"id"`
	Cluster string     `yaml:"cluster"` // of cluster init, as is the next
	Epoch   string     `yaml:"epoch"`   // instant 0 of the log, in RFC 3339
	Peers   []peerSite `yaml:"peers"`   // the whole cluster
	State   string     `yaml:"state"`   // directory of the log
	TLS     tlsFiles   `yaml:"tls"`     // of this replica
	Admins  []string   `yaml:"admins"`  // names in client certificates that are admins, whatever is granted
	Metrics string     `yaml:"metrics"` // address; empty: none are served
	Traces  string     `yaml:"traces"`  // URL of a collector of OpenTelemetry; empty: none

	Fabric       string `yaml:"fabric"`  // a spec, or the path of a file
	Devices      string `yaml:"devices"` // path of the inventory
	Policy       string `yaml:"policy"`
	Seed         uint64 `yaml:"seed"`
	Demand       string `yaml:"demand"` // what circuit policies know of traffic; empty: the oracle
	DemandPeriod string `yaml:"demand-period"`
	SamplePeriod string `yaml:"sample-period"` // of the switches' counters; 0s: never
	Retention    string `yaml:"retention"`     // of jobs that have ended; 0s: for good
	Earlier      uint64 `yaml:"earlier"`       // clusters that have programmed the same devices before
	Verbose      bool   `yaml:"verbose"`

	Lab LabWiring `yaml:"lab"` // through which optical switches of the lab clients wire testbeds
}

// defaultSeed is the seed of policies in a file that names none.
const defaultSeed = 1

// maxPeers bounds the peers of a replica's file: seven, and those that take the places of others.
const maxPeers = 15

// peerSite is a replica as its peers and its clients reach it.
type peerSite struct {
	ID   string `yaml:"id"`
	Raft string `yaml:"raft"` // host:port
	API  string `yaml:"api"`  // host:port of the northbound
}

// tlsFiles are PEM files.
type tlsFiles struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	CA   string `yaml:"ca"`

	Revoked string   `yaml:"revoked"` // revocation lists; may come later
	Trust   trustSet `yaml:"trust"`
}

// trustSet are PEM files with the authorities of each kind of peer; empty: those of tlsFiles.CA.
type trustSet struct {
	Replicas string `yaml:"replicas"`
	Clients  string `yaml:"clients"`
	Agents   string `yaml:"agents"`
	Switches string `yaml:"switches"`
}

// paths are the files, whose relative names start at a directory.
func (x *tlsFiles) paths(at func(string) string) pki.Paths {
	p := pki.Paths{Files: pki.Files{Cert: at(x.Cert), Key: at(x.Key), CA: at(x.CA)},
		Trust: map[pki.Role]string{}}
	if x.Revoked != "" {
		p.Revoked = at(x.Revoked)
	}
	for role, file := range map[pki.Role]string{pki.Controller: x.Trust.Replicas, pki.Client: x.Trust.Clients,
		pki.Agent: x.Trust.Agents, pki.Switch: x.Trust.Switches} {
		if file != "" {
			p.Trust[role] = at(file)
		}
	}
	return p
}

// Service describes a running replica on a machine of its own.
type Service struct{ Replica, Cluster, Raft, API string }

// RunService runs the replica that a file describes until ctx ends (nil). It calls began once it knows that the file
// is right, before it reads the log. Errors of the file name line and column. Tests put something between its leaders
// and what they work on.
func RunService(ctx context.Context, path string, stderr io.Writer, began func(Service),
	between ...func(*leader.Config)) error {
	c, err := ReadReplicaFile(path)
	if err != nil {
		return hint.Wrong(err)
	}
	i := slices.IndexFunc(c.Peers, func(p replica.Peer) bool { return p.ID == c.ID })
	began(Service{Replica: c.ID, Cluster: c.Cluster, Raft: c.Peers[i].Addr, API: c.API[c.ID]})
	moreThreads()
	return runReplica(ctx, *c, stderr, between...)
}

// fewestThreads is how many threads of a service run Go code at once at least.
const fewestThreads = 8

// moreThreads has a machine of few cores run more threads of this process at once. With as many as cores,
// a heartbeat waits behind long work for a thread that the kernel has put aside for other processes;
// a thread of its own gets its turn at once. GOMAXPROCS in the environment has the last word.
func moreThreads() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(fewestThreads, runtime.GOMAXPROCS(0)))
	}
}

// ReadReplicaFile reads and checks a replica's file, its keys and its inventory.
func ReadReplicaFile(path string) (*ReplicaConfig, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read replica's file: %w", err)
	}
	x, file, err := parseReplicaFile(path, data)
	if err != nil {
		return nil, err
	}
	at := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(filepath.Dir(path), p)
	}
	c := &ReplicaConfig{ID: x.ID, API: map[string]string{}, Dir: at(x.State), Cluster: x.Cluster,
		Policy: x.Policy,
		Seed:   x.Seed, Telemetry: Telemetry{Metrics: x.Metrics,
			Traces: x.Traces}, Earlier: x.Earlier, Verbose: x.Verbose}
	for _, p := range x.Peers {
		c.Peers = append(c.Peers, replica.Peer{ID: p.ID, Addr: p.Raft})
		c.API[p.ID] = p.API
	}
	if x.Lab.Switches != "" {
		c.Lab = LabWiring{at(x.Lab.Switches), at(cmp.Or(x.Lab.Book, "leases.json"))}
	}
	c.Epoch, _ = time.Parse(time.RFC3339, x.Epoch) // it was checked, as were the next
	c.Demand, _ = x.demand()
	c.Sample, _ = x.sample()
	c.Retention, _ = x.retention()
	if err := c.fabric(fabricFrom(filepath.Dir(path), x.Fabric), at(x.Devices)); err != nil {
		return nil, file.At(yamlfile.Keys{"fabric"}, err)
	}
	c.Identity = IdentityConfig{Files: x.TLS.paths(at), Admins: x.Admins,
		Socket: filepath.Join(c.Dir, SocketFile)}
	keys, err := pki.Open(c.Identity.Files)
	if err == nil {
		err = x.checkIdentity(keys.Identity(), time.Now())
	}
	if err != nil {
		return nil, file.At(yamlfile.Keys{"tls", "cert"}, err)
	}
	return c, nil
}

// fabricFrom returns a fabric's command-line form for a fabric in a file of that directory.
func fabricFrom(dir, fabric string) string {
	at := filepath.Join(dir, fabric)
	if st, err := os.Stat(at); err == nil && st.Mode().IsRegular() {
		return at
	}
	return fabric
}

// fabric fills in what follows from the fabric and from the inventory of its switches and agents.
func (c *ReplicaConfig) fabric(arg, devices string) error {
	spec, err := topo.FromArgument(arg)
	if err != nil {
		return hint.Wrong(err)
	}
	c.Spec = spec.WithDefaults()
	if err := southbound.CheckPackets(c.Spec); err != nil {
		return err
	}
	f, err := topo.New(c.Spec)
	if err != nil {
		return err
	}
	inv, err := inventory.Read(devices, f)
	if err != nil {
		return err
	}
	if len(inv.Hosts) > 0 {
		return fmt.Errorf("%s: hosts are namespaces of one machine: run agents in them and name these under agents", devices)
	}
	c.Delta, c.Deltas = rollout.DefaultControl().Deltas(c.Spec)
	c.Rollout = rollout.DefaultControl().Options(c.Delta)
	c.ElephantThreshold = policy.ElephantFactor * c.Spec.OCS.In(c.Spec.LeastDark())
	c.Devices = inv.Devices
	if len(inv.Agents) > 0 {
		c.Agents = inv.Sites(f)
	}
	return nil
}

// parseReplicaFile reads a replica's file and checks all that needs no other source.
func parseReplicaFile(name string, data []byte) (*replicaFile, *yamlfile.File, error) {
	x := &replicaFile{Policy: "crosslayer+sunflow", Seed: defaultSeed}
	file, err := yamlfile.Decode(name, data, x)
	if err != nil {
		return nil, nil, err
	}
	for _, check := range []func() (yamlfile.Keys, error){x.checkThere, x.checkPeers, x.checkValues} {
		if at, err := check(); err != nil {
			return nil, nil, file.At(at, err)
		}
	}
	return x, file, nil
}

func (x *replicaFile) checkThere() (yamlfile.Keys, error) {
	for _, need := range []struct{ key, value, write string }{
		{"id", x.ID, "the name of this replica, such as controller0"},
		{"cluster", x.Cluster, "the id that lightloom cluster init has drawn"},
		{"epoch", x.Epoch, "the time that lightloom cluster init has written"},
		{"state", x.State, "the directory of the log, such as /var/lib/lightloom"},
		{"tls.cert", x.TLS.Cert, "the PEM file of this replica's certificate"},
		{"tls.key", x.TLS.Key, "the PEM file of its key"},
		{"tls.ca", x.TLS.CA, "the PEM file of the authority's certificate"},
		{"fabric", x.Fabric, "such as hybrid:racks=4,hosts=2, or a YAML file"},
		{"devices", x.Devices, "the inventory's file, such as devices.yaml"},
	} {
		if need.value == "" {
			return keysOf(need.key), fmt.Errorf("%s is missing: write %s", need.key, need.write)
		}
	}
	return nil, nil
}

// keysOf are the keys that a dotted path names.
func keysOf(path string) (all yamlfile.Keys) {
	for key := range strings.SplitSeq(path, ".") {
		all = append(all, key)
	}
	return all
}

func (x *replicaFile) checkPeers() (yamlfile.Keys, error) {
	if len(x.Peers) == 0 || len(x.Peers) > maxPeers {
		return yamlfile.Keys{"peers"}, fmt.Errorf("%d peers: name the replicas of the cluster, this one too: 1 to %d",
			len(x.Peers), maxPeers)
	}
	used := map[string]bool{}
	for i, p := range x.Peers {
		for _, v := range []struct{ key, value string }{{"id", p.ID}, {"raft", p.Raft}, {"api", p.API}} {
			at := yamlfile.Keys{"peers", i, v.key}
			if v.key != "id" {
				if err := checkAddress(v.value); err != nil {
					return at, err
				}
			}
			if v.value == "" || used[v.value] {
				return at, fmt.Errorf("%s %q: each peer has one of its own", v.key, v.value)
			}
			used[v.value] = true
		}
	}
	if x.self() < 0 {
		return yamlfile.Keys{"id"}, fmt.Errorf("%q is not among the peers", x.ID)
	}
	return nil, nil
}

// self is this replica's place among its peers; below 0: none.
func (x *replicaFile) self() int {
	return slices.IndexFunc(x.Peers, func(p peerSite) bool { return p.ID == x.ID })
}

// checkAddress reports whether others can reach an address.
func checkAddress(at string) error {
	host, port, err := net.SplitHostPort(at)
	n, perr := strconv.ParseUint(port, 10, 16)
	if ip := net.ParseIP(host); err != nil || perr != nil || n == 0 || host == "" || ip != nil &&
		ip.IsUnspecified() {
		return fmt.Errorf("%q is no host:port that others reach, such as 192.0.2.11:%d", at, raftPort)
	}
	return nil
}

func (x *replicaFile) checkValues() (yamlfile.Keys, error) {
	for i, name := range x.Admins {
		if err := (controller.Grant{Name: name}).Check(); err != nil {
			return yamlfile.Keys{"admins", i}, err
		}
	}
	if _, err := time.Parse(time.RFC3339, x.Epoch); err != nil {
		return yamlfile.Keys{"epoch"}, fmt.Errorf("%q is no time such as 2026-11-23T06:00:00Z: copy what cluster init wrote",
			x.Epoch)
	}
	if _, err := policy.Parse(x.Policy, policy.Overrides{}); err != nil {
		return yamlfile.Keys{"policy"}, err
	}
	if _, err := x.demand(); err != nil {
		return yamlfile.Keys{"demand"}, err
	}
	if _, err := x.sample(); err != nil {
		return yamlfile.Keys{"sample-period"}, err
	}
	if _, err := x.retention(); err != nil {
		return yamlfile.Keys{"retention"}, err
	}
	if _, err := MetricsAddress(x.Metrics, 0); err != nil {
		return yamlfile.Keys{"metrics"}, err
	}
	if err := tracing.CheckURL(x.Traces); x.Traces != "" && err != nil {
		return yamlfile.Keys{"traces"}, err
	}
	if x.Earlier >= 1<<15 {
		return yamlfile.Keys{"earlier"}, fmt.Errorf("%d is not below 32768", x.Earlier)
	}
	return nil, nil
}

func (x *replicaFile) demand() (demand.Options, error) {
	s := demand.Source(x.Demand)
	if s != "" && !slices.Contains(demand.Sources(), s) {
		return demand.Options{}, fmt.Errorf("%q is unknown: write one of %v", x.Demand, demand.Sources())
	}
	period, err := time.ParseDuration(cmp.Or(x.DemandPeriod, demand.DefaultPeriod.String()))
	if err != nil || period < demand.MinPeriod || period > demand.MaxPeriod {
		return demand.Options{}, fmt.Errorf("demand-period %q is no time within %v to %v",
			x.DemandPeriod, demand.MinPeriod,
			demand.MaxPeriod)
	}
	if o := (demand.Options{Source: s, Period: period}); !o.Oracle() {
		return o, nil
	}
	return demand.Options{}, nil // whatever the period
}

// MinSamplePeriod is the shortest interval that switches are asked for: many refuse less.
const MinSamplePeriod = 10 * time.Millisecond

// MinRetention is the shortest time for which jobs are known after their end: longer than any client retries.
const MinRetention = time.Minute

func (x *replicaFile) retention() (time.Duration, error) {
	d, err := time.ParseDuration(cmp.Or(x.Retention, DefaultRetention.String()))
	if err != nil || d != 0 && d < MinRetention {
		return 0, fmt.Errorf("retention %q: write 0s, or a time of at least %v", x.Retention, MinRetention)
	}
	return d, nil
}

func (x *replicaFile) sample() (time.Duration, error) {
	d, err := time.ParseDuration(cmp.Or(x.SamplePeriod, DefaultSamplePeriod.String()))
	if err != nil || d != 0 && d < MinSamplePeriod {
		return 0, fmt.Errorf("sample-period %q: write 0s, or a time of at least %v", x.SamplePeriod,
			MinSamplePeriod)
	}
	return d, nil
}

// checkIdentity reports whether keys are this replica's, at its addresses and now.
func (x *replicaFile) checkIdentity(id pki.Identity, now time.Time) error {
	if id.Role() != pki.Controller || id.Name() != x.ID {
		return fmt.Errorf("the certificate is of %s, not of controller/%s", id, x.ID)
	}
	self := x.Peers[x.self()]
	var errs []error
	for _, at := range []string{self.Raft, self.API} {
		host, _, _ := net.SplitHostPort(at)
		errs = append(errs, id.Check(host, now))
	}
	return errors.Join(errs...)
}
