package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/leader"
	"lightloom/controller/server"
	"lightloom/lab/labtest"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// The environment of a replica that this binary is: the directory by which it learns where to stop, and
// whether its leaders leave out the claim of switches. The shipped binary knows neither.
const stopsEnv, unclaimedEnv = "LIGHTLOOM_TEST_STOPS", "LIGHTLOOM_TEST_UNCLAIMED"

// runStoppable is replica run with what stops it between its leaders and the log, the switches and the
// hosts.
func runStoppable() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := server.RunService(ctx, os.Args[len(os.Args)-1], os.Stderr, func(server.Service) {},
		func(c *leader.Config) {
			p := stopper(os.Getenv(stopsEnv))
			c.Log, c.Hosts = stopLog{c.Log, p}, stopHosts{c.Hosts, p}
			for id, d := range c.Devices {
				door := "other"
				if name := c.State.Fabric().Topology.Node(id).Name; name == "ocs" {
					door = "ocs"
				} else if strings.HasPrefix(name, "tor") {
					door = "tor"
				}
				c.Devices[id] = stopDevice{d, door, p}
			}
		})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stopper is the directory whose files say where to stop: POINT.DOOR.
type stopper string

// stoppedFile appears there when a replica has stopped, with its process id.
const stoppedFile = "stopped"

