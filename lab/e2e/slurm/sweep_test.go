package slurm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lightloom/lab/labtest"
)

// study is of 200 runs, some 25 s of processor time.
const study = `fabrics:
  - hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
  - hybrid:racks=16,hosts=2,spines=4,eps=1Gbps,ocs=10Gbps,dark=10ms
workloads: ["synthetic:jobs=60"]
policies: [random+ecmp, random+ecmp+sunflow, crosslayer, crosslayer+sunflow, joint]
seeds: 1-20
`

// TestSweep: a sweep through Slurm, a third of whose tasks are killed, with a slurmctld that is killed and started
// again, gives the local sweep's reports to the byte, and its processor time is told beside that.
func TestSweep(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=slurm")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", small)
	if err := os.WriteFile(filepath.Join(c.dir, "study.yaml"), []byte(study), 0o644); err != nil {
		t.Fatal(err)
	}
	local := exec.Command("lightloom", "sweep", "study.yaml", "--results", "local")
	local.Dir = c.dir
	if out, err := local.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	alone := local.ProcessState.UserTime() + local.ProcessState.SystemTime()
	sweep := []string{"/run/lightloom-slurm/lightloom", "sweep", "study.yaml", "--engine", "slurm", "--results"}
	const still = 20 * time.Second
	idle := float64(c.measure(func() { labtest.Pause(t.Context(), still) })) / float64(still)
	began := time.Now()
	through := c.measure(func() { c.shell(append(sweep, "whole")...) })
	net := through - time.Duration(idle*float64(time.Since(began)))
	t.Logf("processor time of 200 runs: %v locally, %v through Slurm, of which the cluster takes %v anyway: %+.1f %%",
		alone, through, through-net, 100*(float64(net)/float64(alone)-1))
	c.sameReports("whole")

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithCancel(t.Context())
	var tasks, killed atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.killTasks(ctx, rand.New(rand.NewPCG(seed, 1)), &tasks, &killed)
	}()
	time.AfterFunc(8*time.Second, func() {
		c.root("sh", "-c", "kill -9 $(cat /run/lightloom-slurm/slurmctld.pid); sleep 2; slurmctld")
	})
	through = c.measure(func() { c.shell(append(sweep, "killed")...) })
	cancel()
	<-ended
	t.Logf("%d tasks, %d of them killed, and slurmctld once: processor time %v", tasks.Load(), killed.Load(), through)
	if killed.Load() == 0 {
		t.Error("no task was killed")
	}
	c.sameReports("killed")
	if out, err := c.try("/run/lightloom-slurm/lightloom", "sweep", "status", "killed"); err != nil ||
		!strings.Contains(out, "200 of 200 runs made: it is done") {
		t.Errorf("status: %s, %v", out, err)
	}
}

// TestSweepRefused: a sweep that is cancelled leaves no job in the queue, and one that Slurm does not take, or whose
// slurmctld is away, ends with Slurm's words.
func TestSweepRefused(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", "hybrid:racks=2,hosts=1")
	if err := os.WriteFile(filepath.Join(c.dir, "study.yaml"), []byte(study), 0o644); err != nil {
		t.Fatal(err)
	}
	const program = "/run/lightloom-slurm/lightloom"
	sweep := []string{program, "sweep", "study.yaml", "--engine", "slurm"}
	if out, err := c.try(append(sweep, "--partition", "nowhere")...); err == nil ||
		!strings.Contains(out, "invalid partition specified: nowhere") {
		t.Errorf("a partition that is not there: %s, %v", out, err)
	}
	ended := make(chan string, 1)
	go func() {
		out, _ := c.try(sweep...) // its words are looked at
		ended <- out
	}()
	c.until("tasks to run", time.Minute, func() bool { return len(c.queue()) > 0 })
	if out, err := c.try(append(sweep, "--sbatch=--begin=now+1hour")...); err == nil ||
		!strings.Contains(out, `"study.results" is in use by the sweep of study.yaml`) {
		t.Errorf("a second sweep: %s, %v", out, err)
	}
	if out, err := c.try(program, "sweep", "cancel", "study.results"); err != nil {
		t.Errorf("cancel: %s, %v", out, err)
	}
	if out := <-ended; !strings.Contains(out, "start the same sweep again to go on") {
		t.Errorf("the sweep that was cancelled: %s", out)
	}
	c.until("the queue to be empty", time.Minute, func() bool { return len(c.queue()) == 0 })
	c.root("sh", "-c", "kill -9 $(cat /run/lightloom-slurm/slurmctld.pid)")
	if out, err := c.try(sweep...); err == nil || !strings.Contains(strings.ToLower(out), "unable to contact slurm") ||
		!strings.Contains(out, "hint: scontrol ping says") {
		t.Errorf("without slurmctld: %s, %v", out, err)
	}
}

