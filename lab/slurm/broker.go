package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/torus"
	"lightloom/lab/console"
)

// The names of slices that are Slurm's jobs' begin with a prefix, and their owner is the agent.
const (
	prefix = "slurm-"
	owner  = "slurm"
)

func sliceName(job int) string { return prefix + strconv.Itoa(job) }

// jobOf returns the job of a slice, and whether it is one's. Others can give their slices such names.
func jobOf(x *apiv1.Slice) (int, bool) {
	id, err := strconv.Atoi(strings.TrimPrefix(x.Name, prefix))
	return id, err == nil && id > 0 && x.Owner == owner && x.Name == sliceName(id)
}

// errOthers is why a job cannot have the slice of its name.
func errOthers(x *apiv1.Slice) error {
	return &api.Error{Code: api.Invalid, Err: fmt.Errorf("slice %s is of owner %q: end it, and submit the job again",
		x.Name, x.Owner)}
}

// Slicer is the part of a controller that reserves circuits.
type Slicer interface {
	CreateSlice(ctx context.Context, r api.SliceRequest) (*apiv1.Slice, error)
	DeleteSlice(ctx context.Context, name string) error
	Slice(ctx context.Context, name string, r api.Read) (*apiv1.Slice, error)
	Slices(ctx context.Context, r api.Read) ([]*apiv1.Slice, error)
}

// Scheduler is the part of Slurm that is asked.
type Scheduler interface {
	Jobs(ctx context.Context) ([]Job, error)
	Job(ctx context.Context, id int) (Job, error)
	Nodes(ctx context.Context) (Nodes, error)
	Preempts(ctx context.Context) (bool, error)
	Preempt(ctx context.Context, job int, requeue bool) error
	Require(ctx context.Context, j *Job, nodes []string) error
	Mark(ctx context.Context, j *Job, mark string) error
	Release(ctx context.Context, job int) error
	Hold(ctx context.Context, j *Job) error
}

// Broker reserves circuits for jobs that Slurm holds, and releases them. What it knows stands in the jobs and slices
// themselves: all that it does can be done again, by another one too.
type Broker struct {
	Slices  Slicer
	Slurm   Scheduler
	Network func(context.Context) (Network, error)
	Pause   func(context.Context) error // between two looks at circuits that are being lit
	Patient time.Duration               // how long a job that only wants circuits waits for them
	Say     func(format string, args ...any)

	since  map[int]time.Time // since when jobs have waited that only want circuits
	differ string            // nodes and hosts that do not fit, as they were last said
	judged string            // differ when refused jobs were last looked at
}

// errBusy is why circuits are not there yet.
var errBusy = errors.New("no nodes and ports are free")

// Serve places all jobs that can be: those of higher tiers first, else in their order. Those that may not start yet
// give back what they have before.
func (b *Broker) Serve(ctx context.Context, now time.Time, jobs []Job) error {
	waiting := slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool {
		return !j.Held() && !j.Lost() && !j.Left() && !j.Refused()
	})
	if len(waiting) == 0 {
		return nil
	}
	o, err := b.open(ctx, jobs)
	if err != nil {
		return err
	}
	again := b.differ != b.judged
	b.judged = b.differ
	tier := func(j *Job) int {
		if !j.due(now) {
			return math.MaxInt
		}
		return o.nodes.tier(j)
	}
	slices.SortStableFunc(waiting, func(x, y Job) int { return cmp.Compare(tier(&y), tier(&x)) })
	var errs []error
	for i := range waiting {
		if waiting[i].Refused() {
			if !again {
				continue
			}
			waiting[i].Mark = held
		}
		if err := b.serve(ctx, now, &waiting[i], o); err != nil && !errors.Is(err, errBusy) {
			errs = append(errs, fmt.Errorf("job %d: %w", waiting[i].ID, err))
		}
	}
	return errors.Join(errs...)
}

