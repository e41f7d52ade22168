package chaos

import (
	"errors"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// deliveries is what hosts have really received and done.
type deliveries struct {
	ended map[southbound.HostFlowKey]int
	tasks map[southbound.TaskID]int
}

func newDeliveries() deliveries {
	return deliveries{ended: map[southbound.HostFlowKey]int{}, tasks: map[southbound.TaskID]int{}}
}

func (y *deliveries) add(e southbound.Event) {
	switch e.Kind {
	case southbound.HostFlowEnded:
		y.ended[e.HostFlowKey]++
	case southbound.TaskEnded:
		y.tasks[e.Task]++
	}
}

// strike makes a part of a simulated fabric fail or recover.
func strike(sim *flowsim.Sim, damage *fault.Damage, e fault.Event) error {
	changes, _, err := damage.Inject(e)
	for _, c := range changes {
		switch c.Kind {
		case fault.Link:
			sim.Cable(c.Cable, c.Up)
		case fault.Switch:
			sim.Power(c.Device, c.Up, 30*time.Millisecond)
		case fault.Host:
			err = errors.Join(err, sim.Fail(c.Host, c.Up))
		}
	}
	return err
}

// submitted is how many bytes jobs are to transfer.
func submitted(jobs []controller.Job) (sum pathmap.Bytes) {
	for i := range jobs {
		for _, e := range jobs[i].Edges {
			sum += e.Bytes
			for _, f := range e.Flows {
				sum += f.Bytes
			}
		}
	}
	return sum
}

// exact compares the transfer ledger with the hosts' own counts: every byte was received once, every
// task ended once.
func (y *deliveries) exact(t *testing.T, sim *flowsim.Sim, d *state.Data, want pathmap.Bytes) {
	t.Helper()
	var network, local pathmap.Bytes
	hostFlows := int64(0)
	for _, co := range d.Coflows {
		network, local, hostFlows = network+co.Bytes, local+co.Local, hostFlows+co.HostFlows
	}
	all := func(southbound.HostFlowKey, southbound.HostID) bool { return true }
	y.each(t, d, all)
	if got := sim.Counters().Delivered; network+local != want || got != network ||
		int64(len(y.ended)) != hostFlows {
		t.Errorf("hosts received %d bytes in %d host flows; the ledger has %d in %d and %d within hosts, submitted were %d",
			got, len(y.ended), network, hostFlows, local, want)
	}
}

// noHostFlow stands where a task is asked for.
var noHostFlow = southbound.HostFlowKey{Coflow: -1}

// each checks every transfer and task between hosts that are trusted.
func (y *deliveries) each(t *testing.T, d *state.Data,
	trusted func(southbound.HostFlowKey, southbound.HostID) bool) {
	t.Helper()
	for i, co := range d.Coflows {
		for row := range co.HostFlows {
			k := southbound.HostFlowKey{Coflow: southbound.CoflowID(i), Row: int32(row)}
			if n := y.ended[k]; n != 1 && trusted(k, -1) {
				t.Errorf("host flow %d of coflow %d was received %d times", row, i, n)
			}
		}
	}
	for id := range d.Tasks {
		if n := y.tasks[southbound.TaskID(id)]; n != 1 && trusted(noHostFlow, d.Tasks[id].Host) {
			t.Errorf("task %d ended %d times", id, n)
		}
	}
}

// once checks that the ledger has every submitted byte once, although hosts have failed.
func (y *deliveries) once(t *testing.T, d *state.Data, want pathmap.Bytes) {
	t.Helper()
	sum, hostFlows := pathmap.Bytes(0), int64(0)
	for _, co := range d.Coflows {
		sum, hostFlows = sum+co.Bytes+co.Local, hostFlows+co.HostFlows
	}
	if sum != want || int64(len(y.ended)) < hostFlows {
		t.Errorf("the ledger has %d bytes of %d, and %d host flows, of which %d have been received",
			sum, want, hostFlows,
			len(y.ended))
	}
}

// check judges a world by its faults.
func (y *deliveries) check(t *testing.T, w *world) {
	t.Helper()
	d, jobs, sim, x := w.seats[0].state.Data(), w.jobs, w.sim, &w.faults
	if len(d.Jobs) != len(jobs) {
		t.Errorf("%d jobs were taken, %d were submitted", len(d.Jobs), len(jobs))
	}
	switch {
	case x.Liar:
		y.each(t, d, func(k southbound.HostFlowKey, at southbound.HostID) bool {
			if k == noHostFlow {
				return at != x.liar
			}
			to, known := w.agents.into[k]
			return known && to != x.liar
		})
	case hostsLost(x.Parts):
		y.once(t, d, submitted(jobs))
	default:
		y.exact(t, sim, d, submitted(jobs))
	}
	counts := sim.Counters()
	if err := device.CheckLit(counts.Lit); err != nil || counts.LitDropped > 0 {
		t.Errorf("light: %v, %d intervals forgotten", err, counts.LitDropped)
	}
}
