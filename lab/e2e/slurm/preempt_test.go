package slurm

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
)

// partitions are three of all nodes: jobs of the second end those of the two others.
const partitions = `
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=all Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE OverSubscribe=EXCLUSIVE State=UP
PartitionName=soon Nodes=ALL PriorityTier=10 PreemptMode=OFF OverSubscribe=EXCLUSIVE State=UP
PartitionName=spare Nodes=ALL PriorityTier=1 PreemptMode=CANCEL OverSubscribe=EXCLUSIVE State=UP
`

// restart has slurmctld begin again, once a command has changed its files.
func (c *cluster) restart(change string) {
	c.Helper()
	answers := func() bool { return strings.Contains(c.root("scontrol", "ping"), "is UP") }
	c.root("sh", "-c", change+"; kill $(cat /run/lightloom-slurm/slurmctld.pid)")
	c.until("slurmctld to end", 30*time.Second, func() bool { return !answers() })
	if said := c.root("slurmctld"); said != "" {
		c.Log(said)
	}
	c.until("slurmctld to answer", 30*time.Second, answers)
}

// TestPreempted: a job that requires circuits ends one of a lower partition that has them, is started with circuits of
// its own, and the other, which Slurm starts again, gets circuits once more. So it is where Slurm ends it for a job
// that asks for nothing. No more jobs end than must, also while these are completing.
func TestPreempted(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	for _, root := range all {
		t.Run(filepath.Base(root), func(t *testing.T) {
			c := up(t, root, "--fabric", small)
			c.restart("cd /run/lightloom-slurm && sed -i /^PartitionName/d slurm.conf && echo '" + partitions + "' >>slurm.conf")
			first := c.submit("-N6", "-p", "all", "--requeue", asking, "--wrap", "sleep 600")
			c.runsWithCircuits(first, "")
			second := c.submit("-N5", "-p", "soon", asking, "--wrap", "sleep 600")
			c.runsWithCircuits(second, "")
			c.waits(first)
			c.again(first)
			labtest.Pause(context.Background(), 3*time.Second) // looks of the agent, which may not give it anything
			c.waits(first)
			c.root("scancel", second)
			nodes := c.runsWithCircuits(first, "")

			plain := c.submit("-N2", "-p", "soon", "-w", strings.Join(nodes[:2], ","), "--wrap", "sleep 600")
			c.until("Slurm to run a job that asks for nothing", time.Minute, func() bool { return c.state(plain) == "R" })
			c.waits(first)
			c.root("scancel", plain)
			c.again(first)
			c.runsWithCircuits(first, "")
			c.root("scancel", first)
			c.until("circuits to be freed", time.Minute, func() bool { return len(c.slices()) == 0 })

			spare := c.submit("-N8", "-p", "spare", asking, "--wrap", "sleep 600")
			c.runsWithCircuits(spare, "")
			last := c.submit("-N3", "-p", "soon", asking, "--wrap", "sleep 600")
			c.runsWithCircuits(last, "")
			if state := c.state(spare); !slices.Contains([]string{"CA", "PR", ""}, state) {
				t.Errorf("a job of PreemptMode=CANCEL is %s", state)
			}
			c.root("scancel", last)
			c.until("circuits to be freed", time.Minute, func() bool { return len(c.slices()) == 0 })
			c.logs("ends job", second+" ends job "+first, last+" ends job "+spare)
			c.endsOne()
			c.slurmEnds()
		})
	}
}

// stubborn is a job that ends only once it is killed, KillWait later.
var stubborn = []string{"--requeue", "--wrap", "trap '' TERM; sleep 600"}

// endsOne: of two jobs of a lower partition the younger ends, and the other runs on while that one is completing.
func (c *cluster) endsOne() {
	older := c.submit(append([]string{"-N4", "-p", "all", asking}, stubborn...)...)
	c.runsWithCircuits(older, "")
	younger := c.submit(append([]string{"-N4", "-p", "all", asking}, stubborn...)...)
	c.runsWithCircuits(younger, "")
	job := c.submit("-N3", "-p", "soon", asking, "--wrap", "sleep 600")
	c.runsWithCircuits(job, "")
	c.logs(job+" ends job", job+" ends job "+younger)
	if state := c.state(older); state != "R" {
		c.Errorf("the older job is %s", state)
	}
	c.root("scancel", older, younger, job)
	c.until("circuits to be freed", time.Minute, func() bool { return len(c.slices()) == 0 })
	c.until("jobs to be over", time.Minute, func() bool { return len(c.queue()) == 0 })
}

// slurmEnds: a job with circuits is released once, and stays so while what Slurm has ended for it is completing.
func (c *cluster) slurmEnds() {
	plain := c.submit(append([]string{"-N8", "-p", "all"}, stubborn...)...)
	c.until("a job that asks for nothing to run", time.Minute, func() bool { return c.state(plain) == "R" })
	job := c.submit("-N3", "-p", "soon", asking, "--wrap", "sleep 600")
	c.until("Slurm to end the other", time.Minute, func() bool {
		return strings.Contains(c.root("sinfo", "-h", "-N", "-o", "%t"), "comp")
	})
	c.runsWithCircuits(job, "")
	c.logs("job "+job+" starts on", "job "+job+" starts on")
	c.logs(job + " ends job")
	c.root("scancel", plain, job)
	c.until("circuits to be freed", time.Minute, func() bool { return len(c.slices()) == 0 })
}

// logs checks that the agent's lines with a text are as many, and have these words.
func (c *cluster) logs(text string, want ...string) {
	c.Helper()
	var lines []string
	for line := range strings.Lines(c.root("cat", "/run/lightloom-slurm/agent.log")) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(want) {
		c.Errorf("%q: the agent says %q, want %q", text, lines, want)
		return
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			c.Errorf("%q: the agent says %q, want %q", text, line, want[i])
		}
	}
}

// state is a job's, in Slurm's short word.
func (c *cluster) state(job string) string {
	return c.root("squeue", "-hj", job, "--states=all", "-o", "%t")
}

// waits waits until a job waits and has no circuits.
func (c *cluster) waits(job string) {
	c.Helper()
	c.until("job "+job+" to wait without circuits", time.Minute, func() bool {
		for _, x := range c.slices() {
			if x.Name == "slurm-"+job {
				return false
			}
		}
		return c.state(job) == "PD"
	})
}

// again has a job start again at once, for which Slurm has it wait two minutes.
func (c *cluster) again(job string) {
	c.Helper()
	if said := c.root("scontrol", "update", "JobId="+job, "StartTime=now"); said != "" {
		c.Log(said)
	}
}
