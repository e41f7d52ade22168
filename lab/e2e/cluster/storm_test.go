package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/api/apitest"
	"lightloom/controller/replica/rollcall"
	"lightloom/controller/server"
	"lightloom/lab/labtest"
	"lightloom/southbound/inventory"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

// wire forwards TCP connections to an address. Bytes of either direction can be held back, also those
// of connections that come meanwhile: a cut in one direction.
type wire struct {
	net.Listener
	to   string
	work sync.WaitGroup

	mu   sync.Mutex
	held [2]chan struct{} // towards the address, and back; nil: they pass
	open map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	host, _, _ := net.SplitHostPort(to) // certificates name it
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to, open: map[net.Conn]bool{}}
	w.work.Go(w.accept)
	t.Cleanup(func() {
		w.Listener.Close()
		w.heal()
		w.mu.Lock()
		for c := range w.open {
			c.Close()
		}
		w.open = nil
		w.mu.Unlock()
		w.work.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		in, err := w.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.to)
		if err != nil {
			in.Close()
			continue
		}
		if !w.keep(in, out) {
			return
		}
		w.work.Go(func() { w.pass(0, out, in) })
		w.work.Go(func() { w.pass(1, in, out) })
	}
}

// keep notes a connection, unless the wire has ended.
func (w *wire) keep(in, out net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		in.Close()
		out.Close()
		return false
	}
	w.open[in], w.open[out] = true, true
	return true
}

func (w *wire) pass(way int, to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		w.mu.Lock()
		delete(w.open, to)
		delete(w.open, from)
		w.mu.Unlock()
	}()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		held := w.held[way]
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hold holds back what goes in a direction, until heal.
func (w *wire) hold(way int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[way] == nil {
		w.held[way] = make(chan struct{})
	}
}

func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for way, c := range w.held {
		if c != nil {
			close(c)
			w.held[way] = nil
		}
	}
}

// storm is a cluster of processes that reach each other over wires, and what befalls them.
type storm struct {
	*machines
	r     *rand.Rand
	wires [3][3][]*wire // by who dials and who is dialled: raft and API
	dial  func(first int) *api.Client
	ask   *api.Client // of the test itself
	count map[string]int
	old   map[string]string // copies of state directories, by replica

	lost, double, splits int // jobs, jobs, and rounds after which replicas do not agree

	mu      sync.Mutex
	acks    []time.Time                // of submissions
	acked   map[string]int             // jobs of a round, by request
	gaps    map[string][]time.Duration // the longest time without one, by fault
	changes []time.Duration            // from the end of a leader to the next
}