// serve does what is due for a job.
func (b *Broker) serve(ctx context.Context, now time.Time, j *Job, o *offer) error {
	if j.Left() { // this was cut off
		return b.Slurm.Mark(ctx, j, without)
	}
	own, has := o.own[j.ID]
	if j.Lost() {
		// Somebody may have written other nodes, which have no circuits, or fewer or none, to which Slurm adds any.
		fewer := len(j.Require) == 0 || j.Named && len(j.Require) < j.Count
		joined := !fewer && within(j.Require, own)
		if has && joined && j.due(now) && o.ready(j, j.Require) {
			if j.Mark == releasing { // this was cut off
				return b.Slurm.Mark(ctx, j, placed)
			}
			return nil // it starts soon
		}
		// It has run, and Slurm starts it again, or its nodes are others' by now: it must not begin before its circuits.
		if err := b.Slurm.Hold(ctx, j); err != nil {
			return err
		}
		if seen, err := b.Slurm.Job(ctx, j.ID); err != nil || seen.State != "PENDING" { // it has begun since it was listed
			return err
		}
	}
	if j.due(now) {
		return b.place(ctx, now, j, o)
	}
	if !has {
		return nil
	}
	b.Say("job %d may not start yet, and others get its circuits meanwhile", j.ID)
	delete(o.own, j.ID)
	return b.Free(ctx, j.ID)
}

// place gives a job its nodes and circuits, and releases it.
func (b *Broker) place(ctx context.Context, now time.Time, j *Job, o *offer) error {
	if j.Mark == leaving {
		return b.leave(ctx, j)
	}
	wish, err := ParseWish(j.Comment)
	if err != nil {
		return b.refuse(ctx, j, err)
	}
	var nodes []string
	if wish.Circuits == None && wish.Shape == nil {
		err = errors.New("its comment no longer asks for circuits")
	} else {
		nodes, err = b.hold(ctx, j, &wish, o)
	}
	switch {
	case err == nil:
	case wish.Circuits == Wanted && errors.Is(err, errBusy) && !b.late(now, j.ID):
		return err
	case wish.Circuits != Required:
		b.Say("job %d starts without circuits: %v", j.ID, err)
		return b.leave(ctx, j)
	case api.CodeOf(err) == api.Invalid:
		return b.refuse(ctx, j, err)
	default:
		return err
	}
	delete(b.since, j.ID)
	decided := time.Now()
	if err := b.Slurm.Require(ctx, j, nodes); err != nil {
		return err
	}
	if err := b.Slurm.Release(ctx, j.ID); err != nil {
		return err
	}
	b.Say("job %d starts on %s; released in %d ms", j.ID, strings.Join(nodes, ","), time.Since(decided).Milliseconds())
	return b.Slurm.Mark(ctx, j, placed)
}

// forget ends what a held job has, and takes back the nodes that were chosen for it.
func (b *Broker) forget(ctx context.Context, j *Job) error {
	if err := b.Free(ctx, j.ID); err != nil {
		return err
	}
	if len(j.Require) > 0 && !j.Named && (j.Mark == releasing || j.Mark == placed) {
		return b.Slurm.Require(ctx, j, nil)
	}
	return nil
}

// leave releases a job without circuits.
func (b *Broker) leave(ctx context.Context, j *Job) error {
	if err := b.forget(ctx, j); err != nil {
		return err
	}
	if err := b.Slurm.Mark(ctx, j, leaving); err != nil {
		return err
	}
	if err := b.Slurm.Release(ctx, j.ID); err != nil {
		return err
	}
	return b.Slurm.Mark(ctx, j, without)
}

// refuse leaves a job held, with the reason, and frees what it had. It is looked at again once other hosts are nodes.
func (b *Broker) refuse(ctx context.Context, j *Job, why error) error {
	b.Say("job %d stays held: %v", j.ID, why)
	if err := b.forget(ctx, j); err != nil {
		return err
	}
	return b.Slurm.Mark(ctx, j, refused+strings.ReplaceAll(why.Error(), "\n", " "))
}

// late reports whether a job has waited long enough for circuits that it only wants.
func (b *Broker) late(now time.Time, job int) bool {
	if b.since == nil {
		b.since = map[int]time.Time{}
	}
	if _, known := b.since[job]; !known {
		b.since[job] = now
	}
	return now.Sub(b.since[job]) >= b.Patient
}

