package session

import (
	"context"
	"fmt"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Names are those of a running fabric that commands take.
type Names struct {
	Hosts  []string            `json:"hosts"`
	Ports  []string            `json:"ports"`  // of switches
	Parts  map[string][]string `json:"parts"`  // by kind of fault: what can fail
	Failed map[string][]string `json:"failed"` // by kind: what has
	Jobs   []string            `json:"jobs"`   // that have not ended
}

// serveNames lists the names of the fabric and of its jobs.
func (s *keeper) serveNames(ctx context.Context) reply {
	n := &Names{Parts: map[string][]string{}, Failed: map[string][]string{}}
	t := s.Topo.Topology
	for id, node := range t.Nodes() {
		if node.Role == pathmap.Host {
			n.Hosts = append(n.Hosts, node.Name)
			continue
		}
		for p := range t.Ports(pathmap.NodeID(id)) {
			if t.OutPort(pathmap.NodeID(id), p) != pathmap.None {
				n.Ports = append(n.Ports, portName(node.Name, southbound.Port(p)))
			}
		}
	}
	for _, kind := range fault.Kinds() {
		if k, err := fault.KindNamed(kind); err == nil {
			n.Parts[kind] = s.Faults.Names.Known(k)
		}
	}
	for _, f := range s.Faults.Failed() {
		n.Failed[f.Kind.String()] = append(n.Failed[f.Kind.String()], f.Name)
	}
	_ = s.Client.Jobs(ctx, &apiv1.ListJobsRequest{Filter: open(), PageSize: 100}, func(j *apiv1.JobInfo) bool {
		n.Jobs = append(n.Jobs, fmt.Sprintf("%d\t%s", j.Id, j.Name))
		return len(n.Jobs) < 100
	}) // without an answer there are no jobs to offer
	return reply{Names: n}
}

// AskNames returns the names of this user's running fabric.
func AskNames() (Names, error) {
	r, err := ask(request{Names: true})
	if err != nil || r.Names == nil {
		return Names{}, err
	}
	return *r.Names, nil
}
