package controller

import (
	"errors"
	"fmt"
)

// checkGraph returns what keeps a job from ever ending or from having a utility, or nil: stages that
// wait for each other, tasks that compute while streams hold them, streams without a source or a sink.
func (j *Job) checkGraph() error {
	if err := j.checkStreams(); err != nil {
		return err
	}
	if err := j.acyclic(); err != nil {
		return err
	}
	if s := j.unreached(func(e *Edge) (int, int) { return e.From, e.To }); s >= 0 {
		return fmt.Errorf("stage %d (%q) has no source: it reads from a circle that nothing feeds", s,
			j.Stages[s].Name)
	}
	if s := j.unreached(func(e *Edge) (int, int) { return e.To, e.From }); s >= 0 {
		return fmt.Errorf("stage %d (%q) has no sink: it sends into a circle that nothing leaves", s,
			j.Stages[s].Name)
	}
	return nil
}

// checkStreams refuses computing times of tasks that streams hold.
func (j *Job) checkStreams() error {
	for s, held := range j.Streaming() {
		if !held {
			continue
		}
		for k, t := range j.Stages[s].Tasks {
			if t.Compute != 0 {
				return fmt.Errorf("task %d of stage %d computes for %v, and streams hold their tasks for as long as they run: "+
					"write 0", k, s, t.Compute)
			}
		}
	}
	return nil
}

// Streaming returns for each stage whether a stream leads to or from it: its tasks compute nothing and
// end with the last of its streams.
func (j *Job) Streaming() []bool {
	out := make([]bool, len(j.Stages))
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Stream {
			out[e.From], out[e.To] = true, true
		}
	}
	return out
}

// pipelines numbers the sets of stages that streams join: all of one run at the same time.
func (j *Job) pipelines() []int {
	of := make([]int, len(j.Stages))
	for s := range of {
		of[s] = s
	}
	var root func(s int) int
	root = func(s int) int {
		if of[s] != s {
			of[s] = root(of[s])
		}
		return of[s]
	}
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Stream {
			a, b := root(e.From), root(e.To)
			of[max(a, b)] = min(a, b)
		}
	}
	for s := range of {
		of[s] = root(s)
	}
	return of
}

// acyclic checks that the pipelines can be ordered by the edges with a barrier.
func (j *Job) acyclic() error {
	of := j.pipelines()
	waits := make([]int, len(j.Stages))
	next := make([][]int, len(j.Stages))
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != Fixed && !e.Stream {
			a, b := of[e.From], of[e.To]
			if a == b {
				return fmt.Errorf("edge %d makes stage %d wait for stage %d, and streams have them run together", i, e.To, e.From)
			}
			waits[b]++
			next[a] = append(next[a], b)
		}
	}
	var ready []int
	count := 0
	for s, n := range waits {
		if of[s] != s {
			continue
		}
		count++
		if n == 0 {
			ready = append(ready, s)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		s := ready[0]
		ready = ready[1:]
		for _, to := range next[s] {
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	if done < count {
		return errors.New("its stages wait for each other in a circle")
	}
	return nil
}

// unreached returns the first stage that no walk along the edges, as turned by ends, leads to from a
// stage that none leads to; -1 where there is none. A stage's stream to itself counts for neither.
func (j *Job) unreached(ends func(*Edge) (from, to int)) int {
	entered := make([]bool, len(j.Stages))
	next := make([][]int, len(j.Stages))
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != Fixed {
			from, to := ends(e)
			entered[to] = entered[to] || from != to
			next[from] = append(next[from], to)
		}
	}
	seen := make([]bool, len(j.Stages))
	var todo []int
	for s := range entered {
		if !entered[s] {
			seen[s] = true
			todo = append(todo, s)
		}
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range next[s] {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	for s := range seen {
		if !seen[s] {
			return s
		}
	}
	return -1
}