// reach stops this process, as SIGSTOP does, if a file names this point; the file is gone then.
func (p stopper) reach(point, door string) {
	if os.Remove(filepath.Join(string(p), point+"."+door)) != nil {
		return
	}
	part := filepath.Join(string(p), "part")
	_ = os.WriteFile(part, []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Rename(part, filepath.Join(string(p), stoppedFile))
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

// stopLog stops where a decision is made, or committed.
type stopLog struct {
	leader.Log
	p stopper
}

func (x stopLog) AppendIn(ctx context.Context, term uint64, entry []byte) (uint64, error) {
	x.p.reach("stepped", "any")
	index, err := x.Log.AppendIn(ctx, term, entry)
	x.p.reach("committed", "any")
	return index, err
}

// stopDevice stops before a Set leaves, while it is under way, and when it has been answered.
type stopDevice struct {
	southbound.Device
	door string
	p    stopper
}

func (d stopDevice) Set(ctx context.Context, c *southbound.Change) error {
	d.p.reach("queued", d.door)
	done := make(chan error, 1)
	go func() { done <- d.Device.Set(ctx, c) }()
	labtest.Pause(ctx, time.Duration(rand.IntN(300))*time.Microsecond) // from not yet written to nearly answered
	d.p.reach("sent", d.door)
	err := <-done
	d.p.reach("acknowledged", d.door)
	return err
}

// Claim implements southbound.Claiming.
func (d stopDevice) Claim(ctx context.Context) error {
	if os.Getenv(unclaimedEnv) != "" {
		return nil
	}
	return southbound.Claim(ctx, d.Device)
}

// SetWithin implements southbound.Slow.
func (d stopDevice) SetWithin() time.Duration { return southbound.SetWithin(d.Device, 0) }

// stopHosts stops where calls to the agent do. Its client queues them, and sends them by itself.
type stopHosts struct {
	leader.Hosts
	p stopper
}

func (h stopHosts) tell(do func() error) error {
	h.p.reach("queued", "agent")
	err := do()
	labtest.Pause(context.Background(), time.Duration(rand.IntN(300))*time.Microsecond)
	h.p.reach("sent", "agent")
	time.AfterFunc(3*time.Millisecond, func() { h.p.reach("acknowledged", "agent") })
	return err
}

func (h stopHosts) Start(all []southbound.Start) error {
	return h.tell(func() error { return h.Hosts.Start(all) })
}

func (h stopHosts) Steer(all []southbound.Steer) error {
	return h.tell(func() error { return h.Hosts.Steer(all) })
}

func (h stopHosts) SetRates(r *southbound.Rates) error {
	return h.tell(func() error { return h.Hosts.SetRates(r) })
}

func (h stopHosts) Run(all []southbound.Task) error {
	return h.tell(func() error { return h.Hosts.Run(all) })
}

// leads waits until a replica leads and is ready, in a term after one, and returns its term and which it is.
func (l *lab) leads(after uint64, but int) (term uint64, who int) {
	l.t.Helper()
	l.until(fmt.Sprint("a leader that is ready, after term ", after), func() bool {
		for i := range l.names {
			if i == but {
				continue
			}
			ctx, cancel := context.WithTimeout(l.t.Context(), time.Second)
			st, err := l.client.StatusOf(ctx, i)
			cancel()
			if err == nil && st.Ready && st.Term > after {
				term, who = st.Term, i
				return true
			}
		}
		return false
	})
	return term, who
}

// electionOf is the upper half of a leader's election ids.
func electionOf(term uint64) uint64 { return (&server.ReplicaConfig{}).ElectionHigh(term) }

// transfer submits a coflow of one host flow. It gives up after a while: the leader may have been stopped.
func (l *lab) transfer(request string, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(l.t.Context(), 300*time.Millisecond)
	defer cancel()
	src := southbound.HostID(r.Int32N(3))
	dst := (src + 1 + southbound.HostID(r.Int32N(2))) % 3
	_, _ = l.client.Submit(ctx, request, []*controller.Job{{Name: "transfer",
		Edges: []controller.Edge{{Flows: []controller.Flow{{Src: src, Dst: dst, Bytes: 20 << 20}}}}}})
}

// stopOnce stops the leader at a point of its work on a door, lets another take over, and the first
// continue.
func (l *lab) stopOnce(round int, point, door string, r *rand.Rand) {
	l.t.Helper()
	term, who := l.leads(0, -1)
	l.tookOver(electionOf(term))
	file := filepath.Join(l.stops, point+"."+door)
	switch point {
	case "stepped", "committed":
		file = filepath.Join(l.stops, point+".any")
	case "urgent": // what leaves next, for a port of a ToR has just gone dark
		file = filepath.Join(l.stops, "sent."+door)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		l.t.Fatal(err)
	}
	stopped, lit, tries := filepath.Join(l.stops, stoppedFile), true, 0
	next := time.Now()
	l.until(point+" at "+door, func() bool {
		if _, err := os.Stat(stopped); err == nil {
			return true
		}
		if time.Now().Before(next) {
			return false
		}
		next = time.Now().Add(500 * time.Millisecond)
		if door == "tor" || point == "urgent" {
			lit = !lit
			l.light(r.IntN(2), lit)
		}
		if door != "tor" {
			l.transfer(fmt.Sprint("round ", round, " ", tries), r)
		}
		tries++
		return false
	})
	if err := os.Remove(stopped); err != nil {
		l.t.Fatal(err)
	}
	for spine := range 2 { // what is under way is not what the next leader wants
		l.light(spine, true)
	}
	pid := l.running[l.names[who]].Process.Pid
	later, _ := l.leads(term, who)
	l.tookOver(electionOf(later))
	labtest.Pause(l.t.Context(), time.Duration(r.IntN(100))*time.Millisecond)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		l.t.Fatal(err)
	}
	labtest.Pause(l.t.Context(), 300*time.Millisecond) // what it had under way arrives
}

// TestStaleSets: the process of a leader is stopped at every point of its work on a ToR, the optical
// switch and the hosts, and continues when another has taken over: no switch, and no agent, takes a
// call of it any more. They fence on calls that write alone. Without the claim of switches some do. One
// leader is stopped, while it sends to a ToR; LIGHTLOOM_MEASURE=stops does all 20 times each, or
// LIGHTLOOM_ROUNDS times.
func TestStaleSets(t *testing.T) {
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_ROUNDS")); err == nil {
		rounds = n
	}
	seed := uint64(1)
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_SEED")); err == nil {
		seed = uint64(n)
	}
	points := []string{"stepped", "committed", "queued", "sent", "urgent", "acknowledged"}
	doors := []string{"tor", "ocs", "agent"}
	cases := []bool{true, false}
	if os.Getenv("LIGHTLOOM_MEASURE") != "stops" { // one stop without a claim proves nothing
		rounds, points, doors, cases = 1, points[3:4], doors[:1], cases[:1]
	}
	for _, claims := range cases {
		t.Run(fmt.Sprint("claims ", claims), func(t *testing.T) {
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 3))
			var env []string
			if !claims {
				env, doors = []string{unclaimedEnv + "=yes"}, doors[:2]
			}
			l, stops := newLab(t, env...), 0
			for k := range rounds {
				for _, point := range points {
					for _, door := range doors {
						if l.stopOnce(stops, point, door, r); !claims && len(l.stales()) > 0 {
							t.Logf("after %d stops: %s", stops+1, l.stales()[0])
							return
						}
						stops++
					}
				}
				t.Logf("%d rounds: %s", k+1, l.summary())
			}
			l.agree()
			stale := l.stales()
			if claims && len(stale) > 0 {
				t.Errorf("%d stale calls, of which the first: %v", len(stale), stale[:min(5, len(stale))])
			}
			if !claims {
				t.Errorf("%d stops without a claim, and no switch has taken a stale Set", stops)
			}
			t.Logf("%d stops: %s", stops, l.summary())
		})
	}
}

