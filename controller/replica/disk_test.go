package replica

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/pki"
)

// realCluster makes the configurations of three replicas over TLS on loopback, with directories under
// dir. Listeners are open, so that no port is guessed.
func realCluster(dir string) ([]Config, error) {
	ca, err := pki.New(time.Hour)
	if err != nil {
		return nil, err
	}
	cfgs := make([]Config, 3)
	var peers []Peer
	for i := range cfgs {
		id := fmt.Sprintf("r%d", i)
		who, err := ca.Issue(pki.Controller, id)
		if err != nil {
			return nil, err
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		cfgs[i] = Config{
			ID: id, Dir: filepath.Join(dir, id), Start: Existing, Listener: ln, Machine: &ledger{},
			ServerTLS: who.Server(pki.Controller), ClientTLS: who.Client("", pki.Controller),
		}
		if _, err := os.Stat(cfgs[i].Dir); errors.Is(err, os.ErrNotExist) {
			cfgs[i].Start = Bootstrap
		}
		peers = append(peers, Peer{ID: id, Addr: ln.Addr().String()})
	}
	for i := range cfgs {
		cfgs[i].Peers = peers
	}
	return cfgs, nil
}

func startAll(cfgs []Config) (nodes []*Node, err error) {
	for _, cfg := range cfgs {
		n, err := New(cfg)
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// leading returns the node that leads, once one does.
func leading(ctx context.Context, nodes []*Node) (*Node, error) {
	for {
		for _, n := range nodes {
			if n.raft.State() == raft.Leader && n.Barrier(ctx) == nil {
				return n, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// appended appends an entry once, through the current leader: on a busy machine heartbeats come late,
// and another leader is elected. It returns that leader, and the index of the entry or a later one.
func appended(ctx context.Context, nodes []*Node, e string) (*Node, uint64, error) {
	for {
		lead, err := leading(ctx, nodes)
		if err != nil {
			return nil, 0, err
		}
		// An uncertain entry is decided now: a leader holds all that was committed before its barrier, and
		// adds nothing else.
		if slices.Contains(lead.ledger(), e) {
			at, _ := lead.Digest()
			return lead, at, nil
		}
		at, err := lead.Append(ctx, []byte(e))
		if err == nil {
			return lead, at, nil
		}
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrUncertain) || ctx.Err() != nil {
			return nil, 0, err
		}
	}
}

func TestClusterOverTLSAndDisk(t *testing.T) {
	t.Parallel()
	cfgs, err := realCluster(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, hanging)
	var lead *Node
	for i := range 100 {
		if lead, _, err = appended(ctx, nodes, fmt.Sprint("before ", i)); err != nil {
			t.Fatal(err)
		}
	}
	s := lead.Stats()
	t.Logf("100 appends over TLS with fsync: p50 %v, p99 %v", s.CommitP50, s.CommitP99)
	begun := time.Now()
	if err := lead.Close(); err != nil {
		t.Fatal(err)
	}
	nodes = slices.DeleteFunc(nodes, func(n *Node) bool { return n == lead })
	_, at, err := appended(ctx, nodes, "after")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("outage of a killed leader: %v", time.Since(begun))
	for _, n := range nodes {
		if err := n.WaitApplied(ctx, at); err != nil {
			t.Fatal(err)
		}
		if got := n.ledger(); len(got) != 101 || got[100] != "after" {
			t.Errorf("%s holds %d entries", n.ID(), len(got))
		}
		if _, err := os.Stat(filepath.Join(n.cfg.Dir, "vote")); err != nil {
			t.Error(err)
		}
	}
	for _, n := range nodes {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// hanging is how long these tests wait for what must come; nothing takes a tenth of it.
const hanging = time.Minute

const childDir = "LIGHTLOOM_TEST_REPLICA_DIR"

// TestKilledProcess: a process with three replicas on disk is ended by SIGKILL while it appends; what
// it acknowledged is there, once and in order, when the same directories are opened again, on other
// ports.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acknowledged []string
	for round, kill := range []int{37, 90} { // the second on top of what the first left, snapshots included
		acknowledged = append(acknowledged, killedChild(t, dir, round, kill)...)
	}
	cfgs, err := realCluster(dir)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, hanging)
	lead, err := leading(ctx, nodes)
	if err != nil {
		t.Fatal(err)
	}
	entries := lead.ledger()
	place := -1
	for _, a := range acknowledged {
		k := slices.Index(entries, a)
		if k <= place || slices.Contains(entries[k+1:], a) {
			t.Fatalf("acknowledged entry %q is at place %d after %d, or there twice", a, k, place)
		}
		place = k
	}
	for !sameState(ctx, t, nodes) { // an election meanwhile has added an entry
	}
	for _, n := range nodes { // together: the last to catch up needs the others
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sameState holds every replica's digest against the leader's; false if one has applied more than the
// leader had.
func sameState(ctx context.Context, t *testing.T, nodes []*Node) bool {
	t.Helper()
	lead, err := leading(ctx, nodes)
	if err != nil {
		t.Fatal(err)
	}
	at, want := lead.Digest()
	for _, n := range nodes {
		if err := n.WaitApplied(ctx, at); err != nil {
			t.Fatal(err)
		}
		got, digest := n.Digest()
		if got > at {
			return false
		}
		if digest != want {
			t.Errorf("%s: digest %x at %d, leader %x at %d", n.ID(), digest[:4], got, want[:4], at)
		}
	}
	return true
}

// killedChild runs this test binary as the process to kill and returns what it acknowledged.
func killedChild(t *testing.T, dir string, round, kill int) (lines []string) {
	t.Helper()
	ctx := within(t, hanging)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", childDir, dir),
		fmt.Sprintf("LIGHTLOOM_TEST_ROUND=%d", round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() {
		if e, ok := strings.CutPrefix(in.Text(), "acknowledged "); ok {
			lines = append(lines, e)
		}
		if len(lines) == kill {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process was not killed: %v after %d lines", err, len(lines))
	}
	return lines
}

// appendUntilKilled is the process of TestKilledProcess. It returns only if something is wrong.
func appendUntilKilled(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	if err := appendAndSnapshot(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
	}
}

func appendAndSnapshot(ctx context.Context, dir string) error {
	cfgs, err := realCluster(dir)
	if err != nil {
		return err
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		lead, err := leading(ctx, nodes)
		if err != nil {
			return err
		}
		e := fmt.Sprintf("round %s entry %d", os.Getenv("LIGHTLOOM_TEST_ROUND"), i)
		if _, err := lead.Append(ctx, []byte(e)); err == nil {
			fmt.Println("acknowledged", e)
		}
		if i%20 == 19 {
			if err := lead.Snapshot(); err != nil {
				return err
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name string
		with func(*Config)
		want string
	}{
		{"no id", func(c *Config) { c.ID = "" }, "has no id"},
		{"a stranger", func(c *Config) { c.ID = "r9" }, "is not among its peers"},
		{"an id twice", func(c *Config) { c.Peers = append(c.Peers, Peer{ID: "r0", Addr: "h:1"}) },
			`peer id "r0" is used twice`},
		{"an address twice", func(c *Config) {
			c.Peers = append(c.Peers,
				Peer{ID: "r9", Addr: c.Peers[0].Addr})
		},
			"is used twice"},
		{"no address", func(c *Config) { c.Peers = append(c.Peers, Peer{ID: "r9", Addr: ""}) },
			"both id and address are needed"},
		{"no machine", func(c *Config) { c.Machine = nil }, "has no machine"},
		{"no place", func(c *Config) { c.Dir = "" }, "neither a directory nor a memory"},
		{"two places", func(c *Config) { c.Memory = NewMemory() }, "both a directory and a memory"},
		{"long lease", func(c *Config) { c.Timeouts.Lease = time.Hour }, "is longer than heartbeat"},
		{"short election", func(c *Config) { c.Timeouts.Election = time.Millisecond },
			"is shorter than heartbeat"},
		{"no TLS", func(c *Config) { c.ServerTLS = nil }, "needs TLS"},
		{"any client", func(c *Config) { c.ServerTLS = &tls.Config{} },
			"does not require and verify client certificates"},
		{"any server", func(c *Config) { c.ClientTLS = &tls.Config{InsecureSkipVerify: true} },
			"does not verify the server"},
		{"a file for a directory", func(c *Config) { c.Dir = os.Args[0] }, "open log"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfgs, err := realCluster(dir)
			if err != nil {
				t.Fatal(err)
			}
			cfg := cfgs[0]
			for _, other := range cfgs[1:] {
				other.Listener.Close()
			}
			tc.with(&cfg)
			n, err := New(cfg)
			if err == nil {
				n.Close()
				t.Fatal("taken")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q, want it to say %q", err, tc.want)
			}
			if _, err := cfg.Listener.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Error("the listener was left open")
			}
		})
	}
}

func TestNewRefusesAnotherLog(t *testing.T) {
	dir := t.TempDir()
	start := func(change func(*Config)) error {
		cfgs, err := realCluster(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range cfgs[1:] {
			other.Listener.Close()
		}
		change(&cfgs[0])
		n, err := New(cfgs[0])
		if err != nil {
			return err
		}
		return n.Close()
	}
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   error
	}{
		{"its own", func(*Config) {}, nil},
		{"others at other addresses", func(c *Config) { c.Peers = c.Peers[:2] }, nil},
		{"another's", func(c *Config) { c.ID, c.Peers[0].ID = "other", "other" }, ErrRemoved},
	} {
		if err := start(tc.change); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want it to be %v", tc.name, err, tc.want)
		}
	}
}

// TestSyncReachesTheDisk: a sync asks the kernel, which refuses a closed file, unless the node is to do
// without.
func TestSyncReachesTheDisk(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	for _, without := range []bool{false, true} {
		d := &disk{noSync: without}
		for name, err := range map[string]error{"file": d.sync(f), "directory": d.syncDir(gone)} {
			if without != (err == nil) {
				t.Errorf("%s, without sync %v: %v", name, without, err)
			}
		}
	}
}
