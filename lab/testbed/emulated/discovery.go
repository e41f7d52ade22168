package emulated

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/switchd"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/lldp"
	"lightloom/southbound/lldpd"
)

// Between two announcements of switches and hosts of a fabric that is kept up is speakEvery, or speakSpan for each link
// where that is longer: a frame takes some 20 µs from end to end, and all of them a fiftieth of a processor.
const (
	speakEvery = 250 * time.Millisecond
	speakSpan  = time.Millisecond
)

// Speaking returns the interval between announcements.
func (s *Testbed) Speaking() time.Duration {
	return max(speakEvery, s.Config.Speak, speakSpan*time.Duration(len(s.Topo.Topology.Links())))
}

// discovery is LLDP at every packet switch and host of an emulated fabric. A fabric for one run of jobs
// has none, because its links are measured.
type discovery struct {
	daemons []*lldpd.Daemon
	station map[southbound.DeviceID]int // in daemons[0]
}

// openDiscovery opens the sockets: one for all switches, one in every host.
func (s *Testbed) openDiscovery() (d *discovery, err error) {
	d = &discovery{station: map[southbound.DeviceID]int{}}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	t := s.Topo.Topology
	var switches []lldpd.Station
	var ids []southbound.DeviceID
	for n, node := range t.Nodes() {
		if node.Role == pathmap.Host || node.Role == pathmap.OCS {
			continue
		}
		interfaces := make([]int, t.Ports(pathmap.NodeID(n)))
		for p := range interfaces {
			if t.OutPort(pathmap.NodeID(n), int32(p)) == pathmap.None {
				continue
			}
			if interfaces[p], err = s.Packets.Net.Interface(pathmap.NodeID(n), southbound.Port(p)); err != nil {
				return d, err
			}
		}
		d.station[southbound.DeviceID(n)] = len(switches)
		switches, ids = append(switches, switchd.Station(node.Name, interfaces)), append(ids,
			southbound.DeviceID(n))
	}
	all, err := lldpd.Open(lldpd.Config{Stations: switches, Interval: s.Speaking(), Now: s.Clock,
		Changed: func(i int) { s.Packets.Switches[ids[i]].Refresh() }})
	if err != nil {
		return d, err
	}
	d.daemons = append(d.daemons, all)
	for h := range s.Topo.HostNode {
		one, err := s.openHostDiscovery(southbound.HostID(h))
		if err != nil {
			return d, err
		}
		d.daemons = append(d.daemons, one)
	}
	return d, nil
}

// openHostDiscovery opens a host's socket, inside it.
func (s *Testbed) openHostDiscovery(h southbound.HostID) (d *lldpd.Daemon, err error) {
	err = s.Packets.Net.InHost(h, func() error {
		nics, err := net.Interfaces()
		if err != nil {
			return fmt.Errorf("list interfaces: %w", err)
		}
		st := lldpd.Station{Name: s.Topo.Topology.Node(s.Topo.HostNode[h]).Name}
		for _, nic := range nics {
			if nic.Flags&net.FlagLoopback == 0 {
				st.Ports = append(st.Ports, lldpd.Port{Interface: nic.Index, Name: nic.Name})
			}
		}
		d, err = lldpd.Open(lldpd.Config{Stations: []lldpd.Station{st}, Now: s.Clock,
			Interval: s.Speaking()})
		return err
	})
	return d, err
}

// heard returns the function that lists a switch's neighbours for its target; nil without LLDP.
func (d *discovery) heard(id southbound.DeviceID) func() []lldp.Heard {
	if d == nil {
		return nil
	}
	i, ok := d.station[id]
	if !ok {
		return nil
	}
	return func() []lldp.Heard { return d.daemons[0].Heard(i) }
}

// run sends and receives announcements until ctx ends.
func (d *discovery) run(ctx context.Context) error {
	if d == nil {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, one := range d.daemons {
		g.Go(func() error { return one.Run(ctx) })
	}
	return g.Wait()
}

func (d *discovery) close() error {
	if d == nil {
		return nil
	}
	var errs []error
	for _, one := range d.daemons {
		if err := one.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
