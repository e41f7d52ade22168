// Package slurm tests real Slurm over an emulated fabric. Its tests need a root of lightloom slurm root, which
// LIGHTLOOM_SLURM names, several separated by colons; where LIGHTLOOM_MUST names slurm, one is made if there is none.
package slurm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/lab/slurm"
)

func TestMain(m *testing.M) { labtest.MainWithProgram(m) }

// roots returns the roots to test with.
func roots(t *testing.T) []string {
	t.Helper()
	must := slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "slurm")
	if named := os.Getenv("LIGHTLOOM_SLURM"); named != "" {
		return filepath.SplitList(named)
	}
	if !must {
		t.Skip("needs a Slurm: set LIGHTLOOM_SLURM to a directory of lightloom slurm root")
	}
	t.Fatal("LIGHTLOOM_MUST names slurm: set LIGHTLOOM_SLURM to a directory of lightloom slurm root")
	return nil
}

// cluster is a Slurm over a fabric that is up.
type cluster struct {
	*testing.T
	dir     string // for what jobs write
	mark    string // of its processes' environments
	version string
}

// up has Slurm run over a fabric until the test ends.
func up(t *testing.T, root string, more ...string) *cluster {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir, err := os.MkdirTemp("", "lightloom-jobs") // below /tmp, which jobs see
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cmd := exec.Command("lightloom", append([]string{"slurm", "up", "--root", root, "--page", "off"}, more...)...)
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=slurm-%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd.Env = append(os.Environ(), mark)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{T: t, dir: dir, mark: mark}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.root("tail", "-n", "40", "/run/lightloom-slurm/slurmctld.log"))
			t.Log(c.root("cat", "/run/lightloom-slurm/agent.log"))
		}
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("Ctrl-C: %v: %s", err, &said)
		}
		labtest.Await(t, "all processes to be gone", func() bool { return len(labtest.Marked(mark)) == 0 })
		if mounts := labtest.Read(t, "/proc/mounts"); strings.Contains(mounts, root) {
			t.Errorf("a mount is left: %s", mounts)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "slurm: ") {
			c.version = strings.Fields(lines.Text())[1]
			t.Log(lines.Text())
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return c
		}
	}
	_ = cmd.Wait()
	t.Fatalf("it does not come up: %s", &said)
	return nil
}

// shell runs a command as a user of Slurm.
func (c *cluster) shell(args ...string) string {
	c.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.Fatalf("%q: %v", args, err)
	}
	return out
}