func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	s := &storm{machines: founded(t), r: rand.New(rand.NewPCG(seed, 16)), count: map[string]int{},
		old: map[string]string{}, acked: map[string]int{}, gaps: map[string][]time.Duration{}}
	peer := regexp.MustCompile(`id: "(c\d)", raft: "([^"]*)", api: "([^"]*)"`)
	for i, name := range s.names {
		text := labtest.Read(t, s.config(name))
		for k, found := range peer.FindAllStringSubmatch(text, -1) {
			if k == i {
				continue
			}
			for _, addr := range found[2:] {
				w := newWire(t, addr)
				s.wires[i][k] = append(s.wires[i][k], w)
				text = strings.Replace(text, addr, w.Addr().String(), 1)
			}
		}
		if err := os.WriteFile(s.config(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := pki.Open(inventory.KeyPaths(s.dir, inventory.ClientName))
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for _, name := range s.names {
		c, err := server.ReadReplicaFile(s.config(name))
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, c.API[name])
	}
	s.dial = func(first int) *api.Client {
		c, err := api.Dial(append(addrs[first:len(addrs):len(addrs)], addrs[:first]...),
			keys.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	s.ask = s.dial(0)
	for _, name := range s.names {
		s.start(name)
	}
	return s
}

// stormFaults are those that strike knows.
var stormFaults = []string{"kill", "stop", "pause", "old disk", "old files", "cut off",
	"cut one way", "kill all"}

// strike does one of the faults, for some time, and mends it. The next comes once all take part again:
// no more than one disk is an old copy, and no more than one replica is away.
func (s *storm) strike(ctx context.Context, what string) {
	victim := s.r.IntN(3)
	name := s.names[victim]
	long := time.Duration(100+s.r.IntN(1400)) * time.Millisecond
	s.count[what]++
	begun := time.Now()
	switch what {
	case "kill", "stop", "old disk", "old files":
		s.end(ctx, victim, what == "stop")
		labtest.Pause(ctx, long)
		if strings.HasPrefix(what, "old") {
			s.goBack(name, what == "old files")
		}
		s.start(name)
	case "pause":
		_ = s.running[name].Process.Signal(syscall.SIGSTOP)
		labtest.Pause(ctx, long)
		_ = s.running[name].Process.Signal(syscall.SIGCONT)
	case "cut off", "cut one way":
		s.cut(victim, what == "cut off")
		labtest.Pause(ctx, long)
		s.mend(victim)
	case "kill all":
		for _, cmd := range s.running {
			_ = cmd.Process.Kill()
		}
		for _, name := range s.names {
			_ = s.kill(name, syscall.SIGKILL)
			s.start(name)
		}
	}
	s.vote()
	s.noteGap(what, begun)
}

// end kills a replica, or asks it to end. If it led, the time until the next leader is noted.
func (s *storm) end(ctx context.Context, victim int, gently bool) {
	before, err := s.ask.StatusOf(ctx, victim)
	begun := time.Now()
	if gently {
		_ = s.kill(s.names[victim], syscall.SIGTERM)
		return
	}
	_ = s.kill(s.names[victim], syscall.SIGKILL)
	if err != nil || before.Leader != s.names[victim] {
		return
	}
	s.until("another leader", func() bool {
		for i := range s.names {
			if i == victim {
				continue
			}
			if st, err := s.ask.StatusOf(ctx, i); err == nil && st.Leader != "" && st.Term > before.Term {
				s.changes = append(s.changes, time.Since(begun))
				return true
			}
		}
		return false
	})
}

// goBack puts an old copy of a state directory in its place, or of some of its files, and keeps a copy
// of what it held for the next time.
func (s *storm) goBack(name string, some bool) {
	s.t.Helper()
	must := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	dir, now := filepath.Join(s.dir, name, "state"), filepath.Join(s.t.TempDir(), name)
	must(copyFiles(now, dir, func() bool { return true }))
	old := s.old[name]
	s.old[name] = now
	if old == "" {
		return
	}
	if !some {
		must(os.RemoveAll(dir))
	}
	must(copyFiles(dir, old, func() bool { return !some || s.r.IntN(2) == 0 }))
	must(os.RemoveAll(old))
}

// copyFiles copies the regular files of a folder that are picked.
func copyFiles(to, from string, pick func() bool) error {
	return fs.WalkDir(os.DirFS(from), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !pick() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(from, path))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o700)
		}
		return errors.Join(err, os.WriteFile(filepath.Join(to, path), b, 0o600))
	})
}

// vote waits until all replicas take part. Those that end start again, as their supervisors do, or join
// where that is their hint.
func (s *storm) vote() {
	s.t.Helper()
	last := map[string]string{}
	defer func() {
		if s.t.Failed() {
			s.t.Logf("%v\n%v", last, s.said)
		}
	}()
	s.until("all vote", func() bool {
		all := true
		for i, name := range s.names {
			s.again(name)
			ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
			st, err := s.ask.StatusOf(ctx, i)
			cancel()
			last[name] = fmt.Sprintf("%+v, %v", st, err)
			all = all && err == nil && st.Standing == string(rollcall.Voting) && st.Leader != ""
		}
		return all
	})
}

// again starts a replica that has ended, after it has joined if its disk is of no use.
func (s *storm) again(name string) {
	s.t.Helper()
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.running[name].Process.Pid))
	if _, rest, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(rest, "Z") {
		return
	}
	_ = s.kill(name, 0)
	switch said := s.said[name].String(); {
	case strings.Contains(said, rollcall.ErrBack.Error()):
		s.count["starts"]++
	case strings.Contains(said, "join"):
		s.count["joins"]++
		s.must("cluster", "destroy", filepath.Join(s.dir, name, "state"), "--yes")
		s.must("cluster", "join", "--config", s.config(name))
	default:
		s.t.Fatalf("%s has ended: %s", name, said)
	}
	s.start(name)
}

