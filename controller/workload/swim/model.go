package swim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/pathmap"
)

// Model is the assumptions by which a record becomes a job. V1 is the model of that name; an experiment
// that changes a number must change Name.
type Model struct {
	Name string

	Block       pathmap.Bytes // of input that one map reads
	MapRate     float64       // bytes of input that a map computes on in a second
	ReduceBytes pathmap.Bytes // of shuffle that one reduce reads, at most
	ReduceRate  float64       // bytes of shuffle that a reduce computes on in a second
	MostReduces int           // of one job; 0: no bound
	FarRate     float64       // bytes a second at which a map reads a block of which its rack has no copy
	Start       time.Duration // of every task, beside its bytes: a container and a process come up
	Recurring   float64       // share of the jobs whose figures are predicted
	Error       float64       // of predictions: each figure is off by at most this share, either way
	Users       int           // jobs are drawn among them
	Window      time.Duration // jobs arrive uniformly in it
	Load        float64       // divides the window: 3 means three times the offered load
}

// V1 is swim-v1, for a cluster with the given number of slots. Its rates are those that the job of
// Figure 4 of the Co-scheduler document implies, which is all that the document tells of computing: 256
// MB blocks, 83.75 s a map (3472 of them), 115.4 s a reduce, 169 reduces of a shuffle of 85.5 GB.
// Users, window and shares are its section V-A; the error is Corral's 6.5 %, which it quotes. A job has
// at most as many reduces as half of the slots run, since all of them hold one while they receive. A
// block that is read from another rack beside the network comes at the rate of a disk, 100 MB/s.
func V1(slots int) Model {
	return Model{Name: "swim-v1", Block: 256e6, MapRate: 256e6 / 83.75, ReduceBytes: 506e6,
		ReduceRate:  506e6 / 115.4,
		MostReduces: max(slots/2, 1), FarRate: 100e6,
		Start: time.Second, Recurring: 0.5, Error: 0.065, Users: 20, Window: 90 * time.Minute, Load: 1}
}

// Lines describes the model for a report, an assumption a line.
func (m *Model) Lines() []string {
	return []string{
		fmt.Sprintf("%s: what a SWIM trace does not say", m.Name),
		fmt.Sprintf("%d MB blocks, a map each, three replicas; %.4g MB/s a map, %v to start a task", m.Block/1e6,
			m.MapRate/1e6, m.Start),
		fmt.Sprintf("a map without a copy of its block in its rack reads it over the network first; with --remote-reads "+
			"beside at %g MB/s, which the fabric does not carry", m.FarRate/1e6),
		fmt.Sprintf("a reduce for every %d MB of shuffle begun, at most %d a job; %.4g MB/s a reduce",
			m.ReduceBytes/1e6,
			m.MostReduces, m.ReduceRate/1e6),
		"every map leaves its share of the shuffle, every reduce reads its share of every map; the output is written where " +
			"the reduce runs, and its copies are not carried",
		fmt.Sprintf("%g %% of the jobs recur, their figures predicted to within %g %%; %d users, jobs drawn among them",
			100*m.Recurring, 100*m.Error, m.Users),
		fmt.Sprintf("arrivals uniform in %v, divided by a load of %g", m.Window, m.Load),
	}
}

// Check returns what is wrong with a model.
func (m *Model) Check() error {
	switch {
	case m.Block <= 0, m.ReduceBytes <= 0, !(m.MapRate > 0), !(m.ReduceRate > 0), !(m.FarRate > 0), m.MostReduces < 0:
		return fmt.Errorf("job model %q: block %d, reduce %d bytes and rates %g, %g, %g must be above zero, and %d reduces "+
			"not below",
			m.Name, m.Block, m.ReduceBytes, m.MapRate, m.ReduceRate, m.FarRate, m.MostReduces)
	case m.Recurring < 0, m.Recurring > 1, m.Error < 0:
		return fmt.Errorf("job model %q: %g recurring is no share, or an error of %g is below zero",
			m.Name, m.Recurring,
			m.Error)
	case m.Users < 1, m.Window < 0, m.Load <= 0:
		return fmt.Errorf("job model %q: %d users, a window of %v or a load of %g make no workload",
			m.Name, m.Users,
			m.Window, m.Load)
	}
	return nil
}

// Job is a record with what the model adds: the true figures of a job.
type Job struct {
	Record
	Arrival       time.Duration
	User          int
	Maps, Reduces int
	MapTime       time.Duration // of each map but perhaps the last
	LastMap       time.Duration // of the last, whose block can be short
	ReduceTime    time.Duration // of each reduce
	Recurring     bool
}

// Sample is the sampling rule of section V-A: n records drawn without replacement, arriving uniformly
// at random in the window, each by a user drawn at random; the result is in order of arrival. n above
// the number of records takes all. withoutLargest leaves the job with the largest shuffle out before
// drawing: one job carries 40 % of the file's.
func (m *Model) Sample(all []Record, n int, withoutLargest bool, r *rand.Rand) []Job {
	pool := slices.Clone(all)
	if withoutLargest && len(pool) > 0 {
		most := 0
		for i := range pool {
			if pool[i].Shuffle > pool[most].Shuffle {
				most = i
			}
		}
		pool = slices.Delete(pool, most, most+1)
	}
	r.Shuffle(len(pool), func(i, k int) { pool[i], pool[k] = pool[k], pool[i] })
	pool = pool[:min(n, len(pool))]
	jobs := make([]Job, len(pool))
	for i := range pool {
		jobs[i] = m.job(&pool[i])
		jobs[i].Arrival = time.Duration(r.Float64() * float64(m.Window) / m.Load)
		jobs[i].User = r.IntN(m.Users)
		jobs[i].Recurring = r.Float64() < m.Recurring
	}
	slices.SortFunc(jobs, func(a, b Job) int {
		if a.Arrival != b.Arrival {
			return int(min(max(a.Arrival-b.Arrival, -1), 1))
		}
		return a.Line - b.Line
	})
	return jobs
}

// job gives a record its tasks. A job without input has one map that reads nothing; one without shuffle
// has no reduces.
func (m *Model) job(rec *Record) Job {
	j := Job{Record: *rec, Maps: max(parts(rec.Input, m.Block), 1), Reduces: parts(rec.Shuffle, m.ReduceBytes)}
	if m.MostReduces > 0 {
		j.Reduces = min(j.Reduces, m.MostReduces)
	}
	full := min(rec.Input, m.Block)
	j.MapTime = m.Start + seconds(float64(full)/m.MapRate)
	j.LastMap = m.Start + seconds(float64(rec.Input-m.Block*pathmap.Bytes(j.Maps-1))/m.MapRate)
	if j.Reduces > 0 {
		j.ReduceTime = m.Start + seconds(float64(rec.Shuffle)/float64(j.Reduces)/m.ReduceRate)
	}
	return j
}

// parts is how many pieces of a size hold b bytes.
func parts(b, size pathmap.Bytes) int { return int((b + size - 1) / size) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