// hold returns nodes that have their circuits.
func (b *Broker) hold(ctx context.Context, j *Job, wish *Wish, o *offer) ([]string, error) {
	if wish.Shape != nil && j.Named {
		return nil, &api.Error{Code: api.Invalid, Err: errors.New("a shape has nodes of its own: leave --nodelist away")}
	}
	if wish.Shape != nil {
		return b.holdShape(ctx, j, *wish.Shape)
	}
	nodes, err := b.nodes(ctx, j, wish, o)
	if err != nil {
		return nil, err
	}
	x, err := b.ask(ctx, j.ID, nodes)
	if err != nil {
		return nil, err
	}
	o.own[j.ID] = nodes
	if err := b.await(ctx, x); err != nil {
		return nil, err
	}
	return nodes, nil
}

// nodes returns those that a job is to have. Jobs of lower tiers that have circuits which it requires are ended, and
// what it waits for is kept for it.
func (b *Broker) nodes(ctx context.Context, j *Job, wish *Wish, o *offer) ([]string, error) {
	var named []string
	if j.Named {
		named = j.Require
	}
	if err := o.check(j, named); err != nil {
		return nil, &api.Error{Code: api.Invalid, Err: err}
	}
	own, has := o.own[j.ID]
	if named == nil && len(own) == j.Count && o.ready(j, own) {
		return own, nil
	}
	nodes, preempted, ok := o.choose(j, named, wish.Circuits == Required)
	if ok {
		return nodes, nil
	}
	delete(o.own, j.ID)
	if nodes != nil {
		o.own[j.ID] = nodes
	}
	if has { // of nodes that are others' by now
		if err := b.Free(ctx, j.ID); err != nil {
			return nil, err
		}
	}
	for _, v := range preempted {
		if err := b.Slurm.Preempt(ctx, v.ID, v.Requeue && o.nodes.of(v)[0].mode == modeRequeue); err != nil {
			return nil, err
		}
		o.leaving[v.ID] = true
		b.Say("job %d ends job %d of a lower PriorityTier, since it needs its circuits", j.ID, v.ID)
	}
	return nil, errBusy
}

// check returns why a job can never have circuits between its nodes.
func (o *offer) check(j *Job, named []string) error {
	for _, n := range named {
		if o.rack[n] == "" {
			return fmt.Errorf("node %s of --nodelist is no host of the fabric, and has no circuits: name others", n)
		}
	}
	if named != nil && len(named) < j.Count {
		return errors.New("--nodelist names fewer nodes than it asks for: name all, or none")
	}
	hosts := 0
	for n := range o.rack {
		if _, known := slices.BinarySearch(o.nodes.all, n); known && o.nodes.has(j, n) {
			hosts++
		}
	}
	if hosts < j.Count {
		return fmt.Errorf("it asks for %d nodes, and %d of its partition's are hosts of the fabric: ask for fewer", j.Count,
			hosts)
	}
	return nil
}

// open returns what there is.
func (b *Broker) open(ctx context.Context, jobs []Job) (*offer, error) {
	o := &offer{own: map[int][]string{}, leaving: map[int]bool{}}
	var err error
	if o.network, err = b.Network(ctx); err != nil {
		return nil, err
	}
	if o.nodes, err = b.Slurm.Nodes(ctx); err != nil {
		return nil, err
	}
	b.compare(o.network.differ(o.nodes.all))
	o.rack = o.network.rackOf()
	all, err := b.Slices.Slices(ctx, api.Read{Linearizable: true})
	if err != nil {
		return nil, err
	}
	for i, x := range all {
		id, ok := jobOf(x)
		if !ok {
			id = -1 - i
		}
		o.own[id] = x.Hosts
	}
	for i := range jobs {
		if jobs[i].runs() {
			o.running = append(o.running, &jobs[i])
		}
		o.leaving[jobs[i].ID] = jobs[i].Completing || jobs[i].Gone()
	}
	if len(o.running) > 0 && o.nodes.mayPreempt() {
		o.preempts, err = b.Slurm.Preempts(ctx)
	}
	return o, err
}

