package physical

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/server"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/pki"
)

// Testbed is the testbed of switches that run elsewhere, under this controller.
type Testbed struct {
	testbed.Remote
	d   *server.Daemon
	row scenario.Row
	g   *meter // nil: nothing is measured
}

var _ testbed.Testbed = (*Testbed)(nil)

// New opens the connections of a run beside the controller's; measured adds those that measure by the
// switches' reports. The run begins now.
func New(ctx context.Context, d *server.Daemon, r scenario.Row, measured bool) (*Testbed, error) {
	id, err := d.Identity(pki.Client, "client")
	if err != nil {
		return nil, err
	}
	l := &Testbed{d: d, row: r, Remote: testbed.Remote{Clock: d.Clock}}
	if l.Client, err = api.Dial(d.Cluster.Addrs(), id.Client("", pki.Controller)); err != nil {
		return nil, err
	}
	if measured {
		if l.g, err = measure(ctx, d); err != nil {
			l.Client.Close()
			return nil, fmt.Errorf("measure the run: %w", err)
		}
	}
	l.Start(ctx)
	return l, nil
}

// Fabric implements Testbed.
func (l *Testbed) Fabric() *topo.Fabric { return l.d.Fabric }

// Received implements Testbed, by the agent's own count if the agent is in this process.
func (l *Testbed) Received() pathmap.Bytes {
	if l.d.Agent != nil {
		return l.d.Agent.Stats().BytesReceived
	}
	return 0
}

// Apply implements Testbed.
func (l *Testbed) Apply(context.Context, fault.Change) error {
	return errors.New("apply fault: switches that run elsewhere are not this program's to break")
}

// OnTables implements Testbed. It does nothing, since switches that run elsewhere do not report their
// tables.
func (l *Testbed) OnTables(func(time.Duration, device.Applied)) {}

// Measure implements Testbed.
func (l *Testbed) Measure(ctx context.Context) (*outcome.Outcome, error) {
	l.End()
	data, err := testbed.StateOf(ctx, l.Client)
	if err != nil {
		return nil, err
	}
	o := &outcome.Outcome{Row: l.row, State: data, Assumed: l.d.Config.Delta, End: l.Clock()}
	o.Received = l.Received()
	if l.d.Agent == nil { // the receivers of coflows that ended have said so
		for _, c := range data.Coflows {
			if c.Ended > 0 {
				o.Received += c.Bytes
			}
		}
	}
	if l.g != nil {
		if err := l.g.into(ctx, l.Client, o); err != nil {
			return nil, fmt.Errorf("measure the run: %w", err)
		}
	}
	o.Shift(l.Begin)
	return o, nil
}

// Close implements Testbed.
func (l *Testbed) Close() error {
	l.Client.Close()
	if l.g == nil {
		return nil
	}
	return l.g.close()
}
