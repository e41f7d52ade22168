package slurm

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/slurmjobs"
	"lightloom/lab/labtest"
	"lightloom/pathmap"
)

// exchange is a job that computes, sends each of its nodes' equal parts to each other one, computes again, and writes
// when it ended. Its arguments are the two times and the bytes of a part.
const exchange = `#!/bin/bash
#SBATCH --output=/dev/null
sleep $1
export nodes="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | xargs)" part=$3
failed=
[ $SLURM_JOB_NUM_NODES -eq 1 ] || srun --ntasks-per-node=1 bash -c '
  all=($nodes) length=$((part < 131072 ? part : 131072))
  for i in ${!all[@]}; do [ ${all[$i]} = $SLURMD_NODENAME ] && me=$i; done
  for i in ${!all[@]}; do [ $i = $me ] || iperf3 -s -1 -p $((6000 + i)) >/dev/null & done
  pids=
  for i in ${!all[@]}; do
    [ $i = $me ] && continue
    for try in $(seq 300); do
      iperf3 -c ${all[$i]} -p $((6000 + me)) -n $part -l $length >/dev/null && exit 0
      sleep 0.1
    done && exit 1 &
    pids="$pids $!"
  done
  status=0
  for p in $pids; do wait $p || status=1; done
  wait
  exit $status' || failed=failed
sleep $2
echo "$SLURM_JOB_NAME ${EPOCHREALTIME/./} $failed" >>%s
`

// proof is an answer on packets: the fabric's policy, and what jobs of several nodes ask for.
type proof struct{ name, policy, comment string }

// slow is the fabric of the experiment with a fifth of its rates, which two cores can carry: what is divided by 100
// here is divided by 20 there.
const slow = "hybrid:racks=8,hosts=2,spines=2,eps=10Mbps,ocs=40Mbps,dark=10ms"

// worth reports whether a job asks for circuits: where packets need a second for what its nodes send.
func worth(w *slurmjobs.Work) bool { return w.Part()*pathmap.Bytes(w.Nodes-1)*8 >= 10_000_000 }

// TestProof runs the jobs of the experiment slurm-jobs through real Slurm on packets, three seeds under each of three
// answers, and tells their mean JCT.
func TestProof(t *testing.T) {
	all := roots(t)
	if os.Getenv("LIGHTLOOM_MEASURE") != "slurm-proof" {
		t.Skip("takes half an hour: set LIGHTLOOM_MEASURE=slurm-proof")
	}
	scale := 100
	if n, err := strconv.Atoi(os.Getenv("LIGHTLOOM_DIVIDED")); err == nil {
		scale = n
	}
	trace, err := slurmjobs.Records(&experiment.Bench{Data: os.Getenv("LIGHTLOOM_DATA")})
	if err != nil {
		t.Fatal(err)
	}
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	answers := []proof{{"Slurm, packets", "random+ecmp", "plain"}, {"Slurm + Sunflow", "random+ecmp+sunflow", "plain"},
		{"agent + Sunflow", "random+ecmp+sunflow", "lightloom:circuits=wanted"}}
	for seed := range uint64(3) {
		jobs := slurmjobs.Workload(trace, scale, seed+1)
		for _, k := range rand.New(rand.NewPCG(seed, 7)).Perm(len(answers)) {
			a := answers[k]
			t.Run(fmt.Sprintf("seed %d, %s", seed+1, a.name), func(t *testing.T) {
				c := up(t, all[0], "--fabric", slow, "--policy", a.policy)
				c.prove(a, jobs)
			})
		}
	}
}

// prove runs jobs, and logs how long they took from their arrival to their end.
func (c *cluster) prove(a proof, jobs []slurmjobs.Work) {
	c.Helper()
	ends := filepath.Join(c.dir, "ends")
	script := filepath.Join(c.dir, "job.sh")
	if err := os.WriteFile(script, fmt.Appendf(nil, exchange, ends), 0o644); err != nil {
		c.Fatal(err)
	}
	text := untilThen
	for i := range jobs {
		w := &jobs[i]
		comment := a.comment
		if !worth(w) {
			comment = "plain"
		}
		text += fmt.Sprintf("at %d; sbatch --quiet -N %d --comment %s --job-name %s %s %.3f %.3f %d\n",
			w.Arrival.Microseconds(), w.Nodes, comment, w.Name, script, w.Map.Seconds(), w.Reduce.Seconds(), max(w.Part(), 1))
	}
	began := c.shell("bash", "-c", text+"echo $start")
	start, err := strconv.ParseInt(began, 10, 64)
	if err != nil {
		c.Fatalf("jobs were not submitted: %s", began)
	}
	c.until("all jobs to end", 10*time.Minute, func() bool { return len(c.queue()) == 0 })
	took := map[string]time.Duration{}
	for line := range strings.Lines(labtest.Read(c.T, ends)) {
		f := append(strings.Fields(line), "", "")
		at, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil || f[2] != "" {
			c.Errorf("a job wrote %q", line)
		}
		took[f[0]] = time.Duration(at-start) * time.Microsecond
	}
	var sum, wide time.Duration
	n := 0
	for i := range jobs {
		w := &jobs[i]
		end, ok := took[w.Name]
		if !ok {
			c.Errorf("%s has not ended", w.Name)
		}
		if sum += end - w.Arrival; w.Nodes > 1 {
			wide += end - w.Arrival
			n++
		}
	}
	c.Logf("%s: mean JCT %.3f s, of the %d jobs of several nodes %.3f s", a.name, sum.Seconds()/float64(len(jobs)), n,
		wide.Seconds()/float64(n))
	for _, w := range jobs {
		if worth(&w) {
			c.Logf("%s: %d nodes, %.1f MB: %.2f s", w.Name, w.Nodes, float64(w.Shuffle)/1e6,
				(took[w.Name] - w.Arrival).Seconds())
		}
	}
	if strings.HasPrefix(a.comment, "lightloom:") {
		c.releases()
	}
}
