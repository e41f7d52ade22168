package slurm

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/torus"
)

// prefix begins the names of slices that are Slurm's jobs'.
const prefix = "slurm-"

func sliceName(job int) string { return prefix + strconv.Itoa(job) }

// jobOf returns the job of a slice, and whether it is one's.
func jobOf(slice string) (int, bool) {
	text, ok := strings.CutPrefix(slice, prefix)
	id, err := strconv.Atoi(text)
	return id, ok && err == nil
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
	Job(ctx context.Context, id int) (Job, error)
	Idle(ctx context.Context) (map[string]bool, error)
	Require(ctx context.Context, job int, nodes []string) error
	Mark(ctx context.Context, job int, begins bool) error
}

// Broker reserves circuits for jobs. All that it does can be done again: Slurm calls it anew after its controller has
// died, without a teardown between.
type Broker struct {
	Slices  Slicer
	Slurm   Scheduler
	Network func(context.Context) (Network, error)
	Pause   func(context.Context) error // between two tries
	Patient time.Duration               // how long a job that only wants circuits waits for them
	Say     func(format string, args ...any)
}

// errBusy is why circuits are not there yet.
var errBusy = errors.New("no nodes and ports are free")

// Stage is called while a job is pending. A job that requires circuits gets nodes whose racks have free ports, the
// circuits between them, and then Slurm is told to start it there. Others are Slurm's to place.
func (b *Broker) Stage(ctx context.Context, id int) error {
	job, err := b.Slurm.Job(ctx, id)
	if err != nil {
		return err
	}
	wish, err := ParseWish(job.Comment)
	if err != nil || wish.Circuits != Required && wish.Shape == nil {
		return err
	}
	return b.retry(ctx, func() error {
		nodes, err := b.hold(ctx, &job, &wish)
		if err != nil {
			return err
		}
		decided := time.Now()
		if err := b.Slurm.Require(ctx, id, nodes); err != nil {
			return errors.Join(err, b.Free(ctx, id))
		}
		b.Say("job %d starts on %s; released in %d ms", id, strings.Join(nodes, ","), time.Since(decided).Milliseconds())
		return nil
	})
}

// hold returns nodes that have their circuits.
func (b *Broker) hold(ctx context.Context, job *Job, wish *Wish) ([]string, error) {
	if wish.Shape != nil {
		return b.holdShape(ctx, job, *wish.Shape)
	}
	n, err := b.Network(ctx)
	if err != nil {
		return nil, err
	}
	nodes := job.Require
	if len(nodes) == 0 || job.Placed {
		if nodes, err = b.choose(ctx, &n, job); err != nil {
			return nil, err
		}
	}
	x, err := b.ask(ctx, job.ID, nodes)
	if err != nil {
		return nil, err
	}
	if err := b.await(ctx, x); err != nil {
		return nil, errors.Join(err, b.Free(ctx, job.ID))
	}
	return nodes, nil
}

// choose returns nodes for a job: those that it holds already, if they are still idle, or others.
func (b *Broker) choose(ctx context.Context, n *Network, job *Job) ([]string, error) {
	idle, busy, err := b.open(ctx, n, job.ID)
	if err != nil {
		return nil, err
	}
	if old, err := b.Slices.Slice(ctx, sliceName(job.ID), api.Read{}); err == nil && len(old.Hosts) == job.Count &&
		!slices.ContainsFunc(old.Hosts, func(h string) bool { return !idle[h] }) {
		return old.Hosts, nil
	}
	nodes, ok := choose(n, idle, busy, job.Count)
	if !ok {
		return nil, errBusy
	}
	return nodes, nil
}

// open returns nodes that are idle and that no slice of another job has been given, and racks whose ports are taken.
func (b *Broker) open(ctx context.Context, n *Network, id int) (idle, busy map[string]bool, err error) {
	if idle, err = b.Slurm.Idle(ctx); err != nil {
		return nil, nil, err
	}
	all, err := b.Slices.Slices(ctx, api.Read{Linearizable: true})
	if err != nil {
		return nil, nil, err
	}
	busy = map[string]bool{}
	for _, x := range all {
		if x.Name == sliceName(id) {
			continue
		}
		var racks []string
		for _, host := range x.Hosts {
			delete(idle, host)
			racks = append(racks, n.rackOf(host))
		}
		slices.Sort(racks)
		if racks = slices.Compact(racks); len(racks) > 1 {
			for _, r := range racks {
				busy[r] = true
			}
		}
	}
	return idle, busy, nil
}

