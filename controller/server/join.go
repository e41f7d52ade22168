package server

import (
	"fmt"
	"path/filepath"

	"lightloom/controller/replica"
	"lightloom/southbound/hint"
)

// JoinService makes the state directory that a replica's file names one of a replica that joins: its
// cluster has begun, and its own log is lost or never was. Its first start learns everything from the
// others.
func JoinService(path string) error {
	c, err := ReadReplicaFile(path)
	if err != nil {
		return err
	}
	return join(c.Dir, c.node())
}

// JoinState is JoinService for one of the replicas of this machine, whose state directory is named for
// it and stands beside those of the others.
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
	n.Begun, n.Joining, n.Apart = false, true, ""
	if err := n.Found(dir); err != nil {
		return fmt.Errorf("join cluster: %w", err)
	}
	return nil
}

// learner returns how this replica joins; nil if it does not.
func (p *replicaProcess) learner() *replica.Learner {
	if !p.home.node.Joining {
		return nil
	}
	return &replica.Learner{Done: func() error {
		return p.home.note(func(n *Node) { n.Joining = false })
	}}
}
