package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/server"
	"lightloom/lab/labtest"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// load submits jobs and reads the status through all replicas until it is stopped. It keeps the longest
// call.
type load struct {
	calls, failed atomic.Int64
	mu            sync.Mutex
	longest       time.Duration
	why           error
}

func (l *load) note(began time.Time, err error) {
	l.calls.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, time.Since(began))
	if err != nil {
		l.failed.Add(1)
		l.why = err
	}
}

func (l *load) run(ctx context.Context, name string, client *api.Client) {
	for i := 0; ctx.Err() == nil; i++ {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		began := time.Now()
		_, err := client.Submit(call, fmt.Sprint(name, "-", i), []*controller.Job{{Name: name,
			Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Hour}}}}}})
		l.note(began, err)
		began = time.Now()
		_, err = client.Status(call)
		l.note(began, err)
		cancel()
		labtest.Pause(ctx, 5*time.Millisecond) // at full speed the load takes a processor for as long as keys are made
	}
}

// TestRotateUnderLoad: the certificates of all replicas and of the client are renewed, the old ones are
// revoked, and then the authority is replaced, while jobs are submitted. No replica is restarted, and
// no call fails.
func TestRotateUnderLoad(t *testing.T) {
	m := founded(t)
	for _, name := range m.names {
		m.start(name)
	}
	m.submit("first")
	keys, err := pki.Open(inventory.KeyPaths(m.dir, inventory.ClientName))
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	sources := map[string]pki.Paths{}
	for _, name := range m.names {
		c, err := server.ReadReplicaFile(m.config(name))
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, c.API[name])
		sources[name] = c.Identity.Files
	}
	if m.client, err = api.Dial(addrs, keys.Client("", pki.Controller)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l := &load{}
	var wg sync.WaitGroup
	for i := range 3 {
		client, err := api.Dial(append(addrs[i:len(addrs):len(addrs)], addrs[:i]...),
			keys.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		wg.Go(func() { l.run(ctx, fmt.Sprint("load", i), client) })
	}
	old := map[string]string{}
	serial := func(name string) string {
		id, err := sources[name].Read()
		if err != nil {
			t.Fatal(err)
		}
		return id.Serial()
	}
	rounds := 0
	reload := func(what string) {
		t.Helper()
		rounds++
		for _, name := range m.names {
			m.until(name+" after "+what, func() bool {
				return strings.Count(m.said[name].String(), "keys read again") >= rounds
			})
		}
		if _, err := keys.Reload(); err != nil {
			t.Fatal(what, err)
		}
		before := l.calls.Load()
		m.until("more calls after "+what, func() bool { return l.calls.Load() > before+50 })
	}
	for _, name := range m.names {
		old[name] = serial(name)
	}
	mine := keys.Identity().Serial()
	m.must("keys", "renew", m.dir)
	reload("the renewal")
	m.must("keys", "revoke", m.dir, old["c0"], old["c1"], old["c2"], mine)
	reload("the revocation")
	m.must("keys", "authority", m.dir)
	reload("the second authority")
	m.must("keys", "renew", m.dir)
	reload("the renewal by it")
	m.must("keys", "renew", m.dir, "--alone")
	reload("the end of the first")
	stop()
	wg.Wait()
	t.Logf("%d calls, %d failed, the longest took %v", l.calls.Load(), l.failed.Load(), l.longest)
	if l.failed.Load() > 0 {
		t.Errorf("%d of %d calls failed: %v", l.failed.Load(), l.calls.Load(), l.why)
	}
	m.agree() // all three run, and nobody would have started them again
	if _, err := pki.ReadAuthority(filepath.Join(m.dir, inventory.AuthorityFile)); err != nil {
		t.Error(err)
	}
}

// showLast waits until each replica shows the certificate that is in its files now.
func (m *machines) showLast() {
	m.t.Helper()
	for _, name := range m.names {
		c, err := server.ReadReplicaFile(m.config(name))
		if err != nil {
			m.t.Fatal(err)
		}
		id, err := c.Identity.Files.Read()
		if err != nil {
			m.t.Fatal(err)
		}
		m.until(name+" shows its last certificate", func() bool {
			conn, err := tls.Dial("tcp", c.API[name], &tls.Config{InsecureSkipVerify: true})
			if err != nil {
				return false
			}
			defer conn.Close()
			return fmt.Sprintf("%x", conn.ConnectionState().PeerCertificates[0].SerialNumber) == id.Serial()
		})
	}
}

// TestRotateRunbook runs the commands of docs/runbooks/rotate-certificates.md, in their order.
func TestRotateRunbook(t *testing.T) {
	m := founded(t)
	for _, name := range m.names {
		m.start(name)
	}
	m.submit("first")
	socket := filepath.Join(m.dir, "c0", "state", server.SocketFile)
	ran := 0
	page := filepath.Join(labtest.Repository(t), "docs", "runbooks", "rotate-certificates.md")
	for line := range strings.Lines(labtest.Read(t, page)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ lightloom ")
		if !ok {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(command, " prod", " "+m.dir))
		if args[0] == "cluster" {
			m.showLast() // as the page says: wait until every program has read its new files
			args = append(args, "--socket", socket)
		}
		out := m.must(args...)
		if ran++; strings.HasPrefix(command, "keys list") && strings.Count(out, "good") != 9 ||
			strings.HasPrefix(command, "cluster access list") && !strings.Contains(out, "ann   tenant") {
			t.Errorf("%s says\n%s", command, out)
		}
	}
	if ran != 10 {
		t.Errorf("%d commands were run", ran)
	}
}