func (c *cluster) sameReports(results string) {
	c.Helper()
	local, err := filepath.Glob(filepath.Join(c.dir, "local/reports/*/report.json"))
	if err != nil || len(local) != 2 {
		c.Fatalf("%q, %v", local, err)
	}
	for _, path := range local {
		other := strings.Replace(path, "/local/", "/"+results+"/", 1)
		if labtest.Read(c.T, path) != labtest.Read(c.T, other) {
			c.Errorf("%s differs from that of the local sweep", other)
		}
	}
}

// tasks are the processes that make runs of this test.
func (c *cluster) tasks() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // a pattern of ours
	for _, path := range all {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte("\x00sweep\x00task\x00"+c.dir)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killTasks kills a third of the tasks, the first among them, at random instants of their first ten seconds.
func (c *cluster) killTasks(ctx context.Context, rng *rand.Rand, tasks, killed *atomic.Int32) {
	due := map[int]time.Time{} // zero: it is spared
	for ctx.Err() == nil {
		for _, pid := range c.tasks() {
			if _, known := due[pid]; !known {
				due[pid] = time.Time{}
				if tasks.Add(1)%3 == 1 {
					due[pid] = time.Now().Add(time.Duration(rng.IntN(10_000)) * time.Millisecond)
				}
			}
			if at := due[pid]; !at.IsZero() && time.Now().After(at) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed.Add(1)
				due[pid] = time.Time{}
			}
		}
		labtest.Pause(ctx, 50*time.Millisecond)
	}
}

// meter sums the processor time of the cluster's processes, of Slurm's tasks too, by looking often: some of them have
// parents that ignore their end, which the kernel then counts nowhere.
type meter struct {
	spaces map[string]bool          // of process ids
	seen   map[string]time.Duration // by id and start
}

// measure runs do and returns the processor time that the cluster took meanwhile.
func (c *cluster) measure(do func()) time.Duration {
	c.Helper()
	m := &meter{map[string]bool{}, map[string]time.Duration{}}
	own, _ := os.Readlink("/proc/self/ns/pid") // one of ours
	for _, pid := range labtest.Marked(c.mark) {
		if space, err := os.Readlink("/proc/" + pid + "/ns/pid"); err == nil && space != own {
			m.spaces[space] = true
		}
	}
	if len(m.spaces) == 0 {
		c.Fatal("the cluster has no process")
	}
	before := m.look(c.T)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				m.look(c.T)
			}
		}
	}()
	do()
	close(done)
	<-looked
	return m.look(c.T) - before
}

// look returns the time of all processes that were ever seen.
func (m *meter) look(t *testing.T) (sum time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*") // a pattern of ours
	for _, dir := range all {
		if space, err := os.Readlink(dir + "/ns/pid"); err != nil || !m.spaces[space] {
			continue
		}
		b, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it has just ended
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		user, err1 := strconv.Atoi(fields[11])
		system, err2 := strconv.Atoi(fields[12]) // both in hundredths
		if err := errors.Join(err1, err2); err != nil {
			t.Error(err)
			continue
		}
		m.seen[dir+" "+fields[19]] = time.Duration(user+system) * 10 * time.Millisecond
	}
	for _, d := range m.seen {
		sum += d
	}
	return sum
}
