package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// scene is a source that changes everything at every look, by a seed.
type scene struct {
	f   *topo.Fabric
	rnd *rand.Rand
	n   int
	at  atomic.Int64 // n, for others

	mu     sync.Mutex
	failed []Failed
}

func newScene(t *testing.T, spec string) *scene {
	t.Helper()
	s, err := topo.ParseSpec(spec)
	must(t, err)
	f, err := topo.New(s)
	must(t, err)
	return &scene{f: f, rnd: rand.New(rand.NewPCG(1, 2))}
}

func (s *scene) Fabric() Fabric { return FabricOf(s.f, "crosslayer+sunflow", "a scene of a test") }

func (s *scene) Look(context.Context) (*Look, error) {
	s.n++
	s.at.Store(int64(s.n))
	now := float64(s.n) / 10
	l := &Look{Head: Head{Now: now, Leader: "controller1", Term: 2, Index: uint64(s.n), Jobs: 12,
		JobsEnded: 4},
		Replicas: []Replica{}, Warnings: []Warning{}, Circuits: []Circuit{}, Moves: []Move{}, Failed: []Failed{},
		Switches: []Switch{}, Jobs: []Job{}}
	for i := range 3 {
		l.Replicas = append(l.Replicas, Replica{ID: fmt.Sprint("controller", i), Index: uint64(s.n),
			Digest: "3e1e05"})
	}
	if s.n%40 > 30 {
		l.Warnings = append(l.Warnings, Warning{"tor1",
			"it does not refuse leaders of the past: it knows no arbitration"})
	}
	s.jobs(l, now)
	s.circuits(l, now)
	l.Rates = make([]int64, len(s.f.Topology.Links()))
	for i := range l.Rates {
		l.Rates[i] = int64(float64(s.f.Topology.Links()[i].Capacity) / 1000 * s.rnd.Float64())
	}
	for _, n := range s.f.ToRNode {
		l.Switches = append(l.Switches, Switch{Name: s.f.Topology.Node(n).Name, Kind: "tor", Claim: "claimed",
			Desired: &Held{14, 0}, Accepted: &Held{14, 0}, Seen: &Held{14, 0}, Dark: []int{4}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Failed = append(l.Failed, s.failed...)
	return l, nil
}

func (s *scene) jobs(l *Look, now float64) {
	for i := range 12 {
		j := Job{ID: controller.JobID(11 - i), Name: fmt.Sprint("shuffle-", 11-i), State: "running",
			Started: 1, Ended: -1,
			Circuits: []southbound.Port{},
			Tasks:    8, TasksEnd: 4, Coflows: 3, Sent: 1, Bytes: 900_000_000, Left: 400_000_000, Hosts: []int32{},
			Here: []string{"the least loaded rack"}}
		for h := range 4 {
			j.Hosts = append(j.Hosts, int32((i*3+h*5)%s.f.Hosts()))
		}
		if i > 7 {
			j.State, j.Ended = "ended", now-1
		}
		l.Jobs = append(l.Jobs, j)
	}
}

func (s *scene) circuits(l *Look, now float64) {
	n, turn := s.f.OCSPorts(), s.n/5
	for in := range n {
		out := (in + 1 + turn%(n-1)) % n
		job := controller.JobID(in % 12)
		l.Circuits = append(l.Circuits, Circuit{In: southbound.Port(in), Out: southbound.Port(out), Job: job,
			Lit: s.n%5 > 0 || in%3 > 0, Since: now - 0.3})
		for k := range 12 {
			from := float64((turn-k)*5) / 10
			if len(l.Moves) < mostMoves && from >= 0 {
				l.Moves = append(l.Moves, Move{In: southbound.Port(in),
					Out: southbound.Port((out + n - k) % n), Job: job,
					Intent: from, Cleared: from + 0.02, Drained: from + 0.05, Accepted: from + 0.08, Connected: from + 0.1,
					InService: from + 0.12, Ended: from + 0.5})
			}
		}
		d := &l.Demand
		d.From, d.To = append(d.From, int32(in%s.f.Racks)), append(d.To, int32(out%s.f.Racks))
		d.Bytes, d.Granted = append(d.Bytes, pathmap.Bytes(s.rnd.IntN(1e8))), append(d.Granted, 3*(in%2))
		d.Total += d.Bytes[in]
		d.Pairs++
	}
}

func (s *scene) breakPart(_ context.Context, f Failed, heal bool) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Name == "" {
		return "", errors.New("no name")
	}
	if s.failed = []Failed{f}; heal {
		s.failed = nil
	}
	return f.Kind + " " + f.Name + " changed", nil
}

// actions are all that a page can offer, on this scene.
func (s *scene) actions() Actions {
	return Actions{Break: s.breakPart, Why: s.why,
		HealAll: func(ctx context.Context) (string,
			error) {
			return s.breakPart(ctx, Failed{Name: "all"}, true)
		},
		Try: func(_ context.Context, f Failed) ([]string, error) {
			return []string{"if " + f.Kind + " " + f.Name + " failed now: nothing that runs now would notice"}, nil
		},
		Cancel: func(_ context.Context, id controller.JobID) (string, error) {
			return fmt.Sprintf("job %d is cancelled", id), nil
		},
		Capture: func(_ context.Context, _ string, _ time.Duration, w io.Writer) error {
			_, err := io.WriteString(w, "packets")
			return err
		}}
}

func (s *scene) why(_ context.Context, id controller.JobID) ([]string, error) {
	return []string{fmt.Sprintf("at 0.10 s: task 0 on h0-0: the nearest free slot for job %d", id)}, nil
}
