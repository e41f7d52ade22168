package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// FoundOptions configure a new cluster on machines of their own.
type FoundOptions struct {
	Fabric   string // a spec, or the path of a file, which is copied
	Devices  string // path of the inventory, which is copied
	Policy   string
	Replicas []string // NAME=HOST or NAME=HOST:PORT: raft's port, and PORT+20 is the northbound's
	State    string   // directory of the log on each machine
	Agents   bool     // keys for an agent on every host, too
	Earlier  uint64   // clusters that have programmed the same devices before
}

// What FoundCluster writes: the authority's file, and for each replica what goes to its machine.
const (
	AuthorityFile = inventory.AuthorityFile
	ReplicaFile   = "replica.yaml"
	foundEtc      = "etc"
	foundState    = "state"
)

// FoundCluster founds a cluster whose replicas run on machines of their own: it makes the authority,
// the keys of replicas, switches, agents and a client, and for each replica NAME a directory NAME/etc
// with its file and keys, and NAME/state, the state directory that its log begins in. It writes to dir,
// which must be empty or not there.
func FoundCluster(dir string, opt FoundOptions) error {
	fail := func(err error) error { return fmt.Errorf("found cluster: %w", err) }
	spec, err := topo.FromArgument(opt.Fabric)
	if err != nil {
		return hint.Wrong(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		return hint.Wrong(err)
	}
	if _, err := inventory.Read(opt.Devices, f); err != nil {
		return hint.Wrong(err)
	}
	peers, err := parsePeers(opt.Replicas)
	if err != nil {
		return fail(hint.Wrong(err))
	}
	if old, err := os.ReadDir(dir); len(old) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(errors.Join(hint.New(fmt.Sprintf("%q is not empty", dir),
			"name a directory that is not there"), err))
	}
	authority, err := pki.New(inventory.AuthorityLife)
	if err != nil {
		return fail(err)
	}
	if err := inventory.IssueKeys(authority, dir, f, nil, opt.Agents); err != nil {
		return fail(err)
	}
	if err := authority.WriteFile(filepath.Join(dir, AuthorityFile)); err != nil {
		return fail(err)
	}
	node := newNode(len(peers), spec)
	for _, p := range peers {
		node.Replica = p.ID
		if err := node.Found(filepath.Join(dir, p.ID, foundState)); err != nil {
			return fail(err)
		}
		x := replicaFile{ID: p.ID, Cluster: node.Cluster, Epoch: node.Epoch.Format(time.RFC3339), Peers: peers,
			State:   opt.State,
			Metrics: "127.0.0.1:9101", Fabric: opt.Fabric, Devices: opt.Devices, Policy: opt.Policy, Seed: defaultSeed,
			Earlier: opt.Earlier, Admins: []string{inventory.ClientName}}
		if err := writeEtc(filepath.Join(dir, p.ID, foundEtc), authority, x); err != nil {
			return fail(err)
		}
	}
	return nil
}

// parsePeers reads NAME=HOST and NAME=HOST:PORT words.
func parsePeers(words []string) (all []peerSite, err error) {
	for _, w := range words {
		p, err := parsePeer(w)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if !slices.Contains([]int{1, 3, 5, 7}, len(all)) {
		return nil, hint.New(fmt.Sprintf("%d replicas", len(all)), "name 1, 3, 5 or 7 with --replica NAME=HOST")
	}
	if at, err := (&replicaFile{Peers: all, ID: firstID(all)}).checkPeers(); err != nil {
		return nil, fmt.Errorf("%v: %w", at, err)
	}
	return all, nil
}

func parsePeer(word string) (peerSite, error) {
	name, at, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return peerSite{}, hint.New(fmt.Sprintf("replica %q is no NAME=HOST or NAME=HOST:PORT", word),
			"write controller0=192.0.2.11")
	}
	host, port, err := socket.HostPort(at, raftPort)
	if err != nil {
		return peerSite{}, fmt.Errorf("replica %q: %w", word, err)
	}
	if int(port)+apiPort-raftPort > 65535 {
		return peerSite{}, hint.New(fmt.Sprintf("replica %q leaves no port for its API, which is %d above", word,
			apiPort-raftPort), "write a smaller port")
	}
	return peerSite{ID: name, Raft: net.JoinHostPort(host, strconv.Itoa(int(port))),
		API: net.JoinHostPort(host, strconv.Itoa(int(port)+apiPort-raftPort))}, nil
}

func firstID(all []peerSite) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// writeEtc writes what a replica reads: its file, its keys, the inventory, and the fabric where that is
// a file. Both are copied from where x names them.
func writeEtc(dir string, authority *pki.Authority, x replicaFile) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(x.Peers[x.self()].Raft)
	id, err := authority.IssueUntil(time.Now(), inventory.KeyLife, pki.Controller, x.ID, host)
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	x.TLS = tlsFiles{Cert: "cert.pem", Key: "key.pem", CA: "ca.pem", Revoked: "revoked.pem"}
	if err := (pki.Files{Cert: at(x.TLS.Cert), Key: at(x.TLS.Key), CA: at(x.TLS.CA)}).Write(id); err != nil {
		return err
	}
	if err := copyFile(x.Devices, at("devices.yaml")); err != nil {
		return err
	}
	x.Devices = "devices.yaml"
	if st, err := os.Stat(x.Fabric); err == nil && st.Mode().IsRegular() {
		if err := copyFile(x.Fabric, at(filepath.Base(x.Fabric))); err != nil {
			return err
		}
		x.Fabric = filepath.Base(x.Fabric)
	}
	return os.WriteFile(at(ReplicaFile), []byte(x.text()), 0o600)
}

// quoted writes strings as a YAML flow sequence has them.
func quoted(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// text is the replica's file, without keys that have their defaults.
func (x *replicaFile) text() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("# Replica %s of cluster %s. Run it with: lightloom replica run --config FILE", x.ID, x.Cluster)
	put("id: %q", x.ID)
	put("cluster: %q", x.Cluster)
	put("epoch: %q", x.Epoch)
	put("peers:")
	for _, p := range x.Peers {
		put("  - {id: %q, raft: %q, api: %q}", p.ID, p.Raft, p.API)
	}
	put("state: %q", x.State)
	put("tls: {cert: %s, key: %s, ca: %s, revoked: %s}", x.TLS.Cert, x.TLS.Key, x.TLS.CA, x.TLS.Revoked)
	if len(x.Admins) > 0 {
		put("admins: [%s]", quoted(x.Admins))
	}
	put("metrics: %q", x.Metrics)
	put("fabric: %q", x.Fabric)
	put("devices: %s", x.Devices)
	put("policy: %q", x.Policy)
	if x.Seed != defaultSeed {
		put("seed: %d", x.Seed)
	}
	for _, v := range []struct{ key, value string }{{"demand", x.Demand}, {"demand-period", x.DemandPeriod},
		{"sample-period", x.SamplePeriod}, {"retention", x.Retention}} {
		if v.value != "" {
			put("%s: %q", v.key, v.value)
		}
	}
	if x.Earlier > 0 {
		put("earlier: %d", x.Earlier)
	}
	return b.String()
}
