package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller"
	"lightloom/controller/replica"
	"lightloom/controller/replica/rollcall"
	"lightloom/southbound/pki"
)

// book is the smallest replicated state that takes jobs: it knows which requests it has and in which
// order, and which jobs were cancelled. An entry is requests, or the numbers of jobs to cancel.
type book struct {
	Order []string
	Known map[string]int
	Ended []int // jobs that were cancelled, each once
}

func (b *book) Read(entry []byte) func() error { return func() error { return b.Apply(entry) } }

func (b *book) Apply(entry []byte) error {
	var requests []string
	if err := json.Unmarshal(entry, &requests); err != nil {
		return err
	}
	for _, r := range requests {
		if id, err := strconv.Atoi(r); err == nil {
			if !slices.Contains(b.Ended, id) {
				b.Ended = append(b.Ended, id)
			}
			continue
		}
		if _, known := b.Known[r]; !known {
			b.Known[r] = len(b.Order)
			b.Order = append(b.Order, r)
		}
	}
	return nil
}

func (b *book) Snapshot() ([]byte, error) { return json.Marshal(b) }
func (b *book) Restore(s []byte) error    { *b = book{}; return json.Unmarshal(s, b) }
func (b *book) Digest() [32]byte          { return sha256.Sum256(fmt.Append(nil, b.Order)) }
func (b *book) Freeze() replica.Frozen {
	return &book{slices.Clone(b.Order), maps.Clone(b.Known), slices.Clone(b.Ended)}
}

// brain is one replica with its northbound, wired as a controller wires it.
type brain struct {
	node *replica.Node
	book *book
	stop func()
}

func (b *brain) Submit(ctx context.Context, batch []controller.Offer) ([]controller.JobID, error) {
	var requests []string
	for _, o := range batch {
		requests = append(requests, o.Request)
	}
	if err := b.append(ctx, requests); err != nil {
		return nil, err
	}
	var ids []controller.JobID
	b.node.View(func(uint64) {
		for _, r := range requests {
			ids = append(ids, controller.JobID(b.book.Known[r]))
		}
	})
	return ids, nil
}

func (b *brain) append(ctx context.Context, requests []string) error {
	entry, err := json.Marshal(requests)
	if err != nil {
		return err
	}
	_, err = b.node.Append(ctx, entry)
	return known(err)
}

