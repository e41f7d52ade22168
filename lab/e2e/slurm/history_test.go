package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/slurm"
)

// heldSlice is a slice of a job, as one look saw it.
type heldSlice struct {
	name, state string
	hosts       []string
}

// look is what controller and Slurm said at about the same time: slices before and after the jobs.
type look struct {
	at            time.Time
	before, after []heldSlice
	jobs          []slurm.Job
}

// ran is what a job itself wrote: where its processes were, from when to when.
type ran struct {
	name     string // the job's own
	job      string // its number
	nodes    []string
	from, to time.Time // to: zero where it has not ended
}

// history is what was seen of a cluster.
type history struct {
	looks []look
	runs  []ran
	asks  map[string]bool   // names of jobs that require circuits
	racks map[string]string // of nodes
	count map[string]int    // of what is told and no fault of ours
}

// grace is how long a slice may outlive its job while both controllers answer: two looks of the agent, and what a busy
// machine adds.
const grace = 15 * time.Second

// broken lists what must not have been. A slurmctld that is killed forgets its last seconds: what it then denies to run
// still does for a while, and a job without circuits of ours can be started beside itself. Both are counted.
func (h *history) broken() (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	orphans := map[string]time.Time{}
	for i := range h.looks {
		l := &h.looks[i]
		h.twice(l, say)
		for _, r := range h.runs {
			runs := r.from.Before(l.at.Add(-time.Second)) && r.to.After(l.at.Add(time.Second))
			if !runs || !h.asks[r.name] || len(r.nodes) < 2 {
				continue
			}
			if !slices.ContainsFunc(l.jobs, r.known) {
				h.count["looks at a run that Slurm denies"]++
				continue
			}
			if has := func(x heldSlice) bool {
				return x.name == "slurm-"+r.job && x.state == "Ready" && slices.Equal(x.hosts, r.nodes)
			}; !slices.ContainsFunc(l.before, has) && !slices.ContainsFunc(l.after, has) {
				say("%v: job %s runs on %v without its circuits: %v", l.at, r.job, r.nodes, l.before)
			}
		}
		now := map[string]time.Time{}
		for _, x := range l.before {
			id := strings.TrimPrefix(x.name, "slurm-")
			if slices.ContainsFunc(l.jobs, func(j slurm.Job) bool { return fmt.Sprint(j.ID) == id && !j.Gone() }) {
				continue
			}
			since, known := orphans[x.name]
			if !known {
				since = l.at
			}
			if now[x.name] = since; l.at.Sub(since) > grace {
				say("%v: circuits of job %s stand since %v though it is over", l.at, id, since)
			}
		}
		orphans = now
	}
	h.overlaps(say)
	return all
}

// known reports whether a job as Slurm has it runs as it does.
func (r *ran) known(j slurm.Job) bool {
	return fmt.Sprint(j.ID) == r.job && j.State == "RUNNING" &&
		slices.Equal(slices.Sorted(slices.Values(j.Nodes)), r.nodes)
}

// twice checks that no two slices share a name, a node, or a rack's port.
func (h *history) twice(l *look, say func(string, ...any)) {
	for i, x := range l.before {
		for _, y := range l.before[:i] {
			shared := slices.ContainsFunc(x.hosts, func(n string) bool { return slices.Contains(y.hosts, n) })
			port := h.spans(x) && h.spans(y) && slices.ContainsFunc(x.hosts, func(n string) bool {
				return slices.ContainsFunc(y.hosts, func(m string) bool { return h.racks[n] == h.racks[m] })
			})
			if x.name == y.name || shared || port {
				say("%v: %v and %v have something twice", l.at, x, y)
			}
		}
	}
}

// spans reports whether a slice is of several racks.
func (h *history) spans(x heldSlice) bool {
	return slices.ContainsFunc(x.hosts, func(n string) bool { return h.racks[n] != h.racks[x.hosts[0]] })
}

// overlaps checks that no node has two jobs at a time, nor a job itself twice, unless neither asks for circuits.
func (h *history) overlaps(say func(string, ...any)) {
	for i, a := range h.runs {
		for _, b := range h.runs[:i] {
			meet := a.from.Before(b.to) && b.from.Before(a.to)
			node := slices.ContainsFunc(a.nodes, func(n string) bool { return slices.Contains(b.nodes, n) })
			switch {
			case !meet:
			case !h.asks[a.name] && !h.asks[b.name]:
				h.count["meetings of runs that ask for nothing"] += map[bool]int{true: 1}[node || a.name == b.name]
			case node || a.name == b.name:
				say("job %s on %v and job %s on %v at once", a.job, a.nodes, b.job, b.nodes)
			}
		}
	}
}

// TestHistory: the checker finds each of what it is for, and nothing in a history without.
func TestHistory(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	good := func() *history {
		h := &history{count: map[string]int{}, asks: map[string]bool{"j": true},
			racks: map[string]string{"a": "0", "b": "1", "c": "0", "d": "1"},
			runs:  []ran{{"j", "7", []string{"a", "b"}, at(2), at(30)}}}
		for s := range 60 {
			l := look{at: at(s)}
			if s < 40 {
				l.before = []heldSlice{{"slurm-7", "Ready", []string{"a", "b"}}}
			}
			if s < 31 {
				l.jobs = []slurm.Job{{ID: 7, State: "RUNNING", Nodes: []string{"b", "a"}}}
			}
			l.after = l.before
			h.looks = append(h.looks, l)
		}
		return h
	}
	if got := good().broken(); len(got) > 0 {
		t.Errorf("a good history: %q", got)
	}
	for want, spoil := range map[string]func(h *history){
		"without its circuits": func(h *history) { h.looks[9].before[0].state = "Activating" },
		"runs on [a b]": func(h *history) {
			h.looks[9].before, h.looks[9].after = nil, nil
		},
		"though it is over": func(h *history) {
			for i := range h.looks[:40] {
				h.looks[i].jobs = nil
			}
		},
		"something twice": func(h *history) {
			l := &h.looks[9]
			l.before = append(slices.Clone(l.before), heldSlice{"slurm-8", "Ready", []string{"c", "d"}})
			l.jobs = append(l.jobs, slurm.Job{ID: 8, State: "RUNNING"})
		},
		"at once": func(h *history) { h.runs = append(h.runs, ran{"j", "7", []string{"c", "d"}, at(29), at(30)}) },
	} {
		h := good()
		spoil(h)
		if got := strings.Join(h.broken(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
}
