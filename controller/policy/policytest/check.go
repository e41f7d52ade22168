package policytest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/controller/policy/pending"
	"lightloom/southbound"
)

func byInput(a, b controller.CircuitReservation) int {
	return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
}

// Check returns what is wrong with a plan for a view, or nil: tasks without slots, host flows without a
// tag that names a path, ports reserved twice, links above capacity. The plan must be a fresh
// instance's, with complete rates.
func Check(v *controller.View, p *controller.Plan) error {
	return errors.Join(checkPlace(v, p), checkRoute(v, p), checkCircuits(v, p), checkMultihop(v, p), checkShare(v, p),
		checkWake(v, p))
}

// checkMultihop returns what is wrong with paths over several circuits: one that is none, or whose circuits are not in
// service, or of racks that a circuit joins; a pair of racks with two.
func checkMultihop(v *controller.View, p *controller.Plan) error {
	for i := range p.Multihop {
		x := &p.Multihop[i]
		if err := errors.Join(multihop.Supported(v.Fabric), x.Check(v.Fabric)); err != nil {
			return err
		}
		if i > 0 && multihop.Compare(p.Multihop[i-1], *x) >= 0 {
			return fmt.Errorf("path from rack %d to rack %d: twice, or out of order", x.Src, x.Dst)
		}
		for _, c := range x.Circuits {
			if at := &v.Circuits[c.In]; at.Phase != controller.InService || at.Out != c.Out {
				return fmt.Errorf("path from rack %d to rack %d: circuit %d→%d is not in service", x.Src, x.Dst, c.In, c.Out)
			}
		}
		for in := int(x.Src); in < len(v.Circuits); in += v.Fabric.Racks {
			if out := v.Circuits[in].Out; out != southbound.NoPort && v.Fabric.OCSRack(int32(out)) == int32(x.Dst) {
				return fmt.Errorf("path from rack %d to rack %d: a circuit joins them", x.Src, x.Dst)
			}
		}
	}
	return nil
}

func checkWake(v *controller.View, p *controller.Plan) error {
	if p.Wake <= v.Now {
		return fmt.Errorf("wake at %v: it is %v already", p.Wake, v.Now)
	}
	return nil
}

func checkPlace(v *controller.View, p *controller.Plan) error {
	free, vcpus := slices.Clone(v.Free), make([]int64, len(v.Free))
	for h := range vcpus {
		vcpus[h] = v.FreeVCPUs(h)
	}
	done := map[controller.JobID]bool{}
	for _, pl := range p.Place {
		if i := slices.IndexFunc(v.Evicted, func(h controller.Evicted) bool {
			return h.Job.ID == pl.Job
		}); i >= 0 && !done[pl.Job] {
			done[pl.Job] = true
			if err := checkEvicted(v, &v.Evicted[i], pl.Hosts, free); err != nil {
				return fmt.Errorf("place job %d again: %w", pl.Job, err)
			}
			continue
		}
		if len(pl.Move) > 0 {
			if err := checkMoved(v, &pl, free); err != nil || done[pl.Job] {
				return fmt.Errorf("move tasks of job %d, again %v: %w", pl.Job, done[pl.Job], err)
			}
			done[pl.Job] = true
			continue
		}
		i := slices.IndexFunc(v.Waiting, func(j *controller.Job) bool { return j.ID == pl.Job })
		switch {
		case i < 0:
			return fmt.Errorf("place job %d: it does not wait", pl.Job)
		case done[pl.Job]:
			return fmt.Errorf("place job %d: twice", pl.Job)
		case len(pl.Hosts) != v.Waiting[i].Tasks():
			return fmt.Errorf("place job %d: %d hosts for %d tasks", pl.Job, len(pl.Hosts), v.Waiting[i].Tasks())
		}
		done[pl.Job] = true
		for t, h := range pl.Hosts {
			if h < 0 || int(h) >= len(free) {
				return fmt.Errorf("place job %d: no host %d", pl.Job, h)
			}
			if free[h] -= size(v.Waiting[i], t); free[h] < 0 {
				return fmt.Errorf("place job %d: host %d has %d slots", pl.Job, h, v.Free[h])
			}
		}
		if err := checkVCPUs(v.Waiting[i], &pl, vcpus); err != nil {
			return fmt.Errorf("place job %d: %w", pl.Job, err)
		}
	}
	return checkRescued(v, done)
}

