package target_test

import (
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
)

// TestQueuesTold: a switch's counters include queue lengths for ports whose queues were sampled, and
// none for other ports.
func TestQueuesTold(t *testing.T) {
	for _, tt := range []struct {
		name  string
		looks target.QueueSamples
		want  *probe.Queue
	}{
		{"no samples", target.QueueSamples{}, nil},
		{"looked", target.QueueSamples{Number: 3, Most: 1 << 40, Mean: 1500},
			&probe.Queue{Most: 1 << 40, Mean: 1500}},
		{"nothing waited", target.QueueSamples{Number: 3}, &probe.Queue{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) {
				c.Counts = func() ([]target.PortCount, error) {
					return []target.PortCount{{OutOctets: 9}, {OutOctets: 7, Looks: tt.looks}}, nil
				}
			})
			conn, err := gnmi.Connect(r.config(t))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for range 2 { // and again, where they stand
				got, err := probe.ReadCounters(t.Context(), gpb.NewGNMIClient(conn),
					gnmi.OpenConfig{Ports: 8, Racks: 8})
				if err != nil {
					t.Fatal(err)
				}
				q := got.Ports[1].Queue
				if (q == nil) != (tt.want == nil) || q != nil && *q != *tt.want || got.Ports[0].Queue != nil ||
					got.Ports[1].OutOctets != 7 {
					t.Errorf("ports are %+v, with %+v at port 1; want %+v", got.Ports, q, tt.want)
				}
			}
		})
	}
}
