package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/slurmjobs"
	"lightloom/lab/labtest"
)

// recording is a job that writes where it runs, and sleeps.
const recording = `#!/bin/bash
#SBATCH --output=/dev/null
echo "$SLURM_JOB_PARTITION $SLURM_JOB_NAME $(scontrol show hostnames "$SLURM_JOB_NODELIST" | xargs)" >>%s
sleep $1
`

// untilThen has a script wait for an instant, in microseconds since it began.
const untilThen = `start=${EPOCHREALTIME/./}
at() {
  local left=$((start + $1 - ${EPOCHREALTIME/./}))
  [ $left -le 0 ] || sleep $(printf '%d.%06d' $((left / 1000000)) $((left % 1000000)))
}
`

// TestRecord records the nodes that Slurm chooses for the jobs of the experiment slurm-jobs, for that experiment to
// replay. All seeds run at once, each in a partition with racks of its own: nodes are chosen within partitions.
func TestRecord(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm-nodes" {
		t.Skip("records what another test replays: set LIGHTLOOM_MEASURE=slurm-nodes")
	}
	trace, err := slurmjobs.Records(&experiment.Bench{Data: os.Getenv("LIGHTLOOM_DATA")})
	if err != nil {
		t.Fatal(err)
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	c := up(t, all[0], "--fabric", fmt.Sprintf("hybrid:racks=%d,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms",
		8*slurmjobs.Seeds))
	var conf strings.Builder
	for k := range slurmjobs.Seeds {
		var nodes []string
		for r := range 8 {
			nodes = append(nodes, fmt.Sprintf("h%d-[0-1]", 8*k+r))
		}
		fmt.Fprintf(&conf, "PartitionName=s%d Nodes=%s OverSubscribe=EXCLUSIVE MaxTime=INFINITE\n", k+1,
			strings.Join(nodes, ","))
	}
	out := c.root("sh", "-c", "cat >>/run/lightloom-slurm/slurm.conf <<E\n"+conf.String()+"E\nscontrol reconfigure")
	c.until("the partitions to be there: "+out, time.Minute, func() bool {
		return strings.Count(c.root("sinfo", "--noheader", "--format=%R %t %D")+"\n", "idle 16\n") == slurmjobs.Seeds
	})
	table := "scale,seed,job,nodes\n"
	for _, scale := range slurmjobs.Scales() {
		runs := filepath.Join(c.dir, fmt.Sprint("runs", scale))
		script := filepath.Join(c.dir, fmt.Sprint("job", scale))
		if err := os.WriteFile(script, fmt.Appendf(nil, recording, runs), 0o644); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var seeds sync.WaitGroup
		for k := range slurmjobs.Seeds {
			jobs := slurmjobs.Workload(trace, scale, uint64(k+1))
			text := untilThen
			for i := range jobs {
				text += fmt.Sprintf("at %d; sbatch --quiet -p s%d -N %d --job-name %s %s %.3f\n",
					jobs[i].Arrival.Microseconds(), k+1, jobs[i].Nodes, jobs[i].Name, script, jobs[i].Alone().Seconds())
			}
			seeds.Go(func() { c.shell("bash", "-c", text) })
		}
		seeds.Wait()
		c.until("all jobs to end", 5*time.Minute, func() bool { return len(c.queue()) == 0 })
		t.Logf("scale %d: %v", scale, time.Since(began))
		table += c.recorded(scale, labtest.Read(t, runs), len(trace))
	}
	if _, err := slurmjobs.ReadChoices("recorded", strings.NewReader(table)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(labtest.Repository(t), "lab/experiment/slurmjobs/nodes.csv")
	if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recorded is a part of the table, from what jobs wrote.
func (c *cluster) recorded(scale int, runs string, jobs int) string {
	c.Helper()
	var table []string
	for line := range strings.Lines(runs) {
		f := strings.Fields(line)
		var seed uint64
		if len(f) < 3 {
			c.Fatalf("a job wrote %q", line)
		}
		if _, err := fmt.Sscanf(f[0], "s%d", &seed); err != nil {
			c.Fatalf("a job wrote %q", line)
		}
		for i, node := range f[2:] {
			var rack, at int
			if _, err := fmt.Sscanf(node, "h%d-%d", &rack, &at); err != nil {
				c.Fatalf("a job wrote %q", line)
			}
			f[2+i] = fmt.Sprintf("h%d-%d", rack-8*int(seed-1), at)
		}
		table = append(table, slurmjobs.Choice{Scale: scale, Seed: seed, Job: f[1]}.Line(f[2:]))
	}
	if len(table) != jobs*slurmjobs.Seeds {
		c.Fatalf("%d jobs wrote where they run, of %d", len(table), jobs*slurmjobs.Seeds)
	}
	slices.Sort(table)
	return strings.Join(table, "")
}
