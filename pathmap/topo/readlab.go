package topo

import (
	"os"

	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
)

// LabNode is a node of a containerlab topology, with what it inherits.
type LabNode struct {
	Name, Kind string
	Role       pathmap.Role // as in the topology that the file is read as
	Labelled   bool         // a label says the role
	Cables     int
}

// ReadLab returns the nodes of a containerlab topology, in the file's order, as the format clab reads them.
func ReadLab(path string) ([]LabNode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := whole(path, plaintext.NewReader(f), maxYAML)
	if err != nil {
		return nil, err
	}
	return LabNodes(path, data)
}

// LabNodes is ReadLab for the text of a file; file is what errors call it.
func LabNodes(file string, data []byte) ([]LabNode, error) {
	l, err := labOf(file, data)
	if err != nil {
		return nil, err
	}
	nodes := make([]LabNode, len(l.s.nodes))
	for i, n := range l.s.nodes {
		nodes[i] = LabNode{Name: n.name, Kind: l.kinds[i], Labelled: n.role != 0}
	}
	t, err := l.s.topology()
	if err != nil {
		return nil, err
	}
	for i := range nodes {
		nodes[i].Role, nodes[i].Cables = t.Node(pathmap.NodeID(i)).Role, len(t.Out(pathmap.NodeID(i)))
	}
	return nodes, nil
}
