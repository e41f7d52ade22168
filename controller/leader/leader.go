// Package leader runs one leadership in real time: it passes inputs and the time to loop.Step, appends
// the entries to the replicated log, and sends the actions to devices and hosts once the entries have
// been applied.
//
// It decides nothing and implements no protocol: devices and hosts are southbound's interfaces, the log
// is Log.
package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// Log is the replicated log, as package replica offers it.
type Log interface {
	// View calls fn between two entries: nothing is applied while it runs.
	View(fn func(index uint64))
	// AppendIn returns once the entry is applied here. An entry that was decided in another term has no effect.
	AppendIn(ctx context.Context, term uint64, entry []byte) (uint64, error)
}

// Hosts is the fabric's hosts with their events, which they keep until acknowledged.
type Hosts interface {
	southbound.Hosts
	// Events calls sink with every event from that number on (0: the oldest kept), in order, until ctx
	// ends (nil).
	Events(ctx context.Context, from uint64, sink func(num uint64, e southbound.Event)) error
	// Ack lets events up to and including that number be forgotten.
	Ack(through uint64) error
}

// Config of a Leader.
type Config struct {
	Loop loop.Config
	Watchdog
	Policy  string       // what the state names as Loop.Policy; empty: it names none
	State   *state.State // read inside Log.View only
	Log     Log
	Devices map[southbound.DeviceID]southbound.Device
	// Redial has the next call of a device go to the one that the state names now, and ends those under
	// way. It can take as long as a dial; nil where no device is replaced.
	Redial func(southbound.DeviceID)
	Hosts  Hosts
	Clock  func() time.Duration // since the run began, the same scale on every replica
	Logger *slog.Logger         // nil discards
	// SetTimeout bounds one Set or Read; Retry is the pause before a stream or a read is tried again.
	SetTimeout, Retry time.Duration
	// Sample is the interval between the devices' counter reports; 0 disables them.
	Sample time.Duration
	// Tracer tells of jobs whose submitters have a span in their context; nil tells nothing.
	Tracer trace.Tracer
	Keep   bool // what devices were asked for, have accepted and report, for Claims
	// Entry is the size limit of one log entry in bytes, and Backlog that of the offers that wait for one; 0:
	// state.MaxBatch, and twice Entry.
	Entry, Backlog int
}

// Errors of callers' requests.
var (
	// ErrStopped: the leadership that a job was handed to has ended; it is not known whether the job was
	// accepted.
	ErrStopped = errors.New("the leadership has ended")
	// ErrTooLarge: a batch of offers does not fit one entry of the log, and never will.
	ErrTooLarge = errors.New("too large for one entry of the log")
	// ErrBusy: the offers of other callers fill the backlog. Nothing was accepted: try again later.
	ErrBusy = errors.New("too much waits for the log already")
)

// Leader is one leadership.
type Leader struct {
	cfg   Config
	loop  *loop.Loop
	inbox *inbox

	staff       sync.WaitGroup // all that runs beside the loop
	watchdog    watchdog
	claims      *claims
	traces      *traces
	ledger      holdings
	counters    *counters
	countBuffer countBuffer
	metered     bool // link rates are known, and that has been logged
	links       atomic.Pointer[[]controller.LinkRate]
	away        atomic.Pointer[away]
	mu          sync.Mutex
	waiters     []waiter
	underWay    map[string]bool // requests that are in the inbox or on their way to the log
	watchers    []watcher
	stopped     bool
	ready       chan struct{}
	once        sync.Once
}

type waiter struct {
	requests []string
	done     chan struct{}
}

// New returns a leader that has not begun.
func New(cfg Config) *Leader {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SetTimeout == 0 {
		cfg.SetTimeout = 5 * time.Second
	}
	if cfg.Retry == 0 {
		cfg.Retry = 200 * time.Millisecond
	}
	cfg.Entry = cmp.Or(cfg.Entry, state.MaxBatch)
	cfg.Backlog = cmp.Or(cfg.Backlog, 2*cfg.Entry)
	l := &Leader{cfg: cfg, inbox: newInbox(cfg.Entry, cfg.Backlog), watchdog: watchdog{Watchdog: cfg.Watchdog},
		claims: newClaims(cfg.Logger, cfg.Devices), ledger: holdings{by: accounts(cfg.Keep)},
		counters: newCounters(), ready: make(chan struct{}), underWay: map[string]bool{}}
	l.traces = newTraces(cfg.Tracer, cfg.State.Fabric)
	l.watchdog.follow(&l.cfg.Loop, cfg.Clock)
	l.loop = loop.New(cfg.State.Fabric(), l.cfg.Loop)
	return l
}

