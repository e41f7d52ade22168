package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/server"
	"lightloom/lab/labtest"
	"lightloom/southbound/pki"
)

// machines are replicas as services of machines of their own: each has its own loopback address,
// directory and process.
type machines struct {
	t       *testing.T
	program string   // that start runs
	env     []string // of its processes, beside this one's
	dir     string
	names   []string
	at      []string // their northbound addresses
	client  *api.Client
	running map[string]*exec.Cmd
	said    map[string]*heard
}

// heard is what a process has said so far.
type heard struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.String()
}

// founded founds a cluster of three whose switches and agents do not answer: jobs are accepted and wait.
func founded(t *testing.T) *machines {
	t.Helper()
	dir := t.TempDir()
	labtest.CopyProgram(t, dir)
	return foundedWith(t, filepath.Join(dir, "lightloom"))
}

// foundedWith founds it with a program, which runs the replicas too.
func foundedWith(t *testing.T, program string) *machines {
	t.Helper()
	return foundedOn(t, program, "hybrid:racks=2,hosts=1,spines=1", "devices:\n  tor0: unix:/nowhere/a\n"+
		"  tor1: unix:/nowhere/b\n  spine0: unix:/nowhere/c\n  ocs: unix:/nowhere/d\nagents:\n"+
		"  h0-0: unix:/nowhere/e\n  h1-0: unix:/nowhere/f\n")
}

// foundings counts the clusters that this process has founded.
var foundings atomic.Int32

// foundedOn founds it for a fabric with an inventory.
func foundedOn(t *testing.T, program, fabric, inventory string, flags ...string) *machines {
	t.Helper()
	if os.Getenv("LIGHTLOOM_MEASURE") == "" {
		t.Parallel()
	}
	dir := t.TempDir()
	m := &machines{t: t, program: program, dir: filepath.Join(dir, "prod"), running: map[string]*exec.Cmd{},
		said: map[string]*heard{}}
	devices := filepath.Join(dir, "devices.yaml")
	if err := os.WriteFile(devices, []byte(inventory), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"cluster", "init", m.dir, "--fabric", fabric, "--devices", devices,
		"--state-dir", "../state"},
		flags...)
	var addrs []string
	first := 4 * (1 + foundings.Add(1)%60)
	for i := range int32(3) { // the addresses 127.0.0.0/8 are this machine's: a cluster takes four of its own
		name, pid := fmt.Sprintf("c%d", i), os.Getpid()
		host := fmt.Sprintf("127.%d.%d.%d", 1+pid>>8&0x7f, pid&0xff, first+i)
		m.names, addrs = append(m.names, name), append(addrs, host+":7420")
		args = append(args, "--replica", name+"="+host)
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	for _, name := range m.names { // of three replicas on one machine only one could have the port
		text := strings.Replace(labtest.Read(t, m.config(name)), "127.0.0.1:9101", "127.0.0.1:0", 1)
		if err := os.WriteFile(m.config(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id, err := pki.ReadFile(filepath.Join(m.dir, "client.pem"))
	if err != nil {
		t.Fatal(err)
	}
	m.at = addrs
	if m.client, err = api.Dial(addrs, id.Client("", pki.Controller)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.client.Close()
		for _, name := range m.names {
			m.kill(name, syscall.SIGKILL)
		}
	})
	return m
}

func (m *machines) must(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("%v: %v", args, err)
	}
	return out
}

func (m *machines) try(args ...string) (string, error) {
	return labtest.Try(m.t.Context(), args...)
}

func (m *machines) config(name string) string {
	return filepath.Join(m.dir, name, "etc", server.ReplicaFile)
}

func (m *machines) start(name string) {
	m.t.Helper()
	out := &heard{}
	cmd := exec.Command(m.program, "replica", "run", "--config", m.config(name))
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), m.env...)
	cmd.SysProcAttr = alone()
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.running[name], m.said[name] = cmd, out
}

// alone has a process be a session of its own, as init systems start services, and end with this one.
// The kernel shares processors among sessions before it shares them among their processes.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a replica and waits for its end, which it returns.
func (m *machines) kill(name string, sig syscall.Signal) error {
	cmd := m.running[name]
	if cmd == nil {
		return nil
	}
	delete(m.running, name)
	_ = cmd.Process.Signal(sig)
	return cmd.Wait()
}

// submit submits a job under a request id, and returns its number.
func (m *machines) submit(request string) controller.JobID {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
	defer cancel()
	ids, err := m.client.Submit(ctx, request, []*controller.Job{{Name: request,
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Hour}}}}}})
	if err != nil {
		m.t.Fatalf("submit %s: %v\n%s", request, err, m.all())
	}
	return ids[0]
}

func (m *machines) all() string {
	var b strings.Builder
	for name, out := range m.said {
		if m.running[name] == nil {
			fmt.Fprintf(&b, "--- %s\n%s", name, out)
		}
	}
	return b.String()
}

// until waits for something to be so.
func (m *machines) until(what string, so func() bool) {
	m.t.Helper()
	late := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-late:
			m.t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// joined waits until a replica that joins has its vote.
func (m *machines) joined(name string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := server.ReadNode(filepath.Join(m.dir, name, "state"))
		if err == nil && !n.Joining {
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("%s has not joined: %+v, %v", name, n, err)
		case <-tick.C:
		}
	}
}

