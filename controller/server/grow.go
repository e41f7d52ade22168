package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lightloom/controller/api"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
	"lightloom/southbound/yamlfile"
)

// AddOptions say which replica a cluster gets, and who issues its keys.
type AddOptions struct {
	Config    string // a replica's file of the cluster
	Replica   string // NAME=HOST or NAME=HOST:PORT, as in FoundOptions
	Authority string // file of the cluster's authority; empty: the replica has its keys and its file
	Out       string // directory for what goes to its machine, with Authority
}

// AddReplica makes a replica a member without a vote, after it has written what goes to the replica's
// machine. Once the replica runs there and holds the log it asks for its vote by itself.
func AddReplica(ctx context.Context, opt AddOptions) error {
	fail := func(err error) error { return fmt.Errorf("add replica: %w", err) }
	self, err := parsePeer(opt.Replica)
	if err != nil {
		return err
	}
	client, _, err := DialCluster(opt.Config)
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	all, err := client.Members(ctx, api.Read{Linearizable: true})
	if err != nil {
		return fail(err)
	}
	if opt.Authority != "" {
		if err := writeJoining(opt, self, all); err != nil {
			return fail(err)
		}
	}
	if err := client.ChangeMembers(ctx, api.AddMember, api.Member{ID: self.ID, Raft: self.Raft}); err != nil {
		return fail(err)
	}
	return nil
}

// writeJoining writes keys, file and state directory of a replica that joins. Its file is like that of
// the other replica, with the members of now.
func writeJoining(opt AddOptions, self peerSite, all api.Members) error {
	data, err := yamlfile.Read(opt.Config)
	if err != nil {
		return err
	}
	x, _, err := parseReplicaFile(opt.Config, data)
	if err != nil {
		return err
	}
	authority, err := pki.ReadAuthority(opt.Authority)
	if err != nil {
		return err
	}
	dir := filepath.Join(opt.Out, self.ID)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return hint.New(fmt.Sprintf("%q is there already", dir),
			"remove it, or name another directory with --out")
	}
	peers := []peerSite{self}
	for _, m := range all.Members {
		if at := slices.IndexFunc(x.Peers, func(p peerSite) bool { return p.ID == m.ID }); m.ID == self.ID {
			continue
		} else if m.API != "" {
			peers = append(peers, peerSite{m.ID, m.Raft, m.API})
		} else if at >= 0 {
			peers = append(peers, x.Peers[at])
		}
	}
	slices.SortFunc(peers, func(a, b peerSite) int { return strings.Compare(a.ID, b.ID) })
	from := filepath.Dir(opt.Config)
	x.ID, x.Peers, x.Fabric = self.ID, peers, fabricFrom(from, x.Fabric)
	if !filepath.IsAbs(x.Devices) {
		x.Devices = filepath.Join(from, x.Devices)
	}
	if err := writeEtc(filepath.Join(dir, foundEtc), authority, *x); err != nil {
		return err
	}
	c, err := ReadReplicaFile(filepath.Join(dir, foundEtc, ReplicaFile))
	if err != nil {
		return err
	}
	n := c.node()
	n.Joining = true
	return n.Found(filepath.Join(dir, foundState))
}

// node is what a replica's file says of its state directory.
func (c *ReplicaConfig) node() Node {
	return Node{Cluster: c.Cluster, Replica: c.ID, Replicas: len(c.Peers), Fabric: fabricName(c.Spec),
		Epoch: c.Epoch}
}

// RemoveReplica takes a member out. It ends by itself, if it runs.
func RemoveReplica(ctx context.Context, config, name string) error {
	client, c, err := DialCluster(config)
	if err != nil {
		return fmt.Errorf("remove replica: %w", err)
	}
	defer client.Close()
	all, err := client.Members(ctx, api.Read{Linearizable: true})
	if err != nil {
		return fmt.Errorf("remove replica: %w", err)
	}
	if !slices.ContainsFunc(all.Members, func(m api.Member) bool { return m.ID == name }) {
		return hint.New(fmt.Sprintf("remove replica: cluster %s has no replica %q", c.Cluster, name),
			"lightloom cluster members lists them")
	}
	if err := client.ChangeMembers(ctx, api.RemoveMember, api.Member{ID: name}); err != nil {
		return fmt.Errorf("remove replica: %w", err)
	}
	return nil
}

// ClusterMembers is a cluster's members and who leads.
type ClusterMembers struct {
	Cluster string `json:"cluster"`
	Leader  string `json:"leader"`
	api.Members
}

// ReadMembers asks the cluster of a replica's file for its members.
func ReadMembers(ctx context.Context, config string, read api.Read) (*ClusterMembers, error) {
	client, c, err := DialCluster(config)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	defer client.Close()
	all, err := client.Members(ctx, read)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	st, err := client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return &ClusterMembers{Cluster: c.Cluster, Leader: st.Leader, Members: all}, nil
}

// RaiseLevel raises the feature level of the cluster of a replica's file to the highest that all
// members know, and returns it.
func RaiseLevel(ctx context.Context, config string) (uint32, error) {
	fail := func(err error) (uint32, error) { return 0, fmt.Errorf("raise level: %w", err) }
	client, _, err := DialCluster(config)
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	all, err := client.Members(ctx, api.Read{Linearizable: true})
	if err != nil {
		return fail(err)
	}
	to := ^uint32(0)
	for _, m := range all.Members {
		to = min(to, m.Level)
	}
	if to <= all.Level {
		return all.Level, nil
	}
	if err := client.ChangeMembers(ctx, api.RaiseLevel, api.Member{Level: to}); err != nil {
		return fail(err)
	}
	return to, nil
}