func (w *witness) stales() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.stale)
}

// summary sums up what the witness has noted.
func (w *witness) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("calls taken %v, of former leaders %d refused and %d taken", w.taken,
		w.refuse, len(w.stale))
}

// TestFirstSet: the process of a leader is killed, again and again, and the time until the next
// leader's first Set has been answered is logged. LIGHTLOOM_MEASURE=reign kills 60 times, or
// LIGHTLOOM_ROUNDS times, and wants the machine for itself.
func TestFirstSet(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "reign" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=reign")
	}
	kills := 60
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_ROUNDS")); err == nil {
		kills = n
	}
	l := newLab(t)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // of when, not of what
	var first, last []time.Duration
	for range kills {
		term, who := l.leads(0, -1)
		l.agree()
		labtest.Pause(t.Context(), time.Duration(200+r.IntN(300))*time.Millisecond)
		name, begun := l.names[who], time.Now()
		_ = l.kill(name, syscall.SIGKILL)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		leader, one, all, err := l.answered(ctx, electionOf(term))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if leader > electionOf(term+1) {
			t.Logf("%v: terms passed without a leader: %d to %d", one.Sub(begun), term, leader&(1<<48-1))
		}
		first, last = append(first, one.Sub(begun)), append(last, all.Sub(begun))
		l.start(name)
	}
	slices.Sort(first)
	slices.Sort(last)
	t.Logf("all: %v", first)
	at := func(d []time.Duration, percent int) time.Duration {
		return d[(len(d)*percent+99)/100-1].Round(time.Millisecond)
	}
	t.Logf("%d leaders killed: a first Set of the next answered after p50 %v, p90 %v, p99 %v, most %v; one of every "+
		"switch p50 %v, p99 %v, most %v", kills, at(first, 50), at(first, 90), at(first, 99), at(first,
		100), at(last, 50),
		at(last, 99), at(last, 100))
	if p99 := at(first, 99); p99 > mostChange {
		t.Errorf("the p99 is %v, and may be %v", p99, mostChange)
	}
}

// mostChange is how long a first Set of the next leader may take after a kill.
const mostChange = 950 * time.Millisecond

// TestSpuriousElections: no leader is voted out while 8 callers submit and 64 poll as fast as they are
// answered, but at most once in half an hour. LIGHTLOOM_MEASURE=elections goes on for that long, or for
// LIGHTLOOM_FOR.
func TestSpuriousElections(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "elections" {
		t.Skip("it takes half an hour: set LIGHTLOOM_MEASURE=elections")
	}
	long, err := time.ParseDuration(os.Getenv("LIGHTLOOM_FOR"))
	if err != nil {
		long = 30 * time.Minute
	}
	l := newLab(t)
	before, _ := l.leads(0, -1)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var calls sync.WaitGroup
	var submitted, polled, failed atomic.Int64
	for k := range 8 {
		calls.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			for n := 0; ctx.Err() == nil; n++ {
				long := time.Duration(r.IntN(20)) * time.Millisecond
				job := &controller.Job{Name: "small", Stages: []controller.Stage{{Name: "a",
					Tasks: []controller.Task{{Compute: long}}}}}
				if n%16 == 0 {
					src := southbound.HostID(r.Int32N(3))
					job = &controller.Job{Name: "flow", Edges: []controller.Edge{{Flows: []controller.Flow{{Src: src,
						Dst: (src + 1) % 3, Bytes: 1 << 20}}}}}
				}
				if _, err := l.client.Submit(ctx, fmt.Sprint("caller ", k, " ", n),
					[]*controller.Job{job}); err == nil {
					submitted.Add(1)
				} else if ctx.Err() == nil {
					failed.Add(1)
					labtest.Pause(ctx, 10*time.Millisecond)
				}
			}
		})
	}
	for k := range 64 {
		calls.Go(func() {
			for ctx.Err() == nil {
				if _, err := l.client.StatusOf(ctx, k%3); err == nil {
					polled.Add(1)
				} else if ctx.Err() == nil {
					failed.Add(1)
					labtest.Pause(ctx, 10*time.Millisecond)
				}
			}
		})
	}
	calls.Wait()
	after, _ := l.leads(0, -1)
	t.Logf("%v of full load, %d jobs and %d polls (%d calls failed): terms %d to %d", long, submitted.Load(),
		polled.Load(), failed.Load(), before, after)
	if most := max(1, uint64(long/(30*time.Minute))); after-before > most {
		t.Errorf("%d elections, want at most %d", after-before, most)
	}
}