// checkVCPUs checks what a placement gives tasks with loads, and takes it.
func checkVCPUs(j *controller.Job, pl *controller.Placement, vcpus []int64) error {
	if pl.MilliVCPUs == nil {
		return nil
	}
	t := 0
	for s := range j.Stages {
		for k := range j.Stages[s].Tasks {
			milli, h := pl.MilliVCPUs[t], pl.Hosts[t]
			if loaded := j.Stages[s].Tasks[k].Load > 0; loaded != (milli > 0) {
				return fmt.Errorf("task %d has %d thousandths of a vCPU; it has a load: %v", t, milli, loaded)
			}
			if vcpus[h] -= int64(milli); vcpus[h] < 0 {
				return fmt.Errorf("host %d gives more vCPUs than it has", h)
			}
			t++
		}
	}
	return nil
}

// checkRescued wants the first job that has lost hosts to be placed again where there are slots: no
// part may forget it.
func checkRescued(v *controller.View, done map[controller.JobID]bool) error {
	if len(v.Evicted) == 0 || len(v.Lost) == len(v.Free) {
		return nil
	}
	first := slices.MinFunc(v.Evicted, func(a, b controller.Evicted) int {
		return cmp.Compare(a.Job.ID, b.Job.ID)
	})
	var need []int32
	for t, at := range first.Hosts {
		if at == controller.NoHost && !first.Ended[t] {
			need = append(need, size(first.Job, t))
		}
	}
	if controller.Pack(need, slices.Clone(v.Free)) != nil && !done[first.Job.ID] {
		return fmt.Errorf("job %d has lost hosts, slots %v have room for its tasks of %v, and it is not placed again",
			first.Job.ID, v.Free, need)
	}
	return nil
}

// checkEvicted checks the new hosts of a job that has lost some, and takes its slots.
func checkEvicted(v *controller.View, h *controller.Evicted, hosts []southbound.HostID, free []int32) error {
	if len(hosts) != len(h.Hosts) {
		return fmt.Errorf("%d hosts for %d tasks", len(hosts), len(h.Hosts))
	}
	for t, at := range hosts {
		switch {
		case at < 0 || int(at) >= len(free) || slices.Contains(v.Lost, at):
			return fmt.Errorf("task %d on host %d", t, at)
		case h.Hosts[t] != controller.NoHost && h.Hosts[t] != at:
			return fmt.Errorf("task %d moves from host %d to %d", t, h.Hosts[t], at)
		case h.Hosts[t] != controller.NoHost || h.Ended[t]:
			continue
		}
		if free[at] -= size(h.Job, t); free[at] < 0 {
			return fmt.Errorf("host %d has %d slots", at, v.Free[at])
		}
	}
	return nil
}

// size is how many slots a task of a job takes.
func size(j *controller.Job, t int) int32 {
	if sizes := j.Sizes(); sizes != nil {
		return sizes[t]
	}
	return 1
}

