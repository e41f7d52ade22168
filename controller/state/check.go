package state

import (
	"errors"
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// check refuses a snapshot whose references lead nowhere, so that a damaged one cannot crash the
// replica later.
func (d *Data) check(f *topo.Fabric) error {
	if err := d.checkJobs(f); err != nil {
		return err
	}
	for _, c := range d.Coflows {
		if err := d.checkCoflow(f, c); err != nil {
			return fmt.Errorf("coflow %d %w", c.ID, err)
		}
	}
	if err := d.checkBandwidthReservations(f); err != nil {
		return err
	}
	if err := d.checkGrants(); err != nil {
		return err
	}
	if err := d.checkSlices(f); err != nil {
		return err
	}
	if c := d.Cluster; c != nil && c.Fabric != nil {
		if err := c.Fabric.Check(len(f.Topology.Nodes())); err != nil {
			return err
		}
	}
	return d.checkCircuits(f)
}

// checkJobs checks the ids and hosts of jobs, and that tasks and coflows are theirs.
func (d *Data) checkJobs(f *topo.Fabric) error {
	if err := d.checkOrder(); err != nil {
		return err
	}
	tasks, coflows := d.Tasks, 0
	for _, j := range d.Jobs {
		switch {
		case len(j.Stages) != len(j.Job.Stages) || (j.Hosts != nil && len(j.Hosts) != j.Tasks()):
			return fmt.Errorf("job %d has stages or hosts missing", j.ID)
		case j.Tasks() > len(tasks) || !j.has(tasks[:j.Tasks()], f):
			return fmt.Errorf("job %d has tasks missing", j.ID)
		}
		for _, h := range j.Hosts {
			if h < controller.NoHost || int(h) >= f.Hosts() {
				return fmt.Errorf("job %d is placed on host %d of %d", j.ID, h, f.Hosts())
			}
		}
		for k, e := range j.Edges {
			if n := len(j.Stages); e.Kind != controller.Fixed &&
				(e.From < 0 || e.From >= n || e.To < 0 || e.To >= n) {
				return fmt.Errorf("job %d has an edge %d between stages that it has not", j.ID, k)
			}
		}
		if err := checkReads(j, f); err != nil {
			return fmt.Errorf("job %d %w", j.ID, err)
		}
		if !d.own(j) {
			return fmt.Errorf("job %d has coflows missing", j.ID)
		}
		tasks, coflows = tasks[j.Tasks():], coflows+len(j.Edges)+len(j.Redo)+len(j.Blocks)
	}
	if len(tasks) > 0 || coflows != len(d.Coflows) {
		return errors.New("tasks or coflows do not add up to the jobs'")
	}
	return nil
}

// checkOrder checks that ids ascend and are below those that come next.
func (d *Data) checkOrder() error {
	id, task, coflow := controller.JobID(0), southbound.TaskID(0), southbound.CoflowID(0)
	for i, j := range d.Jobs {
		if j == nil || j.ID < id || j.FirstTask < task || j.FirstCoflow < coflow {
			return fmt.Errorf("job %d has ids out of order", i)
		}
		id, task, coflow = j.ID+1, j.FirstTask+southbound.TaskID(j.Tasks()), j.FirstCoflow+southbound.CoflowID(len(j.Edges))
	}
	if n := d.Next; id > n.Job || task > n.Task || coflow > n.Coflow {
		return errors.New("ids of jobs, tasks or coflows have not been given yet")
	}
	for i, c := range d.Coflows {
		if c == nil || c.ID < 0 || c.ID >= d.Next.Coflow || i > 0 && c.ID <= d.Coflows[i-1].ID {
			return fmt.Errorf("coflow %d is missing or out of order", i)
		}
	}
	return nil
}

// has reports whether tasks are a job's, by stage.
func (j *Job) has(tasks []Task, f *topo.Fabric) bool {
	for k := range j.Job.Stages {
		for range j.Job.Stages[k].Tasks {
			if t := &tasks[0]; t.Job != j.ID || int(t.Stage) != k || int(t.Host) >= f.Hosts() {
				return false
			}
			tasks = tasks[1:]
		}
	}
	return true
}

// own reports whether the coflows of a job are there.
func (d *Data) own(j *Job) bool {
	for i := range j.Edges {
		c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i))
		if c == nil || c.Resent || c.Block || c.Job != j.ID || int(c.Edge) != i {
			return false
		}
	}
	for i, id := range j.Redo {
		if c := d.Coflow(id); c == nil || !c.Resent || c.Job != j.ID || i > 0 && id <= j.Redo[i-1] {
			return false
		}
	}
	for i, id := range j.Blocks {
		if c := d.Coflow(id); c == nil || !c.Block || c.Resent || c.Job != j.ID || i > 0 && id <= j.Blocks[i-1] {
			return false
		}
	}
	return true
}

func (d *Data) checkCoflow(f *topo.Fabric, c *Coflow) error {
	n, j := len(c.Columns.Src), d.Job(c.Job)
	if len(c.Columns.Dst) != n || len(c.Columns.Size) != n || len(c.Columns.Flows) != n || len(c.Tag) != n ||
		len(c.Done) != n || j == nil || c.Edge < 0 || int(c.Edge) > len(j.Edges) || c.Block != (int(c.Edge) == len(j.Edges)) {
		return errors.New("is incomplete")
	}
	if err := d.checkPairs(f, c); err != nil {
		return err
	}
	for r := range c.Columns.Src {
		if a, b := c.Columns.Src[r], c.Columns.Dst[r]; a < 0 || b < 0 || int(a) >= f.Hosts() ||
			int(b) >= f.Hosts() {
			return fmt.Errorf("has a host flow %d→%d on %d hosts", a, b, f.Hosts())
		}
	}
	return nil
}

// checkPairs checks what a coflow carries again.
func (d *Data) checkPairs(f *topo.Fabric, c *Coflow) error {
	j := d.Job(c.Job)
	most := len(j.Hosts)
	if j.EdgeOf(c).Kind == controller.Fixed {
		most = f.Hosts()
	}
	sources := most
	if c.Block || j.Edges[c.Edge].Reads != nil {
		sources, most = most, len(j.Hosts)
	}
	for _, p := range c.Pairs {
		if p.Src < 0 || p.Dst < 0 || int(p.Src) >= sources || int(p.Dst) >= most || p.Bytes <= 0 {
			return fmt.Errorf("carries %d bytes again from %d to %d of %d", p.Bytes, p.Src, p.Dst, most)
		}
	}
	if of := d.Coflow(c.Of); c.Resent && (of == nil || of.Job != c.Job) {
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
		if !f.HasOCS() || !inRange(r.In, f.OCSPorts()) || !inRange(r.Out, f.OCSPorts()) ||
			r.Coflow != controller.AnyCoflow &&
				d.Coflow(r.Coflow) == nil {
			return fmt.Errorf("reservation %d→%d for coflow %d is outside the fabric or the jobs", r.In,
				r.Out, r.Coflow)
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
	return p.Device >= 0 && int(p.Device) < len(t.Nodes()) &&
		t.OutPort(p.Device, int32(p.Port)) != pathmap.None
}
