package slurm

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
)

// TestStrangers: a node that Slurm has and the fabric has not, and the reverse, are named in the agent's log once jobs
// wait, and jobs that cannot have circuits for that say so.
func TestStrangers(t *testing.T) {
	all := roots(t)
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	for _, root := range all {
		t.Run(filepath.Base(root), func(t *testing.T) {
			c := up(t, root, "--fabric", small)
			c.restart("cd /run/lightloom-slurm && sed -i -e '/^NodeName=h3-1/d' " +
				"-e '/^PartitionName/iNodeName=login1 NodeAddr=10.0.0.1 CPUs=2' slurm.conf")
			named := c.submit("-N2", "-w", "h0-0,login1", asking, "--wrap", "true")
			wide := c.submit("-N8", asking, "--wrap", "true")
			for job, why := range map[string]string{
				named: "node login1 of --nodelist is no host of the fabric, and has no circuits: name others",
				wide:  "it asks for 8 nodes, and 7 of its partition's are hosts of the fabric: ask for fewer",
			} {
				c.until("job "+job+" to say why it stays held", time.Minute, func() bool {
					return strings.Contains(c.root("scontrol", "show", "job", job), "AdminComment=lightloom:refused: "+why)
				})
			}
			log := c.root("cat", "/run/lightloom-slurm/agent.log")
			for _, want := range []string{"Slurm has 1 node that the fabric has not, without circuits: login1",
				"the fabric has 1 host that Slurm has not, without jobs: h3-1"} {
				if !strings.Contains(log, want) {
					t.Errorf("the agent does not say %q: %s", want, log)
				}
			}
			c.runsWithCircuits(c.submit("-N3", asking, "--wrap", "sleep 600"), "")
		})
	}
}
