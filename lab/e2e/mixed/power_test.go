package mixed

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/lab/labtest"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// machine is one that can lose its power: a shell in namespaces of its own, whose controller keeps its
// logs on a file system in an image.
type machine struct {
	*mixedLab
	client atomic.Pointer[api.Client]
}

// newMachine makes one, with a cluster that has been founded on its image.
func newMachine(t *testing.T) *machine {
	t.Helper()
	labtest.NewRoom(t) // or skips
	m := &machine{mixedLab: &mixedLab{t: t, dir: t.TempDir()}}
	labtest.CopyProgram(t, m.dir)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child",
		"--mount-proc", "sh")
	cmd.Dir, cmd.Env = m.dir, append(os.Environ(), "PATH="+m.dir+":"+os.Getenv("PATH"), "FABRIC="+powerFabric)
	in, err := cmd.StdinPipe()
	out, oerr := cmd.StdoutPipe()
	if err = cmp.Or(err, oerr); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	m.shell, m.said = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c := m.client.Load(); c != nil {
			c.Close()
		}
		m.do("kill -9 -1; umount m")
		cancel()
		_ = cmd.Wait()
	})
	if _, failed := m.do("truncate -s 256M disk && mkfs.ext4 -q -F disk && mkdir m && mount -o loop disk m"); failed {
		t.Skip("needs loop devices and ext4")
	}
	devices := "devices: {tor0: 'unix:/nowhere/a', tor1: 'unix:/nowhere/b', spine0: 'unix:/nowhere/c', ocs: " +
		"'unix:/nowhere/d'}\nagents: {h0-0: 'unix:/nowhere/e', h1-0: 'unix:/nowhere/f'}\n"
	if err := os.WriteFile(filepath.Join(m.dir, "devices.yaml"), []byte(devices), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("lightloom controller keys keys --agents --fabric $FABRIC && " +
		"lightloom cluster init m/state --fabric $FABRIC && sync")
	return m
}

const powerFabric = "hybrid:racks=2,hosts=1,spines=1"

// boot starts the controller.
func (m *machine) boot() {
	m.t.Helper()
	m.must("rm -f controller.log")
	reach := m.control("--state m/state --policy random+ecmp --devices devices.yaml")
	id, err := inventory.ReadKeys(filepath.Join(m.dir, "keys"), inventory.ClientName)
	if err != nil {
		m.t.Fatal(err)
	}
	var at []string
	for _, word := range strings.Fields(reach) {
		if strings.Contains(word, ":") {
			at = append(at, word)
		}
	}
	c, err := api.Dial(at, id.Client("", pki.Controller))
	if err != nil {
		m.t.Fatal(err)
	}
	m.client.Store(c)
}

// cut takes the power away: of the file system remains what is in the image while all processes stand
// still, and of that nothing which is in the kernel's memory alone. Whether that was the case for
// something a file shows that was written and not synced.
func (m *machine) cut() {
	m.t.Helper()
	m.must("echo unsynced > m/unsynced; kill -STOP -1; n=0; until cp disk a && cp disk b && cmp a b; do n=$((n+1)); " +
		"[ $n -lt 50 ] || break; done; cmp a b")
	m.client.Swap(nil).Close()
	m.must("kill -9 -1; n=0; until umount m 2>/dev/null; do n=$((n+1)); [ $n -lt 100 ] || break; sleep 0.05; done; " +
		"mv a disk && mount -o loop disk m")
	m.must("[ ! -s m/unsynced ] && rm -f m/unsynced && sync")
}

// TestPowerLoss: the machine of all three replicas of a controller loses its power, again and again
// while jobs are submitted, and goes on with what its disk has: each acknowledged job is there, once,
// under its number. LIGHTLOOM_MEASURE=power submits 10,000 jobs.
func TestPowerLoss(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "power" {
		t.Skip("it mounts images for minutes: set LIGHTLOOM_MEASURE=power")
	}
	const total, each, callers, cuts, seed = 10_000, 5, 8, 20, 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	m := newMachine(t)
	m.boot()
	batch := slices.Repeat([]*controller.Job{{Name: "power",
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Hour}}}}}}, each)
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	submit := func(n int) (ids []controller.JobID) {
		for ctx.Err() == nil {
			c := m.client.Load()
			if c == nil {
				labtest.Pause(ctx, 10*time.Millisecond)
				continue
			}
			try, end := context.WithTimeout(ctx, 10*time.Second)
			ids, err := c.Submit(try, fmt.Sprint("batch ", n), batch)
			end()
			if err == nil {
				return ids
			}
			if api.CodeOf(err) == api.Invalid {
				t.Errorf("batch %d: %v", n, err)
				cancel()
			}
			labtest.Pause(ctx, 10*time.Millisecond)
		}
		return nil
	}
	acknowledged := make([][]controller.JobID, total/each)
	var next, done atomic.Int64
	var calls sync.WaitGroup
	for range callers {
		calls.Go(func() {
			for n := next.Add(1) - 1; n < total/each && ctx.Err() == nil; n = next.Add(1) - 1 {
				acknowledged[n] = submit(int(n))
				done.Add(1)
			}
		})
	}
	for k := range cuts {
		at := int64(total / each * (k + 1) / (cuts + 1))
		for done.Load() < at && ctx.Err() == nil {
			labtest.Pause(ctx, time.Duration(1+r.IntN(20))*time.Millisecond)
		}
		m.cut()
		m.boot()
	}
	calls.Wait()
	if err := ctx.Err(); err != nil {
		t.Fatalf("not all of %d batches were acknowledged: %v", total/each, err)
	}
	m.cut()
	m.boot()
	st, err := m.client.Load().StatusAt(ctx, api.Read{Linearizable: true})
	if err != nil || st.Jobs != total {
		t.Errorf("%d jobs are there, want %d: %v", st.Jobs, total, err)
	}
	lost := 0
	for n, was := range acknowledged {
		if now := submit(n); !slices.Equal(now, was) {
			if lost += each; lost == each {
				t.Errorf("batch %d was %v and is %v", n, was, now)
			}
		}
	}
	if st, err = m.client.Load().Status(ctx); err != nil || st.Jobs != total {
		t.Errorf("%d jobs are there afterwards, want %d: %v", st.Jobs, total, err)
	}
	t.Logf("%d jobs acknowledged, power lost %d times: %d jobs lost, %d there", total, cuts+1, lost, st.Jobs)
}
