package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/slurm"
)

// TestQueue measures what the agent adds to slurmctld while 1,000 jobs wait: half of them require circuits that they
// cannot have yet, for most nodes are taken, and of the others two run at a time, one after the other, whether there is
// an agent or not. Pairs of 40 s with the agent and with it stopped, in turn first, are compared by slurmctld's
// processor time: its cycles of milliseconds vary too much.
func TestQueue(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=slurm")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", eight)
	agent, slurmctld := c.thousand()
	t.Cleanup(func() { _ = syscall.Kill(agent, syscall.SIGCONT) }) // one that is stopped would not end
	const span = 40 * time.Second
	var more []float64
	for pair := range 5 {
		var used [2]time.Duration
		var cycle [2]float64
		var calls [2]rpc
		for i := range 2 {
			with := (pair + i) % 2
			if err := syscall.Kill(agent, []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}[with]); err != nil {
				t.Fatal(err)
			}
			before := c.processor(slurmctld)
			cycle[with], calls[with] = c.cycles(span)
			used[with] = c.processor(slurmctld) - before
		}
		more = append(more, 100*(float64(used[1])/float64(used[0])-1))
		t.Logf("slurmctld in %v: %v without the agent, %v with it: %+.1f %%; mean main cycle %.0f and %.0f µs; calls %v "+
			"and %v", span, used[0], used[1], more[pair], cycle[0], cycle[1], calls[0], calls[1])
	}
	if err := syscall.Kill(agent, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	slices.Sort(more)
	t.Logf("slurmctld takes %+.1f %% more with the agent (median of %d pairs, from %+.1f to %+.1f %%); %d jobs wait",
		more[2], len(more), more[0], more[4], len(c.queue())-1)
}

// thousand has 1,000 jobs wait beside one that runs, and returns the processes of the agent and of slurmctld.
func (c *cluster) thousand() (agent, slurmctld int) {
	c.Helper()
	agent = c.agent()
	long := c.submit("-N14", "--output=/dev/null", "--wrap", "sleep 3600")
	c.until("most nodes to be taken", time.Minute, func() bool { return c.state(long) == "R" })
	c.shell("sh", "-c", `for i in $(seq 500); do
  sbatch --quiet -N1 --output=/dev/null --wrap "sleep 3"
  sbatch --quiet -N4 --output=/dev/null `+asking+` --wrap "sleep 3"
done`)
	c.Logf("%d jobs wait", len(c.queue())-1)
	slurmctld, err := strconv.Atoi(c.root("cat", "/run/lightloom-slurm/slurmctld.pid"))
	if err != nil {
		c.Fatal(err)
	}
	return agent, c.outside(slurmctld)
}

// TestCalls measures slurmctld's processor time for each way to ask it, while 1,000 jobs wait and none begins.
func TestCalls(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm-calls" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=slurm-calls")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", eight)
	agent, slurmctld := c.thousand()
	t.Cleanup(func() { _ = syscall.Kill(agent, syscall.SIGCONT) }) // one that is stopped would not end
	if err := syscall.Kill(agent, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.root("scontrol", "update", "PartitionName=all", "State=DOWN")
	labtest.Pause(context.Background(), 10*time.Second) // those that run end
	jobs := strings.Join(c.queue()[:8], ",")
	one, _, _ := strings.Cut(jobs, ",")
	const times = 100
	for _, command := range []string{"sleep 0.1", "squeue --json --states=all", "squeue --states=all", "squeue",
		"squeue --json --jobs=" + one, "squeue --json --jobs=" + jobs, "squeue --json --user=lab",
		"squeue --json --user=root",
		"scontrol show job " + one, "scontrol --json show jobs", "squeue --only-job-state",
		"sinfo --noheader --Node --format='" + slurm.NodesFormat + "'", "scontrol ping"} {
		before := c.processor(slurmctld)
		out := c.root("sh", "-c", fmt.Sprintf("for i in $(seq %d); do %s; done 2>&1 >/dev/null | tail -n 1", times, command))
		used := c.processor(slurmctld) - before
		t.Logf("%-60.60s %7.2f ms each %s", command, float64(used.Milliseconds())/times, out)
	}
}

// outside is the process of the cluster's that has a number within it.
func (c *cluster) outside(pid int) int {
	c.Helper()
	for _, p := range labtest.Marked(c.mark) {
		status, err := os.ReadFile("/proc/" + p + "/status")
		if m := within.FindSubmatch(status); err == nil && m != nil && string(m[2]) == fmt.Sprint(pid) &&
			bytes.HasPrefix(status, []byte("Name:\tslurmctld\n")) {
			n, _ := strconv.Atoi(p) // it is a process
			return n
		}
	}
	c.Fatalf("no slurmctld is process %d", pid)
	return 0
}

var within = regexp.MustCompile(`NSpid:(\s+\d+)*\s(\d+)\n`)

// processor is the processor time of a process, in hundredths of a second.
func (c *cluster) processor(pid int) time.Duration {
	c.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		c.Fatal(err)
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		c.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// agent is the process of the agent.
func (c *cluster) agent() int {
	c.Helper()
	for _, pid := range labtest.Marked(c.mark) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", pid))
		if n, bad := strconv.Atoi(pid); err == nil && bad == nil && bytes.Contains(line, []byte("\x00slurm\x00agent\x00")) &&
			bytes.HasPrefix(line, []byte("/run/")) {
			return n
		}
	}
	c.Fatal("there is no agent")
	return 0
}

var (
	meanCycle = regexp.MustCompile(`(?s)Main schedule statistics.*?Mean cycle:\s+(\d+)`)
	byType    = regexp.MustCompile(`(?s)by message type(.*?)by user`)
	ofType    = regexp.MustCompile(`count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)`)
)

// rpc are calls that slurmctld has answered, and how long it took.
type rpc struct {
	calls int
	took  time.Duration
}

// cycles is the mean of slurmctld's main cycle over a time from now on, in microseconds, and its calls meanwhile.
func (c *cluster) cycles(over time.Duration) (mean float64, all rpc) {
	c.Helper()
	if out := c.root("sdiag", "--reset"); strings.Contains(out, "error") {
		c.Fatal(out)
	}
	labtest.Pause(context.Background(), over)
	out := c.root("sdiag")
	m := meanCycle.FindStringSubmatch(out)
	types := byType.FindString(out)
	if m == nil || types == "" {
		c.Fatalf("no main cycle, or no calls: %s", out)
	}
	mean, err := strconv.ParseFloat(m[1], 64)
	if err != nil || mean == 0 {
		c.Fatalf("%q: %v", m[1], err)
	}
	for _, m := range ofType.FindAllStringSubmatch(types, -1) {
		n, err1 := strconv.Atoi(m[1])
		took, err2 := strconv.Atoi(m[2])
		if err := errors.Join(err1, err2); err != nil {
			c.Fatal(err)
		}
		all.calls, all.took = all.calls+n, all.took+time.Duration(took)*time.Microsecond
	}
	return mean, all
}