// checkRoute wants one tag a host flow for every coflow that lacks them, and none that leads nowhere if
// another leads.
func checkRoute(v *controller.View, p *controller.Plan) error {
	tags := map[southbound.CoflowID][]southbound.Tag{}
	for i, r := range p.Route {
		if i > 0 && p.Route[i-1].Coflow >= r.Coflow {
			return fmt.Errorf("route coflow %d after %d: out of order or twice", r.Coflow, p.Route[i-1].Coflow)
		}
		tags[r.Coflow] = r.Tags
	}
	known := 0
	check := func(id southbound.CoflowID, src, dst []southbound.HostID, must bool) error {
		t, ok := tags[id]
		if ok {
			known++
		}
		if !ok && must || ok && len(t) != len(src) {
			return fmt.Errorf("route coflow %d: %d tags for %d host flows", id, len(t), len(src))
		}
		for r := range t {
			if !leads(v, src[r], dst[r], t[r]) {
				return fmt.Errorf("route coflow %d: tag %d of host flow %d (%d→%d) leads nowhere", id, t[r],
					r, src[r], dst[r])
			}
		}
		return nil
	}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		src, dst := slices.Clone(c.Src), slices.Clone(c.Dst)
		for r := range src {
			if c.Ended[r] {
				dst[r] = src[r] // wherever it was sent, it has arrived
			}
		}
		if err := check(c.ID, src, dst, !c.Routed); err != nil {
			return err
		}
	}
	for _, c := range pending.Placed(v, p) {
		if err := check(c.ID, c.Src, c.Dst, true); err != nil {
			return err
		}
	}
	if known != len(tags) {
		return fmt.Errorf("%d routings, %d of them for coflows that there are", len(tags), known)
	}
	return nil
}

// leads reports whether a tag names a path that is up, if any path is.
func leads(v *controller.View, src, dst southbound.HostID, t southbound.Tag) bool {
	s, d := v.HostRack(src), v.HostRack(dst)
	i, packets := t.Path()
	if s == d {
		return packets
	}
	lit := func(i int) bool {
		for _, l := range v.Paths.AppendPath(nil, int(s), int(d), i) {
			if v.Down != nil && v.Down[l] {
				return false
			}
		}
		return true
	}
	n, any := v.Paths.Paths(int(s), int(d)), false
	for i := range min(n, southbound.MaxNamedPaths) {
		any = any || lit(i)
	}
	return packets && (!any || i < n && lit(i))
}

// checkCircuits carries out Withdraw, Preempt and Reserve as Apply does and wants no port reserved twice.
func checkCircuits(v *controller.View, p *controller.Plan) error {
	var ledger []controller.CircuitReservation
	for _, r := range v.Reserved {
		begun := r.NotBefore <= v.Now && v.Circuits[r.In].Held && v.Circuits[r.In].Until == r.NotAfter
		if begun && slices.Contains(p.Preempt, r.In) || !begun && slices.Contains(p.Withdraw, r.Coflow) {
			continue
		}
		ledger = append(ledger, r)
	}
	if !slices.IsSortedFunc(p.Reserve, byInput) {
		return errors.New("reservations are not sorted by input and beginning")
	}
	for _, r := range p.Reserve {
		n, racks := southbound.Port(v.Fabric.OCSPorts()), southbound.Port(v.Fabric.Racks)
		switch {
		case !v.Fabric.HasOCS():
			return errors.New("reserve: the fabric has no OCS")
		case r.In < 0 || r.Out < 0 || r.In >= n || r.Out >= n || r.In%racks == r.Out%racks || r.In/racks != r.Out/racks:
			return fmt.Errorf("reserve %d→%d: no such circuit", r.In, r.Out)
		case v.Fabric.OCSUplink[r.In] < 0 || v.Fabric.OCSUplink[r.Out] < 0:
			return fmt.Errorf("reserve %d→%d: a rack has no OCS port", r.In, r.Out)
		case r.NotBefore < v.Now || r.NotAfter <= r.NotBefore:
			return fmt.Errorf("reserve %d→%d [%v, %v) at %v", r.In, r.Out, r.NotBefore, r.NotAfter, v.Now)
		}
		for _, o := range ledger {
			if (o.In == r.In || o.Out == r.Out) && o.NotBefore < r.NotAfter && r.NotBefore < o.NotAfter {
				return fmt.Errorf("reserve %+v: %+v holds a port", r, o)
			}
			if o.In%racks == r.In%racks && o.Out%racks == r.Out%racks && o.In != r.In {
				return fmt.Errorf("reserve %+v: %+v joins these racks by another wavelength or OCS", r, o)
			}
		}
		ledger = append(ledger, r)
	}
	return nil
}
