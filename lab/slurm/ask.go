package slurm

import (
	"context"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/lab/northbound"
	"lightloom/lab/testbed"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Ask returns what a controller's fabric has, with its circuits and slices as they stand.
func Ask(ctx context.Context, client *api.Client) (Network, error) {
	f, err := client.Fabric(ctx)
	if err != nil {
		return Network{}, northbound.WithStatus(err)
	}
	d, err := testbed.LiveStateOf(ctx, client)
	if err != nil {
		return Network{}, northbound.WithStatus(err)
	}
	return networkOf(f, d), nil
}

func networkOf(f *apiv1.Fabric, d *state.Data) (n Network) {
	for _, x := range f.Nodes {
		if x.Role == pathmap.ToR.String() {
			n.rack(x.Rack).Name = x.Name
		}
	}
	for _, x := range f.Nodes {
		if x.Role == pathmap.Host.String() {
			r := n.rack(x.Rack)
			r.Nodes = append(r.Nodes, x.Name)
		}
	}
	if spec, err := topo.ParseSpec(f.Spec); err == nil && spec.Pod() {
		n.Pod = &Pod{Side: spec.WithDefaults().Side}
		for i := range d.Slices {
			n.Pod.Slices = append(n.Pod.Slices, d.Slices[i].Slice)
		}
		return n
	}
	for in, c := range d.Circuits {
		if c.Phase == controller.InService {
			n.Circuits = append(n.Circuits, [2]int{in % len(n.Racks), int(c.Out) % len(n.Racks)})
		}
	}
	return n
}

// rack returns a rack, which is made if it is not there yet.
func (n *Network) rack(number int32) *Rack {
	for int(number) >= len(n.Racks) {
		n.Racks = append(n.Racks, Rack{})
	}
	return &n.Racks[number]
}
