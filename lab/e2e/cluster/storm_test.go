package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
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
	"lightloom/controller/server"
	"lightloom/lab/labtest"
	"lightloom/southbound/inventory"
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
	count map[string]int
}

func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	s := &storm{machines: founded(t), r: rand.New(rand.NewPCG(seed, 16)), count: map[string]int{}}
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
		c, err := api.Dial(append(addrs[first:len(addrs):len(addrs)], addrs[:first]...), keys.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	for _, name := range s.names {
		s.start(name)
	}
	return s
}

// stormFaults are those that strike knows.
var stormFaults = []string{"kill", "pause", "cut off", "cut one way", "kill all"}

// strike does one of the faults, for some time, and mends it.
func (s *storm) strike(ctx context.Context, what string) {
	victim := s.r.IntN(3)
	name := s.names[victim]
	long := time.Duration(100+s.r.IntN(1400)) * time.Millisecond
	s.count[what]++
	switch what {
	case "kill":
		_ = s.kill(name, syscall.SIGKILL)
		labtest.Pause(ctx, long)
		s.start(name)
	case "pause":
		_ = s.running[name].Process.Signal(syscall.SIGSTOP)
		labtest.Pause(ctx, long)
		_ = s.running[name].Process.Signal(syscall.SIGCONT)
	case "cut off", "cut one way":
		for other := range 3 {
			for k := range s.wires[victim][other] {
				s.wires[victim][other][k].hold(0)
				s.wires[other][victim][k].hold(1)
				if what == "cut off" {
					s.wires[victim][other][k].hold(1)
					s.wires[other][victim][k].hold(0)
				}
			}
		}
		labtest.Pause(ctx, long)
		for other := range 3 {
			for k := range s.wires[victim][other] {
				s.wires[victim][other][k].heal()
				s.wires[other][victim][k].heal()
			}
		}
	case "kill all":
		for _, cmd := range s.running {
			_ = cmd.Process.Kill()
		}
		for _, name := range s.names {
			_ = s.kill(name, syscall.SIGKILL)
			s.start(name)
		}
	}
}

// anywhere asks one of several clients at random: each asks another replica first.
type anywhere struct {
	clients []*api.Client
	r       *rand.Rand
}

func (a anywhere) any() *api.Client { return a.clients[a.r.IntN(len(a.clients))] }

func (a anywhere) Submit(ctx context.Context, request string) (int, error) {
	ids, err := a.any().Submit(ctx, request, []*controller.Job{{Name: "s",
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Hour}}}}}})
	if err != nil {
		return -1, err
	}
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
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	all := []*api.Client{s.dial(0), s.dial(1), s.dial(2)}
	from, err := anywhere{all, s.r}.Count(ctx)
	if err != nil {
		s.t.Fatalf("round %d: %v\n%s", round, err, s.said["c0"])
	}
	h := apitest.NewTrail(from)
	calling, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	order := slices.Clone(stormFaults)
	for k := range 4 {
		r := rand.New(rand.NewPCG(uint64(round), uint64(k)))
		wg.Go(func() { h.Run(calling, anywhere{all, r}, fmt.Sprint("round ", round), r, time.Minute) })
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
	s.agree()
	for _, c := range all {
		c.Close()
	}
	return h.Len()
}

// TestProcessesAreLinearizable: replicas as processes, which are killed, stopped, cut off and cut in
// one direction while clients submit, cancel and read through all of them. What clients see is what one
// machine would show that does one thing after the other, and the replicas hold the same state after
// each round. LIGHTLOOM_MEASURE=soak goes on for half an hour.
func TestProcessesAreLinearizable(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	s := newStorm(t, seed)
	rounds, strikes, until := 1, len(stormFaults), time.Now()
	if os.Getenv("LIGHTLOOM_MEASURE") == "soak" {
		rounds, strikes, until = 1<<20, 20, time.Now().Add(30*time.Minute)
	}
	operations := 0
	for n := range rounds {
		operations += s.round(n, strikes)
		if t.Failed() || time.Now().After(until) {
			rounds = n + 1
			break
		}
	}
	t.Logf("%d operations in %d rounds, faults %v", operations, rounds, s.count)
	if operations < 20*rounds {
		t.Errorf("%d operations show too little", operations)
	}
}