// noteGap notes the longest time without an acknowledged submission since a fault began.
func (s *storm) noteGap(what string, begun time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest, last := time.Duration(0), begun
	for _, at := range append(s.acks, time.Now()) {
		if at.After(begun) {
			longest, last = max(longest, at.Sub(last)), at
		} else {
			last = at
		}
	}
	s.acks = s.acks[max(0, len(s.acks)-1):]
	s.gaps[what] = append(s.gaps[what], longest)
}

func (s *storm) acknowledged(request string, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acks, s.acked[request] = append(s.acks, time.Now()), id
}

// examine counts the acknowledged jobs of a round that are not there, and those that are there twice.
func (s *storm) examine(ctx context.Context, from int) {
	s.t.Helper()
	st, err := s.ask.StatusAt(ctx, api.Read{Linearizable: true})
	if err != nil {
		s.t.Fatal(err)
	}
	there := map[string]int{}
	for id := from; id < st.Jobs; id++ {
		j, err := s.ask.Job(ctx, controller.JobID(id), api.Read{})
		if err != nil {
			s.t.Fatalf("job %d of %d: %v", id, st.Jobs, err)
		}
		name := j.Job.Name
		if _, twice := there[name]; twice {
			s.double++
			s.t.Errorf("job %q is there twice: %d and %d", name, there[name], id)
		}
		there[name] = id
	}
	for request, id := range s.acked {
		if at, ok := there[request]; !ok || at != id {
			s.lost++
			s.t.Errorf("job %q was acknowledged as %d: it is there %v, as %d", request, id, ok, at)
		}
	}
	clear(s.acked)
}

// cut holds back what a replica and the others send each other, or only what it sends.
func (s *storm) cut(victim int, both bool) {
	for other := range 3 {
		for k := range s.wires[victim][other] {
			s.wires[victim][other][k].hold(0)
			s.wires[other][victim][k].hold(1)
			if both {
				s.wires[victim][other][k].hold(1)
				s.wires[other][victim][k].hold(0)
			}
		}
	}
}

func (s *storm) mend(victim int) {
	for other := range 3 {
		for k := range s.wires[victim][other] {
			s.wires[victim][other][k].heal()
			s.wires[other][victim][k].heal()
		}
	}
}

// times are the median, the 99th percentile and the most of some times; p99 is their 99th percentile.
func times(d []time.Duration) (text string, p99 time.Duration) {
	if len(d) == 0 {
		return "none", 0
	}
	d = slices.Sorted(slices.Values(d))
	at := func(percent int) time.Duration {
		return d[(len(d)*percent+99)/100-1].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d: p50 %v p99 %v most %v", len(d), at(50), at(99), at(100)), at(99)
}

// figures are the times of all faults so far.
func (s *storm) figures() (out string) {
	for _, what := range slices.Sorted(maps.Keys(s.gaps)) {
		text, _ := times(s.gaps[what])
		out += fmt.Sprintf("%s %s; ", what, text)
	}
	return strings.TrimSuffix(out, "; ")
}

// mostGap is what a soak must keep to: the time without an acknowledged job after a kill, a stop, a pause
// or an old disk. How long nobody leads is judged where nothing else fails (TestFirstSet).
const mostGap = 2 * time.Second

// judge prints what the storm has shown, and fails if a soak has missed its targets.
func (s *storm) judge(soak bool) {
	var gaps []time.Duration
	faults := 0
	for _, what := range stormFaults {
		faults += s.count[what]
		if !strings.HasPrefix(what, "cut") && what != "kill all" {
			gaps = append(gaps, s.gaps[what]...)
		}
	}
	gap, gapP99 := times(gaps)
	change, _ := times(s.changes)
	if soak && gapP99 > mostGap {
		s.t.Errorf("the p99 of submit gaps is %v, and may be %v", gapP99, mostGap)
	}
	s.t.Logf("faults done %d: %v", faults, s.count)
	s.t.Logf("lost %d", s.lost)
	s.t.Logf("double %d", s.double)
	s.t.Logf("splits %d", s.splits)
	s.t.Logf("submit gap after a kill, stop, pause or old disk, %s", gap)
	s.t.Logf("leader change, %s", change)
}

// anywhere asks one of several clients at random: each asks another replica first.
type anywhere struct {
	clients []*api.Client
	r       *rand.Rand
	acked   func(request string, id int)
}

func (a anywhere) any() *api.Client { return a.clients[a.r.IntN(len(a.clients))] }

func (a anywhere) Submit(ctx context.Context, request string) (int, error) {
	ids, err := a.any().Submit(ctx, request, []*controller.Job{{Name: request,
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Hour}}}}}})
	if err != nil {
		return -1, err
	}
	a.acked(request, int(ids[0]))
	return int(ids[0]), nil
}