func (n *Network) rackOf(node string) string {
	for i := range n.Racks {
		if slices.Contains(n.Racks[i].Nodes, node) {
			return n.Racks[i].Name
		}
	}
	return ""
}

// holdShape returns the nodes of a slice of a pod, once it is Ready.
func (b *Broker) holdShape(ctx context.Context, job *Job, shape torus.Shape) ([]string, error) {
	name := sliceName(job.ID)
	x, err := b.Slices.CreateSlice(ctx, api.SliceRequest{Request: name + "-" + shape.String(), Name: name, Shape: shape,
		Owner: "slurm"})
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

// Reserve is called once a job has its nodes and before it starts: their circuits are lit when it returns. Where Slurm
// chose other nodes than Stage, theirs are reserved.
func (b *Broker) Reserve(ctx context.Context, id int) error {
	job, err := b.Slurm.Job(ctx, id)
	if err != nil {
		return err
	}
	wish, err := ParseWish(job.Comment)
	if err != nil || wish.Circuits == None || wish.Shape != nil || len(job.Nodes) == 0 {
		return err
	}
	within := ctx
	if wish.Circuits == Wanted {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, b.Patient)
		defer cancel()
	}
	if err := b.retry(ctx, func() error { return b.Slurm.Mark(ctx, id, true) }); err != nil {
		return err
	}
	err = b.retry(within, func() error {
		x, err := b.ask(within, id, job.Nodes)
		if err != nil {
			return err
		}
		return b.await(within, x)
	})
	if err != nil && wish.Circuits == Wanted && ctx.Err() == nil {
		b.Say("job %d starts without circuits: %v", id, err)
		err = b.Free(ctx, id)
	}
	return errors.Join(err, b.retry(ctx, func() error { return b.Slurm.Mark(ctx, id, false) }))
}

// ask asks for the slice of a job on its nodes. Another one of the job, on other nodes, ends.
func (b *Broker) ask(ctx context.Context, id int, nodes []string) (*apiv1.Slice, error) {
	name, sorted := sliceName(id), slices.Sorted(slices.Values(nodes))
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(sorted, ","))) // it never fails
	r := api.SliceRequest{Request: fmt.Sprintf("%s-%x", name, h.Sum64()), Name: name, Hosts: sorted, Owner: "slurm"}
	if old, err := b.Slices.Slice(ctx, name, api.Read{Linearizable: true}); err == nil {
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
	return b.Slices.CreateSlice(ctx, r)
}

// await waits until a slice is Ready.
func (b *Broker) await(ctx context.Context, x *apiv1.Slice) error {
	for tries := 0; ; tries++ {
		switch torus.State(x.State) {
		case torus.Ready:
			return nil
		case torus.Failed:
			return &api.Error{Code: api.Invalid, Err: errors.New(x.Message)}
		case torus.Pending:
			if tries > 50 && len(x.Hosts) > 0 { // by then nodes elsewhere are perhaps free
				return fmt.Errorf("slice %s: %w", x.Name, errBusy)
			}
		}
		if err := b.Pause(ctx); err != nil {
			return fmt.Errorf("slice %s is %s, %s: %w", x.Name, x.State, x.Reason, err)
		}
		next, err := b.Slices.Slice(ctx, x.Name, api.Read{})
		switch {
		case err == nil:
			x = next
		case api.CodeOf(err) == api.Unknown && tries > 50:
			return err
		}
	}
}

// Free ends what a job holds. To free again what is free changes nothing.
func (b *Broker) Free(ctx context.Context, id int) error {
	return b.retry(ctx, func() error {
		if err := b.Slices.DeleteSlice(ctx, sliceName(id)); err != nil && api.CodeOf(err) != api.Unknown {
			return err
		}
		return nil
	})
}

// retry tries until it works, is refused for good, or ctx ends: a controller can be without a leader, and slurmctld be
// started again.
func (b *Broker) retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		final := []api.Code{api.Invalid, api.TooLarge, api.Denied, api.Missing}
		if err == nil || errors.Is(err, ErrNoJob) || slices.Contains(final, api.CodeOf(err)) {
			return err
		}
		if ctx.Err() != nil || b.Pause(ctx) != nil {
			return err
		}
	}
}
