package mininet

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/lab/report"
	"lightloom/southbound/noise"
)

// TestMininetAgreement holds coflows in Mininet against the simulator, as the experiment agreement does
// in namespaces: over packets alone and over circuits. It measures, and needs the whole machine:
// LIGHTLOOM_MEASURE=agreement runs it.
func TestMininetAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	l := newLaboratory(t, true)
	for _, tc := range []struct {
		policy, rates, fabric string
		host                  float64 // bytes a second of a host flow
		median                float64 // of what single coflows may be off by
	}{
		{"random+ecmp", "nic=500,eps=50,ocs=200", "nic=500Mbps,eps=50Mbps,ocs=200Mbps", 50e6 / 8, 0.05},
		{"random+ecmp+sunflow", "nic=100,eps=10,ocs=200", "nic=100Mbps,eps=10Mbps,ocs=200Mbps", 100e6 / 8, 0.10},
	} {
		for seed := uint64(101); seed <= 103; seed++ {
			t.Run(fmt.Sprintf("%s/%d", tc.policy, seed), func(t *testing.T) {
				l := l.sub(t)
				text := drawnTrace(seed, tc.host)
				noise.Measure(t, 3, func() error {
					return l.agrees(text, tc.policy, tc.rates,
						tc.fabric, tc.median)
				})
			})
		}
	}
}

// drawnTrace has 16 coflows within 6 s on 4 racks of 2 hosts: one or two senders and as many receivers,
// and 0.22 to
// 0.5 s of a rate for each host flow.
func drawnTrace(seed uint64, rate float64) string {
	const coflows, hosts = 16, 8
	r := rand.New(rand.NewPCG(seed, 0x6d696e696e6574))
	var b strings.Builder
	fmt.Fprintln(&b, hosts, coflows)
	for i := range coflows {
		at, from, to := r.Perm(hosts), 1+r.IntN(2), 1+r.IntN(2)
		fmt.Fprintf(&b, "%d %d %d", i+1, 6000*i/coflows, from)
		for _, h := range at[:from] {
			fmt.Fprint(&b, " ", h)
		}
		fmt.Fprint(&b, " ", to)
		for _, h := range at[from : from+to] {
			fmt.Fprintf(&b, " %d:%.3f", h, float64(from)*(0.22+0.28*r.Float64())*rate/1e6)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// agrees replays a trace on the simulator and in Mininet, and returns by how much they are too far apart.
func (l *laboratory) agrees(text, policy, rates, fabric string, mostMedian float64) error {
	l.t.Helper()
	const mostMean = 0.10
	fail := func(err error) {
		if err != nil {
			l.t.Fatal(err)
		}
	}
	trace, dir := filepath.Join(l.dir, "trace.txt"), filepath.Join(l.t.TempDir(), "sim")
	fail(os.WriteFile(trace, []byte(text), 0o600))
	cmd := exec.Command(filepath.Join(l.dir, "lightloom"), "replay", "--on", "flowsim", "--trace",
		trace, "--fabric",
		"hybrid:racks=4,hosts=2,spines=2,dark=10ms,"+fabric, "--scale", "1", "--policy", policy, "--fairness",
		"proportional", "--delays", "steer=2ms", "--report-dir", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("replay: %v\n%s", err, out)
	}
	sim, err := report.Read(filepath.Join(dir, "report.json"))
	fail(err)
	out := l.mn("--version; echo "+base64.StdEncoding.EncodeToString([]byte(text))+" | base64 -d > trace.txt; mn "+
		"--custom lightloom.py --topo hybrid,4,2,"+rates+" --switch loom --controller loom,jobs=16,trace=trace.txt,policy="+
		policy+",report=rep --test none --post script",
		"py net.get('c0').replayed()", "sh echo; echo report; base64 -w0 rep/report.json; echo")
	found := regexp.MustCompile(`(?m)^report\r?\n([A-Za-z0-9+/=]+)`).FindStringSubmatch(out)
	if found == nil {
		l.t.Fatalf("Mininet wrote no report:\n%s", out)
	}
	written, err := base64.StdEncoding.DecodeString(found[1])
	fail(err)
	file := filepath.Join(l.t.TempDir(), "mininet.json")
	fail(os.WriteFile(file, written, 0o600))
	mn, err := report.Read(file)
	fail(err)
	a, b := &mn.Policies[0], &sim.Policies[0]
	if len(a.Coflows) != len(b.Coflows) || len(b.Coflows) != 16 {
		l.t.Fatalf("%d coflows in Mininet, %d on the simulator", len(a.Coflows), len(b.Coflows))
	}
	var off []float64
	for i, x := range b.Coflows {
		if got := a.Coflows[i]; got.Name != x.Name {
			l.t.Fatalf("coflow %d is %q in Mininet, %q on the simulator", i, got.Name, x.Name)
		} else if x.Took >= 0.2 {
			off = append(off, math.Abs(got.Took/x.Took-1))
		}
	}
	slices.Sort(off)
	mean, median := a.CCT.Mean/b.CCT.Mean-1, report.Percentile(off, 0.5)
	said := fmt.Sprintf("%s: mean CCT %.4f s in Mininet, %+.2f %% of the simulator's; of %d coflows the median is off by "+
		"%.1f %%, the last of 95 in 100 by %.1f %%; moves %d and %d, bytes over circuits %d and %d", policy, a.CCT.Mean,
		100*mean, len(off), 100*median, 100*report.Percentile(off, 0.95), a.Reconfigurations, b.Reconfigurations,
		a.OCS, b.OCS)
	l.t.Log(said)
	if math.Abs(mean) > mostMean || median > mostMedian {
		return fmt.Errorf("%s: at most %.0f and %.0f %%", said, 100*mostMean, 100*mostMedian)
	}
	return nil
}