// compare says which nodes of Slurm are no hosts of the fabric, and the reverse, whenever that has changed.
func (b *Broker) compare(strange, idle []string) {
	now := fmt.Sprint(strange, idle)
	if now == b.differ {
		return
	}
	b.differ = now
	if len(strange) > 0 {
		b.Say("Slurm has %s that the fabric has not, without circuits: %s: name nodes as the fabric's hosts",
			console.Count(len(strange), "node"), some(strange))
	}
	if len(idle) > 0 {
		b.Say("the fabric has %s that Slurm has not, without jobs: %s", console.Count(len(idle), "host"), some(idle))
	}
}

// holdShape returns the nodes of a slice of a pod, once it is Ready.
func (b *Broker) holdShape(ctx context.Context, job *Job, shape torus.Shape) ([]string, error) {
	name := sliceName(job.ID)
	x, err := b.create(ctx, api.SliceRequest{Request: name + "-" + shape.String(), Name: name, Shape: shape})
	if err != nil {
		return nil, err
	}
	if err := b.await(ctx, x); err != nil {
		return nil, err
	}
	n, err := b.Network(ctx)
	if err != nil {
		return nil, err
	}
	for i := range n.Pod.Slices {
		if s := &n.Pod.Slices[i]; s.Name == name && s.Place != nil {
			return n.sliceNodes(s.Place)
		}
	}
	return nil, errBusy
}

// ask asks for the slice of a job on its nodes. Another one of the job, on other nodes, ends.
func (b *Broker) ask(ctx context.Context, id int, nodes []string) (*apiv1.Slice, error) {
	name, sorted := sliceName(id), slices.Sorted(slices.Values(nodes))
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(sorted, ","))) // it never fails
	r := api.SliceRequest{Request: fmt.Sprintf("%s-%x", name, h.Sum64()), Name: name, Hosts: sorted}
	if old, err := b.Slices.Slice(ctx, name, api.Read{Linearizable: true}); err == nil {
		if old.Owner != owner {
			return nil, errOthers(old)
		}
		had := slices.Sorted(slices.Values(old.Hosts))
		if slices.Equal(had, sorted) {
			return old, nil
		}
		if err := b.Free(ctx, id); err != nil {
			return nil, err
		}
	} else if api.CodeOf(err) != api.Unknown {
		return nil, err
	}
	return b.create(ctx, r)
}

// create makes a slice of the agent's. A request that was made before is answered with the slice of then.
func (b *Broker) create(ctx context.Context, r api.SliceRequest) (*apiv1.Slice, error) {
	r.Owner = owner
	x, err := b.Slices.CreateSlice(ctx, r)
	if err == nil && x.Owner != owner {
		return nil, errOthers(x)
	}
	return x, err
}

// await waits a moment until a slice is Ready.
func (b *Broker) await(ctx context.Context, x *apiv1.Slice) error {
	for range looks {
		switch torus.State(x.State) {
		case torus.Ready:
			return nil
		case torus.Failed:
			return &api.Error{Code: api.Invalid, Err: errors.New(x.Message)}
		}
		if err := b.Pause(ctx); err != nil {
			return err
		}
		next, err := b.Slices.Slice(ctx, x.Name, api.Read{})
		switch {
		case err == nil:
			x = next
		case api.CodeOf(err) != api.Unknown: // else that replica is behind
			return err
		}
	}
	return fmt.Errorf("slice %s is %s, %s: %w", x.Name, x.State, x.Reason, errBusy)
}

// looks is how often a slice is looked at before others have their turn.
const looks = 20

// Free ends what a job holds, and nothing of others. To free again what is free changes nothing.
func (b *Broker) Free(ctx context.Context, id int) error {
	x, err := b.Slices.Slice(ctx, sliceName(id), api.Read{Linearizable: true})
	if err == nil && x.Owner == owner {
		err = b.Slices.DeleteSlice(ctx, x.Name)
	}
	if err != nil && api.CodeOf(err) != api.Unknown {
		return err
	}
	return nil
}
