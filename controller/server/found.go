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

// FoundCluster founds a cluster whose replicas run on machines of their own: it makes the authority, the keys of
// replicas, switches, agents and a client, and for each replica NAME a directory NAME/etc with its file and keys, and
// NAME/state, the state directory that its log begins in. It writes to dir, which must be empty or not there.
func FoundCluster(dir string, opt FoundOptions) error {
	fail := func(err error) error { return fmt.Errorf("found cluster: %w", err) }
	spec, err := topo.FromArgument(opt.Fabric)
	if err != nil {
		return err
	}
	f, err := topo.New(spec)
	if err != nil {
		return err
	}
	if _, err := inventory.Read(opt.Devices, f); err != nil {
		return err
	}
	peers, err := parsePeers(opt.Replicas)
	if err != nil {
		return fail(err)
	}
	if old, err := os.ReadDir(dir); len(old) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(errors.Join(hint.New(fmt.Sprintf("%q is not empty", dir), "name a directory that is not there"), err))
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
		if err := writeEtc(filepath.Join(dir, p.ID, foundEtc), authority, p, peers, node, opt); err != nil {
			return fail(err)
		}
	}
	return nil
}

// parsePeers reads NAME=HOST and NAME=HOST:PORT words.
func parsePeers(words []string) (all []peerSite, err error) {
	for _, w := range words {
		name, at, ok := strings.Cut(w, "=")
		host, text, err := net.SplitHostPort(at)
		port := uint64(raftPort)
		if err != nil {
			host = at
		} else if port, err = strconv.ParseUint(text, 10, 16); err != nil {
			ok = false
		}
		if !ok || name == "" || port+apiPort-raftPort > 65535 {
			return nil, hint.New(fmt.Sprintf("replica %q is no NAME=HOST or NAME=HOST:PORT", w),
				"write --replica controller0=192.0.2.11")
		}
		all = append(all, peerSite{ID: name, Raft: net.JoinHostPort(host, strconv.FormatUint(port, 10)),
			API: net.JoinHostPort(host, strconv.FormatUint(port+apiPort-raftPort, 10))})
	}
	if !slices.Contains([]int{1, 3, 5, 7}, len(all)) {
		return nil, hint.New(fmt.Sprintf("%d replicas", len(all)), "name 1, 3, 5 or 7 with --replica NAME=HOST")
	}
	if at, err := (&replicaFile{Peers: all, ID: firstID(all)}).checkPeers(); err != nil {
		return nil, fmt.Errorf("%v: %w", at, err)
	}
	return all, nil
}

func firstID(all []peerSite) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// writeEtc writes what a replica reads: its file, its keys, the inventory, and the fabric where that is a file.
func writeEtc(dir string, authority *pki.Authority, self peerSite, peers []peerSite, node Node,
	opt FoundOptions) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(self.Raft)
	id, err := authority.IssueUntil(time.Now(), inventory.KeyLife, pki.Controller, self.ID, host)
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := (pki.Files{Cert: at("cert.pem"), Key: at("key.pem"), CA: at("ca.pem")}).Write(id); err != nil {
		return err
	}
	if err := copyFile(opt.Devices, at("devices.yaml")); err != nil {
		return err
	}
	fabric := opt.Fabric
	if st, err := os.Stat(fabric); err == nil && st.Mode().IsRegular() {
		if err := copyFile(fabric, at(filepath.Base(fabric))); err != nil {
			return err
		}
		fabric = filepath.Base(fabric)
	}
	return os.WriteFile(at(ReplicaFile), []byte(replicaText(self, peers, node, fabric, opt)), 0o600)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// replicaText is a replica's file.
func replicaText(self peerSite, peers []peerSite, node Node, fabric string, opt FoundOptions) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("# Replica %s of cluster %s. Run it with: lightloom replica run --config FILE", self.ID, node.Cluster)
	put("id: %q", self.ID)
	put("cluster: %q", node.Cluster)
	put("epoch: %q", node.Epoch.Format(time.RFC3339))
	put("peers:")
	for _, p := range peers {
		put("  - {id: %q, raft: %q, api: %q}", p.ID, p.Raft, p.API)
	}
	put("state: %q", opt.State)
	put("tls: {cert: cert.pem, key: key.pem, ca: ca.pem, revoked: revoked.pem}")
	put("admins: [%q]", inventory.ClientName)
	put("metrics: \"127.0.0.1:9101\"")
	put("fabric: %q", fabric)
	put("devices: devices.yaml")
	put("policy: %q", opt.Policy)
	if opt.Earlier > 0 {
		put("earlier: %d", opt.Earlier)
	}
	return b.String()
}
