package chakra

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"lightloom/controller/training"
)

// Write writes the trace of a rank in schema 1.0.0. Communicators stand in a file of their own: see GroupsOf.
func Write(out io.Writer, w *training.Workload, rank int) error {
	head := stringField(nil, metadataVersion, newest)
	if err := writeMessage(out, head); err != nil {
		return err
	}
	nodes := w.Ranks[rank].Nodes
	for i := range nodes {
		if err := writeMessage(out, encode(w, nodes, i)); err != nil {
			return fmt.Errorf("write %s: %w", w.Where(rank, i), err)
		}
	}
	return nil
}

// GroupsOf returns the communicators of a workload other than the world, by the names that Write gives them.
func GroupsOf(w *training.Workload) Groups {
	g := Groups{}
	for i := 1; i < len(w.Groups); i++ {
		g[fmt.Sprint(i)] = w.Groups[i].Ranks
	}
	return g
}

func writeMessage(out io.Writer, m []byte) error {
	if _, err := out.Write(protowire.AppendVarint(nil, uint64(len(m)))); err != nil {
		return err
	}
	_, err := out.Write(m)
	return err
}

func stringField(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
}

func varintField(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func encode(w *training.Workload, nodes []training.Node, i int) []byte {
	n := &nodes[i]
	b := stringField(varintField(nil, nodeID, n.ID), nodeName, n.Name)
	b = varintField(b, nodeType, map[training.Kind]uint64{training.Nothing: typeMetadata, training.Compute: typeCompute,
		training.Collective: typeCollective, training.Send: typeSend, training.Receive: typeReceive}[n.Kind])
	var deps []byte
	for _, a := range n.After {
		deps = protowire.AppendVarint(deps, nodes[a].ID)
	}
	if len(deps) > 0 {
		b = protowire.AppendBytes(protowire.AppendTag(b, nodeData, protowire.BytesType), deps)
	}
	if n.Duration > 0 {
		b = varintField(b, nodeDuration, uint64(n.Duration.Microseconds()))
	}
	b = boolAttribute(b, "is_cpu_op", n.CPU)
	switch n.Kind {
	case training.Collective:
		b = intAttribute(b, "comm_type", map[training.Op]int64{training.AllReduce: commAllReduce,
			training.AllGather: commAllGather, training.ReduceScatter: commReduceScatter, training.AllToAll: commAllToAll,
			training.Broadcast: commBroadcast, training.Barrier: commBarrier}[n.Op])
		b = intAttribute(b, "comm_size", int64(n.Bytes))
		if n.Group != training.World {
			b = textAttribute(b, "pg_name", fmt.Sprint(n.Group))
		}
	case training.Send, training.Receive:
		peer := "comm_dst"
		if n.Kind == training.Receive {
			peer = "comm_src"
		}
		b = intAttribute(b, "comm_size", int64(n.Bytes))
		b = intAttribute(b, peer, int64(n.Peer))
		b = intAttribute(b, "comm_tag", int64(n.Tag))
	}
	return b
}

func attributeField(b, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, nodeAttribute, protowire.BytesType), value)
}

func intAttribute(b []byte, name string, v int64) []byte {
	return attributeField(b, varintField(stringField(nil, attributeName, name), attributeInt64, uint64(v)))
}

func boolAttribute(b []byte, name string, v bool) []byte {
	return attributeField(b, varintField(stringField(nil, attributeName, name), attributeBool, protowire.EncodeBool(v)))
}

func textAttribute(b []byte, name, v string) []byte {
	return attributeField(b, stringField(stringField(nil, attributeName, name), attributeString, v))
}