func (c *cluster) try(args ...string) (string, error) {
	cmd := exec.Command("lightloom", append([]string{"slurm", "shell", "--"}, args...)...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// root runs a command as root in Slurm's files.
func (c *cluster) root(args ...string) string {
	out, err := exec.Command("lightloom", append([]string{"slurm", "shell", "--user", "root", "--"}, args...)...).
		CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// slices returns the slices of the controller.
func (c *cluster) slices() (all []session.SliceStatus) {
	c.Helper()
	out, err := exec.Command("lightloom", "slice", "list", "-o", "json").Output()
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		c.Fatal(err)
	}
	return all
}

func (c *cluster) status() (st session.Status) {
	c.Helper()
	out, err := exec.Command("lightloom", "status", "-o", "json").Output()
	if err == nil {
		err = json.Unmarshal(out, &st)
	}
	if err != nil {
		c.Fatal(err)
	}
	return st
}

func (c *cluster) submit(args ...string) string {
	c.Helper()
	return c.shell(append([]string{"sbatch", "--parsable"}, args...)...)
}

// until waits for what no event announces.
func (c *cluster) until(what string, within time.Duration, so func() bool) {
	c.Helper()
	for end := time.Now().Add(within); !so(); {
		if time.Now().After(end) {
			c.Fatalf("never: %s; queue: %s; slices: %+v", what, c.root("squeue", "--states=all"), c.slices())
		}
		labtest.Pause(context.Background(), 100*time.Millisecond)
	}
}

func (c *cluster) queue() []string {
	return strings.Fields(c.root("squeue", "--noheader", "--format=%i"))
}

// shuffle is a job that sends bytes from each node to the next, with a program that knows nothing of Lightloom.
const shuffle = `#!/bin/bash
#SBATCH --output=%%j.out --error=%%j.err
export nodes="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | xargs)" port=$((5201 + SLURM_JOB_ID))
srun --ntasks-per-node=1 bash -c '
  all=($nodes)
  for i in ${!all[@]}; do [ ${all[$i]} = $SLURMD_NODENAME ] && next=${all[$(((i + 1) %% ${#all[@]}))]}; done
  iperf3 -s -1 -p $port >/dev/null &
  for try in $(seq 100); do # iperf3 of Debian 12 exits with 0 where it cannot connect
    said="$(iperf3 -c $next -p $port -n %s --json)"
    case $said in *sum_received*) echo "$said"; break ;; esac
    sleep 0.2
  done
  wait' >$SLURM_JOB_ID.json
`

func (c *cluster) script(name, size string) string {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, fmt.Appendf(nil, shuffle, size), 0o644); err != nil {
		c.Fatal(err)
	}
	return path
}

const (
	small  = "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"
	eight  = "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"
	asking = "--comment=lightloom:circuits=required"
)

// TestSlurm is the smoke: jobs run, those that require circuits have them while they run and not after, and what no
// comment can say is refused. It is run with each root.
func TestSlurm(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	for _, root := range all {
		t.Run(filepath.Base(root), func(t *testing.T) {
			c := up(t, root, "--fabric", small)
			if got := strings.Fields(c.shell("srun", "-N8", "hostname")); len(got) != 8 || !slices.Contains(got, "h3-1") {
				t.Errorf("srun -N8 hostname: %v", got)
			}
			job := c.submit("-N3", asking, "--wrap", "sleep 3")
			c.until("the job to run", 30*time.Second, func() bool { return c.root("squeue", "-hj", job, "-o", "%t") == "R" })
			x := c.slices()
			if len(x) != 1 || x[0].Name != "slurm-"+job || x[0].State != "Ready" || x[0].Circuits != 2 || x[0].Dark != 0 {
				t.Errorf("slices while it runs: %+v", x)
			}
			lit := 0
			for _, s := range c.status().Circuits {
				if s.Phase == "in-service" {
					lit++
				}
			}
			if lit != 2 {
				t.Errorf("%d circuits are lit", lit)
			}
			c.until("its slice to go", 30*time.Second, func() bool { return len(c.slices()) == 0 })
			if out, err := c.try("sbatch", "-N2", "--comment=lightloom:circuits=perhaps", "--wrap", "true"); err == nil ||
				!strings.Contains(out, "'circuits=perhaps' in the comment") {
				t.Errorf("an unknown wish: %v, %s", err, out)
			}
			held := c.submit("-N2", asking, "--wrap", "sleep 60")
			c.until("the job to run", 30*time.Second, func() bool { return c.root("squeue", "-hj", held, "-o", "%t") == "R" })
			c.shell("scancel", held)
			c.until("circuits to be freed", 30*time.Second, func() bool { return len(c.slices()) == 0 })
		})
	}
}

// TestTopologyFollows: nodes that circuits join are one block while their job runs, and not after. A Slurm without
// topology/block is refused with the reason.
func TestTopologyFollows(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	at := slices.IndexFunc(all, func(root string) bool { return hasBlocks(t, root) })
	for i, root := range all {
		if at != i && !hasBlocks(t, root) {
			out, err := exec.Command("lightloom", "slurm", "up", "--root", root, "--fabric", small, "--plugin", "block").
				CombinedOutput()
			if err == nil || !strings.Contains(string(out), "has no topology/block, which came with 24.05") {
				t.Errorf("%s: %v, %s", root, err, out)
			}
		}
	}
	if at < 0 {
		t.Skip("no root has a Slurm with topology/block: name one of 26.05 in LIGHTLOOM_SLURM")
	}
	c := up(t, all[at], "--fabric", small, "--plugin", "block")
	job := c.submit("-N4", asking, "--wrap", "sleep 8")
	c.until("a block of four nodes", 30*time.Second, func() bool {
		return strings.Contains(c.root("scontrol", "show", "topology"), "Nodes=h2-[0-1],h3-[0-1]")
	})
	c.until("the job to run there", 30*time.Second, func() bool { // its circuits are lit before it is released
		return c.root("squeue", "-hj", job, "-o", "%N") == "h2-[0-1],h3-[0-1]"
	})
	c.until("the blocks of before", 30*time.Second, func() bool {
		return strings.Contains(c.root("scontrol", "show", "topology"), "BlockName=tor3 BlockIndex=3 Nodes=h3-[0-1]")
	})
}

// hasBlocks reports whether a root's Slurm moves nodes between blocks.
func hasBlocks(t *testing.T, root string) bool {
	t.Helper()
	r, err := slurm.FindRoot(root, slurm.MachineVersion)
	if err != nil {
		t.Fatal(err)
	}
	return r.Version.YAML()
}

// TestUnasked: bytes of programs that srun starts get circuits without being asked for.
func TestUnasked(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", small)
	c.submit("-N2", "-w", "h0-0,h1-0", c.script("shuffle.sh", "60M"))
	c.until("a circuit between the racks", 30*time.Second, func() bool {
		st := c.status()
		return slices.ContainsFunc(st.Circuits, func(x session.CircuitStatus) bool {
			return x.In == 0 && x.Out == 1 && x.Phase == "in-service"
		})
	})
	c.until("the job to end", 3*time.Minute, func() bool { return len(c.queue()) == 0 }) // 10 s where nobody else sends
	if len(c.slices()) != 0 {
		t.Errorf("slices: %+v", c.slices())
	}
}

// TestFortyJobs: forty jobs with real bytes end though slurmctld is killed at random instants, no circuit is left
// without a job, and what is added between our decision and Slurm's acknowledgement is told. A slurmctld that dies
// forgets its last five seconds: it kills once what was submitted is on disk, and cancels jobs that have sent all and
// are still in the queue.
func TestFortyJobs(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=slurm")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", eight)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	script := c.script("shuffle.sh", "16M")
	var jobs []string
	for i := range 40 {
		wish := []string{asking, "--comment=lightloom:circuits=wanted", "--comment=plain"}[i%3]
		jobs = append(jobs, c.submit("-N", fmt.Sprint(1+rng.IntN(4)), wish, script))
	}
	kills := 0
	next := time.Now().Add(6 * time.Second)
	c.until("the bytes of all jobs", 12*time.Minute, func() bool {
		if kills < 3 && time.Now().After(next) {
			c.root("sh", "-c", "kill -9 $(cat /run/lightloom-slurm/slurmctld.pid)")
			labtest.Pause(context.Background(), time.Duration(rng.IntN(2000))*time.Millisecond)
			c.root("slurmctld")
			kills++
			next = time.Now().Add(time.Duration(7+rng.IntN(8)) * time.Second)
		}
		return len(c.missing(jobs)) == 0
	})
	t.Logf("%d kills of slurmctld", kills)
	labtest.Pause(context.Background(), 5*time.Second)
	for _, job := range c.queue() {
		t.Logf("job %s has sent all, and is still in the queue: it is cancelled", job)
		c.root("scancel", job)
	}
	c.until("circuits to be freed", 30*time.Second, func() bool { return len(c.slices()) == 0 })
	c.releases()
}