// agree waits until the three replicas hold the same state.
func (m *machines) agree() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		digests, failed := map[string]bool{}, error(nil)
		for i := range m.names {
			st, err := m.client.DigestOf(ctx, i)
			if err != nil {
				failed = err
			}
			digests[fmt.Sprint(st.Index, st.Digest)] = true
		}
		if failed == nil && len(digests) == 1 {
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("the replicas do not agree: %v, %v", digests, failed)
		case <-tick.C:
		}
	}
}

// TestReplicaService runs a cluster as three machines would. Replicas are killed one by one while jobs
// are submitted, then all at once; every acknowledged job is there once, under the number that it got.
func TestReplicaService(t *testing.T) {
	m := founded(t)
	acknowledged := map[string]controller.JobID{}
	n := 0
	submit := func(some int) {
		t.Helper()
		for range some {
			request := fmt.Sprint("job-", n)
			acknowledged[request] = m.submit(request)
			n++
		}
	}
	kept := func() {
		t.Helper()
		for request, id := range acknowledged {
			if got := m.submit(request); got != id {
				t.Fatalf("%s was job %d, and is job %d", request, id, got)
			}
		}
		if st, err := m.client.Status(t.Context()); err != nil || st.Jobs != len(acknowledged) {
			t.Fatalf("%d jobs, want %d: %v", st.Jobs, len(acknowledged), err)
		}
	}
	for _, name := range m.names {
		m.start(name)
	}
	submit(5)
	for _, name := range m.names {
		m.kill(name, syscall.SIGKILL)
		submit(5)
		m.start(name)
		submit(5)
		m.agree()
	}
	kept()
	if _, err := m.try("cluster", "destroy", filepath.Join(m.dir, "c0", "state"), "--yes"); err == nil ||
		!strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("destroyed while in use: %v", err)
	}
	var all sync.WaitGroup
	for _, name := range m.names {
		cmd := m.running[name]
		all.Go(func() { _ = cmd.Process.Kill() })
	}
	all.Wait()
	for _, name := range m.names {
		m.kill(name, syscall.SIGKILL)
		m.start(name)
	}
	m.agree()
	kept()
	for _, name := range m.names {
		if err := m.kill(name, syscall.SIGTERM); err != nil {
			t.Errorf("%s told to end: %v\n%s", name, err, m.said[name])
		}
	}
	m.must("cluster", "destroy", filepath.Join(m.dir, "c0", "state"), "--yes")
	m.start("c0")
	if err := m.kill("c0", 0); err == nil || !strings.Contains(m.said["c0"].String(),
		"lightloom cluster join") {
		t.Errorf("without its log: %v\n%s", err, m.said["c0"])
	}
	m.must("cluster", "join", "--config", m.config("c0"))
	if _, err := m.try("cluster", "join", "--config", m.config("c0")); err == nil {
		t.Error("it joined twice")
	}
	for _, name := range m.names {
		m.start(name)
	}
	m.agree()
	kept()
	m.joined("c0")                // without its vote c1 cannot be spared
	m.kill("c1", syscall.SIGKILL) // from now on the vote of the one that has joined counts
	submit(5)
	kept()
}

// TestReplicaFile: an error in a replica's file names its place, and one in its directory what to type.
func TestReplicaFile(t *testing.T) {
	m := founded(t)
	good := labtest.Read(t, m.config("c0"))
	host := strings.TrimSuffix(strings.Split(strings.SplitN(good, "raft: \"", 2)[1], "\"")[0], ":7400")
	for _, tt := range []struct{ name, old, with, says string }{
		{"unknown key", "id: ", "idd: ", ":2:1: "},
		{"no id", "id: \"c0\"\ncluster", "cluster", "id is missing: write"},
		{"stranger", "id: \"c0\"\ncluster", "id: \"c9\"\ncluster", `:2:5: "c9" is not among the peers`},
		{"another's keys", "id: \"c0\"\ncluster", "id: \"c1\"\ncluster",
			"the certificate is of controller/c0, not of"},
		{"many peers", "  - {id: \"c2\"", strings.Repeat("  - {id: x}\n", 16) + "  - {id: \"c2\"",
			"19 peers: name the replicas"},
		{"no port", host + ":7400", host, "is no host:port that others reach"},
		{"anywhere", host + ":7400", "0.0.0.0:7400", "is no host:port that others reach"},
		{"address not in its certificate", host + ":7400", "192.0.2.1:7400",
			"not for \"192.0.2.1\": issue another"},
		{"address twice", host + ":7420", host + ":7400", "each peer has one of its own"},
		{"no key", "key: key.pem", "key: other.pem", ":10:13: read identity"},
		{"no fabric", "racks=2", "racks=-2", "racks"},
		{"another fabric", "racks=2", "racks=3", `switch "tor2" of the fabric has no address`},
		{"no policy", "crosslayer+sunflow", "moonflow", ":15:9: "},
		{"no admin", "admins: [\"client\"]", "admins: [\"\"]", ":11:10: "},
		{"no time", "policy: ", "sample-period: 1ms\npolicy: ", "at least 10ms"},
		{"no source", "policy: ", "demand: rumour\npolicy: ", `"rumour" is unknown: write one of`},
		{"no metrics", "127.0.0.1:0", "9101", "is no host:port"},
		{"another cluster", "cluster: \"", "cluster: \"f", "is of cluster"},
		{"another's directory", "../state", "../../c1/state", "is replica \"c1\"'s, not \"c0\"'s"},
		{"no directory", "../state", "../nowhere", "is of no cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(good, tt.old, tt.with, 1)
			if text == good {
				t.Fatalf("no %q in\n%s", tt.old, good)
			}
			if err := os.WriteFile(m.config("c0"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := m.try("replica", "run", "--config", m.config("c0"))
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}
