package slurm

import (
	"bytes"
	"context"
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
)

// TestQueue measures what the agent adds to slurmctld's main scheduling cycle while 1,000 jobs wait, half of which
// require circuits: pairs of half a minute with the agent and with it stopped, in turn first.
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
	agent := c.agent()
	c.shell("sh", "-c", `for i in $(seq 500); do
  sbatch --quiet -N2 --output=/dev/null --wrap "sleep 5"
  sbatch --quiet -N2 --output=/dev/null `+asking+` --wrap "sleep 5"
done`)
	t.Logf("%d jobs wait", len(c.queue()))
	var ratios []float64
	for pair := range 5 {
		var mean [2]float64
		for i := range 2 {
			with := (pair+i)%2 == 0
			signal := syscall.SIGSTOP
			if with {
				signal = syscall.SIGCONT
			}
			if err := syscall.Kill(agent, signal); err != nil {
				t.Fatal(err)
			}
			mean[map[bool]int{true: 1}[with]] = c.meanCycle(30 * time.Second)
		}
		ratios = append(ratios, mean[1]/mean[0])
		t.Logf("mean main cycle: %.0f µs without the agent, %.0f µs with it", mean[0], mean[1])
	}
	if err := syscall.Kill(agent, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ratios)
	t.Logf("with the agent the cycle takes %+.1f %% (median of %d pairs, from %+.1f to %+.1f %%); %d jobs wait",
		100*(ratios[2]-1), len(ratios), 100*(ratios[0]-1), 100*(ratios[4]-1), len(c.queue()))
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

var meanCycle = regexp.MustCompile(`(?s)Main schedule statistics.*?Mean cycle:\s+(\d+)`)

// meanCycle is the mean of slurmctld's main cycle over a time from now on, in microseconds.
func (c *cluster) meanCycle(over time.Duration) float64 {
	c.Helper()
	if out := c.root("sdiag", "--reset"); strings.Contains(out, "error") {
		c.Fatal(out)
	}
	labtest.Pause(context.Background(), over)
	out := c.root("sdiag")
	m := meanCycle.FindStringSubmatch(out)
	if m == nil {
		c.Fatalf("no main cycle: %s", out)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n == 0 {
		c.Fatalf("%q: %v", m[1], err)
	}
	return n
}