// missing returns jobs whose bytes have not all arrived.
func (c *cluster) missing(jobs []string) []string {
	return slices.DeleteFunc(slices.Clone(jobs), func(job string) bool {
		b, err := os.ReadFile(filepath.Join(c.dir, job+".json"))
		return err == nil && bytes.Contains(b, []byte(`"sum_received"`))
	})
}

// releases logs how long Slurm took to acknowledge what was decided.
func (c *cluster) releases() {
	var all []int
	for line := range strings.Lines(c.root("grep", "-h", "released in", "/run/lightloom-slurm/agent.log")) {
		_, text, _ := strings.Cut(line, "released in ")
		var ms int
		if _, err := fmt.Sscanf(text, "%d ms", &ms); err == nil {
			all = append(all, ms)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		c.Error("no job was released by us")
		return
	}
	p95 := all[(len(all)*95+99)/100-1]
	c.Logf("decision to acknowledgement, %d jobs: median %d ms, p95 %d ms", len(all), all[len(all)/2], p95)
	if p95 > 500 {
		c.Errorf("p95 %d ms, want 500 ms at most", p95)
	}
}

// TestKilledFabric: nothing is left behind by a lightloom that is killed.
func TestKilledFabric(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	mark := fmt.Sprintf("LIGHTLOOM_TEST_MARK=slurm-killed-%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.CommandContext(ctx, "lightloom", "slurm", "up", "--root", all[0], "--page", "off", "--fabric",
		"hybrid:racks=2,hosts=1")
	cmd.Env = append(os.Environ(), mark)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "slurm: ") {
	}
	if len(labtest.Marked(mark)) < 5 {
		t.Errorf("only %d processes", len(labtest.Marked(mark)))
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	labtest.Await(t, "all processes to be gone", func() bool { return len(labtest.Marked(mark)) == 0 })
}