// TestFuzzedAnswers: spoilt answers of switches and of the agent, and spoilt requests of clients, end
// no replica. LIGHTLOOM_MEASURE=fuzz goes on for ten minutes, or for LIGHTLOOM_FOR.
func TestFuzzedAnswers(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "fuzz" {
		t.Skip("it takes ten minutes: set LIGHTLOOM_MEASURE=fuzz")
	}
	long, err := time.ParseDuration(os.Getenv("LIGHTLOOM_FOR"))
	if err != nil {
		long = 10 * time.Minute
	}
	const seed = 1
	t.Logf("seed %d", seed)
	l := newLab(t)
	before, _ := l.leads(0, -1)
	l.mu.Lock()
	l.spoil = 0.3
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var calls sync.WaitGroup
	var sent atomic.Int64
	calls.Go(func() { // what switches and hosts have to answer
		r := rand.New(rand.NewPCG(seed, 8))
		for n := 0; ctx.Err() == nil; n++ {
			l.transfer(fmt.Sprint("fuzz ", n), r)
			l.light(r.IntN(2), n%2 == 0)
			labtest.Pause(ctx, 100*time.Millisecond)
		}
	})
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: l.own("client").Client("",
		pki.Controller),
		ForceAttemptHTTP2: true}, Timeout: 5 * time.Second}
	defer browser.CloseIdleConnections()
	for k := range 4 {
		calls.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(100+k)))
			for ctx.Err() == nil {
				path, body := l.request(r)
				ask, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				ask.Header.Set("Content-Type", [...]string{"application/proto", "application/json"}[r.IntN(2)])
				if resp, err := browser.Do(ask); err == nil {
					_, _ = io.CopyN(io.Discard, resp.Body, 1<<20)
					resp.Body.Close()
					sent.Add(1)
				}
			}
		})
	}
	calls.Wait()
	for name, cmd := range l.running {
		stat := labtest.Read(t, fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if _, rest, _ := strings.Cut(stat, ") "); rest[0] == 'Z' {
			t.Errorf("%s has ended: %s", name, l.said[name])
		}
	}
	l.mu.Lock()
	l.spoil = 0
	l.mu.Unlock()
	after, _ := l.leads(0, -1)
	l.agree()
	t.Logf("%v: %d answers of switches and agents spoilt, %d spoilt requests of clients answered, 0 exits; terms %d to %d",
		long, l.spoilt, sent.Load(), before, after)
}

// request is a call of a client: a good one, of which some bytes have changed or the end is missing.
func (l *lab) request(r *rand.Rand) (path string, body []byte) {
	jobs := []*apiv1.Job{{Name: "fuzz", Stages: []*apiv1.Stage{{Name: "a"}},
		Edges: []*apiv1.Edge{{Flows: []*apiv1.Flow{{Src: r.Int32N(4) - 1, Dst: r.Int32N(4),
			Bytes: r.Int64()}}}}}}
	var m proto.Message
	switch r.IntN(6) {
	case 0:
		path, m = apiv1connect.ControllerSubmitJobsProcedure, &apiv1.SubmitJobsRequest{
			RequestId: fmt.Sprint("fuzzed ", r.Int32()), Jobs: jobs}
	case 1:
		path, m = apiv1connect.ControllerStatusProcedure, &apiv1.StatusRequest{Digest: true, Claims: true}
	case 2:
		path, m = apiv1connect.ControllerListJobsProcedure, &apiv1.ListJobsRequest{}
	case 3:
		path, m = apiv1connect.ControllerReserveProcedure, &apiv1.ReserveRequest{}
	case 4:
		path, m = apiv1connect.ControllerApplyFabricProcedure, &apiv1.ApplyFabricRequest{}
	default:
		path, m = apiv1connect.ControllerGetJobProcedure, &apiv1.GetJobRequest{}
	}
	body, _ = proto.Marshal(m)
	for range r.IntN(6) {
		switch n := len(body); {
		case n == 0 || r.IntN(2) == 0:
			body = append(body, byte(r.IntN(256)))
		case r.IntN(4) == 0:
			body = body[:r.IntN(n)]
		default:
			body[r.IntN(n)] = byte(r.IntN(256))
		}
	}
	return "https://" + l.at[r.IntN(len(l.at))] + path, body
}
