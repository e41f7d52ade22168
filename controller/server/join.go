package server

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// JoinService makes the state directory that a replica's file names one of a replica that joins: its cluster has begun,
// and its own log is lost or never was. Its first start learns everything from the others.
func JoinService(path string) error {
	c, err := ReadReplicaFile(path)
	if err != nil {
		return err
	}
	return join(c.Dir, c.node())
}

// JoinState is JoinService for one of the replicas of this machine, whose state directory is named for it and stands
// beside those of the others.
func JoinState(dir string) error {
	dir = filepath.Clean(dir)
	others, err := nodesIn(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("join cluster: %w", err)
	}
	if len(others) == 0 || others[0].dir == filepath.Dir(dir) {
		return hint.New(fmt.Sprintf("join cluster: no state directory of another replica stands beside %q", dir),
			"name one beside those of the cluster, or add --config FILE for a replica of a machine of its own")
	}
	n := *others[0].node
	n.Replica = filepath.Base(dir)
	return join(dir, n)
}

func join(dir string, n Node) error {
	if n.Replicas == 1 {
		return hint.New("join cluster: it has one replica: there is nobody to learn from",
			"type: lightloom cluster init for a new cluster")
	}
	n.Begun, n.Joining = false, true
	if err := n.Found(dir); err != nil {
		return fmt.Errorf("join cluster: %w", err)
	}
	return nil
}

// newcomer returns how this replica joins; nil if it does not.
func (p *replicaProcess) newcomer() *replica.Newcomer {
	if !p.home.node.Joining {
		return nil
	}
	return &replica.Newcomer{Term: p.newestTerm, Done: func() error {
		return p.home.note(func(n *Node) { n.Joining = false })
	}}
}

// Bounds of asking others for their terms.
const (
	askAgain = 200 * time.Millisecond
	tellEach = 10 * time.Second
)

// newestTerm requests the terms of the other replicas until a majority of all has answered.
func (p *replicaProcess) newestTerm(ctx context.Context) (uint64, error) {
	terms := map[string]uint64{}
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	told := time.Now()
	for {
		for id, addr := range p.charge.API {
			if _, ok := terms[id]; ok || id == p.charge.ID {
				continue
			}
			if term, err := p.termOf(ctx, addr); err == nil {
				terms[id] = term
			} else if time.Since(told) > tellEach {
				told = time.Now()
				p.log.Error("join: waiting for another replica's term", "of", id, "error", err)
			}
		}
		if len(terms) > len(p.charge.API)/2 {
			newest := uint64(0)
			for _, term := range terms {
				newest = max(newest, term)
			}
			return newest, nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (p *replicaProcess) termOf(ctx context.Context, addr string) (uint64, error) {
	client, err := api.Dial([]string{addr}, p.keys.Client("", pki.Controller))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	client.Attempt = 2 * time.Second
	st, err := client.StatusOf(ctx, 0)
	return st.Term, err
}
