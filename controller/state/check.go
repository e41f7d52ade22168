package state

import (
	"errors"
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// check refuses a snapshot whose references lead nowhere, so that a damaged one cannot crash the replica later.
func (d *Data) check(f *topo.Fabric) error {
	if err := d.checkJobs(f); err != nil {
		return err
	}
	for i, c := range d.Coflows {
		if err := d.checkCoflow(f, c); err != nil {
			return fmt.Errorf("coflow %d %w", i, err)
		}
	}
	for i, t := range d.Tasks {
		if t.Job < 0 || int(t.Job) >= len(d.Jobs) || int(t.Host) >= f.Hosts() || t.Stage < 0 ||
			int(t.Stage) >= len(d.Jobs[t.Job].Stages) {
			return fmt.Errorf("task %d is incomplete", i)
		}
	}
	if err := d.checkBandwidthReservations(f); err != nil {
		return err
	}
	if err := d.checkGrants(); err != nil {
		return err
	}
	return d.checkCircuits(f)
}

// checkJobs checks the ids and hosts of jobs, and that there are as many tasks and coflows as they have.
func (d *Data) checkJobs(f *topo.Fabric) error {
	tasks, coflows, again := 0, 0, 0
	for i, j := range d.Jobs {
		switch {
		case j == nil:
			return fmt.Errorf("job %d is missing", i)
		case int(j.ID) != i || int(j.FirstTask) != tasks || !d.own(j, coflows):
			return fmt.Errorf("job %d has ids out of order", i)
		case len(j.Stages) != len(j.Job.Stages) || (j.Hosts != nil && len(j.Hosts) != j.Tasks()):
			return fmt.Errorf("job %d has stages or hosts missing", i)
		}
		for _, h := range j.Hosts {
			if h < controller.NoHost || int(h) >= f.Hosts() {
				return fmt.Errorf("job %d is placed on host %d of %d", i, h, f.Hosts())
			}
		}
		for k, e := range j.Edges {
			if n := len(j.Stages); e.Kind != controller.Fixed && (e.From < 0 || e.From >= n || e.To < 0 || e.To >= n) {
				return fmt.Errorf("job %d has an edge %d between stages that it has not", i, k)
			}
		}
		tasks, coflows, again = tasks+j.Tasks(), int(j.FirstCoflow)+len(j.Edges), again+len(j.Redo)
	}
	for _, c := range d.Coflows {
		if c != nil && c.Resent {
			again--
		}
	}
	if tasks != len(d.Tasks) || coflows > len(d.Coflows) || again != 0 {
		return errors.New("tasks or coflows do not add up to the jobs'")
	}
	return nil
}

// own reports whether the coflows of a job's edges follow those of the jobs before, which have at least before coflows:
// coflows that resend lost data come in between.
func (d *Data) own(j *Job, before int) bool {
	first := int(j.FirstCoflow)
	if first < before || first > len(d.Coflows)-len(j.Edges) {
		return false
	}
	for i, c := range d.Coflows[before : first+len(j.Edges)] {
		at := before + i
		if c == nil || c.Resent != (at < first) || at >= first && (c.Job != j.ID || int(c.Edge) != at-first) {
			return false
		}
	}
	for _, id := range j.Redo {
		if id < 0 || int(id) >= len(d.Coflows) || d.Coflows[id] == nil || !d.Coflows[id].Resent || d.Coflows[id].Job != j.ID {
			return false
		}
	}
	return true
}

func (d *Data) checkCoflow(f *topo.Fabric, c *Coflow) error {
	n := 0
	if c != nil {
		n = len(c.Columns.Src)
	}
	if c == nil || len(c.Columns.Dst) != n || len(c.Columns.Size) != n || len(c.Tag) != n || len(c.Done) != n ||
		c.Job < 0 || int(c.Job) >= len(d.Jobs) || int(c.Edge) >= len(d.Jobs[c.Job].Edges) || c.Edge < 0 {
		return errors.New("is incomplete")
	}
	if err := d.checkPairs(f, c); err != nil {
		return err
	}
	for r := range c.Columns.Src {
		if a, b := c.Columns.Src[r], c.Columns.Dst[r]; a < 0 || b < 0 || int(a) >= f.Hosts() || int(b) >= f.Hosts() {
			return fmt.Errorf("has a host flow %d→%d on %d hosts", a, b, f.Hosts())
		}
	}
	return nil
}

// checkPairs checks what a coflow carries again.
func (d *Data) checkPairs(f *topo.Fabric, c *Coflow) error {
	j := d.Jobs[c.Job]
	most := len(j.Hosts)
	if j.Edges[c.Edge].Kind == controller.Fixed {
		most = f.Hosts()
	}
	for _, p := range c.Pairs {
		if p.Src < 0 || p.Dst < 0 || int(p.Src) >= most || int(p.Dst) >= most || p.Bytes <= 0 {
			return fmt.Errorf("carries %d bytes again from %d to %d of %d", p.Bytes, p.Src, p.Dst, most)
		}
	}
	if c.Resent && (c.Of < 0 || int(c.Of) >= len(d.Coflows)) {
		return errors.New("carries again what no coflow had")
	}
	return nil
}

// checkCircuits checks the ledger, the circuits and the ports that are down.
func (d *Data) checkCircuits(f *topo.Fabric) error {
	if want := len(New(f).d.Circuits); len(d.Circuits) != want {
		return fmt.Errorf("holds %d circuits, the fabric has %d OCS inputs", len(d.Circuits), want)
	}
	for _, r := range d.Ledger {
		if !f.HasOCS() || !inRange(r.In, f.OCSPorts()) || !inRange(r.Out, f.OCSPorts()) || r.Coflow < controller.AnyCoflow ||
			int(r.Coflow) >= len(d.Coflows) {
			return fmt.Errorf("reservation %d→%d for coflow %d is outside the fabric or the jobs", r.In, r.Out, r.Coflow)
		}
	}
	if _, err := ledgerOf(d.Ledger, len(d.Circuits)); err != nil {
		return err
	}
	for i, c := range d.Circuits {
		if (c.Out != southbound.NoPort && !inRange(c.Out, f.OCSPorts())) || int(c.Move) >= len(d.Moves) ||
			(c.Out != southbound.NoPort && c.Move < 0) {
			return fmt.Errorf("circuit %d is outside the fabric", i)
		}
	}
	for i, h := range d.Lost {
		if h < 0 || int(h) >= f.Hosts() || i > 0 && d.Lost[i-1] >= h {
			return fmt.Errorf("lost host %d is outside the fabric, or comes twice", h)
		}
	}
	for _, p := range d.Down {
		if !leads(f, p) {
			return fmt.Errorf("port %d of device %d is outside the fabric", p.Port, p.Device)
		}
	}
	return nil
}

func inRange(p southbound.Port, n int) bool { return p >= 0 && int(p) < n }

// leads reports whether a link leaves at a port.
func leads(f *topo.Fabric, p PortRef) bool {
	t := f.Topology
	return p.Device >= 0 && int(p.Device) < len(t.Nodes()) && t.OutPort(p.Device, int32(p.Port)) != pathmap.None
}