// Ready is closed once every device has been claimed, read back and brought into its state, or
// loop.Config.Patience has passed. A device that cannot be claimed does not delay Ready: nothing is
// written to it, Claims lists it, and it is brought into its state once it has been claimed.
func (l *Leader) Ready() <-chan struct{} { return l.ready }

// Submit submits jobs and returns once they are in the log. Every offer needs a Request of its own; a
// known Request is not accepted twice, and one that is under way is waited for. An invalid job is
// refused with its whole batch, also with ErrTooLarge or ErrBusy. A nil Leader returns ErrVacant.
func (l *Leader) Submit(ctx context.Context, offers []controller.Offer) error {
	if l == nil {
		return ErrVacant
	}
	if len(offers) == 0 {
		return nil
	}
	f := l.cfg.State.Fabric()
	w := waiter{done: make(chan struct{})}
	bytes := 0
	for i, o := range offers {
		if bytes += offerSize(&offers[i]); bytes > l.cfg.Entry {
			return fmt.Errorf("submit %d jobs: they take more than %d bytes: %w", len(offers),
				l.cfg.Entry, ErrTooLarge)
		}
		if err := cmp.Or(o.Job.CheckOn(f), l.checkSliceNames(o.Job)); err != nil {
			return fmt.Errorf("submit %w", err)
		}
		if o.Request == "" {
			return fmt.Errorf("submit job %q: no request id", o.Job.Name)
		}
		w.requests = append(w.requests, o.Request)
	}
	offers, err := l.parentsFirst(offers)
	if err != nil {
		return fmt.Errorf("submit jobs: %w", err)
	}
	if bytes > manyBytes && l.taken(w.requests) {
		return nil // to write it again would cost others much
	}
	defer l.traces.ask(ctx, w.requests)()
	if err := l.enqueue(w, offers, bytes); err != nil {
		return err
	}
	select {
	case <-w.done:
		if l.taken(w.requests) {
			return nil
		}
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// manyBytes is from which size on a batch is looked up in the state before it is written to the log.
const manyBytes = 64 << 10

// enqueue puts a batch into the inbox, unless all of it is under way already: its caller may have lost patience
// while it was written, and asks again.
func (l *Leader) enqueue(w waiter, offers []controller.Offer, bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return ErrStopped
	}
	again := !slices.ContainsFunc(w.requests, func(r string) bool { return !l.underWay[r] })
	if !again && !l.inbox.submit(offers, bytes) {
		return fmt.Errorf("submit %d jobs of up to %d bytes: %w", len(offers), bytes, ErrBusy)
	}
	for _, r := range w.requests {
		l.underWay[r] = true
	}
	l.waiters = append(l.waiters, w)
	return nil
}

// arrived notes that offers are not under way any more.
func (l *Leader) arrived(offers []controller.Offer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range offers {
		delete(l.underWay, offers[i].Request)
	}
}

// parentsFirst puts jobs after those that they read from. It refuses jobs that wait for themselves, or
// of a level that the cluster has not risen to.
func (l *Leader) parentsFirst(offers []controller.Offer) (out []controller.Offer, err error) {
	jobs := make([]*controller.Job, len(offers))
	for i := range offers {
		jobs[i] = offers[i].Job
	}
	i := slices.IndexFunc(jobs, (*controller.Job).Reading)
	if i < 0 {
		return offers, nil
	}
	l.cfg.Log.View(func(uint64) {
		if !l.cfg.State.Admits(&state.Entry{Kind: state.JobAccepted, Job: jobs[i]}) {
			err = fmt.Errorf("job %q: %w: the cluster is at feature level %d, and jobs that read come later: upgrade all "+
				"replicas and type lightloom cluster raise-level", jobs[i].Name, state.ErrParents, l.cfg.State.Level())
			return
		}
		err = l.cfg.State.CheckParents(jobs)
	})
	if err != nil {
		return nil, err
	}
	order, err := controller.ParentsFirst(jobs)
	for _, k := range order {
		out = append(out, offers[k])
	}
	return out, err
}

// checkSliceNames is that of the state.
func (l *Leader) checkSliceNames(j *controller.Job) (err error) {
	if j.Slice != "" {
		l.cfg.Log.View(func(uint64) { err = l.cfg.State.CheckSliceNames(j) })
	}
	return err
}

func (l *Leader) taken(requests []string) (ok bool) {
	l.cfg.Log.View(func(uint64) {
		ok = !slices.ContainsFunc(requests, l.missing)
	})
	return ok
}

// missing reports whether a request is not in the log yet.
func (l *Leader) missing(request string) bool {
	_, known := l.cfg.State.Requested(request)
	return !known
}

// wakeSubmitters wakes the submitters whose jobs are in the state; all of them when the leadership has ended.
func (l *Leader) wakeSubmitters(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = l.stopped || all
	l.answer(all)
	if len(l.waiters) == 0 {
		return
	}
	l.waiters = slices.DeleteFunc(l.waiters, func(w waiter) bool {
		if !all && slices.ContainsFunc(w.requests, l.missing) {
			return false
		}
		close(w.done)
		return true
	})
}

// Run leads until ctx ends (nil), the log refuses (the error), the policy does not suit the hosts, or
// another is to decide (ErrPolicy). It returns when everything it began has ended. What devices, hosts
// and callers do wrong ends no leadership: it is logged, and tried again.
func (l *Leader) Run(ctx context.Context, term uint64) error {
	if err := policy.Prepare(l.cfg.Loop.Policy, l.cfg.Hosts, l.cfg.Loop.Delta); err != nil {
		return fmt.Errorf("lead: policy: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	wg := &l.staff
	defer l.traces.close()
	defer wg.Wait()
	defer cancel()
	defer func() { l.cfg.Log.View(func(uint64) { l.wakeSubmitters(true) }) }()

	workers := make(map[southbound.DeviceID]*worker, len(l.cfg.Devices))
	removed := l.note().Removed
	for id := range l.cfg.Devices {
		if slices.Contains(removed, id) {
			l.claims.forget(id)
		} else {
			workers[id] = l.employ(ctx, id)
		}
	}
	if l.cfg.Sample > 0 {
		wg.Go(func() { l.hand(ctx) })
	}
	if m, ok := l.cfg.Hosts.(Meter); ok && l.cfg.Loop.Demand.Source == demand.FromCounters {
		wg.Go(func() { l.poll(ctx, m) })
	}
	wg.Go(func() { l.listen(ctx) })
	if l.watchdog.Limit > 0 {
		wg.Go(func() { l.watchdog.watch(ctx, l.cfg.Clock) })
	}
	return l.lead(ctx, term, workers)
}

// listen keeps the stream of the hosts' events open.
func (l *Leader) listen(ctx context.Context) {
	for wait := l.cfg.Retry; ; wait = min(2*wait, mostWaits*l.cfg.Retry) {
		err := l.cfg.Hosts.Events(ctx, 0, l.inbox.event)
		if ctx.Err() != nil {
			return
		}
		l.cfg.Logger.Warn("stream of host events ended", "error", err)
		l.inbox.renumber()
		pause(ctx, wait)
	}
}

func (l *Leader) lead(ctx context.Context, term uint64, workers map[southbound.DeviceID]*worker) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		in, through := l.inbox.take()
		in.Remaining, in.Counters = l.cfg.Hosts.Remaining, l.counters.latest
		now := l.cfg.Clock()
		var entries []state.Entry
		var act *loop.Actions
		var wake time.Duration
		l.traces.stepping()
		l.cfg.Log.View(func(uint64) { entries, act, wake = l.loop.Step(l.cfg.State, now, in) })
		l.traces.stepped()
		l.noteAway()
		if len(in.Counts) > 0 {
			l.noteLinks()
		}
		l.reroute(act.Urgent, in.Devices, now, workers)
		if err := l.commit(ctx, term, entries); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		l.arrived(in.Jobs)
		// a request that was granted before makes no entry
		if len(in.BandwidthRequests)+len(in.Cancels)+len(in.Grants)+len(in.Changes)+len(in.Slices) > 0 {
			l.cfg.Log.View(func(uint64) { l.wakeSubmitters(false) })
		}
		if l.changed(ctx, entries, workers) {
			return ErrPolicy
		}
		if through > 0 {
			if err := l.cfg.Hosts.Ack(through); err != nil {
				l.cfg.Logger.Warn("acknowledge events", "error", err)
			}
		}
		l.do(act, workers)
		if i := slices.IndexFunc(act.Errs, func(err error) bool {
			return errors.Is(err,
				controller.ErrUndecided)
		}); i >= 0 {
			return act.Errs[i]
		}
		if i := slices.IndexFunc(act.Errs, func(err error) bool {
			return errors.Is(err, controller.ErrPolicyFailed)
		}); i >= 0 {
			return l.bar(ctx, term, act.Errs[i])
		}
		if l.loop.Ready() {
			l.once.Do(func() { close(l.ready) })
		}
		if wake != now && !l.waitUntil(ctx, timer, wake) {
			return nil
		}
	}
}

// waitUntil waits until an instant, or until there are inputs; false at the end of ctx.
func (l *Leader) waitUntil(ctx context.Context, timer *time.Timer, wake time.Duration) bool {
	wait := wake - l.cfg.Clock()
	if wake == southbound.Never {
		wait = time.Hour
	}
	timer.Reset(max(wait, 0))
	select {
	case <-ctx.Done():
		return false
	case <-l.inbox.ready:
	case <-timer.C:
	}
	return true
}

// commit appends entries, as many to an entry of the log as its size limit allows, and waits until they
// are applied. The next leader can find only some of them, as between two steps. A refusal by the state
// machine is the same on every replica: it is logged, and the leadership goes on. It also goes on
// without an entry that is too large by itself.
func (l *Leader) commit(ctx context.Context, term uint64, entries []state.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	batches, err := state.EncodeWithin(entries, l.cfg.Entry)
	if err != nil {
		l.cfg.Logger.Error("leave out entries", "error", err)
	}
	for _, b := range batches {
		index, err := l.cfg.Log.AppendIn(ctx, term, b)
		if err != nil && index == 0 {
			return err
		}
		if err != nil {
			l.cfg.Logger.Error("apply entries", "index", index, "error", err)
		}
	}
	l.cfg.Log.View(func(index uint64) {
		l.traces.committed(l.cfg.State, index, entries)
		l.wakeSubmitters(false)
	})
	return nil
}

// do sends the actions in the order that Actions states.
func (l *Leader) do(a *loop.Actions, workers map[southbound.DeviceID]*worker) {
	for _, err := range a.Errs {
		l.cfg.Logger.Warn("controller", "error", err)
	}
	h := l.cfg.Hosts
	report := func(what string, err error) {
		if err != nil {
			l.cfg.Logger.Warn(what, "error", err)
		}
	}
	if len(a.Start) > 0 {
		report("start coflows", h.Start(a.Start))
	}
	if len(a.Steer) > 0 {
		report("steer host flows", h.Steer(a.Steer))
	}
	if a.Rates != nil {
		report("set rates", h.SetRates(a.Rates))
	}
	if len(a.Run) > 0 {
		report("run tasks", h.Run(a.Run))
	}
	for i := range a.Sets {
		l.set(workers[a.Sets[i].Device], a.Sets[i])
	}
	for _, d := range a.Reads {
		w := workers[d]
		if w == nil || !w.holds(w.current()) {
			continue // it is read back once it has been claimed
		}
		if !w.push(w.read) {
			// The Sets in the queue will fail or not; the loop reads the device again after the first that does.
			l.cfg.Logger.Warn("read device", "device", d, "error", errCrowded)
		}
	}
}

// set queues a Set; the loop gets its result, also if it cannot be queued.
func (l *Leader) set(w *worker, s rollout.Set) { l.setThen(w, s, func() {}) }

// setThen is set, and calls answered before the loop gets the result.
func (l *Leader) setThen(w *worker, s rollout.Set, answered func()) {
	traced := l.traces.set(&s)
	done := func(err error) {
		answered()
		traced(err)
		if err != nil && !errors.Is(err, errUnclaimed) { // Claims lists these
			l.cfg.Logger.Warn("set device", "device", s.Device, "error", err)
		}
		l.inbox.put(func(in *loop.Inputs) {
			in.Done = append(in.Done, loop.SetDone{Device: s.Device, Token: s.Token, Err: err})
		})
	}
	if w == nil {
		done(errNoDriver)
		return
	}
	l.ledger.asked(s.Device, &s.Change)
	switch life := w.current(); {
	case !w.holds(life):
		done(errUnclaimed)
	case !w.push(func(ctx context.Context) { done(w.set(ctx, life, &s.Change)) }):
		done(errCrowded)
	}
}

var (
	errNoDriver  = fmt.Errorf("no driver for this device: %w", southbound.ErrRefused)
	errCrowded   = errors.New("too many calls wait for the device")
	errUnclaimed = errors.New("the device has not been claimed in this term")
)

// JobIDs returns the jobs of offers, for callers that ask after Submit, inside Log.View.
func JobIDs(s *state.State, offers []controller.Offer) []controller.JobID {
	var out []controller.JobID
	for _, o := range offers {
		if id, ok := s.Requested(o.Request); ok {
			out = append(out, id)
		}
	}
	return out
}
