package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lightloom/controller/api"
	"lightloom/southbound/durable"
)

// orphans returns the jobs whose slices belong to none that still runs or waits: Slurm's list is the truth.
func orphans(held []int, jobs []Job) (out []int) {
	for _, id := range held {
		if !slices.ContainsFunc(jobs, func(j Job) bool { return j.ID == id && !j.Gone() }) {
			out = append(out, id)
		}
	}
	return out
}

// Agent keeps a controller and Slurm in line: it frees what belongs to no job, and has Slurm's topology follow
// circuits.
type Agent struct {
	Broker
	Client  *Client
	Version Version
	File    string // the topology file that Slurm reads; empty: it is left alone
	Kind    string

	suspect     []int             // orphans of the last look: a slice can be older than its job in a list
	told        []byte            // what the file holds
	blocks      map[string]string // that Slurm has nodes in; nil: nothing was looked at
	reconfigure time.Time         // the last one
	stale       bool              // one is due
	listed      int               // how many jobs Slurm listed
	begun       bool              // nodes were looked at
}

// mostOften is how often Slurm reads its files again at most: each time, it holds all its locks.
const mostOften = time.Minute

// mostFailed is how many nodes Slurm may refuse in a tick: one alone does not keep others from moving.
const mostFailed = 4

// Tick does what is due, and returns what went wrong.
func (a *Agent) Tick(ctx context.Context, now time.Time) error {
	return errors.Join(a.begin(ctx), a.reconcile(ctx, now), a.follow(ctx, now))
}

// begin looks at Slurm's nodes once, whether jobs wait or not.
func (a *Agent) begin(ctx context.Context) error {
	if a.begun {
		return nil
	}
	_, err := a.open(ctx, nil)
	a.begun = err == nil
	return err
}

// differ returns which of these nodes the network has not, and which of its own are not among them.
func (n *Network) differ(nodes []string) (strange, idle []string) {
	var own []string
	for i := range n.Racks {
		own = append(own, n.Racks[i].Nodes...)
	}
	without := func(all, these []string) []string {
		return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(all))), func(x string) bool {
			return slices.Contains(these, x)
		})
	}
	return without(nodes, own), without(own, nodes)
}

// some are the first names of many.
func some(names []string) string {
	const shown = 8
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// reconcile frees slices of jobs that are gone, and places those that are held.
func (a *Agent) reconcile(ctx context.Context, now time.Time) error {
	all, err := a.Slices.Slices(ctx, api.Read{})
	if err != nil {
		return err
	}
	jobs, err := a.Slurm.Jobs(ctx)
	if err != nil {
		return err // a slurmctld that is away has not lost its jobs
	}
	a.listed = len(jobs)
	var held []int
	for _, x := range all {
		if id, ok := jobOf(x); ok {
			held = append(held, id)
		}
	}
	orphaned := orphans(held, jobs)
	for _, id := range orphaned {
		listed := slices.ContainsFunc(jobs, func(j Job) bool { return j.ID == id })
		if !listed && !slices.Contains(a.suspect, id) {
			continue // a slice can be younger than a list of jobs
		}
		if err := a.Free(ctx, id); err != nil {
			return err
		}
		a.Say("freed the circuits of job %d, which is over", id)
	}
	a.suspect = orphaned
	return a.Serve(ctx, now, jobs)
}

// follow writes the topology file where circuits have changed, and has Slurm take it: nodes move between blocks at
// once. A Slurm without topology.yaml reads its files again; a later one would start itself again to do so, and kill
// scripts of jobs that are about to start.
func (a *Agent) follow(ctx context.Context, now time.Time) error {
	if a.File == "" {
		return nil
	}
	n, err := a.Network(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := n.Write(&b, Options{Kind: a.Kind, YAML: a.Version.YAML()}); err != nil {
		return err
	}
	if a.blocks == nil {
		a.told, _ = os.ReadFile(a.File) // without it, all is new
		a.blocks = map[string]string{}  // nor does the file say what Slurm took: an agent can die between the two
	}
	if !bytes.Equal(b.Bytes(), a.told) {
		err := durable.Replace(a.File, b.Bytes(), false)
		if err == nil {
			err = os.Chmod(a.File, 0o644) // slurmctld is another user's
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(a.File), err)
		}
		a.told = b.Bytes()
		a.stale = a.stale || !a.Version.YAML()
	}
	if a.Version.YAML() && a.Kind == Block { // only blocks take nodes while it runs; what else changes is in the file
		return a.move(ctx, n.Blocks())
	}
	if !a.stale || now.Sub(a.reconfigure) < mostOften {
		return nil
	}
	if err := a.Client.Reconfigure(ctx); err != nil {
		return fmt.Errorf("have Slurm take its topology: %w", err)
	}
	a.reconfigure, a.stale = now, false
	return nil
}

// move tells Slurm which nodes are in another block than it has them in. What fails is tried again at the next tick.
func (a *Agent) move(ctx context.Context, blocks map[string]string) error {
	var errs []error
	for _, node := range slices.Sorted(maps.Keys(blocks)) {
		if a.blocks[node] == blocks[node] {
			continue
		}
		if err := a.Client.Move(ctx, node, blocks[node]); err == nil {
			a.blocks[node] = blocks[node]
		} else if errs = append(errs, err); len(errs) == mostFailed {
			break
		}
	}
	return errors.Join(errs...)
}

// pause is the time between two looks. One costs slurmctld 6 ms of processor time at 1,000 jobs: these are looked at
// every 10 s, and fewer more often. A look that failed is not made again before 19 times as long as it took.
func pause(every, took time.Duration, jobs int, failed bool) time.Duration {
	const most, long = 10 * time.Second, 1000
	out := max(every, most*time.Duration(min(jobs, long))/long)
	if failed {
		out = max(out, min(19*took, most))
	}
	return out
}

// Run ticks until ctx ends.
func (a *Agent) Run(ctx context.Context, every time.Duration) error {
	if _, err := os.Stat(filepath.Dir(a.File)); a.File != "" && err != nil {
		return fmt.Errorf("follow circuits: %w", err)
	}
	last := ""
	for {
		began := time.Now()
		err := a.Tick(ctx, began)
		if ctx.Err() != nil {
			return nil
		}
		took := time.Since(began)
		if err == nil {
			last = ""
		} else if err.Error() != last {
			last = err.Error()
			a.Say("%v", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause(every, took, a.listed, err != nil)):
		}
	}
}
