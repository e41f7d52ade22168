package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/lab/slurm"
)

// logged is a job that writes when and where it runs.
const logged = `#!/bin/bash
#SBATCH --output=/dev/null
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sort | xargs)
echo "start $SLURM_JOB_NAME $SLURM_JOB_ID $(date +%%s%%N) $nodes" >>%[1]s
sleep $1
echo "end $SLURM_JOB_NAME $SLURM_JOB_ID $(date +%%s%%N)" >>%[1]s
`

// TestKills kills slurmctld, and the leader among the controller's replicas, at random instants under jobs that require
// circuits: no job is left without nodes, no circuit without a job, none twice. LIGHTLOOM_KILLS is their number, 20
// without it. What Slurm itself forgets is told; it gives numbers of such jobs again, so they go by their names.
func TestKills(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=slurm")
	}
	kills := 20
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_KILLS")); err == nil {
		kills = n
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	for _, root := range all {
		t.Run(filepath.Base(root), func(t *testing.T) {
			k := &killer{cluster: up(t, root, "--fabric", eight)}
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			k.rng = rand.New(rand.NewPCG(seed, 1))
			k.log = filepath.Join(k.dir, "runs")
			k.history.asks, k.racks = map[string]bool{}, map[string]string{}
			for r := range 8 {
				for i := range 2 {
					k.racks[fmt.Sprintf("h%d-%d", r, i)] = fmt.Sprint(r)
				}
			}
			if err := os.WriteFile(filepath.Join(k.dir, "job.sh"), fmt.Appendf(nil, logged, k.log), 0o644); err != nil {
				t.Fatal(err)
			}
			k.run(kills)
		})
	}
}

type killer struct {
	*cluster
	history
	rng  *rand.Rand
	log  string
	jobs []string
}

// run kills so often, and waits for the end of all jobs.
func (k *killer) run(kills int) {
	k.count = map[string]int{}
	next := time.Now().Add(5 * time.Second)
	for k.count["slurmctld"]+k.count["leader"] < kills {
		if queue, ok := k.look(); ok && queue < 8 {
			k.submitOne()
		}
		if time.Now().After(next) {
			k.kill()
			next = time.Now().Add(time.Duration(1000+k.rng.IntN(10_000)) * time.Millisecond)
		}
		labtest.Pause(context.Background(), 200*time.Millisecond)
	}
	k.until("the end of all jobs", 5*time.Minute, func() bool {
		k.look()
		k.read()
		for line := range strings.Lines(k.root("squeue", "--noheader", "--format=%i %j")) {
			if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); k.ended(name) { // Slurm has forgotten it
				k.count["cancelled after their end"]++
				k.root("scancel", id)
			}
		}
		return len(k.queue()) == 0
	})
	k.until("circuits to be freed", time.Minute, func() bool { k.look(); return len(k.slices()) == 0 })
	k.read()
	for _, job := range k.jobs {
		switch begun := slices.ContainsFunc(k.runs, func(r ran) bool { return r.name == job }); {
		case k.ended(job):
			k.count["jobs that ended"]++
		case begun:
			k.Logf("job %s began, and Slurm has forgotten it before its end", job)
			k.count["jobs that Slurm forgot while they ran"]++
		default:
			k.count["jobs that Slurm forgot"]++
		}
	}
	broken := k.broken()
	k.Logf("%v; %d jobs, %d runs, %d looks, %d faults", k.count, len(k.jobs), len(k.runs), len(k.looks), len(broken))
	for _, what := range broken {
		k.Error(what)
	}
}

// ended reports whether a job wrote its end.
func (k *killer) ended(job string) bool {
	return slices.ContainsFunc(k.runs, func(r ran) bool { return r.name == job && !r.to.IsZero() })
}

func (k *killer) submitOne() {
	n := 1 + k.rng.IntN(4)
	name := fmt.Sprintf("j%d", len(k.jobs))
	args := []string{"sbatch", "--job-name", name, "-N", fmt.Sprint(n)}
	asks := k.rng.IntN(4) > 0
	if asks {
		args = append(args, asking)
	}
	k.jobs = append(k.jobs, name)
	k.asks[name] = asks
	if _, err := k.try(append(args, filepath.Join(k.dir, "job.sh"), fmt.Sprint(1+k.rng.IntN(6)))...); err != nil {
		k.Logf("not submitted, or not acknowledged: %v", err)
	}
}

// kill kills slurmctld or the leader, and starts it again after a moment.
func (k *killer) kill() {
	moment := time.Duration(k.rng.IntN(2000)) * time.Millisecond
	if k.rng.IntN(2) == 0 {
		k.root("sh", "-c", "kill -9 $(cat /run/lightloom-slurm/slurmctld.pid)")
		labtest.Pause(context.Background(), moment)
		k.root("slurmctld")
		k.count["slurmctld"]++
		return
	}
	leader := ""
	k.until("a leader", 30*time.Second, func() bool { leader = k.status().Leader; return leader != "" })
	if out, err := exec.Command("lightloom", "fail", "controller", leader).CombinedOutput(); err != nil {
		k.Fatalf("kill %s: %v: %s", leader, err, out)
	}
	labtest.Pause(context.Background(), moment)
	if out, err := exec.Command("lightloom", "heal", "controller", leader).CombinedOutput(); err != nil {
		k.Fatalf("start %s: %v: %s", leader, err, out)
	}
	k.count["leader"]++
}

// look notes slices, jobs and slices again, and returns how many jobs there are. While one does not answer, nothing is
// noted.
func (k *killer) look() (queue int, ok bool) {
	l := look{at: time.Now()}
	if l.before, ok = k.held(); !ok {
		return 0, false
	}
	l.at = time.Now()
	jobs, err := slurm.ParseJobs([]byte(k.root("squeue", "--json", "--states=all")))
	if err != nil {
		return 0, false
	}
	l.jobs = jobs
	for _, j := range jobs {
		if !j.Gone() {
			queue++
		}
	}
	if l.after, ok = k.held(); ok {
		k.looks = append(k.looks, l)
	}
	return queue, ok
}

func (k *killer) held() (out []heldSlice, ok bool) {
	b, err := exec.Command("lightloom", "slice", "list", "-o", "json").Output()
	var all []session.SliceStatus
	if err != nil || json.Unmarshal(b, &all) != nil {
		return nil, false
	}
	for _, x := range all {
		out = append(out, heldSlice{x.Name, x.State, slices.Sorted(slices.Values(x.Hosts))})
	}
	return out, true
}

// read reads what jobs wrote.
func (k *killer) read() {
	b, err := os.ReadFile(k.log)
	if err != nil && !os.IsNotExist(err) {
		k.Fatal(err)
	}
	k.runs = nil
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			k.Fatalf("a job wrote %q", line)
		}
		ns, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			k.Fatal(err)
		}
		if f[0] == "start" {
			k.runs = append(k.runs, ran{name: f[1], job: f[2], nodes: f[4:], from: time.Unix(0, ns)})
			continue
		}
		for i := range k.runs { // of several runs the last is the one that ends
			if r := &k.runs[len(k.runs)-1-i]; r.name == f[1] {
				r.to = time.Unix(0, ns)
				break
			}
		}
	}
}
