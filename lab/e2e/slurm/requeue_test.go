package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
)

// TestRequeue: a job whose node fails, or that is requeued, runs again on nodes that have their circuits, those that it
// names if it names any, and a reconfigure changes nothing.
func TestRequeue(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes, for Slurm waits before it starts a job again: set LIGHTLOOM_MEASURE=slurm")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", small)
	job := c.submit("-N3", "--requeue", asking, "--wrap", "sleep 600")
	first := c.runsWithCircuits(job, "")
	for _, state := range []string{"DOWN", "DRAIN"} { // its slurmd answers, so that it would not stay down
		c.root("scontrol", "update", "NodeName="+first[0], "State="+state, "Reason=test")
	}
	second := c.runsWithCircuits(job, first[0])
	c.root("scontrol", "update", "NodeName="+first[0], "State=RESUME")
	c.root("scontrol", "requeue", job)
	c.until("the job to wait", time.Minute, func() bool { return c.root("squeue", "-hj", job, "-o", "%t") == "PD" })
	third := c.runsWithCircuits(job, "")
	t.Logf("on %v, then %v, then %v", first, second, third)
	c.root("scontrol", "reconfigure")
	var named []string // in racks whose ports are free, and not those that the agent would choose
	for _, n := range strings.Fields(c.root("sinfo", "-hN", "-o", "%N")) {
		rack, _, _ := strings.Cut(n, "-")
		if strings.HasSuffix(n, "-1") && !slices.ContainsFunc(third, func(o string) bool {
			return strings.HasPrefix(o, rack+"-")
		}) {
			named = append(named, n)
		}
	}
	again := c.submit("-N2", "--requeue", "--nodelist="+strings.Join(named, ","), asking, "--wrap", "sleep 600")
	c.runsWithCircuits(again, "")
	c.root("scontrol", "requeue", again)
	c.until("the job to wait", time.Minute, func() bool { return c.root("squeue", "-hj", again, "-o", "%t") == "PD" })
	if got := c.runsWithCircuits(again, ""); !slices.Equal(got, named) {
		t.Errorf("requeued, job %s runs on %v, and names %v", again, got, named)
	}
	if now := c.runsWithCircuits(job, ""); !slices.Equal(now, third) {
		t.Errorf("after a reconfigure it runs on %v", now)
	}
	c.root("scancel", job, again)
	c.until("circuits to be freed", time.Minute, func() bool { return len(c.slices()) == 0 })
}

// runsWithCircuits waits until a job runs on nodes that have their circuits, and not on one, and returns them.
func (c *cluster) runsWithCircuits(job, not string) (nodes []string) {
	c.Helper()
	c.until("job "+job+" to run with its circuits", 5*time.Minute, func() bool {
		state, list, _ := strings.Cut(c.root("squeue", "-hj", job, "-o", "%t %N"), " ")
		if state != "R" {
			return false
		}
		nodes = strings.Fields(c.root("scontrol", "show", "hostnames", list))
		slices.Sort(nodes)
		for _, x := range c.slices() {
			if x.Name == "slurm-"+job && x.State == "Ready" && slices.Equal(slices.Sorted(slices.Values(x.Hosts)), nodes) {
				return !slices.Contains(nodes, not)
			}
		}
		return false
	})
	return nodes
}

// TestLater: jobs that may not start yet, for the time that they name or for another job, have no circuits until they
// may.
func TestLater(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes, for Slurm looks once a minute at what held jobs wait for: set LIGHTLOOM_MEASURE=slurm")
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	for _, root := range all {
		t.Run(filepath.Base(root), func(t *testing.T) {
			c := up(t, root, "--fabric", small)
			other := c.submit("-N1", "--wrap", "sleep 600")
			after := c.submit("-N3", "--dependency=afterany:"+other, asking, "--wrap", "sleep 600")
			begins := time.Now().Add(10 * time.Second)
			timed := c.submit("-N3", "--begin=now+10", asking, "--wrap", "sleep 600")
			c.runsWithCircuits(timed, "")
			if now := time.Now(); now.Before(begins.Add(-time.Second)) { // Slurm counts seconds
				t.Errorf("it runs at %v, and may from %v on", now, begins)
			}
			c.waits(after)
			c.root("scancel", other)
			c.runsWithCircuits(after, "")
		})
	}
}