func (a anywhere) Cancel(ctx context.Context, id int) error {
	_, err := a.any().Cancel(ctx, controller.JobID(id))
	return err
}

func (a anywhere) Count(ctx context.Context) (apitest.Counts, error) {
	st, err := a.any().StatusAt(ctx, api.Read{Linearizable: true})
	return apitest.Counts{Jobs: st.Jobs, Ended: st.JobsEnded}, err
}

func (a anywhere) Own(ctx context.Context) (int, error) {
	var own api.Read
	for _, c := range a.clients {
		own.MinIndex = max(own.MinIndex, c.Written().MinIndex)
	}
	st, err := a.any().StatusAt(ctx, own)
	return st.Jobs, err
}

// round has four clients call while faults strike, checks what they saw, and that the replicas agree
// afterwards.
func (s *storm) round(round, strikes int) int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 6*time.Minute)
	defer cancel()
	all := []*api.Client{s.dial(0), s.dial(1), s.dial(2)}
	from, err := anywhere{all, s.r, nil}.Count(ctx)
	if err != nil {
		s.t.Fatalf("round %d: %v\n%s", round, err, s.said["c0"])
	}
	h := apitest.NewTrail(from)
	s.acks = nil // nobody called between two rounds
	calling, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	order := slices.Clone(stormFaults)
	for k := range 4 {
		r := rand.New(rand.NewPCG(uint64(round), uint64(k)))
		wg.Go(func() {
			h.Run(calling, anywhere{all, r, s.acknowledged}, fmt.Sprint("round ", round), r,
				time.Minute)
		})
	}
	for n := range strikes {
		if n%len(stormFaults) == 0 {
			s.r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		}
		s.strike(ctx, order[n%len(stormFaults)])
		labtest.Pause(ctx, time.Duration(s.r.IntN(500))*time.Millisecond)
	}
	stop()
	wg.Wait()
	if err := h.Check(time.Minute); err != nil {
		s.t.Errorf("round %d: %v", round, err)
	}
	s.splits++
	s.agree() // or the test ends
	s.splits--
	s.examine(ctx, from.Jobs)
	for _, c := range all {
		c.Close()
	}
	return h.Len()
}

// TestProcessesAreLinearizable: replicas as processes, which are killed, stopped, cut off, cut in one
// direction and set back to an old disk or some old files while clients submit, cancel and read through
// all of them. What clients see is what one machine would show that does one thing after the other, and
// the replicas hold the same state after each round. LIGHTLOOM_MEASURE=soak goes on for half an hour, or
// for LIGHTLOOM_FOR, and judges how long no job was taken.
func TestProcessesAreLinearizable(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	s := newStorm(t, seed)
	rounds, strikes, until := 1, len(stormFaults), time.Now()
	soak := os.Getenv("LIGHTLOOM_MEASURE") == "soak"
	defer func() { s.judge(soak) }()
	if soak {
		long, err := time.ParseDuration(os.Getenv("LIGHTLOOM_FOR"))
		if err != nil {
			long = 30 * time.Minute
		}
		rounds, strikes, until = 1<<20, 2*len(stormFaults), time.Now().Add(long)
	}
	watched := noise.Watch()
	operations := 0
	for n := range rounds {
		operations += s.round(n, strikes)
		if t.Failed() || time.Now().After(until) {
			rounds = n + 1
			break
		}
		if n%10 == 9 {
			t.Logf("%d rounds: %v; %s", n+1, s.count, s.figures())
		}
	}
	t.Logf("%d operations in %d rounds, faults %v; %s; meanwhile %s", operations, rounds, s.count,
		s.figures(), watched())
	if operations < 20*rounds {
		t.Errorf("%d operations show too little", operations)
	}
}
