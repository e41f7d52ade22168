package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	sweep := []string{"/run/lightloom-slurm/lightloom", "sweep", "study.yaml", "--engine", "slurm", "--results"}
	var more []float64
	for pair := range sweepPairs() {
		more = append(more, c.pair(sweep, pair))
	}
	slices.Sort(more)
	t.Logf("through Slurm %+.1f %% (median of %d pairs, from %+.1f to %+.1f %%)", more[len(more)/2], len(more), more[0],
		more[len(more)-1])

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
	through := c.measure(func() { c.shell(append(sweep, "killed")...) }).sum()
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

// sweepPairs is how many pairs of sweeps are measured: LIGHTLOOM_PAIRS, or one.
func sweepPairs() int {
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_PAIRS")); err == nil {
		return max(n, 1)
	}
	return 1
}

// pair makes the runs locally and through Slurm, the one or the other first, and returns by how many per cent the
// second took more processor time, beside what the cluster takes without a sweep.
func (c *cluster) pair(sweep []string, pair int) float64 {
	c.Helper()
	const still = 20 * time.Second
	idle := c.measure(func() { labtest.Pause(c.Context(), still) })
	var alone time.Duration
	locally := func() {
		local := exec.Command("lightloom", "sweep", "study.yaml", "--results", "local")
		local.Dir = c.dir
		if pair > 0 {
			local.Args[4] = fmt.Sprint("local", pair)
		}
		if out, err := local.CombinedOutput(); err != nil {
			c.Fatalf("%v: %s", err, out)
		}
		alone = local.ProcessState.UserTime() + local.ProcessState.SystemTime()
	}
	if pair%2 == 0 {
		locally()
	}
	began := time.Now()
	results := fmt.Sprint("whole", pair)
	through := c.measure(func() { c.shell(append(sweep, results)...) })
	wall := time.Since(began)
	if pair%2 == 1 {
		locally()
	}
	c.sameReports(results)
	own := time.Duration(float64(idle.sum()) / float64(still) * float64(wall))
	net := through.sum() - own
	c.Logf("200 runs: %v locally, %v through Slurm within %v, of which the cluster takes %v anyway: %+.1f %%", alone,
		through.sum(), wall, own, 100*(float64(net)/float64(alone)-1))
	for _, name := range slices.Sorted(maps.Keys(through)) {
		anyway := time.Duration(float64(idle[name]) / float64(still) * float64(wall))
		c.Logf("  %-24s %8.2f s, of it anyway %.2f", name, through[name].Seconds(), anyway.Seconds())
	}
	return 100 * (float64(net)/float64(alone) - 1)
}

// TestExperiment: an experiment whose runs tasks of Slurm make prints what it prints alone, to the byte.
func TestExperiment(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", "hybrid:racks=2,hosts=1")
	run := []string{"experiment", "run", "slices", "--quick", "-o", "json"}
	alone, err := exec.Command("lightloom", run...).Output()
	if err != nil {
		t.Fatal(err)
	}
	script := `exec /run/lightloom-slurm/lightloom "$@" --on-engine slurm --results runs >through.json`
	out, err := c.try(append([]string{"sh", "-c", script, "sh"}, run...)...)
	if through := labtest.Read(t, filepath.Join(c.dir, "through.json")); err != nil || through != string(alone) {
		t.Errorf("%v: %s; through Slurm: %.300s; alone: %.300s", err, out, through, alone)
	}
	if out, err := c.try("/run/lightloom-slurm/lightloom", "sweep", "status", "runs"); err != nil ||
		!strings.Contains(out, "it is done") {
		t.Errorf("status: %s, %v", out, err)
	}
	if out, err := c.try("/run/lightloom-slurm/lightloom", "sweep", "status", "runs", "-o", "json"); err != nil ||
		!strings.Contains(out, `"engine": "slurm"`) {
		t.Errorf("it does not say that Slurm made the runs: %s, %v", out, err)
	}
	if said, err := filepath.Glob(filepath.Join(c.dir, "runs/tasks/*/*.out")); err != nil || len(said) == 0 {
		t.Errorf("Slurm's tasks wrote nothing: %q, %v", said, err)
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

// killTasks kills a third of the tasks, the first among them, at random instants of their first five seconds.
func (c *cluster) killTasks(ctx context.Context, rng *rand.Rand, tasks, killed *atomic.Int32) {
	due := map[int]time.Time{} // zero: it is spared
	for ctx.Err() == nil {
		for _, pid := range c.tasks() {
			if _, known := due[pid]; !known {
				due[pid] = time.Time{}
				if tasks.Add(1)%3 == 1 {
					due[pid] = time.Now().Add(time.Duration(rng.IntN(5_000)) * time.Millisecond)
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
	spaces map[string]bool // of process ids
	seen   map[string]used // by id and start
}

// used is the processor time of a process, which is named for its program.
type used struct {
	name string
	time time.Duration
}

// times are processor times by program.
type times map[string]time.Duration

func (t times) sum() (all time.Duration) {
	for _, d := range t {
		all += d
	}
	return all
}

// measure runs do and returns the processor time that the cluster took meanwhile.
func (c *cluster) measure(do func()) times {
	c.Helper()
	m := &meter{map[string]bool{}, map[string]used{}}
	own, _ := os.Readlink("/proc/self/ns/pid") // one of ours
	for _, pid := range labtest.Marked(c.mark) {
		if space, err := os.Readlink("/proc/" + pid + "/ns/pid"); err == nil && space != own {
			m.spaces[space] = true
		}
	}
	if len(m.spaces) == 0 {
		c.Fatal("the cluster has no process")
	}
	m.look(c.T)
	before := maps.Clone(m.seen)
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
	m.look(c.T)
	took := times{}
	for key, u := range m.seen {
		took[u.name] += u.time - before[key].time
	}
	return took
}

// look notes the time of all processes.
func (m *meter) look(t *testing.T) {
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
		key, name := dir+" "+fields[19], string(b[bytes.IndexByte(b, '(')+1:bytes.LastIndexByte(b, ')')])
		if line, err := os.ReadFile(dir + "/cmdline"); err == nil && name == "lightloom" {
			name = "lightloom " + strings.Join(words(line), " ")
		}
		m.seen[key] = used{name, time.Duration(user+system) * 10 * time.Millisecond}
	}
}

// words are those of a command of lightloom, without arguments and flags.
func words(line []byte) (out []string) {
	for _, w := range strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")[1:] {
		if strings.ContainsAny(w, "-/.=") || len(out) == 2 {
			break
		}
		out = append(out, w)
	}
	return out
}