// known gives an error of the log the form that the northbound knows.
func known(err error) error {
	switch {
	case errors.Is(err, replica.ErrUncertain):
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	case errors.Is(err, replica.ErrNotLeader):
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	return err
}

func (b *brain) Cancel(ctx context.Context, id controller.JobID) (Ended, error) {
	return Ended{Cancelled: true}, b.append(ctx, []string{fmt.Sprint(id)})
}

func (b *brain) ReadIndex(ctx context.Context) (uint64, error) {
	index, err := b.node.ReadIndex(ctx)
	return index, known(err)
}

func (b *brain) WaitApplied(ctx context.Context, index uint64) error {
	return b.node.WaitApplied(ctx, index)
}

func (b *brain) Applied() uint64 { return b.Counts().Index }

func (b *brain) Counts() (c Counts) {
	b.node.View(func(at uint64) {
		c = Counts{Index: at, Jobs: len(b.book.Order),
			JobsEnded: len(b.book.Ended)}
	})
	return c
}

func (b *brain) Digest() (uint64, [32]byte) { return b.node.Digest() }

func (b *brain) State(context.Context, bool) (s Snapshot, err error) {
	b.node.View(func(at uint64) {
		s.Index, s.Digest = at, b.book.Digest()
		s.JSON, err = b.book.Snapshot()
	})
	return s, err
}

func (b *brain) Leader() (string, string, uint64) { return b.node.Leader() }

// controllers are three brains whose addresses and memories outlive them.
type controllers struct {
	ca     *pki.Authority
	raft   []replica.Peer
	north  map[string]string
	disks  []*replica.Memory
	brains []*brain
}

func newControllers(t testing.TB) *controllers {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c := &controllers{ca: ca, north: map[string]string{}, brains: make([]*brain, 3)}
	for i := range 3 {
		id := fmt.Sprintf("r%d", i)
		c.raft = append(c.raft, replica.Peer{ID: id, Addr: freePort(t)})
		c.north[id] = freePort(t)
		c.disks = append(c.disks, replica.NewMemory())
	}
	for i := range c.brains {
		c.start(t, i)
	}
	return c
}

// freePort returns a port that stays free for repeated use: a socket bound to it that does not listen
// keeps the kernel from assigning it to other sockets, and does not keep a server from listening on it.
func freePort(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
}

func (c *controllers) start(t testing.TB, i int) {
	t.Helper()
	id := c.raft[i].ID
	who, err := c.ca.Issue(pki.Controller, id)
	if err != nil {
		t.Fatal(err)
	}
	b := &brain{book: &book{Known: map[string]int{}}}
	as := replica.Existing
	if c.brains[i] == nil {
		as = replica.Bootstrap
	}
	b.node, err = replica.New(replica.Config{
		ID: id, Start: as, Peers: c.raft, Memory: c.disks[i], Machine: b.book,
		ServerTLS: who.Server(pki.Controller), ClientTLS: who.Client("", pki.Controller),
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", c.north[id])
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(Config{
		ID: id, Peers: c.north, Listener: ln, Submitter: b, Stater: b, Finder: b, Canceller: b, Indexer: b,
		Callers:   Callers{Admins: []string{"user"}, Granter: tenants("tenant")},
		ServerTLS: who.Server(pki.Controller, pki.Client), ClientTLS: who.Client("", pki.Controller),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(b.node.Close(), <-done); err != nil {
			t.Errorf("stop %s: %v", id, err)
		}
	})
	t.Cleanup(b.stop)
	c.brains[i] = b
}

// leader asks the replicas through the northbound until one of them is leader of itself.
func (c *controllers) leader(t testing.TB, ctx context.Context, client *Client) int {
	t.Helper()
	for {
		s, err := client.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range c.raft {
			if own, err := client.StatusOf(ctx, i); p.ID == s.Leader && err == nil && own.Leader == p.ID {
				return i
			}
		}
		if !sleep(ctx, 10*time.Millisecond) {
			t.Fatal("no leader in time")
		}
	}
}

// TestEveryBatchOnceAcrossElections: clients submit through all replicas while leaders are killed and
// come back; every batch ends up in the replicated state once, under the ids that were answered, and
// each client's in its order.
func TestEveryBatchOnceAcrossElections(t *testing.T) {
	t.Parallel()
	c := newControllers(t)
	who, err := c.ca.Issue(pki.Client, "user")
	if err != nil {
		t.Fatal(err)
	}
	dial := func(first int) *Client {
		var addrs []string
		for i := range 3 {
			addrs = append(addrs, c.north[c.raft[(first+i)%3].ID])
		}
		client, err := Dial(addrs, who.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	ctx := within(t, hanging)
	arrivals, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	type answer struct {
		request string
		ids     []controller.JobID
	}
	answers := make([][]answer, 3)
	progress := make(chan struct{}, 1)
	for k := range answers {
		client := dial(k)
		wg.Go(func() {
			for n := 0; arrivals.Err() == nil; n++ {
				request := fmt.Sprintf("client %d batch %d", k, n)
				ids, err := client.Submit(ctx, request, []*controller.Job{coflow("a"), coflow("b")})
				if err != nil {
					t.Errorf("%s: %v", request, err)
					return
				}
				answers[k] = append(answers[k], answer{request, ids})
				select {
				case progress <- struct{}{}:
				default:
				}
				sleep(arrivals, 5*time.Millisecond)
			}
		})
	}
	ask := dial(0)
	for range 3 {
		i := c.leader(t, ctx, ask)
		c.brains[i].stop()
		for range 20 { // batches go through without it
			select {
			case <-progress:
			case <-ctx.Done():
				t.Fatal("nothing goes through any more")
			}
		}
		c.start(t, i)
		for waits := rollcall.Waiting; waits == rollcall.Waiting; waits, _ = c.brains[i].node.Standing() {
			if !sleep(ctx, 10*time.Millisecond) { // another may stop once this one votes: a majority is needed
				t.Fatal("it takes no part in time")
			}
		}
	}
	stop()
	wg.Wait()

	at, want := c.brains[c.leader(t, ctx, ask)].node.Digest()
	total := 0
	for _, b := range c.brains {
		if err := b.node.WaitApplied(ctx, at); err != nil {
			t.Fatal(err)
		}
		if got, digest := b.node.Digest(); got != at || digest != want {
			t.Errorf("%s: digest %x at %d, want %x at %d", b.node.ID(), digest[:4], got, want[:4], at)
		}
	}
	order := c.brains[0].book.Order
	for _, own := range answers {
		last := controller.JobID(-1)
		for _, a := range own {
			for k, id := range a.ids {
				if order[id] != fmt.Sprintf("%s/%d", a.request, k) || id <= last {
					t.Errorf("%s: job %d has id %d after %d, where %q is", a.request, k, id, last, order[id])
				}
				last = id
				total++
			}
		}
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(order))); len(unique) != len(order) ||
		total != len(order) {
		t.Errorf("%d jobs are in the state, %d of them different, %d were answered", len(order),
			len(unique), total)
	}
	changes := 0
	for _, b := range c.brains {
		changes = max(changes, b.node.Stats().LeaderChanges)
	}
	t.Logf("%d jobs, each once, over %d leader changes", total, changes)
}
